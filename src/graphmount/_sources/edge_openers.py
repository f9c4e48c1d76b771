"""One opener for each kind of edges, with the options that mean something to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphmount._mount.graph import Graph
from graphmount._sources.arrays.edges import open_array_edges, open_pair_edges
from graphmount._sources.arrays.npz_edges import open_npz_edges
from graphmount._sources.arrow.edges import ArrowEdges
from graphmount._sources.arrow.tables import is_arrow, open_table
from graphmount._sources.kinds import SUPPORTED, TABLE_KINDS
from graphmount._sources.objects.graphzero import open_graphzero_edges
from graphmount._sources.objects.memory_edges import is_pyg, open_memory_edges, open_pyg_edges
from graphmount._sources.objects.mounted import open_graph_edges
from graphmount._sources.objects.name_edges import NameEdges, is_name_pair
from graphmount._sources.objects.networkx_edges import NetworkXEdges, is_networkx
from graphmount._sources.objects.sparse_edges import is_sparse, open_sparse_edges
from graphmount._sources.text.matrix_market import MatrixMarketEdges
from graphmount._sources.text.tables import TextEdges
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphmount._sources.contract.batches import EdgeSource
    from graphmount._sources.contract.options import EdgeOptions
    from graphmount._sources.kinds import Kind

_TEXT_OPTIONS = (
    "columns",
    "weights",
    "timestamps",
    "delimiter",
    "header",
    "comments",
    "keys",
    "on_error",
)


def open_file(path: str, kind: Kind, options: EdgeOptions) -> EdgeSource:
    """Edges of one file.

    Args:
        path: The file.
        kind: What it is.
        options: What the user wants of it.
    """
    if kind in TABLE_KINDS:
        return _open_table(path, kind, options)
    if kind in ("features", "graphzero features"):
        raise SourceError(f"{path} holds features (.gd), not edges; a graph is a .gl file")
    return _OPENERS[kind](path, options)


def _open_array(path: str, options: EdgeOptions) -> EdgeSource:
    options.allow(path, "an array", "shape", "dtype", "keys")
    _require_numbers(path, options)
    return open_array_edges(path, shape=options.shape, dtype=options.dtype)


def open_pair(src_path: str, dst_path: str, options: EdgeOptions) -> EdgeSource:
    """Edges of two files, of their sources and of their destinations.

    Args:
        src_path: The file of the sources.
        dst_path: The file of the destinations.
        options: What the user wants of them.
    """
    options.allow(src_path, "one of a pair of arrays", "keys")
    _require_numbers(src_path, options)
    return open_pair_edges(src_path, dst_path)


def _open_npz(path: str, options: EdgeOptions) -> EdgeSource:
    options.allow(path, "a NumPy archive", "columns", "weights", "timestamps", "keys")
    _require_numbers(path, options)
    return open_npz_edges(
        path,
        columns=options.columns,
        weights=options.weights,
        timestamps=_named(path, options.timestamps, "timestamps"),
    )


def _open_matrix_market(path: str, options: EdgeOptions) -> EdgeSource:
    options.allow(path, "a Matrix Market file", "weights", "keys", "on_error")
    _require_numbers(path, options)
    wanted = _known_values(path, options.weights, "value", 2)
    return MatrixMarketEdges(path, weights=bool(wanted), on_error=options.on_error)


def _open_graphzero(path: str, options: EdgeOptions) -> EdgeSource:
    options.allow(path, "a graph of GraphZero", "weights", "keys")
    _require_numbers(path, options)
    return open_graphzero_edges(path, weights=_known_values(path, options.weights, "weights"))


def _open_text(path: str, options: EdgeOptions) -> EdgeSource:
    options.allow(path, "text", *_TEXT_OPTIONS)
    wanted = {name: getattr(options, name) for name in _TEXT_OPTIONS}
    for name in ("weights", "timestamps"):
        if wanted[name] is True:
            raise TypeError(f"{name}=True; name the column of {path} that has them, or its number")
        wanted[name] = None if wanted[name] is False else wanted[name]
    return TextEdges(path, **wanted)


def open_object(source: Any, options: EdgeOptions) -> EdgeSource:  # noqa: ANN401
    """Edges of an object in memory.

    Args:
        source: The object.
        options: What the user wants of it.
    """
    if isinstance(source, Graph):
        return _open_graph(source, options)
    if is_pyg(source):
        options.allow("PyG's Data", "a graph in memory", "weights", "timestamps", "keys")
        _require_numbers("PyG's Data", options)
        times = _named("PyG's Data", options.timestamps, "timestamps")
        return open_pyg_edges(source, weights=options.weights, timestamps=times)
    if is_networkx(source):
        options.allow("a NetworkX graph", "a graph in memory", "weights", "timestamps", "keys")
        times = _named("a NetworkX graph", options.timestamps, "timestamps")
        opened = NetworkXEdges(source, weights=options.weights, timestamps=times)
        if options.keys is not None and opened.has_text_ids != (options.keys == "text"):
            if options.keys == "dense":
                raise SourceError(f"{opened.name}: its nodes are strings; pass ids='map'")
            found, wrong = ("strings", "int") if opened.has_text_ids else ("integers", "str")
            raise ValueError(f"key_type={wrong!r}, but the nodes of the graph are {found}")
        return opened
    if is_sparse(source):
        options.allow("a SciPy matrix", "a matrix in memory", "weights", "keys")
        _require_numbers("a SciPy matrix", options)
        wanted = _known_values("a SciPy matrix", options.weights, "data")
        return open_sparse_edges(source, weights=bool(wanted))
    if is_arrow(source):
        return _open_table(source, None, options)
    return _open_arrays(source, options)


def _open_arrays(source: Any, options: EdgeOptions) -> EdgeSource:  # noqa: ANN401
    if not isinstance(source, list | tuple) and not hasattr(source, "__array__"):
        if type(source).__name__ == "LazyFrame":
            raise TypeError("a LazyFrame has no rows before it has run; pass frame.collect()")
        raise TypeError(
            f"edges cannot be taken from a {type(source).__name__}; supported are arrays, PyG's "
            "Data, SciPy matrices, NetworkX graphs, tables that speak Arrow (Polars, DuckDB, "
            f"pandas, pyarrow), and files: {SUPPORTED}"
        )
    options.allow("edges in memory", "an array", "keys")
    if is_name_pair(source):
        if options.keys in ("dense", "int"):
            raise TypeError("the ids of the edges are strings; pass ids='map' to number them")
        return NameEdges(*source)
    _require_numbers("edges in memory", options)
    return open_memory_edges(source)


def _open_table(source: object, kind: str | None, options: EdgeOptions) -> EdgeSource:
    table = open_table(source, kind)
    options.allow(table.name, "a table", "columns", "weights", "timestamps", "keys", "on_error")
    for name in ("weights", "timestamps"):
        if getattr(options, name) is True:
            raise TypeError(f"{name}=True; name the column of {table.name} that has them")
    return ArrowEdges(
        table,
        columns=options.columns,
        weights=None if options.weights is False else options.weights,
        timestamps=None if options.timestamps is False else options.timestamps,
        keys=options.keys,
        on_error=options.on_error,
    )


def _open_graph(source: Graph | str, options: EdgeOptions) -> EdgeSource:
    name = source.path if isinstance(source, Graph) else source
    options.allow(name, "a graph of graphmount", "weights", "timestamps", "keys")
    _require_numbers(name, options)
    return open_graph_edges(
        source,
        weights=_known_values(name, options.weights, "weights"),
        timestamps=_known_values(name, options.timestamps, "timestamps"),
    )


def _named(name: str, value: object, option: str) -> str | None:
    """The name of a member or attribute; None for nothing."""
    if value is None or value is False:
        return None
    if not isinstance(value, str):
        raise TypeError(f"{option}={value!r}; pass the name that {name} has for it")
    return value


def _require_numbers(name: str, options: EdgeOptions) -> None:
    if options.keys == "text":
        raise ValueError(f"key_type='str', but the ids of {name} are numbers")


def _known_values(name: str, value: object, *known: str | int) -> bool | None:
    """Whether the values are wanted of a source that has one column of them; None: not said."""
    if value is None or isinstance(value, bool):
        return value
    if value in known:
        return True
    raise ValueError(f"{value!r} is not a column of {name}; pass True for the values it has")


_OPENERS: dict[str, Callable[[str, EdgeOptions], EdgeSource]] = {
    "npy": _open_array,
    "binary": _open_array,
    "npz": _open_npz,
    "matrix market": _open_matrix_market,
    "graphzero graph": _open_graphzero,
    "graph": _open_graph,
    "text": _open_text,
}
