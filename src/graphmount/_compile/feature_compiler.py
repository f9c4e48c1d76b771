"""Writing `.gd` files: rows of any source, in any order, of any size."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from graphmount._compile.output.path import output_path, temporary_place
from graphmount._compile.output.written import Written
from graphmount._compile.rows.edge_placement import EdgePlacement
from graphmount._compile.rows.placement import ArrayPlacement, KeyPlacement, require_order
from graphmount._compile.rows.stored_form import check_table
from graphmount._compile.rows.writer import RowWriter
from graphmount._mount.free_memory import physical_bytes
from graphmount._mount.graph import Graph
from graphmount._sources.contract.batches import Skipped
from graphmount._sources.contract.claims import MOST_NODES
from graphmount._sources.contract.tables import Table
from graphmount._sources.opening import open_table
from graphmount._support.arguments import as_count, require_choice
from graphmount._support.foreign_words import FEATURE_WORDS
from graphmount._support.keywords import advises
from graphmount._support.progress import ProgressOption, reporting
from graphmount._support.sizes import parse_bytes
from graphmount.errors import OrderError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from graphmount._compile.rows.placement import Placement
    from graphmount._dataset.spaces.node_space import NodeSpace
    from graphmount._sources.contract.batches import RowSource
    from graphmount._sources.contract.nan import NanPolicy
    from graphmount._sources.contract.tables import OnError


@dataclass(frozen=True, kw_only=True, repr=False)
class CompiledFeatures(Written):
    """What `compile_features` wrote.

    Attributes:
        path: The path of the file.
        shape: (rows, columns), or (rows,) for a vector.
        dtype: The name of the element type.
        file_bytes: The size of the file.
        seconds: How long compiling took.
        missing: How many nodes had no row in the source; they got the value of `missing=`.
        repeated: How many rows were dropped because their node had another row.
        skipped: How many rows were left out with `on_error="skip"`.
        skipped_examples: What was wrong with the first of the skipped rows.

    Examples:
        >>> import graphmount as gm
        >>> gm.compile_features([[1.0, 2.0]], "x.gd", dtype="float16").dtype
        'float16'
    """

    path: str
    shape: tuple[int, ...]
    dtype: str
    file_bytes: int
    seconds: float
    missing: int = 0
    repeated: int = 0
    skipped: int = 0
    skipped_examples: tuple[str, ...] = ()

    _opener = "gm.FeatureStore"

    def _content(self) -> str:
        missing = f", {self.missing:,} rows missing" if self.missing else ""
        return f"{self.dtype} {self.shape}{missing}"


@advises(FEATURE_WORDS)
def compile_features(
    source: Any,  # noqa: ANN401  (whatever has rows)
    out: str | os.PathLike[str],
    *,
    dtype: DTypeLike | str | None = None,
    num_nodes: int | None = None,
    order: Graph | str | os.PathLike[str] | None = None,
    edges: Graph | str | os.PathLike[str] | None = None,
    key: int | str | ArrayLike | Sequence[str] | None = None,
    columns: Sequence[int] | Sequence[str] | None = None,
    missing: Literal["error"] | float = "error",
    repeated: Literal["error", "first", "last"] = "error",
    nan: NanPolicy = "keep",
    quantize: Literal["column"] | None = None,
    on_error: OnError = "raise",
    delimiter: str | None = None,
    header: bool | None = None,
    comments: str = "#%",
    shape: tuple[int, ...] | None = None,
    source_dtype: DTypeLike | None = None,
    member: str | None = None,
    tmp: str | os.PathLike[str] | None = None,
    memory: int | str = "2GiB",
    progress: ProgressOption = None,
) -> CompiledFeatures:
    """Writes a matrix of features, or a vector of labels, to a `.gd` file.

    The source is read batch by batch, so it may be larger than memory, and its rows may come in any
    order if they have keys. The file appears complete or not at all. It replaces a file of the same
    name; programs that have mounted the old file keep it.

    Args:
        source: A path, a list of paths, a glob or a folder: `.npy`, `.npz`, headerless binary (with
            `shape=` and `source_dtype=`), text tables (also compressed), Parquet, Feather, ORC, a
            `.gd` of graphmount or GraphZero. Or an object of one or two dimensions: a NumPy array
            (also a memory-mapped one), a torch tensor, a `FeatureStore`, nested lists; or anything
            with `__arrow_c_stream__`, whose numeric columns, or one column of lists, are the rows.
        out: The path of the file to write.
        dtype: How to store the values: "float32", "float64", "float16", "bfloat16", "int8",
            "int16", "int32", "int64", "uint8" or "bool". They stay as they are if None. A value
            that does not fit is an error, and never becomes an infinity.
        num_nodes: How many rows the file must have. Without keys, the source must have this many
            rows; with keys, all keys must be smaller. By default the number of rows of the source,
            or the largest key plus one.
        order: The graph (or its path) whose nodes the rows belong to. The file gets a row for each
            node of the graph, and the fingerprint of its order. If the graph has external ids, keys
            are external ids. Without keys, row i belongs to node i.
        edges: The graph (or its path) whose edges the rows belong to. Row i belongs to the edge
            that was in row i of the graph's source, so the graph must have been compiled with
            `source_rows=True`. The file has the rows in the order of edge ids: rows of the same
            neighbor list lie together.
        key: Which node each row belongs to: a column of the source, by name or number, or an array
            with one key for each row. A key column is not stored as a feature. Without keys, rows
            are in the order of the nodes.
        columns: The columns to take, by name or number. All columns except the key if None.
        missing: What to do with nodes that have no row: "error" refuses them, a number is stored as
            their value.
        repeated: What to do with several rows for the same node: "first" or "last" keeps that one,
            in the order of the source; "error" refuses them.
        nan: What to do with NaN: "keep" stores it, "error" refuses it, a number is stored in its
            place.
        quantize: "column" stores int8 with one float32 scale for each column: the largest absolute
            value of the column divided by 127 (`FeatureStore.scales` has them). The source is then
            read twice.
        on_error: "raise" stops at the first row that cannot be read or whose key names no node.
            "skip" leaves such rows out, and counts them.
        delimiter: For text files: the character between columns; found by looking at the first
            lines if None.
        header: For text files: whether the first line has the names of the columns; found by
            looking at it if None.
        comments: For text files: lines that begin with one of these characters are skipped.
        shape: For headerless binary files: the shape of the matrix.
        source_dtype: For headerless binary files: the dtype of their values; the same as `dtype` if
            None.
        member: For `.npz` files with several arrays: the name of the one to take.
        tmp: The folder for temporary files, which are needed if rows have to be sorted and the
            matrix is larger than `memory`. The folder of `out` if None.
        memory: How much memory compiling may use. A source that is already in memory is not
            counted.
        progress: A callback of (bytes done, bytes in all); True or False to show a progress bar or
            not. None shows one if the work takes a while.

    Returns:
        A `CompiledFeatures`.

    Raises:
        SourceError: A value cannot be stored in this dtype, a key names no node, or rows are
            missing or repeated; the message says which.
        OrderError: The source has more or fewer rows than `order` has nodes.
        ValueError, TypeError: The source is not a numeric matrix, or an option is wrong.
        OSError: The file, or a temporary one, cannot be written.

    Examples:
        >>> import numpy as np
        >>> import graphmount as gm
        >>> x = np.arange(6, dtype=np.float32).reshape(3, 2)
        >>> gm.compile_features(x, "x.gd", dtype="float16").shape
        (3, 2)

        Rows that come in any order, with the ids of their nodes:

        >>> _ = gm.compile_graph(([0, 1], [1, 2]), "g.gl", node_ids=["ann", "bob", "eve"])
        >>> done = gm.compile_features(
        ...     [[3.0], [1.0]], "x.gd", order="g.gl", key=["eve", "ann"], missing=0
        ... )
        >>> done.missing, gm.FeatureStore("x.gd").numpy().tolist()
        (1, [[1.0], [0.0], [3.0]])
    """
    graph = order if order is None or isinstance(order, Graph) else Graph(order)
    if num_nodes is not None:
        num_nodes = as_count(num_nodes, "num_nodes", most=MOST_NODES)
        if graph is not None and graph.num_nodes != num_nodes:
            raise OrderError(f"num_nodes={num_nodes}, but {graph.path} has {graph.num_nodes} nodes")
    table = Table(
        source=source,
        dtype=dtype,
        key=key,
        columns=columns,
        missing=missing,
        repeated=repeated,
        nan=nan,
        quantize=quantize,
        delimiter=delimiter,
        header=header,
        comments=comments,
        shape=shape,
        source_dtype=source_dtype,
        member=member,
    )
    path = output_path(out, table, order, edges)
    folder = temporary_place(tmp, path)
    return compile_table(
        open_table(table, on_error=on_error),
        table,
        path,
        graph=graph,
        num_nodes=num_nodes,
        edges=edges if edges is None or isinstance(edges, Graph) else Graph(edges),
        on_error=on_error,
        folder=folder,
        memory=min(parse_bytes(memory, "memory"), physical_bytes()),
        progress=progress,
    )


def compile_table(
    rows: RowSource,
    table: Table,
    path: str,
    *,
    graph: Graph | NodeSpace | None = None,
    num_nodes: int | None = None,
    edges: Graph | None = None,
    edge_source: tuple[int, str] | None = None,
    new_ids: NDArray[Any] | None = None,
    on_error: OnError = "raise",
    folder: str,
    memory: int,
    progress: ProgressOption = None,
) -> CompiledFeatures:
    """What `compile_features` and `compile_dataset` share: writes an open table to a file.

    With `new_ids`, row i of a table without keys belongs to node `new_ids[i]` of the graph; with
    `edge_source`, row i belongs to edge i of the source of `edges`: see `EdgePlacement`.
    """
    start = time.monotonic()
    require_choice("on_error", on_error, ("raise", "skip"))
    target = check_table(rows, table)
    if edges is not None:
        if rows.has_keys or graph is not None or num_nodes is not None:
            raise ValueError("edges= does not go with key=, order= or num_nodes=")
        placement: Placement | None = EdgePlacement(
            edges, rows, memory=memory // 2, folder=folder, source=edge_source
        )
    else:
        placement = _node_placement(rows, graph, num_nodes, new_ids, on_error)

    def check_rows(count: int) -> None:
        if graph is not None and graph.num_nodes != count:
            raise OrderError(
                f"{rows.name} has {count} rows, but {graph.path} has {graph.num_nodes} nodes"
            )
        if num_nodes is not None and count != num_nodes:
            raise ValueError(f"{rows.name} has {count} rows, but num_nodes={num_nodes}")

    if rows.num_rows is not None and not rows.has_keys:
        check_rows(rows.num_rows)
    with reporting(progress, f"writing {os.path.basename(path)}", in_bytes=True) as report:
        written = RowWriter(
            source=rows,
            table=table,
            path=path,
            dtype=target,
            folder=folder,
            memory=memory,
            check_rows=check_rows,
            order=graph.order if graph is not None else rows.order if placement is None else 0,
            report=report,
        ).write(placement)
    skipped = Skipped()
    skipped.add(rows.skipped.count, rows.skipped.examples)
    if placement is not None:
        skipped.add(placement.skipped.count, placement.skipped.examples)
    return CompiledFeatures(
        path=path,
        shape=(written.num_rows,) if rows.is_vector else (written.num_rows, rows.num_columns),
        dtype=target,
        file_bytes=os.stat(path).st_size,
        seconds=time.monotonic() - start,
        missing=written.missing,
        repeated=written.repeated,
        skipped=skipped.count,
        skipped_examples=tuple(skipped.examples),
    )


def _node_placement(
    rows: RowSource,
    graph: Graph | NodeSpace | None,
    num_nodes: int | None,
    new_ids: NDArray[Any] | None,
    on_error: OnError,
) -> Placement | None:
    """Which node a row belongs to; None if row i belongs to node i.

    Raises:
        OrderError: Rows know that they are in the order of another graph.
    """
    if rows.has_keys:
        return KeyPlacement(rows, graph=graph, num_nodes=num_nodes, on_error=on_error)
    if new_ids is not None:
        return ArrayPlacement(new_ids, len(new_ids))
    if graph is not None:
        require_order(rows, graph.order, graph.path)
    return None
