"""A loader as a dataset of torch's, for code that is written around `torch.utils.data.DataLoader`.

The batches are those of the loader, and the same for any number of workers: each worker makes a
part of them. A loader has threads of its own and needs no workers; use workers if you process
batches in Python. The dataset can save where a loop is, and go on there, as torchdata's
`StatefulDataLoader` needs it in each worker.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torch.utils.data import IterableDataset, get_worker_info

from graphmount._loading.epochs.state import Place, place_in
from graphmount._support.arguments import as_count
from graphmount.torch.batches.tensor_batch import TensorBatch
from graphmount.torch.epoch import SharedEpoch
from graphmount.torch.loaders import LinkNeighborLoader, NeighborLoader

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True)
class _Loop:
    """The loop of this process: its loader, its epoch, and where its part of the epoch ends."""

    loader: NeighborLoader | LinkNeighborLoader
    epoch: int
    end: int


class BatchDataset(IterableDataset[TensorBatch]):
    """The batches of a loader, for `torch.utils.data.DataLoader(..., batch_size=None)`.

    Each worker takes a run of consecutive batches, and an equal part of the loader's `memory=`. An
    epoch has the same batches for any number of workers. Their order differs, because torch takes
    batches from one worker after the other. Each loop is the next epoch, whichever process runs it.
    Within a process, a new loop ends the one before, as with the loader itself.

    Args:
        loader: The loader that makes the batches, of nodes or of links. Run no loop over the loader
            itself at the same time.

    Examples:
        >>> import torch
        >>> import graphmount as gm
        >>> import graphmount.torch
        >>> _ = gm.compile_graph(([1, 2, 3], [0, 0, 1]), "g.gl")
        >>> loader = gm.torch.NeighborLoader(gm.Graph("g.gl"), [2], batch_size=2, seed=1)
        >>> dataset = gm.torch.BatchDataset(loader)
        >>> [batch.number for batch in torch.utils.data.DataLoader(dataset, batch_size=None)]
        [0, 1]
    """

    def __init__(self, loader: NeighborLoader | LinkNeighborLoader) -> None:
        if not isinstance(loader, NeighborLoader | LinkNeighborLoader):
            raise TypeError(f"BatchDataset takes a loader of graphmount.torch, not {loader!r}")
        self._loader = loader
        self._epoch = SharedEpoch(loader._epoch)  # noqa: SLF001
        self._loop: _Loop | None = None
        self._resumed: Place | None = None

    def __repr__(self) -> str:
        return f"<BatchDataset of {self._loader!r}>"

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_loop": None}  # a worker has none of our loops

    def __len__(self) -> int:
        """Batches of an epoch."""
        return len(self._loader)

    def __iter__(self) -> Iterator[TensorBatch]:
        worker = get_worker_info()
        loader, first, end = self._loader, 0, len(self)
        if worker is not None:
            first, end = (
                len(self) * part // worker.num_workers for part in (worker.id, worker.id + 1)
            )
            # A child of `fork` has none of the threads of the loader, so it needs one of its own.
            loader = copy.copy(loader)
            loader._end = end  # noqa: SLF001
            loader._memory //= worker.num_workers  # noqa: SLF001
        resumed, self._resumed = self._resumed, None
        if resumed is None:
            epoch = self._epoch.begin_loop()
        else:
            epoch, first = resumed.epoch, max(first, resumed.batch)
            self._epoch.set_next(epoch + 1)
        try:
            with loader._lock:  # noqa: SLF001  (no other loop may begin in between)
                loader._go_to(Place(key=loader._key, epoch=epoch, batch=first))  # noqa: SLF001
                batches = iter(loader)
        except BaseException:
            self._resumed = resumed
            if worker is None:  # else others may have begun this epoch
                self._epoch.set_next(epoch)
            raise
        self._loop = _Loop(loader, epoch, end)
        return batches

    def state_dict(self) -> dict[str, Any]:
        """Where the loop of this process is, or where the next one will begin, as data for JSON.

        Examples:
            >>> import graphmount as gm
            >>> import graphmount.torch
            >>> _ = gm.compile_graph(([1, 2, 3], [0, 0, 1]), "g.gl")
            >>> loader = gm.torch.NeighborLoader(gm.Graph("g.gl"), [2], batch_size=2, seed=1)
            >>> dataset = gm.torch.BatchDataset(loader)
            >>> _ = next(iter(dataset))
            >>> dataset.state_dict()["batch"]
            1
        """
        if self._loop is None:
            start = {"epoch": self._epoch.next_epoch(), "batch": 0}
            return self._loader.state_dict() | start
        loop = self._loop
        state = loop.loader.state_dict()
        # A loop that has ended says so: it has no batches left, whatever its part was.
        is_over = state["epoch"] != loop.epoch
        return state | {"epoch": loop.epoch, "batch": loop.end} if is_over else state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Makes the next loop go on where `state_dict` was taken.

        Args:
            state: What `state_dict` returned, for this dataset or for one like it. With workers, it
                must come from the same worker, of as many.

        Raises:
            TypeError, ValueError: This is no state, or the state of a loader with another order of
                batches.

        Examples:
            >>> import graphmount as gm
            >>> import graphmount.torch
            >>> _ = gm.compile_graph(([1, 2, 3], [0, 0, 1]), "g.gl")
            >>> loader = gm.torch.NeighborLoader(gm.Graph("g.gl"), [2], batch_size=2, seed=1)
            >>> dataset = gm.torch.BatchDataset(loader)
            >>> dataset.load_state_dict({**dataset.state_dict(), "batch": 1})
            >>> [batch.number for batch in dataset]
            [1]
        """
        loader = self._loader
        place = place_in(state, loader._order_facts(), num_batches=len(loader))  # noqa: SLF001
        if place.key != loader._key:  # noqa: SLF001
            if get_worker_info() is not None:
                raise ValueError(
                    "the state is of a loader with another seed, and a worker cannot change the "
                    "seed of later epochs; give the loader the seed= that it had"
                )
            loader.load_state_dict(state)
        self._resumed = place

    def set_epoch(self, epoch: int) -> None:
        """Makes the next loop this epoch, also in persistent workers: for training that is resumed.

        Args:
            epoch: The number of the epoch, from 0 on.

        Examples:
            >>> import graphmount as gm
            >>> import graphmount.torch
            >>> _ = gm.compile_graph(([1, 2, 3], [0, 0, 1]), "g.gl")
            >>> loader = gm.torch.NeighborLoader(gm.Graph("g.gl"), [2], batch_size=2, seed=1)
            >>> dataset = gm.torch.BatchDataset(loader)
            >>> dataset.set_epoch(7)
            >>> next(iter(dataset)).epoch
            7
        """
        self._epoch.set_next(as_count(epoch, "epoch"))
        self._resumed = None
