"""The processes of a training, as torchrun starts them: set up together, and ended together."""

from __future__ import annotations

import contextlib
import os
import socket
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self

from torch import distributed
from torch.distributed import PrefixStore  # type: ignore[attr-defined]

from graphmount._loading.batch_loader import BatchLoader
from graphmount._support.arguments import as_count, require_type
from graphmount._support.shown import shown
from graphmount.errors import DatasetChangedError, RankError
from graphmount.torch.ranks.in_time import in_time
from graphmount.torch.ranks.meeting import meet, meet_at
from graphmount.torch.ranks.signs_of_life import SignsOfLife

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

#: What engines set for each process that they start.
_OF_ENGINE = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
#: The longest time limit, in seconds: some years.
_LONGEST = 10**8
#: How many seconds to wait at the end, after an error, until what was set up is gone.
_LIMIT = 10.0
#: What failures of work in common say, in the words of torch and its libraries.
_IN_COMMON = ("gloo", "nccl", "connection closed", "connection reset", "timed out", "broken pipe")


class RankGroup:
    """The processes that train together: set up at the beginning of a `with`, ended at its end.

    Under `torchrun`, or another engine that sets RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, it
    sets up torch.distributed with a time limit; if that is set up already, it is used as it is, and
    `timeout` and `backend` are not looked at. Without an engine, there is one process. If a process
    dies or stops answering, the others do not wait for ever: at most the time limit later, each
    ends with a `RankError` that names it.

    Let a `DistributedDataParallel` model go before the group ends: make it in a function that is
    called inside of the `with`. One that was still there has once kept its process from ending.

    Args:
        backend: What torch.distributed works with: "gloo" for processors, "nccl" for GPUs.
        timeout: How many seconds a process waits for the others, at most.
        start_timeout: How many seconds it waits for them at the beginning, until all are there.

    Attributes:
        rank: The number of this process, from 0 on.
        world_size: How many processes there are.

    Raises:
        RankError: Another process did not come, has ended, or does not answer.
        TypeError, ValueError: A time limit is no number, or not above 0.

    Examples:
        >>> import graphmount as gm
        >>> import graphmount.torch
        >>> with gm.torch.RankGroup(timeout=60) as ranks:  # of a program that is started alone
        ...     print(ranks.rank, ranks.world_size, ranks.gather("here"))
        0 1 ['here']
    """

    def __init__(
        self, *, backend: str = "gloo", timeout: float = 300.0, start_timeout: float = 600.0
    ) -> None:
        require_type("backend", backend, str, 'a name, such as "gloo"')
        self._backend = backend
        self._timeout = _as_limit("timeout", timeout)
        self._start_timeout = _as_limit("start_timeout", start_timeout)
        self._signs: SignsOfLife | None = None
        self._sets_up = False
        self.rank, self.world_size = 0, 1

    def __enter__(self) -> Self:
        """Waits until all processes are there."""
        if distributed.is_initialized():
            self.rank, self.world_size = distributed.get_rank(), distributed.get_world_size()
            # There is no public way to it.
            store = distributed.distributed_c10d._get_default_store()  # noqa: SLF001
            limit = self._start_timeout.total_seconds()
            self._begin(meet_at(store, self.rank, self.world_size, limit))
            return self
        if not all(name in os.environ for name in _OF_ENGINE):
            return self
        store, self.rank, self.world_size = meet(self._start_timeout)
        self._begin(store)
        self._sets_up = True
        try:
            distributed.init_process_group(
                self._backend,
                store=PrefixStore("training", store),
                rank=self.rank,
                world_size=self.world_size,
                timeout=self._timeout,
            )
        except Exception as error:
            self._end_after(error)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Ends this process's part; an error that others caused becomes a `RankError`."""
        if error is not None:
            self._end_after(error)
            return
        if self._signs is not None:
            self._signs.end("has ended its part already")
        if self._sets_up:
            self._sets_up = False
            distributed.destroy_process_group()

    def _end_after(self, error: BaseException) -> None:
        """Tells others of an error, and leaves nothing behind that the next group would take."""
        try:
            self._fail(error)
        finally:
            if self._sets_up:
                self._sets_up = False
                # What is still under way in it may keep it from ending.
                with contextlib.suppress(Exception):
                    in_time(distributed.destroy_process_group, _LIMIT)

    def _begin(self, store: Any) -> None:  # noqa: ANN401
        """Gives signs of life from now on."""
        if self.world_size == 1:
            return
        # With a connection of its own: others may wait for something there.
        own = store.clone() if hasattr(store, "clone") else store
        self._signs = SignsOfLife(PrefixStore("signs", own), self.rank, self.world_size)

    def gather(self, value: Any) -> list[Any]:  # noqa: ANN401
        """What all processes pass, by their ranks. Each waits for all others.

        Args:
            value: Something small, which can be pickled.

        Returns:
            One value for each rank.

        Examples:
            >>> import graphmount as gm
            >>> import graphmount.torch
            >>> with gm.torch.RankGroup() as ranks:
            ...     ranks.gather(7)
            [7]
        """
        if self.world_size == 1:
            return [value]
        found: list[Any] = [None] * self.world_size
        distributed.all_gather_object(found, value)
        return found

    def batch_size(self, global_batch: int) -> int:
        """This rank's part of the inputs that all ranks take in a step.

        A loader with this `batch_size=` takes the same batches for any number of ranks, so that a
        training may go on with another number of them.

        Args:
            global_batch: How many inputs all ranks take together.

        Raises:
            ValueError: It cannot be divided evenly.

        Examples:
            >>> import graphmount as gm
            >>> import graphmount.torch
            >>> with gm.torch.RankGroup() as ranks:
            ...     ranks.batch_size(1024)
            1024
        """
        size = as_count(global_batch, "global_batch", least=1)
        if size % self.world_size:
            less = size - size % self.world_size
            near = " or ".join(str(each) for each in (less, less + self.world_size) if each)
            raise ValueError(
                f"a global batch of {size} cannot be divided evenly among {self.world_size} ranks; "
                f"take {near}, and for numbers of ranks that change, one that all of them divide"
            )
        return size // self.world_size

    def require_same_data(self, loader: BatchLoader) -> None:
        """Raises, on all ranks, unless the data of all loaders has the same content.

        Machines may have their own copies of a dataset: this finds one that is of another version.
        `load_checkpoint` does it too.

        Args:
            loader: The loader of this rank.

        Raises:
            DatasetChangedError: A file of another rank has another content.

        Examples:
            >>> import graphmount as gm
            >>> import graphmount.torch
            >>> _ = gm.compile_graph(([1, 2], [0, 0]), "g.gl")
            >>> loader = gm.torch.NeighborLoader(gm.Graph("g.gl"), [-1])
            >>> with gm.torch.RankGroup() as ranks:
            ...     ranks.require_same_data(loader)
        """
        require_type("loader", loader, BatchLoader, "a loader")
        contents = loader._data.contents()  # noqa: SLF001  (a friend)
        found = self.gather((socket.gethostname(), contents))
        first_host, first = found[0]
        for rank, (host, other) in enumerate(found):
            wrong = differing(first, other)
            if wrong is not None:
                raise DatasetChangedError(
                    f"rank {rank} (on {host}) and rank 0 (on {first_host}) have different versions "
                    f"of the data: {wrong}; give all machines the same files"
                )

    def _fail(self, error: BaseException) -> None:
        """Tells others of an error, or raises the one that they caused."""
        signs, self._signs = self._signs, None
        if signs is None:
            return
        if not _is_in_common(error):
            signs.end(f"ended with {type(error).__name__}: {error!s:.500}")
            return
        ended = signs.who_ended()
        if ended is None:
            signs.end(f"ended with {type(error).__name__}: {error!s:.500}")
            return
        signs.end_because_of(ended)
        found = RankError(
            f"rank {self.rank} waited for rank {ended.rank}, which {ended.how}; all ranks end. "
            "Start again from the last checkpoint"
        )
        found.rank = ended.rank
        raise found from error


def _as_limit(name: str, seconds: float) -> timedelta:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise TypeError(f"{name} must be a number of seconds, not {shown(seconds)}")
    if not 0 < seconds <= _LONGEST:
        raise ValueError(f"{name}={shown(seconds)}: give seconds, more than 0 and up to {_LONGEST}")
    return timedelta(seconds=seconds)


def _is_in_common(error: BaseException) -> bool:
    """Whether what failed is work of several processes."""
    if isinstance(error, getattr(distributed, "DistError", ())):
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError) and any(word in text for word in _IN_COMMON)


def differing(first: Mapping[str, str], other: Mapping[str, str]) -> str | None:
    """The files that differ, as a sentence; or None."""
    names = [
        name
        for name in [*first, *(name for name in other if name not in first)]
        if first.get(name) != other.get(name)
    ]
    if not names:
        return None
    return "; ".join(
        f"{name} is {first.get(name, 'not there')} and {other.get(name, 'not there')}"
        for name in names[:5]
    )


def as_group(ranks: RankGroup | None) -> RankGroup:
    """A group that was given; or one around the processes that torch.distributed has."""
    if ranks is not None:
        require_type("ranks", ranks, RankGroup, "a RankGroup")
        return ranks
    group = RankGroup()
    if distributed.is_available() and distributed.is_initialized():
        group.rank, group.world_size = distributed.get_rank(), distributed.get_world_size()
    return group
