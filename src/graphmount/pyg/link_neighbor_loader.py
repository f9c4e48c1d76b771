"""PyG's `LinkNeighborLoader` over graphmount's own pipeline.

It is the loader of `graphmount.torch` with PyG's arguments, and with batches in its form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from graphmount._support.foreign_words import LINK_LOADER_WORDS
from graphmount._support.keywords import advises
from graphmount.pyg.forms.batches import LinkData
from graphmount.pyg.loader_options import NOT_OFFERED, LoaderOptions, take_options
from graphmount.pyg.pyg_loader import PygLoader
from graphmount.pyg.sources.labelled_data import feature_dtypes
from graphmount.pyg.sources.opening import (
    edge_reading,
    open_any,
    source_fanouts,
    source_links,
    time_reading,
    whole_reading,
)
from graphmount.torch.loaders import LinkNeighborLoader as TensorLinkLoader

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    import torch
    from numpy.typing import ArrayLike
    from torch_geometric.data import Data, HeteroData
    from torch_geometric.sampler import NegativeSampling, NumNeighbors

    from graphmount._dataset.typed.results import EdgeType
    from graphmount._loading.data.loader_data import EdgeIds
    from graphmount._loading.link_negatives import LinkNegatives
    from graphmount._loading.options import EdgeTableNames, TableNames
    from graphmount._mount.node_ids import IdReading
    from graphmount._support.progress import ProgressOption
    from graphmount.pyg.loader_options import PygInput


class LinkNeighborLoader(PygLoader[LinkData], TensorLinkLoader[LinkData]):
    """PyG's `LinkNeighborLoader` for mounted data: its arguments, its batches, no pyg-lib.

    Batches have the attributes of those of `graphmount.pyg.NeighborLoader`, except `batch_size` and
    `seed_time`. They also have `edge_label_index`, `edge_label` and `edge_label_time`; or, for
    triplets, `src_index`, `dst_pos_index`, `dst_neg_index` and `seed_time`. Unless you ask for it,
    negatives are not edges of the graph; PyG's may be.

    Args:
        data: A `Data` or `HeteroData` of PyG, which is compiled into a cache the first time it is
            seen; or a `Dataset` or `TypedDataset`, the path of one, its stores of `to_pyg()`, a
            `Graph`, or a pair of a `Graph` and a `FeatureStore` or a dict of them. With an object
            of PyG, all ids are those of that object. Of many types, batches are `HeteroData`.
        num_neighbors: For each hop, how many neighbors to draw for each node; -1 for all. Of many
            types, such a list is for every relation, or a dict has one for each.
        edge_label_index: The links to predict: of shape (2, links), or PyG's pair (None, links).
            All edges if None. Of many types, a pair of the relation and its links, or the relation
            alone for all of its edges. Of a `HeteroData`, links may be of a relation that it has no
            edges of.
        ids: Which ids the ends of the links are: "external" for ids of the source, such as
            `edge_index` of the data that was compiled; "internal" for ids of the dataset. Weights
            of negatives are in the order of the same ids. You must say so if the two differ.
        edge_label: A label for each link. With binary negatives, labels that begin with 0 go up by
            one, because 0 then stands for negatives.
        edge_label_time: The time of each link. Both of its ends, and those of its negatives, then
            sample only edges of that time or before, and sampling is disjoint. If times of nodes
            count, negatives are nodes of that time or before.
        neg_sampling: Which negatives to draw: a `NegativeSampling` of PyG, a
            `graphmount.LinkNegatives`, "binary" or "triplet". No negatives if None.
        neg_sampling_ratio: PyG's older way to ask for binary negatives: how many for each link.
        time_attr: For an object of PyG, the attribute with times, of edges or of nodes; `edge_time`
            or `time` if None and `edge_label_time` is given. If it is one of nodes, only nodes of
            that time or before are sampled, except for ends of links and of negatives. For files,
            which have times by themselves, under which name batches have those of edges; they have
            none if None.
        weight_attr: Under which name batches have the weights of edges. If given, neighbors are
            drawn in proportion to the weights.
        transform: A function that is called with each batch. The loop gets what it returns.
        directed: PyG's older way to ask for `subgraph_type="induced"`: False.
        custom_cls: The class of batches: `Data`, or a class derived from it; of many types, one of
            `HeteroData`.
        input_id: The values of `input_id` in batches, one for each link. If None, they are the
            places of the links.
        features: Names of the node tables that batches have; all tables if None. Labels are always
            there.
        edge_features: Names of the edge tables that batches have; all tables if None. Without a
            dataset: a dict of `FeatureStore` objects by name.
        dtype: What node tables are converted to: one dtype for all, or a dict with a dtype for some
            tables. Rows stay as stored if None.
        edge_ids: What `e_id` holds: "internal" for the edge ids of the graph, "source" for rows of
            the source, which are the places in `edge_index` of a `Data`. With a `Data` it is always
            "source".
        cache: For a `Data`: the folder of the cache that it is compiled into. docs/pyg.md says
            where the cache is by default.
        progress: For a `Data`: a callback of (done, total), in thousandths; True or False to show
            progress bars or not. False also leaves out the line that says where the `Data` is
            compiled to.
        batch_size: How many links a batch has.
        shuffle: Whether to put the links into a new random order in each epoch.
        drop_last: Whether to leave out the last batch of an epoch if it is smaller than the others.
        replace: Whether a neighbor may be drawn more than once for the same node.
        disjoint: Whether each end of a link gets a tree of its own that shares no nodes with other
            trees.
        time_of: For a dataset of many types, whose times must not be later than those of links:
            those of "edges", or those of the "nodes" that are drawn. If None, it is what has times.
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
        rank: Which part of the links this process takes, from 0 to `world_size` - 1. If None, it
            comes from torch.distributed if that is set up. All ranks have the same number of
            batches.
        world_size: How many processes share the links. If None, it comes from torch.distributed if
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
        >>> _ = gm.compile_dataset("links", edges=([3, 3, 3, 1], [0, 1, 2, 2]), order="given")
        >>> loader = gm.pyg.LinkNeighborLoader("links", [2], neg_sampling="binary", batch_size=2)
        >>> next(iter(loader)).edge_label
        tensor([1., 1., 0., 0.])
    """

    @advises(LINK_LOADER_WORDS, options=LoaderOptions.__optional_keys__, silent=NOT_OFFERED)
    def __init__(
        self,
        data: PygInput,
        num_neighbors: Sequence[int] | Mapping[EdgeType, Sequence[int]] | NumNeighbors,
        edge_label_index: ArrayLike | torch.Tensor | tuple[Any, Any] | None = None,
        *,
        ids: IdReading | None = None,
        edge_label: ArrayLike | torch.Tensor | None = None,
        edge_label_time: ArrayLike | torch.Tensor | None = None,
        neg_sampling: NegativeSampling | LinkNegatives | str | Sequence[Any] | None = None,
        neg_sampling_ratio: float | None = None,
        time_attr: str | None = None,
        weight_attr: str | None = None,
        transform: Callable[[Any], Any] | None = None,
        directed: bool = True,
        custom_cls: type[Data | HeteroData] | None = None,
        input_id: torch.Tensor | None = None,
        features: TableNames | None = None,
        edge_features: EdgeTableNames | None = None,
        dtype: torch.dtype | str | Mapping[Any, Any] | None = None,
        edge_ids: EdgeIds | None = None,
        cache: str | os.PathLike[str] | None = None,
        progress: ProgressOption = None,
        **options: Unpack[LoaderOptions],
    ) -> None:
        if time_attr is not None and edge_label_time is None:
            raise ValueError(
                f"time_attr={time_attr!r}, and 'edge_label_time' is not set: give the time of each "
                "link"
            )
        self._given = data
        left = take_options(options, directed=directed, stacklevel=4)
        opened, self._source = open_any(
            data,
            features=features,
            edge_features=edge_features,
            weight_attr=weight_attr,
            time_attr="auto" if time_attr is None and edge_label_time is not None else time_attr,
            num_neighbors=num_neighbors,
            direction=left.get("direction"),
            links=edge_label_index,
            cache=cache,
            progress=progress,
        )
        if self._source is not None:
            ids = whole_reading(ids, edge_ids)
            edge_label_index = source_links(edge_label_index, self._source)
            num_neighbors = source_fanouts(num_neighbors, self._source)
        left["time_of"] = time_reading(left.get("time_of"), time_attr, opened, self._source)
        super().__init__(  # type: ignore[call-overload, misc]  # our own loaders take opened data, too
            opened,
            num_neighbors,
            edge_label_index=edge_label_index,
            ids=ids,
            edge_ids=edge_reading(edge_ids, of_data=self._source is not None),
            edge_label=edge_label,
            edge_label_time=edge_label_time,
            neg_sampling=neg_sampling,
            neg_sampling_ratio=neg_sampling_ratio,
            weighted=weight_attr is not None,
            dtype=feature_dtypes(dtype, opened),
            **left,
        )
        self._form = self._make_form(
            times=None,
            weight_attr=weight_attr,
            time_attr=time_attr,
            transform=transform,
            custom_cls=custom_cls,
            input_id=input_id,
        )
