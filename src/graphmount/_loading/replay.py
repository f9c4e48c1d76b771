"""A few batches of a loader, kept and given again and again: a training loop without loading.

How long an epoch of these takes is how long the training steps alone take. The difference to an
epoch of the loader is what loading costs.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from graphmount._support.display import Displayed

if TYPE_CHECKING:
    from collections.abc import Iterator

BatchT = TypeVar("BatchT")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Replay(Displayed, Generic[BatchT]):
    """What `replay` of a loader gives: as many batches as an epoch has, of which a few are real.

    Each time, a batch comes as a shallow copy: a step that moves its tensors to a device, or hangs
    something on it, does so anew in the next round, as with batches of the loader.

    Attributes:
        batches: The batches that go round.
        num_steps: How many come in all: as many as an epoch of the loader has.

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
