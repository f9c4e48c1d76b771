"""What a PyG `Data` has, by what it belongs to: edges, nodes, or the graph as a whole.

PyG itself says which attributes have a row for each node or edge. Values stay where they are: in
memory, or mapped from a file. PyG and torch are not imported here: they are loaded if there is a
`Data`.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from graphmount._sources.objects.memory_edges import is_pyg
from graphmount._support.arguments import as_list, as_plain
from graphmount._support.conversion import DTypeName
from graphmount._support.shown import shown
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

#: What is said of links that are to be predicted: they are no edges of the graph.
_OF_LINKS = frozenset({"edge_label", "edge_label_index", "edge_label_time"})
_STRUCTURE = frozenset({"edge_index", "adj", "adj_t", "num_nodes", "num_edges"})
_MASK = "_mask"


@dataclass(frozen=True, kw_only=True)
class DataParts:
    """The attributes of a `Data`.

    Attributes:
        num_nodes: How many nodes there are.
        edge_index: Sources and destinations, (2, edges); None if it has no edges.
        nodes: What tables of nodes can hold, by name: arrays or tensors of one or two dimensions.
        edges: The same for edges.
        masks: Bools of nodes that are called `*_mask`: a vector, or a column for each split.
        others: Attributes with a row for each node or edge that no table holds, with the reason.
        times: Times of edges that are no attribute of them, but made of those of nodes; or None.
    """

    num_nodes: int
    edge_index: Any
    nodes: dict[str, Any]
    edges: dict[str, Any]
    masks: dict[str, Any]
    others: dict[str, str]
    times: Any = None

    def named_splits(self) -> dict[str, Any]:
        """Masks by the name of the split: `train_mask` is "train", or "train_0" and so on."""
        return named_splits(self.masks)


def named_splits(masks: dict[str, Any]) -> dict[str, Any]:
    """Masks by the name of the split: `train_mask` is "train", or "train_0" and so on."""
    named = {}
    for key, mask in masks.items():
        name = key.removesuffix(_MASK)
        if mask.ndim == 1:
            named[name] = mask
        else:
            named |= {f"{name}_{i}": mask[:, i] for i in range(mask.shape[1])}
    return named


def parts_of(data: Any, *, exclude: Iterable[str] = (), needs_edges: bool = True) -> DataParts:  # noqa: ANN401
    """The parts of a `Data`.

    Args:
        data: The graph.
        exclude: Attributes to leave out.
        needs_edges: Whether a graph without an `edge_index` is a mistake.

    Raises:
        TypeError: It is no `Data`, has several kinds of nodes, or a tensor has no values.
        SourceError: It has no edges, or its number of nodes is unknown.
        ValueError: There is no attribute of a name to leave out.
    """
    require_data(data)
    values = {key: value for key, value in data.to_dict().items() if value is not None}
    unwanted = as_list([exclude] if isinstance(exclude, str) else exclude, "exclude", "names")
    for name in unwanted:
        if name not in values or name in _STRUCTURE:
            raise ValueError(
                f"exclude: this Data has no attribute {shown(name)} that could be left out; it has "
                f"{', '.join(key for key in values if key not in _STRUCTURE) or 'none'}"
            )
    edge_index = _edge_index_of(values, needs_edges=needs_edges)
    num_nodes = data.num_nodes
    if num_nodes is None:
        raise SourceError("nobody knows how many nodes this Data has; set data.num_nodes")
    nodes: dict[str, Any] = {}
    edges: dict[str, Any] = {}
    masks: dict[str, Any] = {}
    others: dict[str, str] = {}
    for key, value in values.items():
        if key in _STRUCTURE or key in _OF_LINKS or key in unwanted:
            continue
        is_node = data.is_node_attr(key)
        if not is_node and not data.is_edge_attr(key):
            continue
        reason = _why_not(value, key, data.__cat_dim__(key, value))
        if reason is not None:
            others[key] = reason
        elif is_node and key.endswith(_MASK) and value.ndim <= 2 and _dtype_of(value) == "bool":
            masks[key] = in_memory(value, key)
        else:
            (nodes if is_node else edges)[key] = _as_rows(in_memory(value, key))
    return DataParts(
        num_nodes=int(num_nodes),
        edge_index=edge_index,
        nodes=nodes,
        edges=edges,
        masks=masks,
        others=others,
    )


@dataclass(frozen=True, kw_only=True)
class TypeParts:
    """The attributes of one node type, or of one relation, of a `HeteroData`.

    Attributes:
        count: How many nodes or edges there are.
        edge_index: Of a relation: sources and destinations, (2, edges).
        rows: What tables can hold, by name.
        masks: Bools of nodes that are called `*_mask`.
        others: Attributes with a row for each that no table holds, with the reason.
    """

    count: int
    edge_index: Any
    rows: dict[str, Any]
    masks: dict[str, Any]
    others: dict[str, str] = field(default_factory=dict)

    @property
    def edges(self) -> dict[str, Any]:
        """The rows of a relation, as a `DataParts` has them."""
        return self.rows

    @property
    def nodes(self) -> dict[str, Any]:
        """None: the rows are those of edges."""
        return {}

    def named_splits(self) -> dict[str, Any]:
        """Masks by the name of the split, as in a `DataParts`."""
        return named_splits(self.masks)


@dataclass(frozen=True, kw_only=True)
class HeteroParts:
    """The attributes of a `HeteroData`.

    Attributes:
        nodes: Of each node type.
        edges: Of each relation.
    """

    nodes: dict[str, TypeParts]
    edges: dict[tuple[str, str, str], TypeParts]


def hetero_parts_of(
    data: Any,  # noqa: ANN401
    *,
    exclude: Iterable[str] = (),
    keeps_others: bool = False,
) -> HeteroParts:
    """The parts of a `HeteroData`.

    Args:
        data: The graph.
        exclude: Attributes to leave out, of all types and relations.
        keeps_others: Whether attributes that no table can hold are no mistake.

    Raises:
        TypeError: A tensor has no values, or no table can hold an attribute of nodes or edges.
        SourceError: A relation has no edges, or the number of nodes of a type is unknown.
        ValueError: There is no attribute of a name to leave out.
    """
    unwanted = as_list([exclude] if isinstance(exclude, str) else exclude, "exclude", "names")
    stores = [*data.node_stores, *data.edge_stores]
    there = {key for store in stores for key in store} - _STRUCTURE
    for name in unwanted:
        if name not in there:
            raise ValueError(
                f"exclude: this HeteroData has no attribute {shown(name)} that could be left out; "
                f"it has {', '.join(sorted(there)) or 'none'}"
            )
    nodes, edges = {}, {}
    for node_type in data.node_types:
        store = data[node_type]
        if store.num_nodes is None:
            raise SourceError(
                f"nobody knows how many nodes of type {node_type!r} this HeteroData has; set "
                f"data[{node_type!r}].num_nodes"
            )
        rows, masks, others = _rows_of(store, unwanted, store.is_node_attr)
        if not keeps_others:
            _refuse_others(shown(node_type), others)
        nodes[node_type] = TypeParts(
            count=int(store.num_nodes), edge_index=None, rows=rows, masks=masks, others=others
        )
    for edge_type in data.edge_types:
        store = data[edge_type]
        try:
            edge_index = _edge_index_of(dict(store.items()), needs_edges=True)
        except (SourceError, ValueError, TypeError) as error:
            raise type(error)(f"{edge_type}: {error}") from None
        rows, masks, others = _rows_of(store, unwanted, store.is_edge_attr)
        if not keeps_others:
            _refuse_others(shown(edge_type), others)
        edges[edge_type] = TypeParts(
            count=edge_index.shape[1], edge_index=edge_index, rows=rows, masks=masks, others=others
        )
    return HeteroParts(nodes=nodes, edges=edges)


def _rows_of(
    store: Any,  # noqa: ANN401
    unwanted: list[Any],
    is_row: Callable[[str], bool],
) -> tuple[dict[str, Any], dict[str, Any], dict[str, str]]:
    """What tables can hold of a store of a `HeteroData`, its masks, and why not the others."""
    rows: dict[str, Any] = {}
    masks: dict[str, Any] = {}
    others: dict[str, str] = {}
    for key, value in store.items():
        if value is None or key in _STRUCTURE or key in _OF_LINKS or key in unwanted:
            continue
        if not is_row(key):
            continue
        reason = _why_not(value, key, 0)
        if reason is not None:
            others[key] = reason
        elif key.endswith(_MASK) and value.ndim <= 2 and _dtype_of(value) == "bool":
            masks[key] = in_memory(value, key)
        else:
            rows[key] = _as_rows(in_memory(value, key))
    return rows, masks, others


def _refuse_others(name: str, others: Mapping[str, str]) -> None:
    for key, reason in others.items():
        raise TypeError(
            f"data[{name}].{key} has a row for each node or edge, but {reason}; convert it, or "
            f"leave it out by exclude=[{key!r}]"
        )


def require_data(data: Any) -> None:  # noqa: ANN401
    """Raises unless this is a graph of PyG with one kind of nodes."""
    if not is_pyg(data):
        also = (
            "; pass one of its graphs, such as dataset[0]" if hasattr(data, "num_classes") else ""
        )
        raise TypeError(f"this takes a Data of PyG, not {shown(data)}{also}")
    if hasattr(data, "edge_types"):
        raise TypeError(
            "this HeteroData has several kinds of nodes and edges, and this takes one kind; "
            "gm.from_pyg(data, out) compiles all of them, and data.to_homogeneous() makes one of "
            "them"
        )


def _edge_index_of(values: dict[str, Any], *, needs_edges: bool) -> Any:  # noqa: ANN401
    edge_index = values.get("edge_index")
    if edge_index is None:
        if not needs_edges:
            return None
        also = next((f", only an {key}" for key in ("adj_t", "adj") if key in values), "")
        raise SourceError(
            f"this Data has no edge_index{also}; keep the edge_index (ToSparseTensor has "
            "remove_edge_index=False), or set torch.empty(2, 0, dtype=torch.long) if there are no "
            "edges"
        )
    _require_values(edge_index, "edge_index")
    shape, dtype = tuple(edge_index.shape), _dtype_of(edge_index)
    if len(shape) != 2 or shape[0] != 2:
        raise ValueError(f"edge_index has the shape {shape}, and not (2, edges)")
    if dtype not in ("int32", "int64", "int16", "int8", "uint8"):
        raise TypeError(f"edge_index must be integers, not {dtype}")
    return in_memory(edge_index, "edge_index")


def _why_not(value: Any, key: str, dim: int) -> str | None:  # noqa: ANN401
    """Why no table can hold an attribute; None if one can."""
    if not hasattr(value, "dtype") or not hasattr(value, "ndim"):
        return f"is a {type(value).__name__}, and a table holds numbers"
    _require_values(value, key)
    if str(getattr(value, "layout", "torch.strided")) != "torch.strided":
        return f"is sparse ({value.layout}); pass it dense"
    if _dtype_of(value) not in get_args(DTypeName):
        return (
            f"has the dtype {_dtype_of(value)}, and a table holds {', '.join(get_args(DTypeName))}"
        )
    if dim != 0:
        return "has its rows in its last dimension"
    return None


def _require_values(value: Any, key: str) -> None:  # noqa: ANN401
    if str(getattr(value, "device", "cpu")) == "meta":
        raise TypeError(f"data.{key} is on the device 'meta', so it has no values")


def _dtype_of(value: Any) -> str:  # noqa: ANN401
    return str(value.dtype).removeprefix("torch.")


def in_memory(value: Any, key: str) -> Any:  # noqa: ANN401
    """A tensor of any device in the memory of the host; arrays as they are."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return value.detach().cpu().as_subclass(torch.Tensor)
    return value if isinstance(value, np.memmap) else as_plain(value, f"data.{key}")


def _as_rows(value: Any) -> Any:  # noqa: ANN401
    """Rows of one dimension at the most."""
    if value.ndim <= 2:
        return value
    return value.reshape(len(value), math.prod(value.shape[1:]))
