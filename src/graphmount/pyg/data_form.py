"""The form that PyG has: what data the loaders take, and a function that makes `Data` of batches.

Labels come for all nodes of a batch, as in PyG. They are rows of a table, so they go through the
same caches, within the same memory.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from torch_geometric.data import Data

from graphmount._dataset.dataset import Dataset
from graphmount._dataset.typed_dataset import TypedDataset
from graphmount._loading.data.typed_data import TypedData
from graphmount._loading.inputs import open_data
from graphmount._mount.mapped_reads import gather_list_values
from graphmount.errors import MissingDataError
from graphmount.pyg.batch_form import BatchForm
from graphmount.pyg.hetero_form import LABELS, with_labels
from graphmount.pyg.stores.batch_names import (
    name_of_aggregated,
    require_free_aggregated,
    require_free_names,
)
from graphmount.torch.layer_matrices import LayerMatrices
from graphmount.torch.tensor_batch import to_tensors

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    import numpy as np
    import torch
    from numpy.typing import NDArray

    from graphmount._loading.data.loader_data import AnyData, LoaderData
    from graphmount.pyg.data_source import DataSource

_WEIGHTS = "edge_weight"


def open_pyg_data(
    data: Any,  # noqa: ANN401
    features: Any,  # noqa: ANN401
    edge_features: Any,  # noqa: ANN401
) -> LoaderData | TypedData:
    """The data of a loader, with labels as the table `y`, and all tables of edges if none is named.

    Raises:
        ValueError: A table has the name of the labels.
    """
    if isinstance(data, str | os.PathLike):
        data = Dataset(data)
    if edge_features is None and not isinstance(data, TypedDataset):
        edge_features = list(data.edge_features) if isinstance(data, Dataset) else ()
    opened = open_data(data, features, edge_features)
    if isinstance(opened, TypedData):
        return with_labels(opened)
    store = None if opened.dataset is None else opened.dataset._label_store()  # noqa: SLF001
    if store is None:
        return opened
    if LABELS in opened.by_name:
        raise ValueError(
            f"labels are called {LABELS!r} in PyG, and a table has that name; choose others by "
            "features= or edge_features="
        )
    nodes = {**opened.tables["nodes"], LABELS: store}
    return replace(opened, tables={**opened.tables, "nodes": nodes}, labels=None)


def feature_dtypes(dtype: Any, data: AnyData) -> Any:  # noqa: ANN401
    """What `dtype=` means: one for all tables of nodes is not one for the labels."""
    if dtype is None or isinstance(dtype, Mapping):
        return dtype
    return {key: dtype for key in data.by_key if data.is_of_nodes(key[0]) and key[1] != LABELS}


class DataForm(BatchForm):
    """Makes PyG's `Data` of the fields of batches.

    Args:
        data: The graph and tables that the loader was made from.
        num_inputs: How many nodes or links the loader has as inputs.
        times: The times of the input nodes, if they have any.
        weight_attr: Under which name batches have the weights of edges, or None.
        time_attr: Under which name batches have the times of edges, or None.
        transform: A function that is called with each batch and returns what the loop gets, or
            None.
        custom_cls: The class of batches; `Data` if None.
        input_id: The values of `input_id` in batches, one for each input; the places of the inputs
            if None.
        source: The `Data` that the loader was made from, or None.
        aggregated: Tables of nodes of which batches also have what was made of the rows of
            neighbors, under the name of the table and `_aggregated`.
    """

    def __init__(
        self,
        data: LoaderData,
        *,
        num_inputs: int,
        times: NDArray[np.int64] | None = None,
        weight_attr: str | None,
        time_attr: str | None,
        transform: Callable[[Any], Any] | None,
        custom_cls: type[Data] | None,
        input_id: torch.Tensor | None,
        source: DataSource | None = None,
        aggregated: Collection[str] = (),
    ) -> None:
        super().__init__(
            Data,
            num_inputs=num_inputs,
            times=times,
            weight_attr=weight_attr,
            time_attr=time_attr,
            transform=transform,
            custom_cls=custom_cls,
            input_id=input_id,
        )
        self._source = source
        self._graph = graph = data.graph
        self._edge_values: dict[str, Literal["weights", "timestamps"]] = {}
        if source is not None:
            weight_attr = time_attr = None  # they are tables as well
        elif graph.has_weights:
            self._edge_values[weight_attr or _WEIGHTS] = "weights"
        if time_attr is not None:
            if not graph.has_timestamps:
                raise MissingDataError(
                    f"{graph.path} has no timestamps; compile it with timestamps="
                )
            self._edge_values[time_attr] = "timestamps"
        for name in self._edge_values:
            if name in data.by_name:
                raise ValueError(
                    f"{name!r} is the name of a table and of what the graph has for its edges; "
                    "leave the table out by features= or edge_features="
                )
        require_free_names(
            [*data.by_name, *self._edge_values],
            self._custom_cls or Data,
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
        # By edge id, which is the place in these lists.
        direction = self._graph.directions[0]
        return {
            name: gather_list_values(self._graph, values, direction, edge_ids)
            for name, values in self._edge_values.items()
        }

    def __call__(self, fields: dict[str, Any]) -> Data:
        """The batch that has these fields: those of a `Batch` or of a `LinkBatch`.

        And `edge_values`, by their names.
        """
        times = None if self._times is None else self._times[fields["input_ids"]]
        of = to_tensors({**fields, "times": times})
        source = self._source
        if self._custom_cls is not None:
            data = self._custom_cls()
        else:
            data = Data() if source is None else source.new_batch()
        data.edge_index = of["edge_index"]
        data.num_nodes = len(of["nodes"])
        tables = of["features"] | of["edge_features"] | of["edge_values"]
        aggregated = of["aggregated"]
        if source is not None:
            tables, aggregated = source.shaped(tables), source.shaped(aggregated)
            source.add_rest(data, of["nodes"], of["edge_ids"])
        elif LABELS in tables and tables[LABELS].shape[1:] == (1,):
            tables[LABELS] = tables[LABELS].squeeze(1)
        tables |= {name_of_aggregated(name): rows for name, rows in aggregated.items()}
        for name, rows in tables.items():
            data[name] = rows
        if "n_id" not in data:
            data.n_id = of["nodes"]
        if "e_id" not in data:
            data.e_id = of["edge_ids"]
        data.batch = of["batch"]
        _add_hops(data, of)
        places = of["input_ids"]
        data.input_id = places if self._input_id is None else self._input_id[places]
        if "edge_label_index" not in of:
            data.seed_time = of["times"]
            data.batch_size = of["num_sampled_nodes"][0]
        elif of["edge_label_index"] is not None:
            for name in ("edge_label_index", "edge_label", "edge_label_time"):
                data[name] = of[name]
        else:
            data.src_index = of["src_index"]
            data.dst_pos_index = of["dst_pos_index"]
            # PyG has a vector where there is one for each link.
            data.dst_neg_index = of["dst_neg_index"].squeeze(-1)
            data.seed_time = of["edge_label_time"]
        return data


def _add_hops(data: Data, of: Mapping[str, Any]) -> None:
    """What a batch has of its hops: their sizes, and the matrices of layers."""
    # Both sizes or none: PyG trims layers by the two together.
    by_hop = of["num_sampled_edges"] is not None
    data.num_sampled_nodes = list(of["num_sampled_nodes"]) if by_hop else None
    data.num_sampled_edges = list(of["num_sampled_edges"]) if by_hop else None
    if of["indptr"] is not None:
        data.adjs = LayerMatrices(
            of["indptr"],
            of["edge_index"][0],
            of["num_sampled_nodes"],
            of["num_sampled_edges"],
            of["aggregate_last"],
            turned=of.get("turned"),
        )
