"""What every handle on a mounted file can do: close, pickle by path, give advice, account."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Generic, Literal, Self, TypeVar, get_args

from graphmount import _core
from graphmount._mount.memory_report import MemoryReport, memory, usable_bytes
from graphmount._mount.node_ids import (
    is_several,
    mark_ids,
    mark_rows,
    order_of,
    require_marked,
)
from graphmount._mount.results import Section
from graphmount._support.arguments import as_ids, as_native, first_text, require_choice
from graphmount._support.display import Displayed
from graphmount._support.files.opened_folder import OpenedFolder
from graphmount._support.progress import ProgressOption, reporting, require_progress
from graphmount._support.shown import shown
from graphmount._support.sizes import format_bytes
from graphmount._support.threads.process_lock import ProcessLock
from graphmount.errors import ClosedError, DatasetChangedError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

#: How a mapping will be used; see `Handle.advise`.
Advice = Literal["auto", "normal", "random", "sequential", "willneed", "populate"]

#: Of a file: its size, and the checksum of its header.
Content = tuple[int, int]

CoreT = TypeVar("CoreT", _core.Graph, _core.FeatureMatrix, _core.NodeIdFile)


HandleT = TypeVar("HandleT", bound="Handle[Any]")


def _reopen(cls: Callable[..., HandleT], path: str, options: dict[str, str]) -> HandleT:
    """Unpickles a handle: opens the file that is at its path now, on this machine."""
    return cls(path, **options)


def _reopen_inside(  # noqa: PLR0917  (pickles have no names)
    cls: type[HandleT],
    folder: str,
    name: str,
    content: Content,
    options: dict[str, Any],
    plain_orders: frozenset[int] = frozenset(),
) -> HandleT:
    """Unpickles a handle of a dataset: opens the same file, or raises an error."""
    with OpenedFolder(folder) as opened:
        handle = cls._open_inside(opened, name, **options)
    if handle._content != content:  # noqa: SLF001
        raise DatasetChangedError(
            f"{handle.path} is another file than the one that was sent here as this path: the "
            "dataset has been replaced; open it again, in all processes"
        )
    handle._plain_orders = plain_orders  # noqa: SLF001
    return handle


class Handle(Displayed, Generic[CoreT]):
    """A mounted file. Use `Graph` or `FeatureStore`; this is what they have in common.

    Handles may be used by many threads at once, survive `fork`, and pickle as their path. Views
    made from a handle stay valid when it is closed or gone.
    """

    #: What opens files of this kind.
    _core_type: type[CoreT]
    #: How the names of such files end, and where a dataset has them.
    _suffix: str
    _part: str
    #: Orders of node types whose source numbers them as the dataset does: ids need no mark.
    _plain_orders: frozenset[int] = frozenset()

    def _mount(
        self,
        path: str | os.PathLike[str],
        descriptor: int | None = None,
        *,
        advice: Advice = "auto",
        **settings: str,
    ) -> None:
        """Does the work of constructors. The file may be open already."""
        try:
            core = self._core_type(os.fsencode(path), descriptor)
        except IsADirectoryError as error:
            raise IsADirectoryError(error.errno, self._advice_for_folder(path), path) from None
        for name, value in settings.items():
            setattr(core, name, value)
        self._core: CoreT | None = core
        self._path = os.path.abspath(os.fsdecode(path))
        self._requested: Advice = "normal"
        self._advice: Advice = "normal"
        self._inside: tuple[str, str] | None = None
        self._lock = ProcessLock()
        self.advise(advice)

    def _advice_for_folder(self, path: str | os.PathLike[str]) -> str:
        """What to do about a path that is a folder."""
        if os.path.isfile(os.path.join(os.fsdecode(path), "dataset.json")):
            return f"this folder is a dataset; open it with Dataset, which has its {self._part}"
        return f"this is a folder; give the path of a {self._suffix} file in it"

    @classmethod
    def _open_inside(cls, folder: OpenedFolder, name: str, **options: Any) -> Self:  # noqa: ANN401
        """Opens a file of a dataset by the descriptor of its folder, and knows so for pickling."""
        handle = cls.__new__(cls)
        with folder.open_file(name) as file:
            handle._mount(folder.path_of(name), file.fileno(), **options)  # noqa: SLF001
        handle._inside = folder.path, name  # noqa: SLF001
        return handle

    @property
    def _content(self) -> Content:
        """What identifies this file: its size, and a checksum that covers all of it."""
        core = self._open()
        return core.file_bytes, core.checksum

    def _shown_fields(self) -> dict[str, object]:
        if self.closed:
            return {"path": self.path, "closed": True}
        return {"path": self.path, "size": format_bytes(self.file_bytes), **self._content_facts()}

    def _content_facts(self) -> dict[str, object]:
        """What notebooks show of the content of the file, which is open."""
        return {}

    def _open(self) -> CoreT:
        """The core's handle. A caller that has it can go on even if another thread closes this."""
        core = self._core
        if core is None:
            raise ClosedError(f"{self._path}: this {type(self).__name__} has been closed")
        return core

    @property
    def path(self) -> str:
        """Absolute path of the file, also after closing."""
        return self._path

    @property
    def closed(self) -> bool:
        """Whether `close` has been called."""
        return self._core is None

    @property
    def advice(self) -> Advice:
        """The advice in force: "normal", "random" or "sequential"."""
        return self._advice

    @property
    def file_bytes(self) -> int:
        """Size of the file in bytes."""
        return self._open().file_bytes

    @property
    def order(self) -> int:
        """Fingerprint of the order of the nodes; 0 is the order of the source.

        Files can be used together only if their fingerprints are equal; `check_order` checks it.
        """
        return self._open().order

    @property
    def _own_order(self) -> int:
        """The order that ids of nodes must be marked with to be taken, or 0 if any will do.

        It is that of a dataset which has its nodes in another order than its source. Files that are
        opened alone take any.
        """
        return 0 if self._inside is None else self._own(self._open().order)

    def _own(self, order: int) -> int:
        """The same for one of the orders that the file has."""
        return 0 if self._inside is None or order in self._plain_orders else order

    def _as_nodes(self, ids: Any, name: str, order: int | None = None) -> NDArray[np.int64]:  # noqa: ANN401
        """Nodes that a user gives, which must be known to be internal ids; the core checks them.

        Args:
            ids: The nodes.
            name: What messages call them.
            order: The order that they are in; that of the file if None.

        Raises:
            IdError: They may be ids of the source, or are of another dataset.
        """
        if order is None:
            order = self._open().order
        try:
            nodes = as_ids(ids, name)  # first: what is no ids at all needs no mark
        except TypeError as error:
            raise self._advised(error, ids) from None
        if is_several(ids) and (self._own(order) != 0 or (order != 0 and order_of(ids) != 0)):
            require_marked(ids, name, order)
        return nodes

    def _advised(self, error: TypeError, ids: object) -> TypeError:
        """The error about ids that are no integers; if they are text, with what to do."""
        text = first_text(ids)
        return error if text is None else TypeError(f"{error}; {self._text_advice(text)}")

    def _text_advice(self, text: str) -> str:
        """What to do with names of nodes."""
        return f"to_internal([{shown(text)}]) of the dataset gives the number of a node"

    def _mark(self, ids: NDArray[np.int64], order: int | None = None) -> NDArray[np.int64]:
        """Nodes of the core, as users get them: marked, if they are of a dataset."""
        if order is None:
            order = self._open().order
        return mark_ids(as_native(ids), 0 if self._inside is None else order)

    def _mark_rows(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Rows of all nodes, as users get them: marked, if they are of a dataset."""
        if self._inside is None:
            return rows
        order = self._open().order
        return mark_rows(rows, order, takes_plain=order in self._plain_orders)

    @property
    def sections(self) -> tuple[Section, ...]:
        """The sections of the file, in the order of its header."""
        return tuple(
            Section(name, dtype, offset, num_bytes, (rows, columns))
            for name, dtype, offset, num_bytes, rows, columns in self._open().sections
        )

    def close(self) -> None:
        """Lets go of the file. Views made before stay valid; closing twice is fine.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_features([[1.0], [2.0]], "x.gd")
            >>> x = gm.FeatureStore("x.gd")
            >>> array = x.numpy()
            >>> x.close()
            >>> array[1]
            array([2.])
        """
        self._core = None

    def __enter__(self) -> Self:
        self._open()
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _options(self) -> dict[str, str]:
        """The options that this handle was opened with."""
        return {"advice": self._requested}

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[Any, ...]]:
        self._open()
        if self._inside is not None:
            folder, name = self._inside
            options = self._options()
            known = (type(self), folder, name, self._content, options, self._plain_orders)
            return _reopen_inside, known
        return _reopen, (type(self), self._path, self._options())

    def advise(self, advice: Advice, *, progress: ProgressOption = None) -> None:
        """Tells the system how the file will be used, as `madvise` does.

        Args:
            advice: "normal" reads many pages around each page that is touched. "random" reads only
                the page itself, which is best for scattered rows of a file larger than memory.
                "sequential" reads far ahead. "auto" is "random" for a file larger than half of the
                memory that this process may use, else "normal"; a loader that begins to sample a
                graph goes by the memory that is free then. These hold for all views, also later
                ones. "willneed" starts reading the whole file and returns at once; "populate"
                returns when the file has been read.
            progress: For "populate": a callback of (bytes done, bytes in all); True or False to
                show a progress bar or not. None shows one if the work takes a while.

        Raises:
            ValueError: `advice` is none of these.
            FileChangedError: The file was truncated.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_features([[1.0], [2.0]], "x.gd")
            >>> x = gm.FeatureStore("x.gd")
            >>> x.advise("populate")
            >>> x.resident_bytes() in (x.file_bytes, None)
            True
        """
        core = self._open()
        require_choice("advice", advice, get_args(Advice))
        requested = advice
        if advice == "auto":
            advice = "random" if core.file_bytes > usable_bytes() // 2 else "normal"
        require_progress(progress)
        if advice == "populate":
            what = f"reading {os.path.basename(self._path)}"
            with reporting(progress, what, in_bytes=True) as report:
                return core.advise(advice, report)
        if advice == "willneed":
            return core.advise(advice, None)
        with self._lock:  # what this says is what the core was told last
            if advice != self._advice:
                core.advise(advice, None)
            self._requested, self._advice = requested, advice
        return None

    def _advise_within(self, left: int) -> None:
        """Of a file with advice="auto": reads single pages if so many bytes do not hold it twice.

        Args:
            left: What others leave of the memory, rather than all of it.
        """
        with self._lock:
            core = self._core
            is_open = core is not None and self._requested == "auto" and self._advice == "normal"
            if core is not None and is_open and core.file_bytes > left // 2:
                core.advise("random", None)
                self._advice = "random"

    def resident_bytes(self) -> int | None:
        """How much of the file is in the page cache, no matter which process read it.

        On Linux this asks `cachestat`. That call is forbidden to users who may not write to the
        file, and missing before Linux 6.5. There the result is an estimate: some pages, chosen at
        random, are read on the condition that no waiting is needed. `mincore` is never used,
        because it answers "all of it" to users who do not own the file.

        Returns:
            Bytes, or None where the system cannot tell.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_features([[1.0], [2.0]], "x.gd")
            >>> resident = gm.FeatureStore("x.gd").resident_bytes()
            >>> resident is None or 0 <= resident <= 196608
            True
        """
        return self._open().resident_bytes()

    def memory(self) -> MemoryReport:
        """Process memory, page cache and disk reads, with this file's share: see `memory`.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_features([[1.0], [2.0]], "x.gd")
            >>> gm.FeatureStore("x.gd").memory().files[0].file_bytes
            196608
        """
        return memory(self)
