"""The loader of nodes: sampled neighbors with their rows, made ahead of the training step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount import _core
from graphmount._loading.batch import Batch
from graphmount._loading.batch_loader import BatchLoader
from graphmount._loading.inputs import as_input_nodes, as_rank, as_times, open_data
from graphmount._loading.memory_budget import as_budget
from graphmount._loading.state import checksum_of
from graphmount._mount.sampling_rule import SamplingRule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from graphmount._dataset.dataset import Dataset
    from graphmount._loading.inputs import EdgeIds
    from graphmount._mount.features import FeatureStore, Reader
    from graphmount._mount.graph import Graph
    from graphmount._mount.node_ids import IdReading
    from graphmount._mount.sampling_rule import SubgraphType, TemporalStrategy
    from graphmount._support.direction import Direction
    from graphmount._support.seeds import Seed


class NeighborLoader(BatchLoader):
    """Batches of seeds with sampled neighbors, and the rows of all their nodes.

    Threads of the core sample ahead, fetch rows ahead, and hand batches over without a copy. They
    work while a loop runs, and end with it. Argument names are PyG's where it has them.

    Calls of several threads may overlap. There is one loop at a time: `iter`, `close` and
    `load_state_dict` end the one that runs, whichever thread has it, and one thread at a time takes
    batches. A child of `fork` begins a loop of its own: see docs/threads.md.

    Args:
        data: A `Dataset`; or a `Graph` alone, or with a `FeatureStore` or a dict of them.
        num_neighbors: How many neighbors to draw in each hop; -1 for all.
        input_nodes: The seeds: ids, a mask, or the name of a split. All nodes if None.
        ids: Whose ids the seeds are: "internal" for those of the dataset, "external" for those of
            its source, such as masks and splits that came with the data. A dataset in the order of
            its source has one kind, so None will do; so it does for names of splits, and for ids
            that a dataset has given (`NodeIds`).
        batch_size: Seeds of a batch.
        shuffle: Order the seeds anew in each epoch.
        drop_last: Leave out the last batch if it is smaller.
        edge_ids: What batches have for ids of edges: "internal" for edge ids of the graph, "source"
            for the row that each edge had in the source, for which the graph must know them: see
            `source_rows` of `compile_dataset`.
        replace: As for `Graph.sample_neighbors`, and so for the next ones.
        weighted: See there.
        disjoint: See there.
        input_time: The time of each seed, as `time` there.
        temporal_strategy: See there.
        subgraph_type: See there.
        direction: See there.
        features: Names of the tables whose rows to fetch; all if None.
        edge_features: Names of the tables of edges to fetch; or, without a dataset, tables by name.
        dtype: What rows are converted to on their way: one dtype for all tables of nodes, or a dict
            with one for some tables, as for `FeatureStore.gather`. As stored if None.
        memory: What caches of rows may take, with all that belongs to them: their bookkeeping, and
            reads in flight, which have 2 MiB for each table even if this is less. Batches that are
            under way or handed out come on top. If None, it is a part of what is free on the
            machine or in its control group: see docs/loading.md. `stats()` says how much.
        prefetch: Finished batches that may wait to be taken.
        window: Batches to sample ahead. Rows that several of them want are read once.
        reader: How rows come from the disk: "uring", "pread", "mapped", or "auto", which takes what
            suits the file and the system.
        seed: Of all randomness. Drawn if None, as for other calls.
        rank: Which part of the seeds to take, of `world_size`. As torch.distributed says, if None
            and that is set up. All ranks have the same number of batches.
        world_size: How many processes share the seeds.

    Examples:
        >>> import numpy as np
        >>> import graphmount as gm
        >>> x = np.arange(8, dtype=np.float32).reshape(4, 2)
        >>> _ = gm.compile_dataset(
        ...     "four", edges=([3, 3, 3, 1], [0, 1, 2, 2]), features={"x": x}, labels=[0, 1, 0, 1]
        ... )
        >>> loader = gm.NeighborLoader(gm.Dataset("four"), [2, 2], batch_size=3, memory="1MiB")
        >>> for batch in loader:
        ...     print(batch.number, batch.batch_size, batch.labels)
        0 3 [1 1 0]
        1 1 [0]
    """

    def __init__(
        self,
        data: Dataset | Graph | tuple[Graph, FeatureStore | Mapping[str, FeatureStore]],
        num_neighbors: Sequence[int],
        *,
        input_nodes: ArrayLike | str | None = None,
        ids: IdReading | None = None,
        batch_size: int = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        edge_ids: EdgeIds = "internal",
        replace: bool = False,
        weighted: bool = False,
        disjoint: bool = False,
        input_time: ArrayLike | None = None,
        temporal_strategy: TemporalStrategy = "uniform",
        subgraph_type: SubgraphType = "directional",
        direction: Direction = "in",
        features: Iterable[str] | None = None,
        edge_features: Iterable[str] | Mapping[str, FeatureStore] = (),
        dtype: DTypeLike | Mapping[str, DTypeLike] | None = None,
        memory: int | str | None = None,
        prefetch: int = 2,
        window: int = 16,
        reader: Reader = "auto",
        seed: Seed = None,
        rank: int | None = None,
        world_size: int | None = None,
    ) -> None:
        opened = open_data(data, features, edge_features)
        own_rank, num_ranks = as_rank(rank, world_size)
        budget = as_budget(memory, opened, num_ranks)
        self._inputs = as_input_nodes(input_nodes, opened, ids)
        self._times = as_times(input_time, "input_time", len(self._inputs), "input nodes")
        super().__init__(
            opened,
            SamplingRule(
                fanouts=num_neighbors,
                replace=replace,
                weighted=weighted,
                disjoint=disjoint,
                temporal=self._times is not None,
                temporal_strategy=temporal_strategy,
                subgraph_type=subgraph_type,
                direction=direction,
            ),
            num_inputs=len(self._inputs),
            batch_size=batch_size,
            shuffle=shuffle,
            drop_last=drop_last,
            edge_ids=edge_ids,
            dtype=dtype,
            budget=budget,
            prefetch=prefetch,
            window=window,
            reader=reader,
            seed=seed,
            rank=own_rank,
            world_size=num_ranks,
        )

    def __iter__(self) -> Iterator[Batch]:
        return self._loop()

    def _make_batch(self, fields: dict[str, Any]) -> Any:  # noqa: ANN401
        return Batch(**fields)

    def _input_facts(self) -> dict[str, Any]:
        return {
            "kind": "nodes",
            "inputs": checksum_of(self._inputs),
            "times": None if self._times is None else checksum_of(self._times),
        }

    def _make_seeds(
        self, order: NDArray[np.int64], batch_size: int | None = None
    ) -> _core.SeedSource:
        return _core.NodeSeeds(
            nodes=np.ascontiguousarray(self._inputs[order]),
            times=np.empty(0, np.int64) if self._times is None else self._times[order],
            batch_size=batch_size or self._batch_size,
        )
