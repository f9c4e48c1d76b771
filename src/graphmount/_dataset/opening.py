"""Opening all files of a dataset, as one version, and checking that they belong together.

Every file is opened through one descriptor of the folder, and compared with the list in the
description. So old files never mix with new ones, even if the folder is replaced meanwhile. Then
every table is checked: it must have a row for each node, or for each edge.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from graphmount._dataset.description import named_files, read_description
from graphmount._dataset.description_fields import DESCRIPTION
from graphmount._dataset.typed_description import is_typed
from graphmount._mount.features import FeatureStore
from graphmount._mount.graph import Graph
from graphmount._mount.mapped_reads import read_rows
from graphmount._mount.order import check_order
from graphmount._support.files.opened_folder import OpenedFolder
from graphmount.errors import DatasetChangedError, FormatError, GraphmountError, OrderError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from graphmount._mount.handle import Advice, Content, Handle


FilesT = TypeVar("FilesT")

# Where the header of a file has what may be wrong: see docs/format.md.
ROWS_FIELD = 40
ORDER_FIELD = 56
CHECKSUM_FIELD = 4088

#: How often a dataset is opened again if it changes while it is opened.
_MOST_TRIES = 8

#: How many ids of a split are checked at a time.
_SPLIT_ROWS = 1 << 20


@dataclass(frozen=True, kw_only=True)
class DatasetFiles:
    """What is in the folder of a dataset.

    Attributes:
        path: The folder.
        description: What its description says.
        graph: The graph.
        tables: All other files, by their path from the folder on.
    """

    path: str
    description: dict[str, Any]
    graph: Graph
    tables: dict[str, FeatureStore]

    def handles(self) -> dict[str, Graph | FeatureStore]:
        """All files, by their path from the folder on."""
        return {self.description["graph"]: self.graph, **self.tables}

    def contents(self) -> dict[str, Content]:
        """What identifies each file, by what it is in the dataset; and the names of classes."""
        handles = self.handles()
        contents = {
            shown_kind(kind, name): handles[file]._content  # noqa: SLF001
            for kind, name, file in named_files(self.description)
        }
        classes = self.description.get("classes")
        if classes is not None:  # labels have their numbers, which may be the same for others
            names = json.dumps(classes).encode()
            digest = hashlib.blake2b(names, digest_size=8).digest()
            contents["classes"] = (len(names), int.from_bytes(digest, "little"))
        return contents


def shown_kind(kind: str, name: str | None) -> str:
    """What messages call a file: "the graph", "labels", or "features 'x'"."""
    return kind if name is None else f"{kind} {name!r}"


def open_files(path: str | os.PathLike[str], *, advice: Advice) -> DatasetFiles:
    """Opens the files of a dataset.

    Args:
        path: The folder.
        advice: How its files will be used.

    Raises:
        FileNotFoundError: There is no such folder, it is no dataset, or a file is missing.
        FormatError: The description or a file is damaged, or a link leads out of the folder.
        OrderError: A table is not of the nodes, or edges, of the graph.
        DatasetChangedError: The folder was replaced meanwhile, or a file is not the one listed.
        OSError: A file cannot be read.
    """

    def open_all(folder: OpenedFolder, description: dict[str, Any]) -> DatasetFiles:
        if is_typed(description):
            raise FormatError(
                f"{folder.path} is a dataset of many node types, which gm.Dataset(path) opens as a "
                "TypedDataset"
            )
        files = _open_all(folder, description, advice)
        check_together(files)
        return files

    return open_whole(path, open_all)


def open_whole(
    path: str | os.PathLike[str], open_all: Callable[[OpenedFolder, dict[str, Any]], FilesT]
) -> FilesT:
    """Opens a folder as one version of a dataset, also if it is changed meanwhile.

    Args:
        path: The folder.
        open_all: Opens the files that a description names, and checks that they belong together.

    Raises:
        FileNotFoundError: There is no such folder, it is no dataset, or a file is missing.
        DatasetChangedError: The folder was replaced meanwhile.
        GraphmountError, OSError: What `open_all` raises.
    """
    with _opened(path) as folder:
        for _ in range(_MOST_TRIES):
            description = None
            try:
                description = read_description(folder)
                files = open_all(folder, description)
            except (OSError, FormatError, OrderError) as error:
                if not folder.is_at_its_path():
                    raise changed(
                        folder.path,
                        f"was replaced while it was being opened ({error}); open it again",
                    ) from None
                if description is None and isinstance(error, FileNotFoundError):
                    raise _no_dataset(
                        error, f"there is no {DESCRIPTION}, so this folder is no dataset"
                    ) from None
                if description is None or read_description(folder) == description:
                    raise
                continue  # somebody has added or removed a table meanwhile
            return files
    raise changed(folder.path, "is being changed all the time; open it again later")


def _opened(path: str | os.PathLike[str]) -> OpenedFolder:
    """The folder, or what to do about a path that is none."""
    try:
        return OpenedFolder(path)
    except FileNotFoundError as error:
        raise _no_dataset(error, "there is no such folder") from None
    except NotADirectoryError as error:
        what = "this is a file, and a dataset is a folder: open a .gl file with Graph, a .gd file"
        raise _no_dataset(error, f"{what} with FeatureStore") from None


def _no_dataset(error: OSError, what: str) -> OSError:
    """The same error, and what to do about it."""
    advice = "compile_dataset and from_pyg make datasets, and so does `graphmount compile dataset`"
    return type(error)(error.errno, f"{what}; {advice}", error.filename)


def _open_all(folder: OpenedFolder, description: dict[str, Any], advice: Advice) -> DatasetFiles:
    graph = Graph._open_inside(folder, description["graph"], advice=advice)  # noqa: SLF001
    tables = {
        file: FeatureStore._open_inside(folder, file, advice=advice)  # noqa: SLF001
        for kind, _, file in named_files(description)
        if kind != "graph"
    }
    return DatasetFiles(path=folder.path, description=description, graph=graph, tables=tables)


def changed(path: str, message: str) -> DatasetChangedError:
    """The error, with its path."""
    error = DatasetChangedError(f"{path} {message}")
    error.path = path
    return error


def check_together(files: DatasetFiles) -> None:
    """Raises unless all files are those that are listed, and of the id space that they should be.

    Args:
        files: The files.

    Raises:
        DatasetChangedError: A file is not the one that is listed.
        FormatError: The graph is not the one that is described, or a split cannot be one.
        OrderError: A table has not as many rows as there are nodes or edges, or another order.
    """
    for mismatch in mismatches(files.handles(), files.description):
        raise mismatch.error


@dataclass(frozen=True, kw_only=True)
class Mismatch:
    """A file that does not belong to the others.

    Attributes:
        file: Its path from the folder on.
        offset: The field of its header that says so: see docs/format.md.
        error: What to raise.
    """

    file: str
    offset: int
    error: GraphmountError


def mismatches(
    handles: Mapping[str, Graph | FeatureStore], description: dict[str, Any]
) -> Iterator[Mismatch]:
    """All files of a dataset that are not listed so, or not of its id space.

    Args:
        handles: Those files that could be opened, by their path from the folder on.
        description: The description.
    """
    files = (file for _, _, file in named_files(description))
    yield from unlisted_files(files, handles, description)
    graph = handles.get(description["graph"])
    if not isinstance(graph, Graph):
        return
    counts = description["num_nodes"], description["num_edges"]
    if (graph.num_nodes, graph.num_edges) != counts:
        wrong = FormatError(
            f"{graph.path} has {graph.num_nodes} nodes and {graph.num_edges} edges, but "
            f"{DESCRIPTION} says {counts[0]} and {counts[1]}: it is of another dataset; compile "
            "the dataset again"
        )
        yield Mismatch(file=description["graph"], offset=ROWS_FIELD, error=wrong)
    for kind, name, file in named_files(description):
        store = handles.get(file)
        if isinstance(store, FeatureStore):
            yield from _wrong_tables(kind, name, file, store, graph)


def unlisted_files(
    files: Iterable[str], handles: Mapping[str, Handle[Any]], description: dict[str, Any]
) -> Iterator[Mismatch]:
    """Those of these files, as far as they are open, that are not the ones that were compiled."""
    for file in files:
        if file in handles:
            error = _unlisted(handles[file], description.get("files"), file)
            if error is not None:
                yield Mismatch(file=file, offset=CHECKSUM_FIELD, error=error)


def require_contents(
    path: str, contents: Mapping[str, Content], found: Mapping[str, Content]
) -> None:
    """Raises unless a dataset that was opened again has the files that it had when it was sent."""
    if contents == found:
        return
    wrong = [what for what in (*contents, *found) if contents.get(what) != found.get(what)]
    raise changed(
        path,
        f"is not the dataset that was sent here as this path ({wrong[0]} differs): it has been "
        "replaced; open it again, in all processes",
    )


def _unlisted(
    handle: Handle[Any], listed: Mapping[str, Any] | None, file: str
) -> DatasetChangedError | None:
    """What to raise if the list says that this is not the file that was compiled."""
    if listed is None:
        return None
    size, checksum = handle._content  # noqa: SLF001
    expected = listed[file]
    if (size, f"{checksum:016x}") == (expected["bytes"], expected["checksum"]):
        return None
    return changed(
        handle.path,
        f"is not the file that {DESCRIPTION} lists: it has {size:,} bytes and the checksum "
        f"{checksum:016x}, not {expected['bytes']:,} and {expected['checksum']}; put that file "
        "back, or compile the dataset again",
    )


def _wrong_tables(
    kind: str, name: str | None, file: str, store: FeatureStore, graph: Graph
) -> Iterator[Mismatch]:
    if kind in ("features", "labels"):
        try:
            check_order(graph, store)
        except OrderError as error:
            is_short = len(store) != graph.num_nodes
            offset = ROWS_FIELD if is_short else ORDER_FIELD
            yield Mismatch(file=file, offset=offset, error=error)
    elif kind == "edge_features" and len(store) != graph.num_edges:
        wrong = OrderError(
            f"{store.path} has {len(store)} rows, but {graph.path} has {graph.num_edges} edges; "
            "compile the table with edges= and the graph it belongs to"
        )
        yield Mismatch(file=file, offset=ROWS_FIELD, error=wrong)
    elif kind == "splits":
        yield from wrong_split(name, file, store)


def wrong_split(name: str | None, file: str, store: FeatureStore) -> Iterator[Mismatch]:
    """What is wrong with a split by its header, if anything is."""
    if is_split(store):
        return
    refusal = FormatError(
        f"{store.path} is no split: {name!r} has the shape {store.shape} and dtype "
        f"{store.dtype}, where a split is a vector of node ids; compile the dataset again"
    )
    yield Mismatch(file=file, offset=ROWS_FIELD, error=refusal)


def is_split(store: FeatureStore) -> bool:
    """Whether a table can hold the ids of a split, as far as its header tells."""
    return len(store.shape) == 1 and str(store.dtype) in ("int32", "int64")


def check_split_ids(store: FeatureStore, name: str, num_nodes: int) -> None:
    """Raises unless all ids of a split are nodes. Reads all of them, a piece at a time."""
    for begin in range(0, len(store), _SPLIT_ROWS):
        read_split_ids(store, name, num_nodes, begin, min(_SPLIT_ROWS, len(store) - begin))


def read_split_ids(
    store: FeatureStore, name: str, num_nodes: int, first: int = 0, count: int | None = None
) -> NDArray[np.int64]:
    """A copy of ids of a split, all of which are nodes.

    Args:
        store: The split.
        name: Its name.
        num_nodes: How many nodes there are.
        first: The row to begin with.
        count: How many to read; all by default.

    Raises:
        FormatError: An id is of no node.
    """
    ids = read_rows(store, first, count)
    wrong = np.flatnonzero((ids < 0) | (ids >= num_nodes))
    if len(wrong):
        error = FormatError(
            f"{store.path}: row {first + wrong[0]} of split {name!r} is {ids[wrong[0]]}, and there "
            f"are {num_nodes} nodes; the file is damaged, or of another dataset"
        )
        error.path = store.path
        raise error
    return ids.astype(np.int64, copy=False)
