"""Edges in memory: NumPy arrays, lists, torch tensors, PyG's `Data`, and pairs of lists of strings.

Edges are a pair (sources, destinations), or one array of shape (2, edges). Arrays are read where
they are, batch by batch; libraries are recognised only if they are loaded.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount._mount.node_ids import refuse_marked
from graphmount._sources.arrays.array_stream import MemoryStream
from graphmount._sources.arrays.column_edges import ColumnEdges
from graphmount._sources.contract.batches import EdgeBatch, EdgeSource
from graphmount._support.arguments import as_ids, as_plain, is_text
from graphmount._support.text_columns import from_strings
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray


def ends_in_memory(source: object) -> tuple[MemoryStream, MemoryStream]:
    """The ends of edges: of a pair of arrays, or of an array of shape (2, edges).

    Args:
        source: The arrays: of NumPy or torch, or lists.

    Raises:
        ValueError, TypeError: They are not arrays of integers, or not of this shape.
    """
    if not isinstance(source, tuple):
        refuse_marked(source, "edges", "an edge of a new graph", advice="pass ds.to_external(ids)")
        array = as_array(source, "edges")
        if array.ndim != 2 or array.shape[0] != 2:
            raise ValueError(
                f"an array of edges has shape (2, edges), not {array.shape}; pass its transpose, "
                "or a pair (sources, destinations)"
            )
        source = (array[0], array[1])
    if len(source) != 2:
        raise ValueError(f"edges are a pair (sources, destinations), not {len(source)} arrays")
    return _as_stream(source[0], "sources"), _as_stream(source[1], "destinations")


def _as_stream(part: Any, name: str) -> MemoryStream:  # noqa: ANN401
    refuse_marked(part, name, "an edge of a new graph", advice="pass ds.to_external(ids)")
    if isinstance(part, list | range):
        return MemoryStream(array=as_ids(part, name, error=SourceError), name=name)
    array = as_array(part, name)
    if array.ndim != 1 or array.dtype.kind != "i":
        array = as_ids(array, name, error=SourceError)  # or a message that says why not
    return MemoryStream(array=array, name=name)


def require_array(source: object, things: str, *, supported: str) -> None:
    """Raises unless a source can be taken for an array."""
    if isinstance(source, list | tuple) or hasattr(source, "__array__"):
        return
    raise TypeError(
        f"{things} cannot be taken from a {type(source).__name__}; supported are {supported}"
    )


def as_array(source: Any, name: str) -> NDArray[Any]:  # noqa: ANN401
    """A NumPy array over anything that is like one; tensors are not copied.

    Raises:
        TypeError: A tensor is not in memory, or is sparse.
    """
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(source, torch.Tensor):
        return as_plain(source, name)
    if source.device.type == "meta":
        raise TypeError(f"{name}: the tensor is on the device 'meta', so it has no values")
    if source.device.type != "cpu":
        raise TypeError(f"{name}: the tensor is on {source.device}; pass tensor.cpu()")
    if source.layout != torch.strided:
        raise TypeError(
            f"{name}: the tensor is sparse ({source.layout}); pass its indices, "
            "tensor.to_sparse_coo().coalesce().indices()"
        )
    if source.dtype == torch.bfloat16:
        source = source.float()  # NumPy has no such dtype
    try:
        return np.asarray(source.detach().as_subclass(torch.Tensor).numpy())
    except (TypeError, RuntimeError):  # float8, quantized, conjugated
        raise TypeError(
            f"{name}: NumPy has no dtype like that of the tensor, {source.dtype}; pass "
            "tensor.float(), or tensor.dequantize() if it is quantized"
        ) from None


def is_pyg(source: object) -> bool:
    """Whether this is a graph of PyG."""
    data = sys.modules.get("torch_geometric.data")
    return data is not None and isinstance(source, data.Data | data.HeteroData)


def open_pyg_edges(
    source: Any,  # noqa: ANN401
    *,
    weights: str | bool | None = None,
    timestamps: str | None = None,
) -> ColumnEdges:
    """Edges of a PyG `Data`.

    Args:
        source: The graph.
        weights: The attribute with the weights: "edge_weight" (or True), or "edge_attr" if it has
            one column.
        timestamps: The attribute with the times, such as "edge_time".

    Raises:
        TypeError: The graph has several kinds of nodes.
        SourceError: It has no `edge_index`, or no such attribute.
    """
    if hasattr(source, "edge_types"):
        pick = f"data[{source.edge_types[0]!r}].edge_index" if source.edge_types else "one of them"
        raise TypeError(
            "this HeteroData has several kinds of nodes and edges, and a graph file has one; pass "
            f"the edges of one kind, as {pick}"
        )
    if source.edge_index is None:
        also = ", only an adj_t" if getattr(source, "adj_t", None) is not None else ""
        raise SourceError(
            f"this Data has no edge_index{also}; keep the edge_index (ToSparseTensor has "
            "remove_edge_index=False), or pass the edges themselves"
        )
    named = {
        "weights": "edge_weight" if weights is True else weights,
        "timestamps": timestamps,
    }
    return ColumnEdges(
        name="edges of a PyG Data",
        ends=ends_in_memory(source.edge_index),
        values={name: _attribute(source, key) for name, key in named.items() if key},
        num_nodes=source.num_nodes,
    )


def _attribute(source: Any, name: str) -> MemoryStream:  # noqa: ANN401
    value = source.get(name)
    if value is None:
        raise SourceError(f"this Data has no {name}; it has {', '.join(source.keys())}")
    array = as_array(value, name)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise SourceError(
            f"{name} has shape {array.shape}, but one number is needed for each edge; pass one of "
            f"its columns as an array: data.{name}[:, 0]"
        )
    return MemoryStream(array=array, name=name)


#: About what a string and its place in a list take.
_EDGE_BYTES = 256


def is_name_pair(source: object) -> bool:
    """Whether this is a pair of columns, of which the first begins with a string."""
    if not isinstance(source, tuple) or len(source) != 2:
        return False
    first = source[0]
    if isinstance(first, np.ndarray):
        return first.dtype.kind in "UT" or (
            first.dtype.kind == "O" and len(first) > 0 and isinstance(first.flat[0], str)
        )
    return isinstance(first, list | tuple) and len(first) > 0 and isinstance(first[0], str)


class NameEdges(EdgeSource):
    """Edges of a pair of columns of strings; an `EdgeSource`.

    Args:
        src: Where the edges begin.
        dst: Where they end.

    Raises:
        ValueError: They are not of the same length.
    """

    def __init__(self, src: Sequence[Any], dst: Sequence[Any]) -> None:
        if len(src) != len(dst):
            raise ValueError(f"sources has {len(src)} ids, and destinations has {len(dst)}")
        super().__init__("edges in memory", len(src))
        self._ends = (src, dst)
        self.num_edges = len(src)
        self.has_text_ids = True

    def batches(self, *, memory: int) -> Iterator[EdgeBatch]:
        """See `EdgeSource`."""
        step = max(1, memory // _EDGE_BYTES)
        for first in range(0, len(self._ends[0]), step):
            last = min(first + step, len(self._ends[0]))
            src, dst = (self._strings(end, first, last) for end in self._ends)
            yield EdgeBatch(src=from_strings(src), dst=from_strings(dst), done=last)

    def _strings(self, end: Sequence[Any], first: int, last: int) -> list[str]:
        strings = []
        for place, name in enumerate(end[first:last], first):
            if not isinstance(name, str):
                raise SourceError(
                    f"{self.name}, edge {place}: {name!r} is no string, as the ids before it are"
                )
            if not is_text(name):
                raise SourceError(
                    f"{self.name}, edge {place}: {name!r} is not valid text; it has half of a "
                    "character"
                )
            strings.append(str(name))
        return strings
