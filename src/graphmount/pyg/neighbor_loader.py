"""PyG's `NeighborLoader` over graphmount's own pipeline.

It is the loader of `graphmount.torch` with PyG's arguments, and with batches in its form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from graphmount._loading.batches.aggregation import require_targets
from graphmount._support.foreign_words import NODE_LOADER_WORDS
from graphmount._support.keywords import advises
from graphmount.pyg.forms.batches import NodeData
from graphmount.pyg.loader_options import NOT_OFFERED, LoaderOptions, take_options
from graphmount.pyg.pyg_loader import PygLoader
from graphmount.pyg.sources.labelled_data import feature_dtypes
from graphmount.pyg.sources.opening import (
    edge_reading,
    open_any,
    opened_path,
    places_in_mask,
    require_seed_times,
    source_nodes,
    time_reading,
    whole_reading,
)
from graphmount.torch.loaders import NeighborLoader as TensorNodeLoader

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    import torch
    from numpy.typing import ArrayLike
    from torch_geometric.data import Data, HeteroData
    from torch_geometric.sampler import NumNeighbors

    from graphmount._dataset.typed.results import EdgeType
    from graphmount._loading.batches.aggregation import AggregateLast
    from graphmount._loading.data.loader_data import EdgeIds
    from graphmount._loading.options import EdgeTableNames, InputNodes, TableNames
    from graphmount._mount.node_ids import IdReading
    from graphmount._support.progress import ProgressOption
    from graphmount.pyg.loader_options import PygInput


class NeighborLoader(PygLoader[NodeData], TensorNodeLoader[NodeData]):
    """PyG's `NeighborLoader` for mounted data: its arguments, its batches, no pyg-lib.

    Batches are `Data` with `x`, `y` and all other tables of nodes, tables of edges (`edge_attr`),
    `edge_weight` if the graph has weights, `edge_index`, `n_id`, `e_id`, `input_id`, `batch_size`,
    `num_sampled_nodes`, `num_sampled_edges`, `batch` and `seed_time`. Threads make them ahead of
    the training loop. The methods are those of `graphmount.NeighborLoader`.

    Args:
        data: A `Data` or `HeteroData` of PyG, which is compiled into a cache the first time it is
            seen; or a `Dataset` or `TypedDataset`, the path of one, its stores of `to_pyg()`, a
            `Graph`, or a pair of a `Graph` and a `FeatureStore` or a dict of them. With an object
            of PyG, all ids are those of that object. Of many types, batches are `HeteroData`.
        num_neighbors: For each hop, how many neighbors to draw for each node; -1 for all. Of many
            types, such a list is for every relation, or a dict has one for each.
        input_nodes: The seeds: a tensor of nodes, a mask, or the name of a split. All nodes if
            None. Of many types, a type and its nodes, as ("paper", train_mask), or a type alone for
            all of its nodes.
        ids: Which ids `input_nodes` are: "external" for ids of the source, such as `train_mask` or
            `split_idx` of the data that was compiled; "internal" for ids of the dataset, such as
            `n_id` of its batches. You must say so if the two differ.
        input_time: The time of each seed. Only edges of that time or before are sampled, and
            sampling is then disjoint.
        time_attr: For an object of PyG, the attribute with times, of edges or of nodes; `edge_time`
            or `time` if None and `input_time` is given. If it is one of nodes, only nodes of that
            time or before are sampled, and `input_time` may be left out: seeds then have their own
            times. For files, which have times by themselves, under which name batches have those
            of edges; they have none if None.
        weight_attr: Under which name batches have the weights of edges. If given, neighbors are
            drawn in proportion to the weights.
        transform: A function that is called with each batch. The loop gets what it returns.
        directed: PyG's older way to ask for `subgraph_type="induced"`: False.
        custom_cls: The class of batches: `Data`, or a class derived from it; of many types, one of
            `HeteroData`.
        input_id: The values of `input_id` in batches, one for each input. If None, they are the
            places of the inputs; for a mask, the places in the mask, as in PyG.
        features: Names of the node tables that batches have; all tables if None. Labels are always
            there.
        edge_features: Names of the edge tables that batches have; all tables if None. Without a
            dataset: a dict of `FeatureStore` objects by name.
        dtype: What node tables are converted to: one dtype for all, or a dict with a dtype for some
            tables. Rows stay as stored if None.
        aggregate_last: What to make of the rows of neighbors while they are loaded: "mean" or
            "sum". A batch then has a row for each target, which is every node but those of the last
            hop: its own in `x`, and the mean or sum over its sampled neighbors in `x_aggregated`;
            the same of other float32 tables of nodes, but not of labels. This is less work than to
            gather the rows of all nodes, and it is what `graphmount.torch.nn.SAGEConv` and
            `GINConv` begin with. It needs `subgraph_type="directional"` and `direction="in"`. If
            None, batches have the rows of all nodes.
        edge_ids: What `e_id` holds: "internal" for the edge ids of the graph, "source" for rows of
            the source, which are the places in `edge_index` of a `Data`. With a `Data` it is always
            "source".
        cache: For a `Data`: the folder of the cache that it is compiled into. docs/pyg.md says
            where the cache is by default.
        progress: For a `Data`: a callback of (done, total), in thousandths; True or False to show
            progress bars or not. False also leaves out the line that says where the `Data` is
            compiled to.
        batch_size: How many seeds a batch has.
        shuffle: Whether to put the seeds into a new random order in each epoch.
        drop_last: Whether to leave out the last batch of an epoch if it is smaller than the others.
        replace: Whether a neighbor may be drawn more than once for the same node.
        disjoint: Whether each seed gets a tree of its own that shares no nodes with the trees of
            other seeds.
        time_of: For a dataset of many types, whose times must not be later than those of the seeds:
            those of "edges", or those of the "nodes" that are drawn. With "nodes" and without
            `input_time`, seeds have their own times. If None, it is what has times.
        temporal_strategy: For sampling with times: "uniform" draws among all edges that are early
            enough, "last" takes the latest of them.
        subgraph_type: Which edges a batch has. "directional": the edges that were drawn.
            "bidirectional": those and their reverse, each once. "induced": all edges that the graph
            has between the sampled nodes. PyG's enum of the same name is taken as well.
        direction: "in" draws the sources of incoming edges, "out" the targets of outgoing edges.
            `edge_index` has sources and destinations in both cases.
        pin_memory: Whether the rows of batches lie in pinned memory, which a GPU can read by
            itself. If None, they do where torch finds CUDA. True without CUDA gives a warning and
            has no effect.
        generator: A `torch.Generator` that the seed is drawn from. Give either this or `seed`.
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
        is_sorted: Accepted for PyG's sake and without effect: neighbor lists are always sorted.
        num_workers: Accepted for PyG's sake: there are no worker processes. A value other than
            PyG's default gives a warning and has no effect.
        persistent_workers: An option of worker processes, without effect like `num_workers`.
        prefetch_factor: An option of worker processes, without effect like `num_workers`.
        filter_per_worker: An option of worker processes, without effect like `num_workers`.
        worker_init_fn: An option of worker processes, without effect like `num_workers`.
        multiprocessing_context: An option of worker processes, without effect like `num_workers`.
        timeout: An option of worker processes, without effect like `num_workers`.
        pin_memory_device: An option of worker processes, without effect like `num_workers`.
        in_order: An option of worker processes, without effect like `num_workers`.

    Examples:
        >>> import graphmount as gm
        >>> import graphmount.pyg
        >>> _ = gm.compile_dataset(
        ...     "four", edges=([3, 3, 3, 1], [0, 1, 2, 2]), labels=[0, 1, 0, 1], order="given",
        ...     features={"x": [[0.0], [1.0], [2.0], [3.0]]},
        ... )
        >>> loader = gm.pyg.NeighborLoader("four", [2, 2], input_nodes=[2], batch_size=1)
        >>> batch = next(iter(loader))
        >>> batch.n_id.sort().values, batch.x.shape, batch.y.shape, batch.num_sampled_edges
        (tensor([1, 2, 3]), torch.Size([3, 1]), torch.Size([3]), [2, 1])
    """

    @advises(NODE_LOADER_WORDS, options=LoaderOptions.__optional_keys__, silent=NOT_OFFERED)
    def __init__(
        self,
        data: PygInput,
        num_neighbors: Sequence[int] | Mapping[EdgeType, Sequence[int]] | NumNeighbors,
        input_nodes: InputNodes | torch.Tensor | None = None,
        *,
        ids: IdReading | None = None,
        input_time: ArrayLike | torch.Tensor | None = None,
        time_attr: str | None = None,
        weight_attr: str | None = None,
        transform: Callable[[Any], Any] | None = None,
        directed: bool = True,
        custom_cls: type[Data | HeteroData] | None = None,
        input_id: torch.Tensor | None = None,
        features: TableNames | None = None,
        edge_features: EdgeTableNames | None = None,
        dtype: torch.dtype | str | Mapping[Any, Any] | None = None,
        aggregate_last: AggregateLast | None = None,
        edge_ids: EdgeIds | None = None,
        cache: str | os.PathLike[str] | None = None,
        progress: ProgressOption = None,
        **options: Unpack[LoaderOptions],
    ) -> None:
        self._given = data
        data = opened_path(data)
        if time_attr is not None and input_time is None:
            require_seed_times(data, time_attr)
        left = take_options(options, directed=directed, stacklevel=4)
        # Before a Data is compiled, which may take long.
        require_targets(
            aggregate_last,
            subgraph_type=left["subgraph_type"],
            direction=left.get("direction", "in"),
            num_neighbors=num_neighbors,
        )
        opened, self._source = open_any(
            data,
            features=features,
            edge_features=edge_features,
            weight_attr=weight_attr,
            time_attr="auto" if time_attr is None and input_time is not None else time_attr,
            num_neighbors=num_neighbors,
            direction=left.get("direction"),
            links=None,
            cache=cache,
            progress=progress,
        )
        if self._source is not None:
            ids = whole_reading(ids, edge_ids)
            input_nodes = source_nodes(input_nodes, self._source, opened)
        left["time_of"] = time_reading(left.get("time_of"), time_attr, opened, self._source)
        super().__init__(  # type: ignore[call-overload, misc]  # our own loaders take opened data, too
            opened,
            num_neighbors,
            input_nodes=input_nodes,
            ids=ids,
            edge_ids=edge_reading(edge_ids, of_data=self._source is not None),
            input_time=input_time,
            weighted=weight_attr is not None,
            dtype=feature_dtypes(dtype, opened),
            aggregate_last=aggregate_last,
            **left,
        )
        self._form = self._make_form(
            times=self._times,
            weight_attr=weight_attr,
            time_attr=time_attr,
            transform=transform,
            custom_cls=custom_cls,
            input_id=places_in_mask(input_nodes) if input_id is None else input_id,
        )
