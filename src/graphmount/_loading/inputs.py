"""What a loader is made of: the graph, its tables, its seeds, and the share of each process."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount._dataset.dataset import Dataset
from graphmount._dataset.typed_dataset import TypedDataset
from graphmount._loading.data.loader_data import LoaderData
from graphmount._loading.data.typed_data import (
    TypedData,
    as_names,
    open_typed_data,
    require_names,
)
from graphmount._loading.data.typed_inputs import as_typed_nodes
from graphmount._loading.rows.hot_rows import TRIAL_BATCHES
from graphmount._mount.features import FeatureStore
from graphmount._mount.graph import Graph
from graphmount._mount.node_reading import require_reading, to_internal
from graphmount._mount.order import check_order
from graphmount._support.arguments import as_ids, as_plain, require_choice
from graphmount._support.shown import shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from graphmount._loading.data.loader_data import AnyData, EdgeIds
    from graphmount._mount.node_ids import IdReading


#: In a graph with so few nodes, a list of only 0 and 1 may really mean these nodes.
_FEW_NODES = 100


def open_data(
    data: Any,  # noqa: ANN401
    features: Any,  # noqa: ANN401
    edge_features: Any,  # noqa: ANN401
) -> LoaderData | TypedData:
    """The data that users give: a dataset or its path, a graph, or a graph and its tables.

    What has been opened already stays as it is.
    """
    if isinstance(data, LoaderData | TypedData):
        return data
    if isinstance(data, str | PathLike):
        data = Dataset(data)
    if isinstance(data, TypedDataset):
        return open_typed_data(data, features, edge_features)
    return _open_one_kind(data, features, edge_features)


def _open_one_kind(
    data: Any,  # noqa: ANN401
    features: Iterable[str] | None,
    edge_features: Iterable[str] | Mapping[str, FeatureStore],
) -> LoaderData:
    dataset = data if isinstance(data, Dataset) else None
    if dataset is None:
        graph, nodes = _graph_and_tables(data)
    else:
        graph, nodes = dataset.graph, dict(dataset.features)
    if isinstance(edge_features, Mapping):
        edges = _as_tables(edge_features)
        _require_rows(edges, graph.num_edges, "edges")
    elif dataset is not None:
        edges = _chosen(dataset.edge_features, edge_features, "edge_features")
    elif as_names(edge_features, "edge_features"):
        raise ValueError(
            "edge_features: only a Dataset knows tables by their names; give "
            "{name: FeatureStore(...)} with a row for each edge id"
        )
    else:
        edges = {}
    nodes = _chosen(nodes, features, "features")
    for name in nodes:
        if name in edges:
            raise ValueError(
                f"{name!r} is a table of nodes and of edges; leave one of them out, or rename it"
            )
    return LoaderData(
        graph=graph,
        tables={"nodes": nodes, "edges": edges},
        labels=None if dataset is None else dataset._label_store(),  # noqa: SLF001
        dataset=dataset,
    )


def _graph_and_tables(data: Any) -> tuple[Graph, dict[str, FeatureStore]]:  # noqa: ANN401
    graph, tables = data if isinstance(data, tuple) and len(data) == 2 else (data, {})
    if isinstance(tables, FeatureStore):
        tables = {"x": tables}
    if not isinstance(graph, Graph) or not isinstance(tables, Mapping):
        raise TypeError(
            "data must be a Dataset or its path, a Graph, or (Graph, FeatureStore or dict of "
            f"them), not {shown(data)}"
        )
    tables = _as_tables(tables)
    graph._one_type("a loader")  # noqa: SLF001
    _require_rows(tables, graph.num_nodes, "nodes")
    check_order(graph, *tables.values())
    return graph, tables


def _as_tables(tables: Mapping[Any, Any]) -> dict[str, FeatureStore]:
    for name, store in tables.items():
        if not isinstance(name, str) or not isinstance(store, FeatureStore):
            raise TypeError(
                f"tables are {{name: FeatureStore(...)}}, not {{{shown(name)}: {shown(store)}}}"
            )
    return dict(tables)


def _require_rows(tables: Mapping[str, FeatureStore], count: int, what: str) -> None:
    for name, store in tables.items():
        if len(store) != count:
            raise ValueError(
                f"{store.path}: table {name!r} has {len(store)} rows for {count} {what}"
            )


def _chosen(
    tables: Mapping[str, FeatureStore], names: Iterable[str] | None, argument: str
) -> dict[str, FeatureStore]:
    if names is None:
        return dict(tables)
    chosen = as_names(names, argument)
    require_names(chosen, set(tables), argument)
    return {name: tables[name] for name in chosen}


def require_edge_ids(edge_ids: EdgeIds, data: AnyData) -> None:
    """Raises unless batches can have such ids of edges.

    Raises:
        MissingDataError: A graph does not know the rows of its source.
        ValueError: There are no such ids.
    """
    require_choice("edge_ids", edge_ids, ("internal", "source"))
    if edge_ids == "source":
        data.require_source_rows("edge_ids='source': ")


def read_inputs(
    nodes: Any,  # noqa: ANN401
    data: LoaderData | TypedData,
    ids: IdReading | None,
) -> tuple[LoaderData | TypedData, NDArray[np.int64]]:
    """The seeds of a loader, and its data, which knows their type from then on."""
    if isinstance(data, TypedData):
        return as_typed_nodes(nodes, data, ids)
    return data, as_input_nodes(nodes, data, ids)


def as_input_nodes(
    nodes: ArrayLike | str | None, data: LoaderData, ids: IdReading | None = None
) -> NDArray[np.int64]:
    """Seeds as users give them: all nodes, a split of the dataset, ids, or a mask."""
    require_reading(ids)
    if nodes is None:
        return np.arange(data.graph.num_nodes)
    if isinstance(nodes, str):
        splits = {} if data.dataset is None else data.dataset.description["splits"]
        if data.dataset is None or nodes not in splits:
            there = f"there are the splits {sorted(splits)}"
            if data.dataset is None:
                there = "a graph has no splits; pass a Dataset, or ids of nodes"
            raise ValueError(f"input_nodes={nodes!r}: {there}")
        return data.dataset._read_split(nodes)  # noqa: SLF001
    found = to_internal(nodes, "input_nodes", data.graph, ids)
    _refuse_numbers_of_a_mask(nodes, data.graph.num_nodes)
    return found


def _refuse_numbers_of_a_mask(nodes: ArrayLike, num_nodes: int) -> None:
    """Raises for a mask of 0 and 1, which would be the first two nodes, again and again."""
    given = as_plain(nodes, "input_nodes")
    if given.shape != (num_nodes,) or given.dtype.kind not in "iu" or num_nodes <= _FEW_NODES:
        return
    if given.max() <= 1:
        raise ValueError(
            "input_nodes has a 0 or a 1 for each node, so it looks like a mask; pass "
            "mask.astype(bool), or mask.bool() of a tensor"
        )


def as_times(
    times: ArrayLike | None, argument: str, num_inputs: int, inputs: str
) -> NDArray[np.int64] | None:
    """Times, one for each input."""
    if times is None:
        return None
    array = as_ids(times, argument)
    if len(array) != num_inputs:
        raise ValueError(f"{argument} has {len(array)} times for {num_inputs} {inputs}")
    return array


def places_to_try(num_inputs: int, batch_size: int, key: int) -> NDArray[np.int64]:
    """Inputs for trials of sampling: of a few batches, and not as many as an epoch has."""
    count = min(num_inputs, TRIAL_BATCHES * batch_size)
    if count == num_inputs:
        return np.arange(num_inputs)
    return np.random.default_rng([key]).integers(num_inputs, size=count)
