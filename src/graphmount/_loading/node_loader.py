"""The loader of nodes: sampled neighbors with their rows, made ahead of the training step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, Unpack, overload

import numpy as np

from graphmount import _core
from graphmount._loading.batch_loader import BatchLoader
from graphmount._loading.batches.batch import Batch
from graphmount._loading.batches.typed_batch import TypedBatch
from graphmount._loading.epochs.state import checksum_of
from graphmount._loading.inputs import as_times, open_data, read_inputs
from graphmount._loading.memory_budget import as_budget
from graphmount._loading.ranks.ranks import as_ranks
from graphmount._mount.sampling_rule import SamplingRule
from graphmount._support.foreign_words import NODE_LOADER_WORDS
from graphmount._support.keywords import advises
from graphmount._support.user_warnings import warn_user

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from graphmount._dataset.typed.results import EdgeType
    from graphmount._dataset.typed_dataset import TypedDataset
    from graphmount._loading.batches.aggregation import AggregateLast
    from graphmount._loading.data.loader_data import EdgeIds, IdSpace, Rows
    from graphmount._loading.options import (
        EdgeTableNames,
        InputNodes,
        LoaderInput,
        NodeOptions,
        OneKindInput,
        TableNames,
    )
    from graphmount._mount.features import Reader
    from graphmount._mount.node_ids import IdReading
    from graphmount._mount.sampling_rule import SubgraphType, TemporalStrategy, TimeOf
    from graphmount._support.direction import Direction
    from graphmount._support.seeds import Seed


if TYPE_CHECKING:
    import typing_extensions

    #: What batches are: of a `TypedDataset`, those of many kinds.
    NodeBatchT = typing_extensions.TypeVar("NodeBatchT", default=Batch)
else:
    NodeBatchT = TypeVar("NodeBatchT")


class NeighborLoader(BatchLoader, Generic[NodeBatchT]):
    """Batches of seeds with sampled neighbors, and the rows of all their nodes.

    While a loop runs, threads of the core sample batches and fetch rows ahead of it, and hand
    batches over without a copy. Arguments have the names that PyG gives them, where it has them.

    Several threads may call a loader at the same time. A loader has one loop at a time: `iter`,
    `close` and `load_state_dict` end the loop that is running, even in another thread. Only one
    thread at a time may take batches. After `fork`, the child process begins a loop of its own;
    docs/threads.md has the details.

    Args:
        data: A `Dataset` or `TypedDataset`, or the path of one; or a `Graph` alone, or a pair of a
            `Graph` and a `FeatureStore` or a dict of them. Of a `TypedDataset`, batches are
            `TypedBatch` objects.
        num_neighbors: For each hop, how many neighbors to draw for each node; -1 for all. An
            empty list gives the seeds alone, with a warning. For a `TypedDataset`, such a list is
            for every relation, or a dict has one for each.
        input_nodes: The seeds: ids, a mask with one bool for each node, or the name of a split. All
            nodes if None. For a `TypedDataset`, a type and its nodes, as ("paper", "train"), or a
            type alone for all of its nodes.
        ids: Which ids the seeds are: "internal" for ids of the dataset, "external" for ids of its
            source, such as masks and splits that came with the data. If the dataset kept the order
            of its source, both are the same and None is enough. None is also enough for the name of
            a split, and for ids that a dataset returned (`NodeIds`).
        batch_size: How many seeds a batch has.
        shuffle: Whether to put the seeds into a new random order in each epoch.
        drop_last: Whether to leave out the last batch of an epoch if it is smaller than the others.
        edge_ids: What batches have as edge ids: "internal" for the edge ids of the graph, "source"
            for the row that each edge had in the source. For "source", the graph must have kept
            these rows: it must have been compiled with `source_rows=True` or with edge tables.
        replace: Whether a neighbor may be drawn more than once for the same node.
        weighted: Whether neighbors are drawn in proportion to the weights of their edges. A
            neighbor of weight 0 is never drawn.
        disjoint: Whether each seed gets a tree of its own that shares no nodes with the trees of
            other seeds.
        input_time: The time of each seed. Only edges of that time or before are sampled, and
            sampling is then disjoint.
        time_of: For a `TypedDataset`, whose times must not be later than those of the seeds: those
            of "edges", or those of the "nodes" that are drawn. With "nodes" and without
            `input_time`, seeds have their own times. If None, it is what has times.
        temporal_strategy: For sampling with times: "uniform" draws among all edges that are early
            enough, "last" takes the latest of them.
        subgraph_type: Which edges a batch has. "directional": the edges that were drawn.
            "bidirectional": those and their reverse, each once. "induced": all edges that the graph
            has between the sampled nodes.
        direction: "in" draws the sources of incoming edges, "out" the targets of outgoing edges.
            `row` and `col` are sources and destinations in both cases.
        features: Names of the node tables whose rows each batch gets; all tables if None. For a
            `TypedDataset`, names are those of any type, or a dict has the names for some types.
        edge_features: Names of the edge tables whose rows each batch gets; none by default. Without
            a dataset: a dict of `FeatureStore` objects by name. For a `TypedDataset`, a dict may
            have the names for some relations.
        dtype: What rows are converted to while they are loaded: one dtype for all node tables, or a
            dict with a dtype for some tables. Rows stay as stored if None. For a `TypedDataset`,
            the dict may have (type, name) in place of a name.
        aggregate_last: What to make of the rows of neighbors while they are loaded: "mean" or
            "sum". A batch then has a row for each target, which is every node but those of the last
            hop: its own in `features`, and the mean or sum over its sampled neighbors in
            `aggregated`. This is less work than to gather the rows of all nodes, and it is what
            `graphmount.torch.nn.SAGEConv` and `GINConv` begin with. It is for float32 tables of
            nodes, `subgraph_type="directional"` and `direction="in"`, and not for a `TypedDataset`.
            If None, batches have the rows of all nodes.
        memory: How much memory the row caches may use, including their bookkeeping and reads in
            flight. It is for all ranks of one machine together, and each takes its part. Each table
            gets at least 2 MiB for reads in flight, even if `memory` is smaller.
            Batches that are being made or that you hold come on top. If None, the loader takes a
            part of the memory that is free on the machine or in its control group (docs/loading.md
            has the rule), and `stats()` says how much that is.
        prefetch: How many finished batches may wait for the training loop.
        window: How many batches are sampled ahead. A row that several of them need is read once.
        reader: How rows are read from disk: "uring", "pread" or "mapped". "auto" takes what suits
            the file and the system.
        seed: The seed of all randomness: an integer, or several integers. If None, one is drawn
            from torch's generator, or from NumPy's if torch is not loaded.
        rank: Which part of the seeds this process takes, from 0 to `world_size` - 1. If None, it
            comes from torch.distributed if that is set up. All ranks have the same number of
            batches.
        world_size: How many processes share the seeds. If None, it comes from torch.distributed if
            that is set up.

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

    @overload
    def __init__(
        self: NeighborLoader[TypedBatch],
        data: TypedDataset,
        num_neighbors: Sequence[int] | Mapping[EdgeType, Sequence[int]],
        **options: Unpack[NodeOptions],
    ) -> None: ...
    @overload
    def __init__(
        self: NeighborLoader[Batch],
        data: OneKindInput,
        num_neighbors: Sequence[int] | Mapping[EdgeType, Sequence[int]],
        **options: Unpack[NodeOptions],
    ) -> None: ...
    @advises(NODE_LOADER_WORDS)
    def __init__(
        self,
        data: LoaderInput,
        num_neighbors: Sequence[int] | Mapping[EdgeType, Sequence[int]],
        *,
        input_nodes: InputNodes | None = None,
        ids: IdReading | None = None,
        batch_size: int = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        edge_ids: EdgeIds = "internal",
        replace: bool = False,
        weighted: bool = False,
        disjoint: bool = False,
        input_time: ArrayLike | None = None,
        time_of: TimeOf | None = None,
        temporal_strategy: TemporalStrategy = "uniform",
        subgraph_type: SubgraphType = "directional",
        direction: Direction = "in",
        features: TableNames | None = None,
        edge_features: EdgeTableNames = (),
        dtype: DTypeLike | Mapping[Any, DTypeLike] | None = None,
        aggregate_last: AggregateLast | None = None,
        memory: int | str | None = None,
        prefetch: int = 2,
        window: int = 16,
        reader: Reader = "auto",
        seed: Seed = None,
        rank: int | None = None,
        world_size: int | None = None,
    ) -> None:
        if isinstance(num_neighbors, list | tuple) and not num_neighbors:
            warn_user(
                "num_neighbors=[] has no hops: batches have the seeds alone, without neighbors and "
                "edges; write [15, 10] for 15 neighbors in the first hop and 10 in the second"
            )
        opened = open_data(data, features, edge_features)
        ranks = as_ranks(rank, world_size)
        budget = as_budget(memory, opened, ranks)
        opened, self._inputs = read_inputs(input_nodes, opened, ids)
        whole, fanouts = opened.with_fanouts(num_neighbors)
        times = as_times(input_time, "input_time", len(self._inputs), "input nodes")
        self._times, whose = whole.read_times(times, time_of, direction, self._inputs)
        super().__init__(
            whole,
            SamplingRule(
                fanouts=fanouts,
                replace=replace,
                weighted=weighted,
                disjoint=disjoint,
                temporal=self._times is not None,
                time_of=whose,
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
            ranks=ranks,
            aggregate_last=aggregate_last,
        )

    def __iter__(self) -> Iterator[NodeBatchT]:
        return self._loop()

    def _make_batch(self, fields: dict[str, Any]) -> Any:  # noqa: ANN401
        return TypedBatch(**fields) if self._data.is_typed else Batch(**fields)

    def _fields(
        self,
        sample: Any,  # noqa: ANN401
        rows: Rows,
        ends: NDArray[np.int64],
        places: NDArray[np.int64],
    ) -> dict[str, Any]:
        fields = super()._fields(sample, rows, ends, places)
        return fields | ({"seed_type": self._seed_type} if self._data.is_typed else {})

    @property
    def _seed_type(self) -> IdSpace:
        """The type of the seeds."""
        return getattr(self._data, "seed_types", self._data.node_types)[0]

    def _input_facts(self) -> dict[str, Any]:
        return {
            "kind": f"nodes of type {self._seed_type!r}" if self._data.is_typed else "nodes",
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
            type=self._data.number_of(self._seed_type),
        )
