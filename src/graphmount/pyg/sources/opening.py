"""What loaders of this package are made of: files, or a `Data` whose dataset is in the cache."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torch_geometric.data
from torch_geometric.data import Data, HeteroData

from graphmount._dataset.dataset import Dataset
from graphmount._dataset.typed_dataset import TypedDataset
from graphmount._loading.data.loader_data import LoaderData
from graphmount._loading.data.typed_data import TypedData
from graphmount._mount.node_reading import require_reading
from graphmount.pyg.sources.data_source import DataSource, is_data
from graphmount.pyg.sources.hetero_source import HeteroSource
from graphmount.pyg.sources.labelled_data import open_labelled
from graphmount.pyg.stores.feature_store import FeatureStore
from graphmount.pyg.stores.graph_store import GraphStore

if TYPE_CHECKING:
    from graphmount._loading.data.loader_data import AnyData, EdgeIds
    from graphmount._mount.node_ids import IdReading
    from graphmount._mount.sampling_rule import TimeOf
    from graphmount._support.progress import ProgressOption


def opened_path(data: Any) -> Any:  # noqa: ANN401
    """The dataset at a path; all else as it is."""
    return Dataset(data) if isinstance(data, str | os.PathLike) else data


def open_any(
    data: Any,  # noqa: ANN401
    *,
    features: Any,  # noqa: ANN401
    edge_features: Any,  # noqa: ANN401
    weight_attr: str | None,
    time_attr: str | None,
    num_neighbors: object,
    direction: object,
    links: object,
    cache: str | os.PathLike[str] | None,
    progress: ProgressOption,
) -> tuple[LoaderData | TypedData, DataSource | HeteroSource | None]:
    """The data of a loader, and the `Data` that it is of, if there is one.

    Args:
        data: What the loader was given.
        features: Names of tables of nodes, or None.
        edge_features: Names of tables of edges, or None.
        weight_attr: The attribute with weights, or None.
        time_attr: The attribute with times, "auto", or None.
        num_neighbors: The fanouts.
        direction: In which edges are sampled.
        links: The links that a loader has as inputs; None for other loaders.
        cache: The folder of the cache, or None.
        progress: The `progress` of compiling.

    Raises:
        ValueError, TypeError: An option is for a `Data`, or not for one.
    """
    data = _dataset_of_stores(data)
    if not is_data(data):
        if cache is not None or progress is not None:
            name = "progress" if cache is None else "cache"
            raise ValueError(f"{name}= is for a Data, which is compiled; this is compiled already")
        return open_labelled(data, features, edge_features), None
    if isinstance(data, HeteroData):
        hetero = HeteroSource(
            data,
            weight_attr=weight_attr,
            time_attr=time_attr,
            links=links,
            cache=cache,
            progress=progress,
        )
        typed = open_labelled(hetero.dataset, features, edge_features)
        return replace(typed, speaks_source=True), hetero
    if isinstance(edge_features, dict):
        raise TypeError("edge_features: of a Data, pass names of its attributes")
    source = DataSource(
        data,
        weight_attr=weight_attr,
        time_attr=time_attr,
        drawn_end=1 if direction == "out" else 0,
        num_hops=len(num_neighbors) if hasattr(num_neighbors, "__len__") else 1,
        features=features,
        edge_features=edge_features,
        cache=cache,
        progress=progress,
    )
    opened = open_labelled(source.dataset, source.features, source.edge_features)
    assert isinstance(opened, LoaderData)  # noqa: S101  (of one kind)
    if source.node_times is not None:
        opened = replace(opened, node_times=source.table_of_times())
    return replace(opened, speaks_source=True), source


def _dataset_of_stores(data: Any) -> Any:  # noqa: ANN401
    """The dataset of the stores that `to_pyg` gave; all else as it is.

    Raises:
        TypeError: These are stores of others.
        ValueError: They give batches something else than the dataset does.
    """
    if not (isinstance(data, tuple | list) and len(data) == 2):
        return data
    features, graphs = data
    if not isinstance(features, torch_geometric.data.FeatureStore):
        return data
    if not isinstance(features, FeatureStore) or not isinstance(graphs, GraphStore):
        raise TypeError(
            "data: of stores, only those of Dataset.to_pyg() are taken, which know their dataset; "
            "for others, use PyG's own loader"
        )
    if not features._is_whole:  # noqa: SLF001  (a friend)
        raise ValueError(
            "data: these stores were made with attributes= or dtype=, which are for PyG's own "
            "loaders; pass the dataset itself, with features= and dtype= of this loader"
        )
    return features._dataset  # noqa: SLF001  (a friend)


def whole_reading(ids: IdReading | None, edge_ids: EdgeIds | None) -> IdReading:
    """How inputs of a loader of a `Data` are read: as ids of that object.

    Raises:
        ValueError: The caller wants others.
    """
    require_reading(ids)
    for name, value in {"ids": ids, "edge_ids": edge_ids}.items():
        if isinstance(value, str) and value == "internal":
            raise ValueError(
                f"{name}='internal': a loader of a Data has the ids of that object; leave it out, "
                "or compile the Data with graphmount.from_pyg and pass that folder"
            )
    return "external"


def edge_reading(edge_ids: EdgeIds | None, *, of_data: bool) -> EdgeIds:
    """What batches have for ids of edges, which the loader checks: as said, or as is usual."""
    if edge_ids is None:
        return "source" if of_data else "internal"
    return edge_ids


def source_nodes(nodes: Any, source: DataSource | HeteroSource, opened: AnyData) -> Any:  # noqa: ANN401
    """The seeds of a loader of an object, as ids or masks of that object."""
    if isinstance(source, HeteroSource):
        if isinstance(nodes, str):
            nodes = (nodes, None)
        is_pair = isinstance(nodes, tuple | list) and len(nodes) == 2 and isinstance(nodes[0], str)
        return (nodes[0], source.nodes(*nodes)) if is_pair else nodes
    if nodes is None:
        return torch.arange(next(iter(opened.graphs.values())).num_nodes)
    return source.split(nodes) if isinstance(nodes, str) else nodes


def source_links(links: Any, source: DataSource | HeteroSource) -> Any:  # noqa: ANN401
    """The links of a loader of an object; all edges, in its order, if none are given."""
    if isinstance(source, HeteroSource):
        return source.links(links)
    if isinstance(links, tuple) and links[:1] == (None,):
        links = links[-1]
    return source.all_links() if links is None else links


def source_fanouts(fanouts: Any, source: DataSource | HeteroSource) -> Any:  # noqa: ANN401
    """The fanouts of a loader of links, for every relation that its object or links have."""
    return source.fanouts(fanouts) if isinstance(source, HeteroSource) else fanouts


def places_in_mask(nodes: Any) -> torch.Tensor | None:  # noqa: ANN401
    """The places of a mask, which PyG takes for the ids of inputs; None for other inputs."""
    if isinstance(nodes, tuple | list) and len(nodes) == 2 and isinstance(nodes[0], str):
        nodes = nodes[1]
    if isinstance(nodes, list | tuple):
        is_mask = len(nodes) > 0 and isinstance(nodes[0], bool | np.bool_)
    else:
        is_mask = getattr(nodes, "dtype", None) in (torch.bool, np.dtype(np.bool_))
    return torch.as_tensor(nodes).nonzero().view(-1).cpu() if is_mask else None


def require_seed_times(data: Any, time_attr: str) -> None:  # noqa: ANN401
    """Raises unless seeds may have times of their own, so that none need to be given.

    Raises:
        ValueError: Times are those of edges.
    """
    if isinstance(data, HeteroData | TypedDataset):
        return  # known when it is open
    if isinstance(data, Data) and not (time_attr in data and data.is_edge_attr(time_attr)):
        return  # those of nodes, or an attribute that is not there, which is said later
    raise ValueError(
        f"time_attr={time_attr!r} needs input_time=, the time of each seed: times in a graph are "
        "those of edges"
    )


def time_reading(
    time_of: TimeOf | None,
    time_attr: str | None,
    opened: AnyData,
    source: DataSource | HeteroSource | None,
) -> TimeOf | None:
    """Whose times count: as said, or those that `time_attr` of an object of PyG names."""
    if isinstance(source, DataSource) and source.node_times is not None:
        return time_of or "nodes"
    if time_of is None and time_attr is not None:
        if isinstance(source, HeteroSource):
            return source.time_of
        if isinstance(opened, TypedData):
            return opened.dataset._sampling.relations.time_of("in")  # noqa: SLF001  (a friend)
    return time_of
