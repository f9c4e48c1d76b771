"""One opener for each kind of edges, with the options that mean something to it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from graphmount._mount.graph import Graph
from graphmount._sources.arrays.column_edges import ColumnEdges, as_ends
from graphmount._sources.arrays.matrix_edges import is_sparse, open_sparse_edges
from graphmount._sources.arrays.npy_files import open_npy
from graphmount._sources.arrays.npz_files import open_npz_edges
from graphmount._sources.arrow.cluster_edges import ClusterEdges, ClusterSource
from graphmount._sources.arrow.edges import ArrowEdges
from graphmount._sources.arrow.opening import is_arrow, open_table
from graphmount._sources.graph_files.graphzero import open_graphzero_edges
from graphmount._sources.graph_files.mounted import open_graph_edges
from graphmount._sources.kinds import SUPPORTED, TABLE_KINDS
from graphmount._sources.objects.memory_edges import (
    NameEdges,
    ends_in_memory,
    is_name_pair,
    is_pyg,
    open_pyg_edges,
    require_array,
)
from graphmount._sources.objects.networkx_edges import NetworkXEdges, is_networkx
from graphmount._sources.text.matrix_market import MatrixMarketEdges
from graphmount._sources.text.tables import TextEdges
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphmount._sources.contract.batches import EdgeSource
    from graphmount._sources.contract.tables import EdgeRequest
    from graphmount._sources.kinds import Kind


def open_file(path: str, kind: Kind, request: EdgeRequest) -> EdgeSource:
    """Edges of one file.

    Args:
        path: The file.
        kind: What it is.
        request: What the user wants of it.
    """
    if kind in TABLE_KINDS:
        return _open_table(path, kind, request)
    if kind in ("features", "graphzero features"):
        raise SourceError(f"{path} holds features (.gd), not edges; a graph is a .gl file")
    return _OPENERS[kind](path, request)


def _open_array(path: str, request: EdgeRequest) -> EdgeSource:
    _allow_numbers(request, path, "an array", "shape", "dtype")
    stream = open_npy(path, shape=request.shape, dtype=request.dtype)
    return ColumnEdges(name=path, ends=as_ends(stream))


def open_pair(src_path: str, dst_path: str, request: EdgeRequest) -> EdgeSource:
    """Edges of two files, of their sources and of their destinations.

    Args:
        src_path: The file of the sources.
        dst_path: The file of the destinations.
        request: What the user wants of them.
    """
    _allow_numbers(request, src_path, "one of a pair of arrays")
    ends = (open_npy(src_path), open_npy(dst_path))
    return ColumnEdges(name=f"{src_path} and {dst_path}", ends=ends)


def _open_npz(path: str, request: EdgeRequest) -> EdgeSource:
    _allow_numbers(request, path, "a NumPy archive", "columns", "weights", "timestamps")
    times = _name_of_times(path, request.timestamps)
    return open_npz_edges(path, replace(request, timestamps=times))


def _open_matrix_market(path: str, request: EdgeRequest) -> EdgeSource:
    _allow_numbers(request, path, "a Matrix Market file", "weights", also=("on_error",))
    wanted = _known_values(path, request.weights, "value", 2)
    return MatrixMarketEdges(path, weights=bool(wanted), on_error=request.on_error)


def _open_graphzero(path: str, request: EdgeRequest) -> EdgeSource:
    _allow_numbers(request, path, "a graph of GraphZero", "weights")
    return open_graphzero_edges(path, weights=_known_values(path, request.weights, "weights"))


def _open_text(path: str, request: EdgeRequest) -> EdgeSource:
    text_options = ("delimiter", "header", "comments", "keys", "on_error")
    request.allow(path, "text", "columns", "weights", "timestamps", *text_options)
    return TextEdges(path, _with_columns(request, path, ", or its number"))


def open_object(source: Any, request: EdgeRequest) -> EdgeSource:  # noqa: ANN401
    """Edges of an object in memory.

    Args:
        source: The object.
        request: What the user wants of it.
    """
    if isinstance(source, Graph):
        return _open_graph(source, request)
    if is_pyg(source):
        _allow_numbers(request, "PyG's Data", "a graph in memory", "weights", "timestamps")
        times = _name_of_times("PyG's Data", request.timestamps)
        weights: Any = request.weights
        return open_pyg_edges(source, weights=weights, timestamps=times)
    if is_networkx(source):
        return _open_networkx(source, request)
    if is_sparse(source):
        _allow_numbers(request, "a SciPy matrix", "a matrix in memory", "weights")
        wanted = _known_values("a SciPy matrix", request.weights, "data")
        return open_sparse_edges(source, weights=bool(wanted))
    if is_arrow(source) or isinstance(source, ClusterEdges):
        return _open_table(source, None, request)
    return _open_arrays(source, request)


def _open_networkx(source: Any, request: EdgeRequest) -> EdgeSource:  # noqa: ANN401
    request.allow("a NetworkX graph", "a graph in memory", "weights", "timestamps", "keys")
    times = _name_of_times("a NetworkX graph", request.timestamps)
    weights: Any = request.weights
    opened = NetworkXEdges(source, weights=weights, timestamps=times)
    if request.keys is not None and opened.has_text_ids != (request.keys == "text"):
        if request.keys == "dense":
            raise SourceError(f"{opened.name}: its nodes are strings; pass ids='map'")
        found, wrong = ("strings", "int") if opened.has_text_ids else ("integers", "str")
        raise ValueError(f"key_type={wrong!r}, but the nodes of the graph are {found}")
    return opened


def _open_arrays(source: Any, request: EdgeRequest) -> EdgeSource:  # noqa: ANN401
    require_array(
        source,
        "edges",
        supported="arrays, PyG's Data, SciPy matrices, NetworkX graphs, tables that speak Arrow "
        f"(Polars, DuckDB, pandas, pyarrow), and files: {SUPPORTED}",
    )
    request.allow("edges in memory", "an array", "keys")
    if is_name_pair(source):
        if request.keys in ("dense", "int"):
            raise TypeError("the ids of the edges are strings; pass ids='map' to number them")
        return NameEdges(*source)
    _allow_numbers(request, "edges in memory", "an array")
    return ColumnEdges(name="edges in memory", ends=ends_in_memory(source))


def _open_table(source: object, kind: str | None, request: EdgeRequest) -> EdgeSource:
    if isinstance(source, ClusterEdges):
        return ClusterSource(source, _of_table(request, "a Ray Dataset"))
    table = open_table(source, kind)
    return ArrowEdges(table, _of_table(request, table.name))


def _of_table(request: EdgeRequest, name: str) -> EdgeRequest:
    request.allow(name, "a table", "columns", "weights", "timestamps", "keys", "on_error")
    return _with_columns(request, name)


def _open_graph(source: Graph | str, request: EdgeRequest) -> EdgeSource:
    name = source.path if isinstance(source, Graph) else source
    _allow_numbers(request, name, "a graph of graphmount", "weights", "timestamps")
    return open_graph_edges(
        source,
        weights=_known_values(name, request.weights, "weights"),
        timestamps=_known_values(name, request.timestamps, "timestamps"),
    )


def _allow_numbers(
    request: EdgeRequest, name: str, kind: str, *allowed: str, also: tuple[str, ...] = ()
) -> None:
    """What `EdgeRequest.allow` does, for a source whose ids are numbers."""
    request.allow(name, kind, *allowed, "keys", *also)
    if request.keys == "text":
        raise ValueError(f"key_type='str', but the ids of {name} are numbers")


def _with_columns(request: EdgeRequest, name: str, advice: str = "") -> EdgeRequest:
    """The request of a table, in which weights and times have no place but their columns."""
    for option in ("weights", "timestamps"):
        if getattr(request, option) is True:
            raise TypeError(f"{option}=True; name the column of {name} that has them{advice}")
    return replace(
        request,
        weights=None if request.weights is False else request.weights,
        timestamps=None if request.timestamps is False else request.timestamps,
    )


def _name_of_times(name: str, value: object) -> str | None:
    """The member or attribute with the times; None for nothing."""
    if value is None or value is False:
        return None
    if not isinstance(value, str):
        raise TypeError(f"timestamps={value!r}; pass the name that {name} has for it")
    return value


def _known_values(name: str, value: object, *known: str | int) -> bool | None:
    """Whether the values are wanted of a source that has one column of them; None: not said."""
    if value is None or isinstance(value, bool):
        return value
    if value in known:
        return True
    raise ValueError(f"{value!r} is not a column of {name}; pass True for the values it has")


_OPENERS: dict[str, Callable[[str, EdgeRequest], EdgeSource]] = {
    "npy": _open_array,
    "binary": _open_array,
    "npz": _open_npz,
    "matrix market": _open_matrix_market,
    "graphzero graph": _open_graphzero,
    "graph": _open_graph,
    "text": _open_text,
}
