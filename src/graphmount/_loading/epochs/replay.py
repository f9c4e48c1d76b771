"""A few batches of a loader, kept and given again and again: a training loop without loading.

How long an epoch of these takes is how long the training steps alone take. The difference to an
epoch of the loader is what loading costs.
"""

from __future__ import annotations

import copy
import itertools
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from graphmount._support.arguments import as_count
from graphmount._support.display import Displayed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from graphmount._support.threads.process_lock import ProcessLock

BatchT = TypeVar("BatchT")

#: What says where the next loop begins, and what the last one was.
_PLACE = ("_epoch", "_handed_out", "_resumes", "_was_left", "_last")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Replay(Displayed, Generic[BatchT]):
    """What `replay` of a loader returns: a loop as long as an epoch, over a few kept batches.

    Each time, a batch comes as a shallow copy. So a training step that moves its tensors to a
    device, or adds an attribute to it, has to do so again in the next round, as with the loader
    itself.

    Attributes:
        batches: The batches that are kept and returned again and again.
        num_steps: How many batches a loop returns: as many as an epoch of the loader has.

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_graph(([0, 1, 2, 3], [1, 2, 3, 0]), "g.gl")
        >>> loader = gm.NeighborLoader(gm.Graph("g.gl"), [1], batch_size=1)
        >>> [batch.number for batch in loader.replay(2)]
        [0, 1, 0, 1]
    """

    batches: tuple[BatchT, ...]
    num_steps: int

    def __len__(self) -> int:
        return self.num_steps

    def __iter__(self) -> Iterator[BatchT]:
        for step in range(self.num_steps):
            yield copy.copy(self.batches[step % len(self.batches)])

    def __repr__(self) -> str:
        return f"<Replay of {len(self.batches):,} batches in {len(self):,} steps>"

    def _shown_fields(self) -> dict[str, object]:
        return {"batches that go round": len(self.batches), "steps": len(self)}


class Replayed(ABC):
    """A loader, as far as replaying it goes: it has a loop, which is begun and stopped."""

    _lock: ProcessLock

    @abstractmethod
    def __iter__(self) -> Iterator[Any]:
        """A loop over the next epoch, in place of the one that runs."""

    @abstractmethod
    def __len__(self) -> int:
        """Batches of an epoch."""

    @abstractmethod
    def _set(self, **values: Any) -> None:  # noqa: ANN401
        """Changes attributes, all at once."""

    @abstractmethod
    def _stop(self) -> None:
        """Ends the loop that runs."""

    def replay(self: Iterable[BatchT], num_batches: int = 8) -> Replay[BatchT]:
        """Keeps a few batches, to time training without loading.

        This makes the first batches of an epoch and keeps them. A loop over the result is as long
        as an epoch, and returns these batches again and again at no cost. Compare its time with
        that of a loop over the loader: the difference is what loading costs.

        A running loop over the loader is ended, as by `iter`. The place of the loader does not
        change: the next loop and `state_dict` are as if this had not been called.

        Args:
            num_batches: How many batches to keep in memory.

        Raises:
            ValueError: It is less than 1; or an epoch has no batches.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_graph(([0, 1, 2, 3], [1, 2, 3, 0]), "g.gl")
            >>> loader = gm.NeighborLoader(gm.Graph("g.gl"), [1], batch_size=1)
            >>> len(loader.replay(2)), len(loader.replay(2).batches)
            (4, 2)
        """
        count = as_count(num_batches, "num_batches", least=1)
        return cast("Replayed", self)._first_batches(count)  # noqa: SLF001  (it is this one)

    def _first_batches(self, count: int) -> Replay[Any]:
        if len(self) == 0:
            raise ValueError("replay: an epoch of this loader has no batches")
        with self._lock:
            place = {name: getattr(self, name) for name in _PLACE}
            try:
                self._set(_resumes=False, _was_left=False)
                batches = tuple(itertools.islice(iter(self), count))
            finally:
                self._stop()
                self._set(**place)
        return Replay(batches=batches, num_steps=len(self))
