"""Writing `.gl` files from edges of any source."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from graphmount._compile.edges.graph_options import GraphOptions, as_budget
from graphmount._compile.edges.intake import EdgeIntake, Ids, all_node_ids
from graphmount._compile.output.own_sources import side_file
from graphmount._compile.output.path import output_path, temporary_place
from graphmount._sources.contract.tables import EdgeTable
from graphmount._sources.opening import open_edge_table
from graphmount._support.display import Displayed
from graphmount._support.progress import ProgressOption, reporting, steps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, DTypeLike

    from graphmount._sources.contract.tables import OnError


@dataclass(frozen=True, kw_only=True, repr=False)
class CompiledGraph(Displayed):
    """What `compile_graph` wrote.

    Attributes:
        path: The file.
        num_nodes: Nodes of the graph.
        num_edges: List entries of one direction, after dropping what was to be dropped; an
            undirected edge has two.
        file_bytes: Its size.
        spilled_bytes: How much was written to temporary files on the way; 0 if all fit into memory.
        skipped: How many rows of the source were left out, with `on_error="skip"`.
        skipped_examples: What was wrong with the first of them.
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
    spilled_bytes: int
    skipped: int
    skipped_examples: tuple[str, ...]
    seconds: float


def compile_graph(
    source: Any,  # noqa: ANN401
    out: str | os.PathLike[str],
    *,
    directed: bool = True,
    neighbors: Literal["both", "in", "out"] = "both",
    columns: tuple[str | int, str | int] | None = None,
    weights: ArrayLike | str | int | bool | None = None,
    timestamps: ArrayLike | str | int | None = None,
    ids: Ids = "dense",
    key_type: Literal["int", "str"] | None = None,
    node_ids: ArrayLike | Sequence[str] | None = None,
    num_nodes: int | None = None,
    dedup: bool | Literal["first", "sum"] = False,
    self_loops: Literal["keep", "drop"] = "keep",
    index_dtype: Literal["int32", "int64"] | None = None,
    source_rows: bool = False,
    delimiter: str | None = None,
    header: bool | None = None,
    comments: str = "#%",
    shape: tuple[int, ...] | None = None,
    dtype: DTypeLike | None = None,
    on_error: OnError = "raise",
    memory: int | str = "2GiB",
    tmp: str | os.PathLike[str] | None = None,
    progress: ProgressOption = None,
) -> CompiledGraph:
    r"""Writes edges of any source to a `.gl` file, as neighbor lists sorted by node.

    The graph may be larger than memory: edges that do not fit into `memory` wait in a temporary
    file. The file appears complete or not at all, and replaces one that is there; who has mounted
    the old one keeps it.

    Args:
        source: The edges. A path, a list of paths, a glob or a folder: text tables (`.csv`, `.tsv`,
            `.txt`, `.edges`, also compressed with gzip, zstd, bzip2 or xz), `.npy`, `.npz` (SciPy's
            or OGB's), headerless binary (with `shape=` and `dtype=`), Matrix Market, Parquet,
            Feather, ORC, a `.gl` of graphmount or GraphZero. Or an object: a pair (sources,
            destinations) of integer arrays, an array of shape (2, edges), as PyG's `edge_index`, a
            torch tensor, a SciPy sparse matrix, a NetworkX graph, a PyG `Data`, or anything with
            `__arrow_c_stream__`, such as a Polars or pandas frame, a DuckDB query, or a pyarrow
            table.
        out: The file to write.
        directed: If False, every edge runs both ways; one copy of the lists serves both directions.
            Sources that hold undirected graphs (NetworkX, symmetric Matrix Market) say so
            themselves.
        neighbors: Which lists to keep: "in" (what sampling reads), "out" (what walks read) or both.
        columns: Which columns of a table hold source and destination, by name or number; the first
            two if None.
        weights: The column that holds the weights, by name or number, or an array of them: one
            number of at least 0 for each edge. Stored as float32, with tables that make weighted
            picks take constant time. True takes the values of a sparse matrix.
        timestamps: The column that holds the times, or an array of them: one int64 for each edge.
            Lists are then sorted by (time, neighbor).
        ids: "dense" takes ids as they are: integers from 0 on. "map" takes any integers, strings or
            UUIDs and numbers them as they first appear; the graph keeps them, and
            `Graph.to_internal` and `Graph.to_external` translate.
        key_type: With `ids="map"` and text files, whether ids are "int" or "str"; found by looking
            at the first lines if None.
        node_ids: External ids of the nodes, integers or strings, all different: `node_ids[i]` is
            what the source calls node i. They define the order of the nodes. With `ids="dense"`
            the edges are in terms of i; with `ids="map"`, in terms of `node_ids[i]`.
        num_nodes: Number of nodes; by default the largest id plus one.
        dedup: True or "first" keeps the first of several edges between the same nodes (at the same
            time, where there are timestamps); "sum" adds up their weights.
        self_loops: Whether to keep or drop edges from a node to itself.
        index_dtype: "int64" for libraries that want neighbors and offsets in one dtype; by default
            int32 up to 2**31 nodes.
        source_rows: Keep the row that each edge had in the source (not counting skipped rows), for
            `compile_features(…, edges=)`.
        delimiter: What stands between the columns of a text table; found if None.
        header: Whether the first line of a text table names the columns; found if None.
        comments: Lines of a text table that begin with one of these characters are no edges.
        shape: Shape of a headerless binary file.
        dtype: Dtype of a headerless binary file.
        on_error: "skip" leaves out rows that cannot be used, counts them and keeps the first few
            messages.
        memory: How much memory the process may use for this, besides a source that is in memory.
        tmp: The folder for temporary files; that of `out` if None.
        progress: A callback of (done, total), in thousandths; True or False for bars or none.

    Returns:
        A `CompiledGraph`.

    Raises:
        SourceError: Something in the source is wrong; the message says what and where.
        BudgetError: Even one neighbor list, or the map of ids, needs more than `memory`.
        ValueError, TypeError: The source is of no known kind, or an option is wrong.
        OSError: A file cannot be read or written, or the disk is full.

    Examples:
        >>> import pathlib
        >>> import graphmount as gm
        >>> gm.compile_graph(([0, 1, 1], [1, 2, 0]), "g.gl", weights=[0.5, 1.0, 2.0]).num_nodes
        3
        >>> _ = pathlib.Path("edges.csv").write_text("who,whom,w\nann,bob,0.5\nbob,cay,2\n")
        >>> gm.compile_graph("edges.csv", "g.gl", ids="map", weights="w").num_edges
        2
        >>> gm.Graph("g.gl").to_external([0, 1, 2])
        ['ann', 'bob', 'cay']
    """
    start = time.monotonic()
    budget = as_budget(memory)
    table = EdgeTable(
        source=source,
        columns=columns,
        weights=weights,
        timestamps=timestamps,
        delimiter=delimiter,
        header=header,
        comments=comments,
        shape=shape,
        dtype=dtype,
    )
    path = output_path(out, table, side_file(node_ids))
    folder = temporary_place(tmp, path)
    edges = open_edge_table(table, ids=ids, key_type=key_type, on_error=on_error)
    intake = EdgeIntake(
        edges,
        GraphOptions(
            directed=directed,
            neighbors=neighbors,
            num_nodes=num_nodes,
            dedup=dedup,
            self_loops=self_loops,
            index_dtype=index_dtype,
            source_rows=source_rows,
        ),
        ids=ids,
        node_ids=all_node_ids(node_ids, edges, ids),
        on_error=on_error,
        memory=budget,
        out=path,
        folder=folder,
    )
    with steps(progress, 2) as next_step:
        with reporting(next_step(), f"reading {edges.name}", in_bytes=True) as report:
            intake.read(report)
        name = f"writing {os.path.basename(path)}"
        with reporting(next_step(), name, in_bytes=False) as report:
            written = intake.finish(path, report, node_ids=intake.keys())
    return CompiledGraph(
        path=path,
        **written._asdict(),
        skipped=edges.skipped.count,
        skipped_examples=tuple(edges.skipped.examples),
        seconds=time.monotonic() - start,
    )
