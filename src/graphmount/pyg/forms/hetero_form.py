"""Batches of many kinds in PyG's form: `HeteroData`, with all that PyG's own loader gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch_geometric.data import HeteroData

from graphmount.errors import MissingDataError
from graphmount.pyg.forms.batch_form import (
    BatchForm,
    EdgeValues,
    FormOptions,
    add_links,
    edge_values,
    gather_edge_values,
    with_flat_labels,
)
from graphmount.pyg.stores.batch_names import OF_LOADERS
from graphmount.torch.batches.layer_matrices import layer_matrices

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from graphmount._dataset.typed.results import EdgeType
    from graphmount._loading.data.typed_data import TypedData
    from graphmount.pyg.sources.hetero_source import HeteroSource


class HeteroForm(BatchForm):
    """Makes PyG's `HeteroData` of the fields of batches.

    Args:
        data: What the loader was made from.
        source: The `HeteroData` that the loader was made from, or None.
        options: What batches are made by.
    """

    def __init__(
        self, data: TypedData, *, source: HeteroSource | None, options: FormOptions
    ) -> None:
        super().__init__(HeteroData, source, options)
        self._source = source
        self._graphs = data.graphs
        # With a source, weights and times are tables as well.
        self._edge_values = (
            _edge_values(data, options.weight_attr, options.time_attr) if source is None else {}
        )
        for space, name in data.by_key:
            if name in OF_LOADERS or name in self._edge_values.get(space, {}):
                raise ValueError(
                    f"{space!r} has a table {name!r}, and batches have something else of that name "
                    "there; leave it out by features= or edge_features="
                )

    @property
    def has_edge_values(self) -> bool:
        """Whether graphs have something for the edges of batches."""
        return any(self._edge_values.values())

    def edge_values(
        self, edge_ids: Mapping[EdgeType, NDArray[np.int64] | None]
    ) -> dict[EdgeType, dict[str, NDArray[Any]]]:
        """What graphs have for these edges, by relation and by the names of batches."""
        return {
            relation: {}
            if ids is None
            else gather_edge_values(
                self._graphs[relation], self._edge_values.get(relation, {}), ids
            )
            for relation, ids in edge_ids.items()
        }

    def __call__(self, fields: dict[str, Any]) -> HeteroData:
        """The batch that has these fields: those of a `TypedBatch` or of a `TypedLinkBatch`."""
        data, of = self._begin(fields)
        if self._source is not None and self._source.added is not None:
            of |= _without(of, self._source.added)
        self._add_nodes(data, of)
        self._add_edges(data, of)
        _add_hops(data, of)
        if "seed_type" in of:
            seeds = data[of["seed_type"]]
            seeds.input_id = of["input_id"]
            seeds.seed_time = of["times"]
            seeds.batch_size = of["num_sampled_nodes"][of["seed_type"]][0]
        else:
            relation = of["edge_type"]
            add_links(of, data[relation], data[relation[0]], data[relation[2]])
        return data

    def _add_nodes(self, data: HeteroData, of: Mapping[str, Any]) -> None:
        for name, nodes in of["nodes"].items():
            store, tables = data[name], of["features"][name]
            store.num_nodes = len(nodes)
            if self._source is not None:
                tables = self._source.shaped(name, tables)
                self._source.add_rest(store, name, nodes)
            else:
                tables = with_flat_labels(tables)
            for table, rows in tables.items():
                store[table] = rows
            if "n_id" not in store:
                store.n_id = nodes
            if of["batch"] is not None:
                store.batch = of["batch"][name]

    def _add_edges(self, data: HeteroData, of: Mapping[str, Any]) -> None:
        for relation, ends in of["edge_index"].items():
            store, edge_ids = data[relation], of["edge_ids"][relation]
            store.edge_index = ends
            tables = of["edge_features"][relation] | of["edge_values"][relation]
            if self._source is not None:
                tables = self._source.shaped(relation, tables)
                self._source.add_rest(store, relation, edge_ids)
            for table, rows in tables.items():
                store[table] = rows
            if edge_ids is not None and "e_id" not in store:
                store.e_id = edge_ids


def _without(of: Mapping[str, Any], relation: EdgeType) -> dict[str, Any]:
    """The fields of edges, without those of a relation that has links alone."""
    return {
        name: {other: own for other, own in of[name].items() if other != relation}
        for name in ("edge_index", "edge_ids", "num_sampled_edges", "indptr")
        if of[name] is not None
    }


def _edge_values(
    data: TypedData, weight_attr: str | None, time_attr: str | None
) -> dict[Any, EdgeValues]:
    """What graphs have for their edges, by relation and by the names of batches."""
    found = {
        relation: edge_values(graph, weight_attr, time_attr)
        for relation, graph in data.graphs.items()
    }
    has_times = any("timestamps" in own.values() for own in found.values())
    if time_attr is not None and not has_times and not data.dataset._sampling.relations.node_times:  # noqa: SLF001
        raise MissingDataError(
            f"time_attr={time_attr!r}: neither edges nor nodes of {data.dataset.path} have times; "
            "compile it with timestamps="
        )
    return found


def _add_hops(data: HeteroData, of: Mapping[str, Any]) -> None:
    """What a batch has of its hops: their sizes, and the matrices of layers."""
    # Both sizes or none: PyG trims layers by the two together.
    if of["num_sampled_edges"] is None:
        return
    for name, counts in of["num_sampled_nodes"].items():
        data[name].num_sampled_nodes = list(counts)
    for relation, counts in of["num_sampled_edges"].items():
        data[relation].num_sampled_edges = list(counts)
    if of["indptr"] is None:
        return
    for relation, adjs in layer_matrices(of).items():
        data[relation].adjs = adjs
