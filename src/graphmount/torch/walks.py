"""Random walks as a dataset of torch's: batches of skip-gram pairs, for DeepWalk and node2vec.

A batch is a function of the seed, the epoch and its number. So epochs can be repeated, and workers
of a `DataLoader` give the same batches as none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.utils.data import IterableDataset, get_worker_info

from graphmount._loading.data.loader_data import LoaderData
from graphmount._loading.inputs import as_input_nodes
from graphmount._mount.graph import Graph
from graphmount._support.arguments import as_count, require_choice
from graphmount._support.display import Displayed, one_line
from graphmount._support.seeds import Seed, as_key
from graphmount._support.threads.one_taker import OneTaker
from graphmount.torch.epoch import SharedEpoch

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from numpy.typing import ArrayLike

    from graphmount._mount.node_ids import IdReading


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class SkipGramBatch(Displayed):
    """One batch of a `SkipGramDataset`: the pairs of its walks, as tensors.

    Attributes:
        centers: int64, a node for each pair.
        contexts: int64, a node that a walk visits near the center.
        negatives: int64, (pairs, negatives): nodes drawn at random.
        number: The place of the batch in its epoch.
        epoch: The epoch, from 0 on.

    Examples:
        >>> import graphmount as gm
        >>> import graphmount.torch
        >>> _ = gm.compile_graph(([0, 1, 2], [1, 2, 3]), "path.gl")
        >>> dataset = gm.torch.SkipGramDataset(gm.Graph("path.gl"), 2, window=1, batch_size=1)
        >>> batch = next(iter(dataset))
        >>> batch.centers, batch.contexts
        (tensor([0, 1, 1, 2]), tensor([1, 0, 2, 1]))
    """

    centers: torch.Tensor
    contexts: torch.Tensor
    negatives: torch.Tensor
    number: int
    epoch: int


class SkipGramDataset(IterableDataset[SkipGramBatch]):
    """Walks from all nodes in each epoch, as batches of skip-gram pairs with negatives.

    Loop over it directly, or through `torch.utils.data.DataLoader(..., batch_size=None)`. The
    batches and their order are the same for any number of workers. Each loop is a new epoch with
    new walks. Several loops may run at the same time in several threads, but only one thread at a
    time may take batches from a loop.

    Args:
        graph: The mounted graph to walk on.
        length: The number of steps of a walk.
        window: How many steps a center and its context may be apart.
        starts: The nodes to start from: ids, or a mask with one bool for each node. All nodes if
            None.
        ids: Which ids `starts` are: "internal" for ids of the dataset, "external" for ids of its
            source. Needed only if the graph belongs to a reordered dataset, and `starts` are not
            ids that the dataset returned.
        walks_per_start: How many walks start at each node in an epoch.
        batch_size: How many walks a batch has.
        shuffle: Whether to put the starts into a new random order in each epoch.
        seed: An integer, or several such as (seed, epoch, batch). The same seed gives the same
            batches. If None, one is drawn from torch's generator, or from NumPy's if torch is not
            loaded.
        options: Other options of `Graph.skip_gram_pairs`: `negatives`, `negative_weighting`, `p`,
            `q`, `restart`, `weighted`, `dead_end` and `direction`.

    Raises:
        IdError: A start does not exist.
        MissingDataError: The file lacks this direction, or weights.
        ValueError, TypeError: An option has no meaning.

    Examples:
        >>> import graphmount as gm
        >>> import graphmount.torch
        >>> _ = gm.compile_graph(([0, 1, 2, 3], [1, 2, 3, 0]), "ring.gl")
        >>> dataset = gm.torch.SkipGramDataset(
        ...     gm.Graph("ring.gl"), 4, window=2, negatives=5, batch_size=3, seed=1
        ... )
        >>> [(batch.epoch, batch.number, tuple(batch.negatives.shape)) for batch in dataset]
        [(0, 0, (42, 5)), (0, 1, (14, 5))]
    """

    def __init__(
        self,
        graph: Graph,
        length: int,
        *,
        window: int,
        starts: ArrayLike | None = None,
        ids: IdReading | None = None,
        walks_per_start: int = 1,
        batch_size: int = 128,
        shuffle: bool = False,
        seed: Seed = None,
        **options: Any,  # noqa: ANN401
    ) -> None:
        if not isinstance(graph, Graph):
            raise TypeError(f"SkipGramDataset takes a mounted Graph, not {graph!r}")
        require_choice("shuffle", shuffle, (False, True))
        self._graph = graph
        self._starts = as_input_nodes(starts, LoaderData(graph=graph), ids)
        self._walks = as_count(walks_per_start, "walks_per_start", least=1)
        self._batch_size = as_count(batch_size, "batch_size", least=1)
        self._shuffle = shuffle
        self._key = as_key(seed)
        self._options = {"length": length, "window": window, **options}
        graph.skip_gram_pairs([], seed=0, **self._options)  # options that are wrong fail here
        self._epoch = SharedEpoch()

    def __repr__(self) -> str:
        return one_line(
            f"<SkipGramDataset of {self._graph!r}: {len(self):,} batches of {self._batch_size:,} "
            "walks>"
        )

    def __len__(self) -> int:
        """Batches of an epoch."""
        batches, rest = divmod(len(self._starts) * self._walks, self._batch_size)
        return batches + (rest > 0)

    def __iter__(self) -> Iterator[SkipGramBatch]:
        worker = get_worker_info()
        first, step = (0, 1) if worker is None else (worker.id, worker.num_workers)
        return OneTaker(self._batches(self._epoch.begin_loop(), first, step))

    def _batches(self, epoch: int, first: int, step: int) -> Generator[SkipGramBatch]:
        order = np.arange(len(self._starts) * self._walks)
        if self._shuffle:
            order = np.random.default_rng([self._key, epoch]).permutation(len(order))
        for number in range(first, len(self), step):
            places = order[number * self._batch_size : (number + 1) * self._batch_size]
            pairs = self._graph.skip_gram_pairs(
                self._graph._mark(self._starts[places % len(self._starts)]),  # noqa: SLF001
                seed=(self._key, epoch, number),
                **self._options,
            )
            yield SkipGramBatch(
                centers=torch.from_numpy(pairs.centers),
                contexts=torch.from_numpy(pairs.contexts),
                negatives=torch.from_numpy(pairs.negatives),
                number=number,
                epoch=epoch,
            )

    def set_epoch(self, epoch: int) -> None:
        """Makes the next loop this epoch, also in persistent workers: for training that is resumed.

        Args:
            epoch: The number of the epoch, from 0 on.

        Examples:
            >>> import graphmount as gm
            >>> import graphmount.torch
            >>> _ = gm.compile_graph(([0, 1, 2], [1, 2, 3]), "path.gl")
            >>> dataset = gm.torch.SkipGramDataset(gm.Graph("path.gl"), 2, window=1)
            >>> dataset.set_epoch(3)
            >>> next(iter(dataset)).epoch
            3
        """
        self._epoch.set_next(as_count(epoch, "epoch"))
