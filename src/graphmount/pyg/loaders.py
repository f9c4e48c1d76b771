"""PyG's `NeighborLoader` and `LinkNeighborLoader`, over graphmount's own pipeline.

They are the loaders of `graphmount.torch` with PyG's arguments, and with batches in its form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

import torch

from graphmount.pyg.batches import LinkData, NodeData
from graphmount.pyg.data_form import DataForm, feature_dtypes
from graphmount.pyg.form_of_batches import PygLoader
from graphmount.pyg.loader_data import edge_reading, open_any, places_in_mask, whole_reading
from graphmount.pyg.loader_options import LoaderOptions, take_options
from graphmount.torch.loaders import LinkNeighborLoader as TensorLinkLoader
from graphmount.torch.loaders import NeighborLoader as TensorNodeLoader

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike
    from torch_geometric.data import Data
    from torch_geometric.sampler import NegativeSampling

    from graphmount._dataset.dataset import Dataset
    from graphmount._loading.inputs import EdgeIds
    from graphmount._loading.link_negatives import LinkNegatives
    from graphmount._mount.features import FeatureStore
    from graphmount._mount.graph import Graph
    from graphmount._mount.node_ids import IdReading
    from graphmount._support.progress import ProgressOption


class NeighborLoader(PygLoader[NodeData], TensorNodeLoader):
    """PyG's `NeighborLoader` for mounted data: its arguments, its batches, no pyg-lib.

    Batches are `Data` with `x`, `y` and all other tables of nodes, tables of edges (`edge_attr`),
    `edge_weight` if the graph has weights, `edge_index`, `n_id`, `e_id`, `input_id`, `batch_size`,
    `num_sampled_nodes`, `num_sampled_edges`, `batch` and `seed_time`. They are made ahead of the
    training step, by threads. Methods are those of `graphmount.NeighborLoader`.

    Args:
        data: A `Data` of PyG, which is compiled into a cache when it is met for the first time; a
            `Dataset`, the path of one, a `Graph`, or (`Graph`, `FeatureStore` or dict of them).
            With a `Data`, all ids are those of that object.
        num_neighbors: How many neighbors to draw in each hop; -1 for all.
        input_nodes: The seeds: a tensor of nodes, a mask, or the name of a split. All if None.
        ids: Whose ids `input_nodes` are: "external" for those of the source, such as `train_mask`
            or `split_idx` of the data that was compiled, "internal" for those of the dataset, such
            as `n_id` of its batches. It must be said where the two differ.
        input_time: The time of each seed: edges of that time or before are sampled.
        time_attr: What batches call the times of edges; they have none if None. Timestamps are in
            the graph, so temporal sampling does without.
        weight_attr: What batches call the weights of edges. If given, sampling is weighted.
        transform: A function that is given each batch, and returns what the loop gets.
        directed: PyG's older way: False for `subgraph_type="induced"`.
        custom_cls: The class of batches, a `Data`.
        input_id: What batches have for `input_id`, for each of the inputs; their places if None.
            If the inputs are a mask, these are the places in the mask, as in PyG.
        features: Names of the tables of nodes that batches have; all if None, and labels always.
        edge_features: Names of the tables of edges that batches have; all if None.
        dtype: What tables of nodes are converted to: one dtype, or a dict by their names.
        edge_ids: What `e_id` are: "internal" for edge ids of the graph, "source" for rows of the
            source, such as the places in `edge_index` of a `Data`, for which always these are.
        cache: For a `Data`: the folder to compile it into; see the cache in docs/pyg.md.
        progress: For a `Data`: as for `compile_dataset`. False also leaves out the line that says
            where it is compiled to.
        options: `batch_size`, `shuffle`, `drop_last`, `replace`, `disjoint`, `subgraph_type`,
            `temporal_strategy`, `pin_memory` and `generator`, as in PyG; and graphmount's `memory`,
            `window`, `prefetch`, `reader`, `seed`, `rank`, `world_size` and `direction`. Options of
            worker processes (`num_workers`, …) are taken with a warning: there are none.

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

    def __init__(
        self,
        data: Data
        | str
        | os.PathLike[str]
        | Dataset
        | Graph
        | tuple[Graph, FeatureStore | Mapping[str, FeatureStore]],
        num_neighbors: Sequence[int],
        input_nodes: ArrayLike | torch.Tensor | str | None = None,
        *,
        ids: IdReading | None = None,
        input_time: ArrayLike | torch.Tensor | None = None,
        time_attr: str | None = None,
        weight_attr: str | None = None,
        transform: Callable[[Any], Any] | None = None,
        directed: bool = True,
        custom_cls: type[Data] | None = None,
        input_id: torch.Tensor | None = None,
        features: Iterable[str] | None = None,
        edge_features: Iterable[str] | Mapping[str, FeatureStore] | None = None,
        dtype: torch.dtype | str | Mapping[str, Any] | None = None,
        edge_ids: EdgeIds | None = None,
        cache: str | os.PathLike[str] | None = None,
        progress: ProgressOption = None,
        **options: Unpack[LoaderOptions],
    ) -> None:
        if time_attr is not None and input_time is None:
            raise ValueError(
                f"time_attr={time_attr!r} needs input_time=, the time of each seed: times in a "
                "graph are those of edges"
            )
        self._given = data
        left = take_options(self, options, directed=directed, stacklevel=3)
        opened, self._source = open_any(
            data,
            features=features,
            edge_features=edge_features,
            weight_attr=weight_attr,
            time_attr="auto" if time_attr is None and input_time is not None else time_attr,
            num_neighbors=num_neighbors,
            cache=cache,
            progress=progress,
        )
        if self._source is not None:
            ids = whole_reading(ids, edge_ids)
            if input_nodes is None:
                input_nodes = torch.arange(opened.graph.num_nodes)
            elif isinstance(input_nodes, str):
                input_nodes = self._source.split(input_nodes)
        super().__init__(
            opened,  # type: ignore[arg-type]  # which our own loaders take, too
            num_neighbors,
            input_nodes=input_nodes,
            ids=ids,
            edge_ids=edge_reading(edge_ids, of_data=self._source is not None),
            input_time=input_time,
            weighted=weight_attr is not None,
            dtype=feature_dtypes(dtype, opened),
            **left,
        )
        self._form = DataForm(
            opened,
            num_inputs=self._num_inputs,
            times=self._times,
            source=self._source,
            weight_attr=weight_attr,
            time_attr=time_attr,
            transform=transform,
            custom_cls=custom_cls,
            input_id=places_in_mask(input_nodes) if input_id is None else input_id,
        )


class LinkNeighborLoader(PygLoader[LinkData], TensorLinkLoader):
    """PyG's `LinkNeighborLoader` for mounted data: its arguments, its batches, no pyg-lib.

    Batches have what those of `graphmount.pyg.NeighborLoader` have, but for `batch_size` and
    `seed_time`; and `edge_label_index`, `edge_label` and `edge_label_time`, or for triplets
    `src_index`, `dst_pos_index`, `dst_neg_index` and `seed_time`. Negatives are no edges of the
    graph, where PyG's may be.

    Args:
        data: A `Data` of PyG, which is compiled into a cache when it is met for the first time; a
            `Dataset`, the path of one, a `Graph`, or (`Graph`, `FeatureStore` or dict of them).
            With a `Data`, all ids are those of that object.
        num_neighbors: How many neighbors to draw in each hop; -1 for all.
        edge_label_index: The links: (2, links), or (None, links). All edges if None.
        ids: Whose ids the ends of the links are, and in whose order weights of negatives come:
            "external" for those of the source, such as `edge_index` of the data that was compiled,
            "internal" for those of the dataset. It must be said where the two differ.
        edge_label: A label for each link.
        edge_label_time: The time of each link: edges of that time or before are sampled.
        neg_sampling: PyG's `NegativeSampling`, a `graphmount.LinkNegatives`, "binary" or "triplet".
        neg_sampling_ratio: Another way to ask for so many binary negatives for each link.
        time_attr: What batches call the times of edges; they have none if None.
        weight_attr: What batches call the weights of edges. If given, sampling is weighted.
        transform: A function that is given each batch, and returns what the loop gets.
        directed: PyG's older way: False for `subgraph_type="induced"`.
        custom_cls: The class of batches, a `Data`.
        input_id: What batches have for `input_id`, for each of the links; their places if None.
        features: Names of the tables of nodes that batches have; all if None, and labels always.
        edge_features: Names of the tables of edges that batches have; all if None.
        dtype: What tables of nodes are converted to: one dtype, or a dict by their names.
        edge_ids: See `graphmount.pyg.NeighborLoader`, and so for the next two.
        cache: See there.
        progress: See there.
        options: The other options of `graphmount.pyg.NeighborLoader`.

    Examples:
        >>> import graphmount as gm
        >>> import graphmount.pyg
        >>> _ = gm.compile_dataset("links", edges=([3, 3, 3, 1], [0, 1, 2, 2]), order="given")
        >>> loader = gm.pyg.LinkNeighborLoader("links", [2], neg_sampling="binary", batch_size=2)
        >>> next(iter(loader)).edge_label
        tensor([1., 1., 0., 0.])
    """

    def __init__(
        self,
        data: Data
        | str
        | os.PathLike[str]
        | Dataset
        | Graph
        | tuple[Graph, FeatureStore | Mapping[str, FeatureStore]],
        num_neighbors: Sequence[int],
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
        custom_cls: type[Data] | None = None,
        input_id: torch.Tensor | None = None,
        features: Iterable[str] | None = None,
        edge_features: Iterable[str] | Mapping[str, FeatureStore] | None = None,
        dtype: torch.dtype | str | Mapping[str, Any] | None = None,
        edge_ids: EdgeIds | None = None,
        cache: str | os.PathLike[str] | None = None,
        progress: ProgressOption = None,
        **options: Unpack[LoaderOptions],
    ) -> None:
        if time_attr is not None and edge_label_time is None:
            raise ValueError(
                f"time_attr={time_attr!r} needs edge_label_time=, the time of each link"
            )
        self._given = data
        left = take_options(self, options, directed=directed, stacklevel=3)
        opened, self._source = open_any(
            data,
            features=features,
            edge_features=edge_features,
            weight_attr=weight_attr,
            time_attr="auto" if time_attr is None and edge_label_time is not None else time_attr,
            num_neighbors=num_neighbors,
            cache=cache,
            progress=progress,
        )
        if self._source is not None:
            ids = whole_reading(ids, edge_ids)
            if isinstance(edge_label_index, tuple) and edge_label_index[:1] == (None,):
                edge_label_index = edge_label_index[-1]
            if edge_label_index is None:
                edge_label_index = self._source.all_links()
        super().__init__(
            opened,  # type: ignore[arg-type]  # which our own loaders take, too
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
        self._form = DataForm(
            opened,
            num_inputs=self._num_inputs,
            source=self._source,
            weight_attr=weight_attr,
            time_attr=time_attr,
            transform=transform,
            custom_cls=custom_cls,
            input_id=input_id,
        )
