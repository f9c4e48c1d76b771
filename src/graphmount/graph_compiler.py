"""Writing `.gl` files from edges in memory."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from graphmount import _core
from graphmount._arguments import as_count, as_ids, is_text, require_choice
from graphmount._progress import ProgressOption, reporting
from graphmount._sizes import format_bytes, parse_bytes
from graphmount.errors import BudgetError, SourceError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = ["CompiledGraph", "compile_graph"]


@dataclass(frozen=True, kw_only=True)
class CompiledGraph:
    """What `compile_graph` wrote.

    Attributes:
        path: The file.
        num_nodes: Nodes of the graph.
        num_edges: List entries of one direction, after dropping what was to be dropped; an
            undirected edge has two.
        file_bytes: Its size.
        seconds: How long it took.

    Examples:
        >>> import graphmount as gm
        >>> gm.compile_graph(([0, 0, 2], [1, 1, 2]), "g.gl", dedup=True).num_edges
        2
    """

    path: str
    num_nodes: int
    num_edges: int
    file_bytes: int
    seconds: float


def compile_graph(
    source: tuple[ArrayLike, ArrayLike] | ArrayLike,
    out: str | os.PathLike[str],
    *,
    directed: bool = True,
    neighbors: Literal["both", "in", "out"] = "both",
    weights: ArrayLike | None = None,
    timestamps: ArrayLike | None = None,
    node_ids: ArrayLike | Sequence[str] | None = None,
    num_nodes: int | None = None,
    dedup: bool | Literal["first", "sum"] = False,
    self_loops: Literal["keep", "drop"] = "keep",
    index_dtype: Literal["int32", "int64"] | None = None,
    source_rows: bool = False,
    memory: int | str = "2GiB",
    progress: ProgressOption = None,
) -> CompiledGraph:
    """Writes edges to a `.gl` file, as neighbor lists sorted by node.

    The file appears complete or not at all, and replaces one that is there; who has mounted the old
    one keeps it.

    Args:
        source: The edges: a pair (sources, destinations) of integer arrays, or one array of shape
            (2, edges), as PyG's `edge_index`.
        out: The file to write.
        directed: If False, every edge runs both ways; one copy of the lists serves both directions.
        neighbors: Which lists to keep: "in" (what sampling reads), "out" (what walks read) or both.
        weights: One number of at least 0 for each edge; stored as float32, with tables that make
            weighted picks take constant time.
        timestamps: One int64 for each edge. Lists are then sorted by (time, neighbor).
        node_ids: External ids of the nodes, integers or strings, all different: `node_ids[i]` is
            what the source calls node i. They define the order of the nodes.
        num_nodes: Number of nodes; by default the largest id plus one.
        dedup: True or "first" keeps the first of several edges between the same nodes (at the same
            time, where there are timestamps); "sum" adds up their weights.
        self_loops: Whether to keep or drop edges from a node to itself.
        index_dtype: "int64" for libraries that want neighbors and offsets in one dtype; by default
            int32 up to 2**31 nodes.
        source_rows: Keep the row that each edge had in the source.
        memory: About how much memory may be used besides the source. A graph that needs more is
            refused before the work begins.
        progress: A callback of (steps done, steps in all); True or False for a bar or none.

    Returns:
        A `CompiledGraph`.

    Raises:
        SourceError: An id or weight is not allowed; the message says which.
        BudgetError: The graph needs more memory to compile than `memory`.
        ValueError, TypeError: The source is not made of integers, or an option is wrong.
        OSError: The file cannot be written.

    Examples:
        >>> import graphmount as gm
        >>> gm.compile_graph(([0, 1, 1], [1, 2, 0]), "g.gl", weights=[0.5, 1.0, 2.0]).num_nodes
        3
    """
    start = time.monotonic()
    require_choice("neighbors", neighbors, ("both", "in", "out"))
    require_choice("self_loops", self_loops, ("keep", "drop"))
    require_choice("dedup", dedup, (False, True, "first", "sum"))
    require_choice("index_dtype", index_dtype, (None, "int32", "int64"))
    src, dst = _as_edges(source)
    numbers, names = _as_node_ids(node_ids)
    if node_ids is not None:
        num_nodes = _agreed_num_nodes(num_nodes, numbers, names)
    elif num_nodes is None:
        num_nodes = max(int(src.max(initial=-1)), int(dst.max(initial=-1))) + 1
    else:
        num_nodes = as_count(num_nodes, "num_nodes")
    if index_dtype == "int32" and num_nodes > 2**31:
        raise ValueError(f"index_dtype='int32' cannot hold the ids of {num_nodes} nodes")
    edge_weights = None if weights is None else _as_weights(weights)
    times = None if timestamps is None else as_ids(timestamps, "timestamps", error=SourceError)
    _require_budget(
        memory,
        num_nodes,
        len(src),
        directed=directed,
        has_weights=weights is not None,
        has_times=timestamps is not None,
        besides=_copied_bytes(source, src, dst) + _node_id_bytes(numbers, names),
    )
    path = os.path.realpath(os.fspath(out))
    with reporting(progress, f"writing {os.path.basename(path)}", in_bytes=False) as report:
        num_nodes, num_edges, file_bytes = _core.write_graph(
            os.fsencode(path),
            src,
            dst,
            weights=edge_weights,
            timestamps=times,
            node_numbers=numbers,
            node_names=names,
            num_nodes=num_nodes,
            in_lists=neighbors != "out",
            out_lists=neighbors != "in",
            undirected=not directed,
            dedup=("first" if dedup else "keep") if isinstance(dedup, bool) else dedup,
            drop_self_loops=self_loops == "drop",
            wide_indices=index_dtype == "int64",
            keep_source_rows=source_rows,
            progress=report,
        )
    return CompiledGraph(
        path=path,
        num_nodes=num_nodes,
        num_edges=num_edges,
        file_bytes=file_bytes,
        seconds=time.monotonic() - start,
    )


def _as_edges(source: object) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if isinstance(source, str | os.PathLike):
        raise TypeError(
            f"compile_graph takes arrays of edges, and {os.fspath(source)!r} is a path; load it "
            "first, and pass (sources, destinations)"
        )
    if not isinstance(source, tuple):
        source = np.asarray(source)
        if source.ndim != 2 or source.shape[0] != 2:
            raise ValueError(
                f"an array of edges has shape (2, edges), not {source.shape}; pass its transpose, "
                "or a pair (sources, destinations)"
            )
    if len(source) != 2:
        raise ValueError(f"edges are a pair (sources, destinations), not {len(source)} arrays")
    return (
        as_ids(source[0], "sources", error=SourceError),
        as_ids(source[1], "destinations", error=SourceError),
    )


def _as_weights(weights: ArrayLike) -> NDArray[np.float32]:
    array = np.asarray(weights)
    if array.size == 0 and not isinstance(weights, np.ndarray):
        array = array.astype(np.float32)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"weights must be numbers, not {array.dtype}")
    if array.ndim != 1:
        raise ValueError(f"weights must be one-dimensional, not of shape {array.shape}")
    with np.errstate(over="ignore"):
        narrow = np.ascontiguousarray(array, dtype=np.float32)
    too_large = np.isinf(narrow) & np.isfinite(array)
    if too_large.any():
        edge = int(np.argmax(too_large))
        raise SourceError(f"edge {edge}: weight {array[edge]} is too large for float32")
    return narrow


def _as_node_ids(
    node_ids: ArrayLike | Sequence[str] | None,
) -> tuple[NDArray[np.int64] | None, list[str] | None]:
    """External ids as integers or as strings; the other of the two is None."""
    if node_ids is None:
        return None, None
    if isinstance(node_ids, np.ndarray) and node_ids.dtype.kind not in "OUT":
        return as_ids(node_ids, "node_ids", error=SourceError), None
    # Not by way of NumPy's strings, which are all as long as the longest.
    names: list[Any] = list(cast("Sequence[Any]", node_ids))
    if not any(isinstance(name, str) for name in names):
        return as_ids(names, "node_ids", error=SourceError), None
    for place, name in enumerate(names):
        if not isinstance(name, str):
            raise TypeError(f"node_ids[{place}] is {name!r}; ids are all integers or all strings")
        if not is_text(name):
            raise SourceError(f"node_ids[{place}] is {name!r}, which is not valid text")
    return None, [str(name) for name in names]


def _agreed_num_nodes(
    num_nodes: int | None, numbers: NDArray[np.int64] | None, names: list[str] | None
) -> int:
    count = len(numbers) if numbers is not None else len(names or ())
    if num_nodes is not None and num_nodes != count:
        raise ValueError(f"num_nodes={num_nodes}, but there are {count} node_ids")
    return count


def _copied_bytes(source: Any, *columns: NDArray[np.int64]) -> int:  # noqa: ANN401
    """How much of the columns is not the source itself, but a copy as int64."""
    return sum(
        column.nbytes
        for part, column in zip(source, columns, strict=True)
        # Arrays and tensors show their own memory; lists have none that could be shared.
        if not (hasattr(part, "__array__") and np.may_share_memory(np.asarray(part), column))
    )


def _node_id_bytes(numbers: NDArray[np.int64] | None, names: list[str] | None) -> int:
    """What external ids take: in the core, sorted, and as they are written."""
    if names is not None:
        return len(names) * (32 + 8 + 8 + 8) + 3 * sum(len(name.encode()) for name in names)
    return 0 if numbers is None else len(numbers) * 3 * 8


def _require_budget(
    memory: int | str,
    num_nodes: int,
    num_rows: int,
    *,
    directed: bool,
    has_weights: bool,
    has_times: bool,
    besides: int,
) -> None:
    """Raises BudgetError if what the work needs at its peak would exceed the budget."""
    entries = num_rows * (1 if directed else 2)
    # The incoming neighbors, what is being sorted (16), and the outgoing neighbors with their ids;
    # weights and times of both directions.
    of_entries = entries * (8 + 16 + 8 + 8 + 8 * has_weights + 16 * has_times)
    # Offsets of both directions; what the threads need.
    needed = of_entries + num_nodes * 16 + (32 << 20) + besides
    budget = parse_bytes(memory, "memory")
    if needed > budget:
        raise BudgetError(
            f"compiling {num_rows} edges between {num_nodes} nodes needs about "
            f"{format_bytes(needed)}, more than memory={format_bytes(budget)}; pass a larger "
            "memory="
        )
