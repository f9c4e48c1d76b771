"""Which epoch a loop over an `IterableDataset` belongs to, agreed on by all workers of the loop.

A `DataLoader` starts its workers anew for each loop, from the dataset as it is in the main process,
where no loop has taken place; or, with `persistent_workers=True`, it lets them begin again. In both
cases all workers of a loop must get the same epoch, and those of the next loop the next one. So the
epoch is counted in memory that they share. What tells loops apart is the seed that torch gives to
the workers of a `DataLoader`'s loop, and how many loops the process has been through.
"""

from __future__ import annotations

from multiprocessing.context import get_spawning_popen
from typing import Any

import torch
from torch import multiprocessing
from torch.utils.data import get_worker_info

# Loops that may be under way at the same time, and still be told apart.
_LOOPS = 16
# No seed of torch's: the loop was not one of workers.
_NOBODY = -1


class SharedEpoch:
    """Counts loops over a dataset, in the process that made it and in workers of its loops."""

    def __init__(self, first: int = 0) -> None:
        self._lock = multiprocessing.get_context("spawn").Lock()
        # For each of the last loops: the seed of its workers, its number in them, and its epoch.
        self._loops = _shared(torch.full((_LOOPS, 3), _NOBODY, dtype=torch.int64))
        self._next = _shared(torch.tensor([first], dtype=torch.int64))
        self._own_loops = 0

    def begin_loop(self) -> int:
        """The epoch of the loop that begins now in this process."""
        worker = get_worker_info()
        with self._lock:
            if worker is None:
                return self._begin(_NOBODY, 0)
            seed, number = worker.seed - worker.id, self._own_loops
            self._own_loops += 1
            for known_seed, known_number, epoch in self._loops.tolist():
                if (known_seed, known_number) == (seed, number):
                    return int(epoch)
            return self._begin(seed, number)

    def _begin(self, seed: int, number: int) -> int:
        epoch = int(self._next)
        self._loops[epoch % _LOOPS] = torch.tensor([seed, number, epoch])
        self._next += 1
        return epoch

    def next_epoch(self) -> int:
        """The epoch of the loop that begins next."""
        return int(self._next)

    def set_next(self, epoch: int) -> None:
        """The next loop that begins is of this epoch."""
        with self._lock:
            self._loops.fill_(_NOBODY)
            self._next.fill_(epoch)

    def __getstate__(self) -> dict[str, Any]:
        if get_spawning_popen() is not None:  # a worker: it counts with us
            return vars(self).copy()
        return {"first": int(self._next)}  # a copy: it counts for itself

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "first" in state:
            self.__init__(state["first"])  # type: ignore[misc]
        else:
            vars(self).update(state)


def _shared(tensor: torch.Tensor) -> torch.Tensor:
    moved: torch.Tensor = tensor.share_memory_()  # type: ignore[no-untyped-call]
    return moved
