"""Writing `.gl` files from edges of any source."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from graphmount._compile.edges.graph_options import GraphOptions, as_budget
from graphmount._compile.edges.intake import Ids, all_node_ids, make_intake
from graphmount._compile.output.own_sources import side_file
from graphmount._compile.output.path import output_path, temporary_place
from graphmount._compile.output.written import Written
from graphmount._sources.contract.tables import EdgeTable
from graphmount._sources.opening import open_edge_table
from graphmount._support.foreign_words import GRAPH_WORDS
from graphmount._support.keywords import advises
from graphmount._support.progress import ProgressOption, reporting, steps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, DTypeLike

    from graphmount._sources.contract.tables import OnError


@dataclass(frozen=True, kw_only=True, repr=False)
class CompiledGraph(Written):
    """What `compile_graph` wrote.

    Attributes:
        path: The path of the file.
        num_nodes: The number of nodes of the graph; the number of destinations, if sources are of
            another node type.
        num_sources: The number of nodes that edges can come from: as many as `num_nodes`, unless
            these are of another node type.
        num_edges: The number of list entries of one direction, after dropping what was to be
            dropped. An undirected edge counts twice.
        file_bytes: The size of the file.
        spilled_bytes: How much was written to temporary files; 0 if everything fit into memory.
        skipped: How many rows of the source were left out, with `on_error="skip"`.
        skipped_examples: What was wrong with the first of the skipped rows.
        seconds: How long compiling took.
        is_rectangular: Whether sources are of another node type than destinations.

    Examples:
        >>> import graphmount as gm
        >>> gm.compile_graph(([0, 0, 2], [1, 1, 2]), "g.gl", dedup=True).num_edges
        2
    """

    path: str
    num_nodes: int
    num_sources: int
    num_edges: int
    file_bytes: int
    spilled_bytes: int
    skipped: int
    skipped_examples: tuple[str, ...]
    seconds: float
    is_rectangular: bool = False

    _opener = "gm.Graph"

    def _content(self) -> str:
        nodes = f"{self.num_nodes:,} nodes"
        if self.is_rectangular:
            nodes = f"{self.num_sources:,} sources, {self.num_nodes:,} destinations"
        return f"{nodes}, {self.num_edges:,} edges"


@advises(GRAPH_WORDS)
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
    num_sources: int | None = None,
    num_destinations: int | None = None,
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
    file. The file appears complete or not at all. It replaces a file of the same name; programs
    that have mounted the old file keep it.

    Args:
        source: The edges. A path, a list of paths, a glob or a folder: text tables (`.csv`, `.tsv`,
            `.txt`, `.edges`, also compressed with gzip, zstd, bzip2 or xz), `.npy`, `.npz` (SciPy's
            or OGB's), headerless binary (with `shape=` and `dtype=`), Matrix Market, Parquet,
            Feather, ORC, a `.gl` of graphmount or GraphZero. Or an object: a pair (sources,
            destinations) of integer arrays, an array of shape (2, edges), as PyG's `edge_index`, a
            torch tensor, a SciPy sparse matrix, a NetworkX graph, a PyG `Data`, or anything with
            `__arrow_c_stream__`, such as a Polars or pandas frame, a DuckDB query, or a pyarrow
            table.
        out: The path of the file to write.
        directed: If False, every edge runs both ways, and one copy of the lists serves both
            directions. Sources that hold undirected graphs (NetworkX, symmetric Matrix Market) say
            so themselves.
        neighbors: Which neighbor lists to store: "in" (what sampling reads), "out" (what walks
            read) or "both".
        columns: Which two columns of a table hold the source and the destination of edges, by name
            or number. The first two columns if None.
        weights: The weights of edges: a column, by name or number, or an array with one number of
            at least 0 for each edge. They are stored as float32, with tables that make a weighted
            pick take constant time. True takes the values of a sparse matrix.
        timestamps: The times of edges: a column, by name or number, or an array with one int64 for
            each edge. Neighbor lists are then sorted by (time, neighbor).
        ids: "dense" takes ids as they are: integers from 0 on. "map" takes any integers, strings or
            UUIDs, and numbers them in the order of their first appearance. The graph keeps the
            original ids, and `Graph.to_internal` and `Graph.to_external` translate between the two.
        key_type: With `ids="map"` and text files: whether ids are "int" or "str". Found by looking
            at the first lines if None.
        node_ids: External ids of the nodes, integers or strings, all different: `node_ids[i]` is
            what the source calls node i. They define the order of the nodes. With `ids="dense"`
            the edges are in terms of i; with `ids="map"`, in terms of `node_ids[i]`.
        num_nodes: The number of nodes; the largest id plus one if None.
        num_sources: The number of nodes that edges come from, if these are of another type than
            those that edges lead to. Then ids count from 0 within each type. The graph has no
            external ids; a dataset of many node types has them (`compile_dataset(nodes=…)`).
        num_destinations: The number of nodes that edges lead to; goes with `num_sources`.
        dedup: What to do with several edges between the same two nodes (and of the same time, if
            there are timestamps). False keeps all of them, True or "first" keeps the first, and
            "sum" adds up their weights.
        self_loops: Whether to keep or drop edges from a node to itself.
        index_dtype: The dtype of stored neighbors. By default int32 for up to 2**31 nodes. "int64"
            is for libraries that want neighbors and offsets in the same dtype.
        source_rows: Whether to keep the row that each edge had in the source (skipped rows do not
            count). `compile_features(…, edges=)` needs it.
        delimiter: For text files: the character between columns; found by looking at the first
            lines if None.
        header: For text files: whether the first line has the names of the columns; found by
            looking at it if None.
        comments: For text files: lines that begin with one of these characters are skipped.
        shape: For headerless binary files: the shape of the array.
        dtype: For headerless binary files: the dtype of the array.
        on_error: "raise" stops at the first row that cannot be used. "skip" leaves such rows out,
            counts them, and keeps the messages of the first few.
        memory: How much memory compiling may use. A source that is already in memory is not
            counted.
        tmp: The folder for temporary files; the folder of `out` if None.
        progress: A callback of (done, total), in thousandths; True or False to show progress bars
            or not. None shows bars if the work takes a while.

    Returns:
        A `CompiledGraph`.

    Raises:
        SourceError: Something in the source is wrong; the message says what and where.
        BudgetError: Even one neighbor list, or the map of ids, needs more than `memory`.
        ValueError, TypeError: The source is of an unknown kind, or an option is wrong.
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
    intake = make_intake(
        edges,
        GraphOptions(
            directed=directed,
            neighbors=neighbors,
            num_nodes=num_nodes,
            num_sources=num_sources,
            num_destinations=num_destinations,
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
        is_rectangular=num_sources is not None,
    )
