"""Which inputs an epoch has, in which order, and which of them one process takes.

Process r takes what is at the places r, r + world_size and so on. So a batch of all processes
together has the same inputs in the same order, however many there are. What does not divide evenly
is left out with `drop_last`; else the first of the order come again at its end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class EpochOrder:
    """A loader over inputs. `BatchLoader` is what has these attributes."""

    _num_inputs: int
    _batch_size: int
    _shuffle: bool
    _drop_last: bool
    _rank: int
    _world_size: int
    _key: int
    #: Where epochs end, if that is before their last batch: for a worker that makes a part of the
    #: batches.
    _end: int | None = None

    def __len__(self) -> int:
        """Batches of an epoch, the same for all ranks."""
        if self._end is not None:
            return self._end
        batches, rest = divmod(self._inputs_per_rank, self._batch_size)
        return batches + (1 if rest and not self._drop_last else 0)

    @property
    def _inputs_per_rank(self) -> int:
        rounded_up = 0 if self._drop_last else self._world_size - 1
        return (self._num_inputs + rounded_up) // self._world_size

    def _epoch_order(self, epoch: int) -> NDArray[np.int64]:
        """Places of the inputs of this rank among all, in the order of the epoch."""
        order = np.arange(self._num_inputs)
        if self._shuffle:
            order = np.random.default_rng([self._key, epoch]).permutation(self._num_inputs)
        if self._world_size > 1 and len(order):
            of_all = np.resize(order, self._inputs_per_rank * self._world_size)
            order = of_all[self._rank :: self._world_size]
        return order[: len(self) * self._batch_size]

    def _count_repeated(self, first: int, count: int) -> int:
        """How many of `count` inputs of this rank, from `first` on, are there a second time."""
        # The first place of this process that is behind all inputs.
        end = -(-(self._num_inputs - self._rank) // self._world_size)
        return max(0, min(count, first + count - max(end, 0)))

    @property
    def _epoch_repeated(self) -> int:
        """How many inputs of an epoch come twice, over all ranks."""
        if self._drop_last:
            return 0
        return self._inputs_per_rank * self._world_size - self._num_inputs
