"""A loader as a dataset of torch's, for code that is written around `torch.utils.data.DataLoader`.

The batches are those of the loader, the same for any number of workers: each worker takes its part
of them. A loader has threads of its own and needs no workers; they are for what is done to batches
in Python.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from torch.utils.data import IterableDataset, get_worker_info

from graphmount._loading.state import Place
from graphmount._support.arguments import as_count
from graphmount.torch.epoch import SharedEpoch
from graphmount.torch.loaders import LinkNeighborLoader, NeighborLoader
from graphmount.torch.tensor_batch import TensorBatch

if TYPE_CHECKING:
    from collections.abc import Iterator


class BatchDataset(IterableDataset[TensorBatch]):
    """The batches of a loader, for `torch.utils.data.DataLoader(..., batch_size=None)`.

    With workers, each takes a run of batches that follow each other, and an equal part of the
    loader's `memory=`. The epoch has the same batches for any number of workers; torch takes from
    one worker after the other, so they come in another order. Each loop is the next epoch, whoever
    runs it; in one process it ends the one before, as with the loader.

    Args:
        loader: What makes the batches, of nodes or links. It should have no loop of its own
            meanwhile.

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

    def __len__(self) -> int:
        """Batches of an epoch."""
        return len(self._loader)

    def __iter__(self) -> Iterator[TensorBatch]:
        worker = get_worker_info()
        loader, first = self._loader, 0
        if worker is not None:
            first, end = (
                len(self) * part // worker.num_workers for part in (worker.id, worker.id + 1)
            )
            # A child of `fork` has none of the threads of the loader, so it needs one of its own.
            loader = copy.copy(loader)
            loader._end = end  # noqa: SLF001
            loader._memory //= worker.num_workers  # noqa: SLF001
        epoch = self._epoch.begin_loop()
        try:
            with loader._lock:  # noqa: SLF001  (no other loop may begin in between)
                loader._go_to(Place(key=loader._key, epoch=epoch, batch=first))  # noqa: SLF001
                return iter(loader)
        except BaseException:
            if worker is None:  # else others may have begun this epoch
                self._epoch.set_next(epoch)
            raise

    def set_epoch(self, epoch: int) -> None:
        """The next loop is this epoch, also in workers that run on: for training that goes on.

        Args:
            epoch: From 0 on.

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
