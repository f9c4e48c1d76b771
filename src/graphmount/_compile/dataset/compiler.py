"""Compiling a graph, the tables of its nodes, labels and splits into one folder, in one order."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from graphmount._compile.dataset.checks import check_parts, refuse_skips
from graphmount._compile.dataset.files import (
    folder_bytes,
    name_of,
    open_tables,
    with_columns,
    write_description,
    write_splits,
)
from graphmount._compile.dataset.labels import LABELS_FILE, add_labels, as_labels, with_classes
from graphmount._compile.dataset.nodes import (
    choose_order,
    count_nodes,
    known_nodes,
    read_keys,
    require_keys,
)
from graphmount._compile.dataset.split_columns import with_column
from graphmount._compile.dataset.splits import read_splits
from graphmount._compile.dataset.typed_compiler import TypedCompiler
from graphmount._compile.dataset.typed_nodes import Nodes
from graphmount._compile.edges.graph_options import GraphOptions, as_budget
from graphmount._compile.edges.intake import Ids, WrittenGraph, all_node_ids, make_intake
from graphmount._compile.feature_compiler import CompiledFeatures, compile_table
from graphmount._compile.output.atomic_folder import atomic_folder
from graphmount._compile.output.own_sources import side_file, side_splits
from graphmount._compile.output.path import folder_output
from graphmount._compile.output.written import Written
from graphmount._mount.graph import Graph
from graphmount._sources.contract.batches import Skipped
from graphmount._sources.contract.tables import EdgeTable
from graphmount._sources.objects.memory_edges import is_pyg
from graphmount._sources.opening import open_edge_table
from graphmount._support.arguments import require_choice
from graphmount._support.files.temporary_folders import require_own_process
from graphmount._support.foreign_words import DATASET_WORDS
from graphmount._support.keywords import advises
from graphmount._support.progress import ProgressOption, reporting, steps
from graphmount._support.user_warnings import warn_user

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from graphmount._compile.dataset.files import OpenedTable
    from graphmount._compile.dataset.typed_names import Reverse
    from graphmount._compile.edges.intake import EdgeIntake
    from graphmount._sources.contract.tables import OnError, Table


@dataclass(frozen=True, kw_only=True, repr=False)
class CompiledDataset(Written):
    """What `compile_dataset` wrote.

    Attributes:
        path: The path of the folder.
        num_nodes: The number of nodes of the graph.
        num_edges: The number of list entries of one direction. An undirected edge counts twice.
        file_bytes: The size of all files together.
        skipped: How many rows of all sources were left out, with `on_error="skip"`.
        skipped_examples: What was wrong with the first of the skipped rows.
        seconds: How long compiling took.

    Examples:
        >>> import graphmount as gm
        >>> done = gm.compile_dataset("ring", edges=([0, 1, 2], [1, 2, 0]))
        >>> done.num_edges
        3
        >>> done
        <CompiledDataset: 3 nodes, 3 edges, ... KiB in ... s; gm.Dataset('...ring') opens it>
    """

    path: str
    num_nodes: int
    num_edges: int
    file_bytes: int
    skipped: int
    skipped_examples: tuple[str, ...]
    seconds: float

    _opener = "gm.Dataset"

    def _content(self) -> str:
        return f"{self.num_nodes:,} nodes, {self.num_edges:,} edges"


def _is_any(tables: object) -> bool:
    """Whether tables are given, whatever they are: an array cannot be asked whether it is true."""
    return len(tables) > 0 if isinstance(tables, Mapping) else tables is not None


def _check_edges(
    edges: object,
    edge_features: Mapping[str, Any] | None,
    on_error: OnError,
    *,
    has_tables: bool,
) -> None:
    """Raises if rows of edges could not match, and warns if only the edges of a Data are taken."""
    if _is_any(edge_features):
        refuse_skips(on_error)
    if is_pyg(edges) and not has_tables:
        warn_user(
            "edges= takes the edges of a Data, and nothing else of it; gm.from_pyg(data, out) "
            "compiles its features, labels and masks as well"
        )


@advises(DATASET_WORDS)
def compile_dataset(
    out: str | os.PathLike[str],
    *,
    edges: Any,  # noqa: ANN401  (whatever has edges)
    features: Mapping[str, Any] | None = None,
    labels: Any = None,  # noqa: ANN401  (whatever has rows)
    splits: Mapping[str, Any] | Table | str | None = None,
    edge_features: Mapping[Any, Any] | None = None,
    nodes: Mapping[str, Nodes] | None = None,
    reverse: Reverse = False,
    order: Literal["hot", "given"] | ArrayLike = "hot",
    directed: bool = True,
    neighbors: Literal["both", "in", "out"] = "both",
    ids: Ids = "dense",
    key_type: Literal["int", "str"] | None = None,
    node_ids: ArrayLike | Sequence[str] | None = None,
    num_nodes: int | None = None,
    dedup: bool | Literal["first", "sum"] = False,
    self_loops: Literal["keep", "drop"] = "keep",
    index_dtype: Literal["int32", "int64"] | None = None,
    source_rows: bool = False,
    on_error: OnError = "raise",
    overwrite: bool = False,
    notes: Sequence[str] = (),
    memory: int | str = "2GiB",
    tmp: str | os.PathLike[str] | None = None,
    progress: ProgressOption = None,
) -> CompiledDataset:
    """Writes a folder with a graph, the tables of its nodes, labels and splits; see `Dataset`.

    With `order="hot"`, nodes are renumbered: the nodes that sampling meets most often come first.
    Their neighbor lists and feature rows then lie together at the front of their files, and fit
    into a small cache. The folder appears complete or not at all.

    Args:
        out: The path of the folder to write.
        edges: The edges: any source that `compile_graph` takes, or an `EdgeTable`, which also has
            options for reading. With `nodes=`, a dict of them by relation: (type of the sources,
            name, type of the destinations).
        features: The node tables, by name: any source that `compile_features` takes, or a `Table`,
            which also has options.
        labels: The labels of the nodes: a source with one column, or a `Table`. Text becomes
            numbers of classes in sorted order, and `Dataset.classes` has the texts. A missing label
            (None, or empty) is an error, unless a `Table` has a number for `missing`, such as -1.
        splits: The nodes of each split, by the name of the split, such as "train": ids of the
            source, a mask with one bool for each node in the order of the source, or a file of ids.
            Or one column in which each different value is a split of that name: a `Table`, or the
            name of a column of the labels or features. Nodes with a missing value belong to no
            split.
        edge_features: The edge tables, by name. Row i belongs to row i of the edges; it is stored
            by edge id. Not with `on_error="skip"`.
        nodes: For a dataset of many node types: the nodes of each, by the name of the type. Then
            tables, labels, splits, `node_ids` and `num_nodes` belong to the `Nodes`, `order` is
            "hot" or "given", and `edge_features` are a dict by relation. See `TypedDataset`.
        reverse: With `nodes=`: which relations are also stored the other way round, as
            `(destination, "rev_" + name, source)`: True for all of them, or a list of relations.
            "merge" is like True, but edges within one node type run both ways instead.
        order: "hot" puts the nodes first that appear most often in the lists that sampling reads.
            "given" keeps the order of the source. Or an array with one number for each node of the
            source: the nodes with the highest numbers come first, and `expected_access` computes
            good ones.
        directed: If False, every edge runs both ways.
        neighbors: Which neighbor lists to store: "in" (what sampling reads), "out" (what walks
            read) or "both".
        ids: "dense" takes ids as they are: integers from 0 on. "map" takes any integers, strings or
            UUIDs, and numbers them in the order of their first appearance, in the keys of tables
            first and then in the edges.
        key_type: With `ids="map"` and text files: whether ids are "int" or "str". Found by looking
            at the first lines if None.
        node_ids: The external ids of all nodes, integers or strings, all different: `node_ids[i]`
            is what the source calls node i. They define the order of the nodes in the source. With
            `ids="dense"` the edges are in terms of i; with `ids="map"`, in terms of `node_ids[i]`.
        num_nodes: The number of nodes. By default the number of rows of the tables, or the largest
            id plus one.
        dedup: What to do with several edges between the same two nodes (and of the same time, if
            there are timestamps). False keeps all of them, True or "first" keeps the first, and
            "sum" adds up their weights.
        self_loops: Whether to keep or drop edges from a node to itself.
        index_dtype: The dtype of stored neighbors. By default int32 for up to 2**31 nodes. "int64"
            is for libraries that want neighbors and offsets in the same dtype.
        source_rows: Whether to keep the row that each edge had in the source. Loaders return these
            rows as edge ids with `edge_ids="source"`. They are always kept if there are edge
            tables.
        on_error: "raise" stops at the first row that cannot be used. "skip" leaves such rows out,
            counts them, and keeps the messages of the first few.
        overwrite: Whether to replace the dataset at `out`. Only a dataset is ever removed: a folder
            that is none, or that also holds other files, is refused.
        notes: Sentences to keep in `dataset.json`.
        memory: How much memory compiling may use. Sources that are already in memory are not
            counted.
        tmp: The folder for temporary files; the folder of `out` if None.
        progress: A callback of (done, total), in thousandths; True or False to show progress bars
            or not. None shows bars if the work takes a while.

    Returns:
        A `CompiledDataset`.

    Raises:
        SourceError: Something in a source is wrong; the message says what and where.
        OrderError: A table has more or fewer rows than there are nodes or edges.
        FileExistsError: There is something at `out` and `overwrite` is False, or what is there is
            no dataset.
        BudgetError: The work needs more than `memory`.
        ValueError, TypeError: A source is of an unknown kind, or an option is wrong.
        OSError: A file cannot be read or written, or the disk is full.

    Examples:
        >>> import numpy as np
        >>> import graphmount as gm
        >>> done = gm.compile_dataset(
        ...     "papers",
        ...     edges=([0, 2, 2], [1, 0, 1]),
        ...     features={"x": gm.Table(source=np.eye(3, dtype=np.float32), dtype="float16")},
        ...     labels=[1, 0, 1],
        ...     splits={"train": [0], "test": np.array([False, True, True])},
        ... )
        >>> gm.Dataset("papers").to_external([0, 1, 2])
        array([2, 0, 1])
    """
    start = time.monotonic()
    require_choice("overwrite", overwrite, (False, True))
    options = GraphOptions(
        directed=directed,
        neighbors=neighbors,
        num_nodes=num_nodes,
        dedup=dedup,
        self_loops=self_loops,
        index_dtype=index_dtype,
        source_rows=source_rows,
    )
    if nodes is not None:
        return _compile_types(
            out,
            tmp,
            start,
            one_type={
                "features": features,
                "labels": labels,
                "splits": splits,
                "node_ids": node_ids,
                "num_nodes": num_nodes,
                "directed": None if directed is True else directed,
            },
            overwrite=overwrite,
            progress=progress,
            memory=as_budget(memory),
            nodes=nodes,
            edges=edges,
            edge_features=edge_features,
            reverse=reverse,
            order=order,
            options=options,
            ids=ids,
            key_type=key_type,
            on_error=on_error,
            notes=notes,
        )
    _check_one_type(order, reverse)
    _check_edges(
        edges, edge_features, on_error, has_tables=features is not None or labels is not None
    )
    budget = as_budget(memory)
    path, folder = folder_output(
        out,
        tmp,
        edges,
        features,
        as_labels(labels),
        edge_features,
        side_file(node_ids),
        side_file(order),
        *side_splits(splits),
    )
    source = open_edge_table(
        edges if isinstance(edges, EdgeTable) else EdgeTable(source=edges),
        ids=ids,
        key_type=key_type,
        on_error=on_error,
    )
    tables = open_tables(features, "features", on_error=on_error)
    classes = add_labels(tables, labels, on_error=on_error, memory=budget)
    edge_tables = open_tables(edge_features, "edge_features", on_error=on_error)
    rows = [table.rows for table in tables.values()]
    keys = all_node_ids(node_ids, source, ids)
    if ids == "map" and keys is None:
        require_keys(rows)
    else:
        num_nodes = count_nodes(num_nodes, keys, rows)
        options = replace(options, num_nodes=num_nodes)
    known = known_nodes(source, ids, keys, num_nodes)
    read = read_splits(with_column(splits, tables), known)
    check_parts(
        known,
        source,
        node_tables=tables,
        edge_tables=edge_tables,
        splits=read,
        order=order,
        notes=notes,
        memory=budget,
    )
    intake = make_intake(
        source,
        options.with_source_rows() if edge_tables else options,
        ids=ids,
        node_ids=keys,
        on_error=on_error,
        memory=budget,
        out=path,
        folder=folder,
    )
    process = os.getpid()
    with (
        atomic_folder(path, overwrite=overwrite) as partial,
        steps(progress, 3 + len(tables) + len(edge_tables)) as next_step,
    ):
        graph_path = os.path.join(partial, "graph.gl")
        with reporting(next_step(), f"reading {source.name}", in_bytes=True) as report:
            if ids == "map" and keys is None:
                for keyed in rows:
                    intake.add_keys(read_keys(keyed, memory=budget // 16))
            intake.read(report)
        edge_source = (intake.num_rows, source.name)
        written, new_ids = _write_graph(intake, graph_path, order, budget, next_step)
        graph = Graph(graph_path)

        def store(file: str, opened: OpenedTable, **belongs: Any) -> CompiledFeatures:  # noqa: ANN401
            require_own_process(process, path)  # for what was stored before this
            target = os.path.join(partial, file)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with intake.first_line.hinting():
                return compile_table(
                    opened.rows,
                    opened.table,
                    target,
                    **belongs,
                    on_error=on_error,
                    # What is left of a killed attempt goes with its folder.
                    folder=partial if tmp is None else folder,
                    memory=budget - (0 if new_ids is None else new_ids.nbytes),
                    progress=next_step(),
                )

        stored = [
            store(file, opened, graph=graph, new_ids=new_ids) for file, opened in tables.items()
        ]
        for file, opened in edge_tables.items():
            store(file, opened, edges=graph, edge_source=edge_source)
        require_own_process(process, path)
        split_files = write_splits(read, partial, graph, new_ids=new_ids)
        write_description(
            partial,
            num_nodes=written.num_nodes,
            num_edges=written.num_edges,
            order=order if isinstance(order, str) else "scores",
            graph="graph.gl",
            features={name_of(file): file for file in tables if file != LABELS_FILE},
            edge_features={name_of(file): file for file in edge_tables},
            labels=None if labels is None else LABELS_FILE,
            **with_classes(classes),
            **with_columns(tables | edge_tables),
            splits=split_files,
            notes=list(notes),
        )
    skipped = Skipped()
    skipped.add(source.skipped.count, source.skipped.examples)
    for done in stored:
        skipped.add(done.skipped, list(done.skipped_examples))
    return _compiled(path, written.num_nodes, written.num_edges, skipped, start)


def _write_graph(
    intake: EdgeIntake,
    path: str,
    order: str | ArrayLike,
    budget: int,
    next_step: Callable[[], ProgressOption],
) -> tuple[WrittenGraph, NDArray[Any] | None]:
    """Orders the nodes and writes the graph; returns what was written, and their new numbers."""
    with reporting(next_step(), "ordering nodes", in_bytes=False) as report:
        new_ids, external = choose_order(intake, order, budget, report)
    with reporting(next_step(), "writing graph.gl", in_bytes=False) as report:
        return intake.finish(path, report, new_ids=new_ids, node_ids=external), new_ids


def _check_one_type(order: object, reverse: object) -> None:
    if reverse is not False:
        raise ValueError("reverse= is for datasets of many node types, with nodes=")
    if isinstance(order, str):
        require_choice("order", order, ("hot", "given"))


def _compile_types(
    out: str | os.PathLike[str],
    tmp: str | os.PathLike[str] | None,
    start: float,
    *,
    one_type: dict[str, object],
    overwrite: bool,
    progress: ProgressOption,
    **given: Any,  # noqa: ANN401
) -> CompiledDataset:
    """What `compile_dataset` does with `nodes=`."""
    _refuse_parts_of_one_type(**one_type)
    sources = _sources_of_types(given["nodes"], given["edges"], given["edge_features"])
    path, folder = folder_output(out, tmp, *sources)
    compiler = TypedCompiler(**given)
    num_nodes, num_edges = compiler.write(
        path, overwrite=overwrite, folder=folder, has_tmp=tmp is not None, progress=progress
    )
    return _compiled(path, num_nodes, num_edges, compiler.skipped, start)


def _refuse_parts_of_one_type(**parts: object) -> None:
    """Raises for arguments that belong to one node type, where there are many."""
    for name, value in parts.items():
        if value is not None:
            instead = (
                "a relation within one type runs both ways with reverse='merge'"
                if name == "directed"
                else f"write nodes={{'…': gm.Nodes({name}=…)}}"
            )
            raise ValueError(f"{name}= does not go with nodes=; {instead}")


def _sources_of_types(nodes: object, edges: object, edge_features: object) -> list[object]:
    """All that will be read: what is given by type or relation, one by one."""
    found: list[object] = []
    for parts in (edges, edge_features):
        found += list(parts.values()) if isinstance(parts, Mapping) else []
    for given in nodes.values() if isinstance(nodes, Mapping) else []:
        if isinstance(given, Nodes):
            found += [given.features, as_labels(given.labels), given.timestamps]
            found += [side_file(given.node_ids), *side_splits(given.splits)]
    return found


def _compiled(
    path: str, num_nodes: int, num_edges: int, skipped: Skipped, start: float
) -> CompiledDataset:
    return CompiledDataset(
        path=path,
        num_nodes=num_nodes,
        num_edges=num_edges,
        file_bytes=folder_bytes(path),
        skipped=skipped.count,
        skipped_examples=tuple(skipped.examples),
        seconds=time.monotonic() - start,
    )
