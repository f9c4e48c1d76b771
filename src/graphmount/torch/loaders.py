"""The loaders for PyTorch: the same batches, as tensors over the same memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, Unpack, overload

from torch.profiler import record_function

from graphmount._loading.batch_loader import BatchLoader
from graphmount._loading.link_loader import LinkNeighborLoader as ArrayLinkLoader
from graphmount._loading.node_loader import NeighborLoader as ArrayLoader
from graphmount._loading.options import LinkOptions, NodeOptions
from graphmount._support.foreign_words import LINK_LOADER_WORDS, NODE_LOADER_WORDS
from graphmount._support.keywords import advises
from graphmount.torch.batches.tensor_batch import LinkTensorBatch, TensorBatch, to_tensors
from graphmount.torch.batches.typed_tensor_batch import (
    TypedLinkTensorBatch,
    TypedTensorBatch,
    TypedTensors,
)
from graphmount.torch.host_pinning import as_pin_memory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from graphmount._dataset.typed.results import EdgeType
    from graphmount._dataset.typed_dataset import TypedDataset
    from graphmount._loading.options import LoaderInput, OneKindInput


if TYPE_CHECKING:
    import typing_extensions

    #: What batches are: of a `TypedDataset`, those of many kinds.
    TensorBatchT = typing_extensions.TypeVar("TensorBatchT", default=TensorBatch)
    LinkTensorBatchT = typing_extensions.TypeVar("LinkTensorBatchT", default=LinkTensorBatch)
else:
    TensorBatchT, LinkTensorBatchT = TypeVar("TensorBatchT"), TypeVar("LinkTensorBatchT")


class _TensorLoader(BatchLoader):
    """What both loaders have beside their options: batches of tensors, ranges of the profiler."""

    _batch_type: type[TensorBatch]
    _typed_batch_type: type[TypedTensors]
    _range = record_function
    _is_for_layers = True

    def _make_batch(self, fields: dict[str, Any]) -> Any:  # noqa: ANN401
        kind = self._typed_batch_type if self._data.is_typed else self._batch_type
        return kind(**to_tensors(fields))


class NeighborLoader(_TensorLoader, ArrayLoader[TensorBatchT]):
    """`graphmount.NeighborLoader` with tensors: it takes the same arguments, and `pin_memory`.

    Batches are the same, as `TensorBatch` objects. In `torch.profiler`, the time spent waiting for
    a batch has the name "graphmount.wait", and turning it into tensors "graphmount.tensors".

    Args:
        data: A `Dataset` or `TypedDataset`, or the path of one; or a `Graph` alone, or a pair of a
            `Graph` and a `FeatureStore` or a dict of them. Of a `TypedDataset`, batches are of the
            typed kind.
        num_neighbors: For each hop, how many neighbors to draw for each node; -1 for all. For a
            `TypedDataset`, such a list is for every relation, or a dict has one for each.
        pin_memory: Whether the rows of batches lie in pinned memory, which a GPU can read by
            itself, so that `batch.to("cuda")` does not wait. If None, they do where torch finds
            CUDA.
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
        time_of: For a dataset of many types, whose times must not be later than those of the seeds:
            those of "edges", or those of the "nodes" that are drawn. With "nodes" and without
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
        >>> import graphmount.torch
        >>> x = np.arange(8, dtype=np.float32).reshape(4, 2)
        >>> _ = gm.compile_dataset("four", edges=([3, 3, 3, 1], [0, 1, 2, 2]), features={"x": x})
        >>> loader = gm.torch.NeighborLoader(gm.Dataset("four"), [2], batch_size=4)
        >>> next(iter(loader)).features["x"].dtype
        torch.float32
    """

    _batch_type = TensorBatch
    _typed_batch_type = TypedTensorBatch

    @overload
    def __init__(
        self: NeighborLoader[TypedTensorBatch],
        data: TypedDataset,
        num_neighbors: Sequence[int] | Mapping[EdgeType, Sequence[int]],
        *,
        pin_memory: bool | None = None,
        **options: Unpack[NodeOptions],
    ) -> None: ...
    @overload
    def __init__(
        self: NeighborLoader[TensorBatch],
        data: OneKindInput,
        num_neighbors: Sequence[int] | Mapping[EdgeType, Sequence[int]],
        *,
        pin_memory: bool | None = None,
        **options: Unpack[NodeOptions],
    ) -> None: ...
    @advises(NODE_LOADER_WORDS, options=NodeOptions.__optional_keys__)
    def __init__(
        self,
        data: LoaderInput,
        num_neighbors: Sequence[int] | Mapping[EdgeType, Sequence[int]],
        *,
        pin_memory: bool | None = None,
        **options: Unpack[NodeOptions],
    ) -> None:
        self._pins_memory = as_pin_memory(pin_memory)
        super().__init__(data, num_neighbors, **options)  # type: ignore[misc]  # of any batch


class LinkNeighborLoader(_TensorLoader, ArrayLinkLoader[LinkTensorBatchT]):
    """`graphmount.LinkNeighborLoader` with tensors: it takes the same arguments, and `pin_memory`.

    Batches are the same, as `LinkTensorBatch` objects. Links, labels and times may be tensors as
    well. `torch.profiler` shows the names "graphmount.wait" and "graphmount.tensors" here, too.

    Args:
        data: A `Dataset` or `TypedDataset`, or the path of one; or a `Graph` alone, or a pair of a
            `Graph` and a `FeatureStore` or a dict of them. Of a `TypedDataset`, batches are of the
            typed kind.
        num_neighbors: For each hop, how many neighbors to draw for each node; -1 for all. For a
            `TypedDataset`, such a list is for every relation, or a dict has one for each.
        pin_memory: Whether the rows of batches lie in pinned memory, which a GPU can read by
            itself, so that `batch.to("cuda")` does not wait. If None, they do where torch finds
            CUDA.
        edge_label_index: The links to predict, of shape (2, links): sources and destinations. They
            need not be edges of the graph. If None, all edges in the order of edge ids; they take
            16 bytes each, which must fit into `memory`. For a `TypedDataset`, a pair of the
            relation and its links, or the relation alone for all of its edges.
        ids: Which ids the ends of the links are: "internal" for ids of the dataset, "external" for
            ids of its source. The weights of `LinkNegatives` are in the order of the same ids. If
            the dataset kept the order of its source, both are the same and None is enough. None is
            also enough for ids that a dataset returned (`NodeIds`).
        edge_label: A label for each link. With binary negatives, labels that begin with 0 go up by
            one, because 0 then stands for negatives.
        edge_label_time: The time of each link. Both of its ends, and those of its negatives, then
            sample only edges of that time or before, and sampling is disjoint. If times of nodes
            count, negatives are nodes of that time or before.
        neg_sampling: Which negatives to draw: a `LinkNegatives`, a `NegativeSampling` of PyG,
            "binary", "triplet", or ("triplet", 5) for five of each link. No negatives if None.
        neg_sampling_ratio: PyG's older way to ask for binary negatives: how many for each link.
        batch_size: How many links a batch has.
        shuffle: Whether to put the links into a new random order in each epoch.
        drop_last: Whether to leave out the last batch of an epoch if it is smaller than the others.
        edge_ids: What batches have as edge ids: "internal" for the edge ids of the graph, "source"
            for the row that each edge had in the source. For "source", the graph must have kept
            these rows: it must have been compiled with `source_rows=True` or with edge tables.
        replace: Whether a neighbor may be drawn more than once for the same node.
        weighted: Whether neighbors are drawn in proportion to the weights of their edges. A
            neighbor of weight 0 is never drawn.
        disjoint: Whether each end of a link gets a tree of its own that shares no nodes with other
            trees.
        time_of: For a dataset of many types, whose times must not be later than those of links:
            those of "edges", or those of the "nodes" that are drawn. If None, it is what has times.
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
        rank: Which part of the links this process takes, from 0 to `world_size` - 1. If None, it
            comes from torch.distributed if that is set up. All ranks have the same number of
            batches.
        world_size: How many processes share the links. If None, it comes from torch.distributed if
            that is set up.

    Examples:
        >>> import graphmount as gm
        >>> import graphmount.torch
        >>> _ = gm.compile_graph(([0, 1, 2, 3], [1, 2, 3, 0]), "g.gl")
        >>> loader = gm.torch.LinkNeighborLoader(
        ...     gm.Graph("g.gl"), [2], neg_sampling="binary", batch_size=2
        ... )
        >>> next(iter(loader)).edge_label
        tensor([1., 1., 0., 0.])
    """

    _batch_type = LinkTensorBatch
    _typed_batch_type = TypedLinkTensorBatch

    @overload
    def __init__(
        self: LinkNeighborLoader[TypedLinkTensorBatch],
        data: TypedDataset,
        num_neighbors: Sequence[int] | Mapping[EdgeType, Sequence[int]],
        *,
        pin_memory: bool | None = None,
        **options: Unpack[LinkOptions],
    ) -> None: ...
    @overload
    def __init__(
        self: LinkNeighborLoader[LinkTensorBatch],
        data: OneKindInput,
        num_neighbors: Sequence[int] | Mapping[EdgeType, Sequence[int]],
        *,
        pin_memory: bool | None = None,
        **options: Unpack[LinkOptions],
    ) -> None: ...
    @advises(LINK_LOADER_WORDS, options=LinkOptions.__optional_keys__)
    def __init__(
        self,
        data: LoaderInput,
        num_neighbors: Sequence[int] | Mapping[EdgeType, Sequence[int]],
        *,
        pin_memory: bool | None = None,
        **options: Unpack[LinkOptions],
    ) -> None:
        self._pins_memory = as_pin_memory(pin_memory)
        super().__init__(data, num_neighbors, **options)  # type: ignore[misc]  # of any batch
