"""What a sampler for PyG samples from, and what PyG's loaders say of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphmount._dataset.typed_dataset import TypedDataset
from graphmount._mount.graph import Graph
from graphmount._mount.node_ids import require_marked
from graphmount._mount.node_reading import ADVICE, require_reading
from graphmount.errors import MissingDataError
from graphmount.pyg.stores.graph_store import GraphStore
from graphmount.torch.tensor_views import tensor_over

if TYPE_CHECKING:
    import torch
    from torch_geometric.sampler import NegativeSampling

    from graphmount._mount.node_ids import IdReading


def has_weights(negatives: NegativeSampling | None) -> bool:
    """Whether negatives are drawn by weights of nodes."""
    return negatives is not None and not (
        negatives.src_weight is None and negatives.dst_weight is None
    )


def as_reading(ids: Any, data: Graph | TypedDataset) -> IdReading:  # noqa: ANN401
    """How to read inputs, which come without a mark: PyG's loaders cut them out of what they got.

    Raises:
        IdError: It is not said, and the ids of the data and of its source differ.
    """
    require_reading(ids)
    spaces: Any = [data] if isinstance(data, Graph) else data.nodes.values()
    for space in spaces:
        if ids is None and space._own_order != 0:  # noqa: SLF001
            require_marked([0], "the inputs of a loader", space.order, advice=ADVICE)
    return ids or "internal"


def first_of(fanouts: Any) -> Any:  # noqa: ANN401
    """Fanouts that say how many hops there are."""
    return next(iter(fanouts.values()), []) if isinstance(fanouts, dict) else fanouts


def source_rows_of(graph: Graph) -> torch.Tensor:
    """The row that each edge had in the source, by edge id: its place in the incoming lists."""
    rows = graph._private_section("source rows", "in")  # noqa: SLF001  (a friend)
    if rows is None:
        raise MissingDataError(
            f"{graph.path} does not know the rows that edges had in its source; compile it with "
            "source_rows=True"
        )
    return tensor_over(rows, graph.path, stacklevel=4)


def as_text(kind: Any) -> Any:  # noqa: ANN401
    """What PyG has an enum for, as text."""
    return getattr(kind, "value", kind)


def data_of(data: Any) -> Graph | TypedDataset:  # noqa: ANN401
    """The graph in whatever has one, or the dataset of many kinds."""
    if isinstance(data, tuple | list) and len(data) == 2:
        data = data[1]
    data = getattr(data, "_data", data) if isinstance(data, GraphStore) else data
    if isinstance(data, Graph | TypedDataset):
        return data
    graph = getattr(data, "graph", None)
    if not isinstance(graph, Graph):
        raise TypeError(
            "data must be a Dataset, a Graph, or the stores of Dataset.to_pyg(), not "
            f"{type(data).__name__}: other data is sampled by PyG's own NeighborSampler"
        )
    return graph


def refuse_types(input_type: object) -> None:
    """Raises ValueError if inputs of a graph, which has one type, are given a type."""
    if input_type is not None:
        raise ValueError(
            f"the inputs are of type {input_type!r}, and a graph has one type of nodes and edges; "
            "give the loader a tensor of nodes, or (None, edge_label_index)"
        )
