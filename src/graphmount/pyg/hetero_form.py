"""Batches of many kinds in PyG's form: `HeteroData`, with all that PyG's own loader gives."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from torch_geometric.data import HeteroData

from graphmount._mount.mapped_reads import gather_list_values
from graphmount.errors import MissingDataError
from graphmount.pyg.batch_form import BatchForm
from graphmount.pyg.stores.batch_names import OF_LOADERS
from graphmount.torch.tensor_batch import to_tensors
from graphmount.torch.typed_tensor_batch import typed_matrices

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    import torch
    from numpy.typing import NDArray

    from graphmount._dataset.typed.results import EdgeType
    from graphmount._loading.data.typed_data import TypedData
    from graphmount.pyg.hetero_source import HeteroSource

LABELS = "y"
_WEIGHTS = "edge_weight"


def with_labels(data: TypedData) -> TypedData:
    """The data of a loader, with the labels of each type as its table `y`.

    Raises:
        ValueError: A table has the name of the labels.
    """
    tables: dict[Any, Any] = {space: dict(own) for space, own in data.tables.items()}
    for name, nodes in data.dataset.nodes.items():
        store = nodes._label_store()  # noqa: SLF001  (a friend)
        if store is None:
            continue
        if LABELS in tables[name]:
            raise ValueError(
                f"labels are called {LABELS!r} in PyG, and type {name!r} has a table of that name; "
                "choose others by features="
            )
        tables[name][LABELS] = store
    return replace(data, tables=tables, has_labels=False)


class HeteroForm(BatchForm):
    """Makes PyG's `HeteroData` of the fields of batches.

    Args:
        data: What the loader was made from.
        num_inputs: How many nodes or links the loader has as inputs.
        times: The times of the input nodes, if they have any.
        weight_attr: Under which name batches have the weights of edges, or None.
        time_attr: Under which name batches have the times of edges, or None.
        transform: A function that is called with each batch and returns what the loop gets, or
            None.
        custom_cls: The class of batches; `HeteroData` if None.
        input_id: The values of `input_id` in batches, one for each input; the places of the inputs
            if None.
        source: The `HeteroData` that the loader was made from, or None.
    """

    def __init__(
        self,
        data: TypedData,
        *,
        num_inputs: int,
        times: NDArray[np.int64] | None = None,
        weight_attr: str | None,
        time_attr: str | None,
        transform: Callable[[Any], Any] | None,
        custom_cls: type[HeteroData] | None,
        input_id: torch.Tensor | None,
        source: HeteroSource | None = None,
    ) -> None:
        super().__init__(
            HeteroData,
            num_inputs=num_inputs,
            times=times,
            weight_attr=weight_attr,
            time_attr=time_attr,
            transform=transform,
            custom_cls=custom_cls,
            input_id=input_id,
        )
        self._source = source
        self._graphs = data.graphs
        self._edge_values = {} if source is not None else _edge_values(data, weight_attr, time_attr)
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
        found: dict[EdgeType, dict[str, NDArray[Any]]] = {}
        for relation, ids in edge_ids.items():
            graph = self._graphs[relation]
            found[relation] = {
                name: gather_list_values(graph, values, graph.directions[0], ids)
                for name, values in self._edge_values.get(relation, {}).items()
                if ids is not None
            }
        return found

    def __call__(self, fields: dict[str, Any]) -> HeteroData:
        """The batch that has these fields: those of a `TypedBatch` or of a `TypedLinkBatch`."""
        times = None if self._times is None else self._times[fields["input_ids"]]
        of = to_tensors({**fields, "times": times})
        source = self._source
        if self._custom_cls is not None:
            data = self._custom_cls()
        else:
            data = HeteroData() if source is None else source.new_batch()
        self._add_nodes(data, of)
        self._add_edges(data, of)
        _add_hops(data, of)
        places = of["input_ids"]
        input_id = places if self._input_id is None else self._input_id[places]
        if "seed_type" in of:
            seeds = data[of["seed_type"]]
            seeds.input_id = input_id
            seeds.seed_time = of["times"]
            seeds.batch_size = of["num_sampled_nodes"][of["seed_type"]][0]
        else:
            _add_links(data, of, input_id)
        return data

    def _add_nodes(self, data: HeteroData, of: Mapping[str, Any]) -> None:
        for name, nodes in of["nodes"].items():
            store, tables = data[name], of["features"][name]
            store.num_nodes = len(nodes)
            if self._source is not None:
                tables = self._source.shaped(name, tables)
                self._source.add_rest(store, name, nodes)
            elif LABELS in tables and tables[LABELS].shape[1:] == (1,):
                tables = {**tables, LABELS: tables[LABELS].squeeze(1)}
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


def _edge_values(
    data: TypedData, weight_attr: str | None, time_attr: str | None
) -> dict[Any, dict[str, Literal["weights", "timestamps"]]]:
    """What graphs have for their edges, by relation and by the names of batches."""
    found: dict[Any, dict[str, Literal["weights", "timestamps"]]] = {}
    for relation, graph in data.graphs.items():
        found[relation] = {}
        if graph.has_weights:
            found[relation][weight_attr or _WEIGHTS] = "weights"
        if time_attr is not None and graph.has_timestamps:
            found[relation][time_attr] = "timestamps"
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
    matrices = typed_matrices(
        of["edge_index"], of["indptr"], of["num_sampled_nodes"], of["num_sampled_edges"]
    )
    for relation, adjs in matrices.items():
        data[relation].adjs = adjs


def _add_links(data: HeteroData, of: Mapping[str, Any], input_id: torch.Tensor) -> None:
    """What a batch has of its links, in the places where PyG has it."""
    relation = of["edge_type"]
    data[relation].input_id = input_id
    if of["edge_label_index"] is not None:
        for name in ("edge_label_index", "edge_label", "edge_label_time"):
            data[relation][name] = of[name]
        return
    sources, destinations = data[relation[0]], data[relation[2]]
    sources.src_index = of["src_index"]
    destinations.dst_pos_index = of["dst_pos_index"]
    # PyG has a vector where there is one for each link.
    destinations.dst_neg_index = of["dst_neg_index"].squeeze(-1)
    sources.seed_time = destinations.seed_time = of["edge_label_time"]
