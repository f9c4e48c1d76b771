"""Batches of one kind of nodes in PyG's form: `Data`, with all that PyG's own loader gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch_geometric.data import Data

from graphmount.errors import MissingDataError
from graphmount.pyg.forms.batch_form import (
    BatchForm,
    FormOptions,
    add_links,
    edge_values,
    gather_edge_values,
    with_flat_labels,
)
from graphmount.pyg.stores.batch_names import (
    name_of_aggregated,
    require_free_aggregated,
    require_free_names,
)
from graphmount.torch.batches.layer_matrices import layer_matrices

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from graphmount._loading.data.loader_data import LoaderData
    from graphmount.pyg.sources.data_source import DataSource


class DataForm(BatchForm):
    """Makes PyG's `Data` of the fields of batches.

    Args:
        data: The graph and tables that the loader was made from.
        source: The `Data` that the loader was made from, or None.
        aggregated: Tables of nodes of which batches also have what was made of the rows of
            neighbors, under the name of the table and `_aggregated`.
        options: What batches are made by.
    """

    def __init__(
        self,
        data: LoaderData,
        *,
        source: DataSource | None,
        aggregated: Collection[str] = (),
        options: FormOptions,
    ) -> None:
        super().__init__(Data, source, options)
        self._source = source
        self._graph = graph = data.graph
        # With a source, weights and times are tables as well.
        time_attr = options.time_attr if source is None else None
        if time_attr is not None and not graph.has_timestamps:
            raise MissingDataError(f"{graph.path} has no timestamps; compile it with timestamps=")
        self._edge_values = (
            edge_values(graph, options.weight_attr, time_attr) if source is None else {}
        )
        for name in self._edge_values:
            if name in data.by_name:
                raise ValueError(
                    f"{name!r} is the name of a table and of what the graph has for its edges; "
                    "leave the table out by features= or edge_features="
                )
        require_free_names(
            [*data.by_name, *self._edge_values],
            self._class,
            advice="leave it out by features= or edge_features=",
        )
        others = [] if source is None else source.data.keys()
        require_free_aggregated(aggregated, {*data.by_name, *self._edge_values, *others})

    @property
    def has_edge_values(self) -> bool:
        """Whether the graph has something for the edges of batches."""
        return bool(self._edge_values)

    def edge_values(self, edge_ids: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """What the graph has for these edges, by the names of batches."""
        return gather_edge_values(self._graph, self._edge_values, edge_ids)

    def __call__(self, fields: dict[str, Any]) -> Data:
        """The batch that has these fields: those of a `Batch` or of a `LinkBatch`.

        And `edge_values`, by their names.
        """
        data, of = self._begin(fields)
        data.edge_index = of["edge_index"]
        data.num_nodes = len(of["nodes"])
        tables = of["features"] | of["edge_features"] | of["edge_values"]
        aggregated = of["aggregated"]
        if self._source is not None:
            tables, aggregated = self._source.shaped(tables), self._source.shaped(aggregated)
            self._source.add_rest(data, of["nodes"], of["edge_ids"])
        else:
            tables = with_flat_labels(tables)
        tables |= {name_of_aggregated(name): rows for name, rows in aggregated.items()}
        for name, rows in tables.items():
            data[name] = rows
        if "n_id" not in data:
            data.n_id = of["nodes"]
        if "e_id" not in data:
            data.e_id = of["edge_ids"]
        data.batch = of["batch"]
        _add_hops(data, of)
        if "edge_label_index" in of:
            add_links(of, data, data, data)
        else:
            data.input_id = of["input_id"]
            data.seed_time = of["times"]
            data.batch_size = of["num_sampled_nodes"][0]
        return data


def _add_hops(data: Data, of: Mapping[str, Any]) -> None:
    """What a batch has of its hops: their sizes, and the matrices of layers."""
    # Both sizes or none: PyG trims layers by the two together.
    by_hop = of["num_sampled_edges"] is not None
    data.num_sampled_nodes = list(of["num_sampled_nodes"]) if by_hop else None
    data.num_sampled_edges = list(of["num_sampled_edges"]) if by_hop else None
    if of["indptr"] is not None:
        data.adjs = layer_matrices(of)
