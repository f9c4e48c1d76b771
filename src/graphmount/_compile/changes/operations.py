"""What changes there are: a table, labels, times or a split is set, or one of them is removed.

The nodes, their order and the edges stay. `change` says how a change becomes visible.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount._compile.changes.change import changing
from graphmount._compile.dataset.files import file_of, open_one
from graphmount._compile.dataset.labels import LABELS_FILE, open_labels
from graphmount._compile.dataset.splits import read_split
from graphmount._compile.dataset.typed_nodes import TIMES_FILE, open_times
from graphmount._compile.edges.graph_options import as_budget
from graphmount._compile.feature_compiler import compile_features, compile_table
from graphmount._compile.output.path import temporary_place
from graphmount._compile.rows.placement import require_order
from graphmount._mount.mapped_reads import require_source_rows
from graphmount._mount.node_reading import to_internal
from graphmount._support.arguments import require_choice, require_type
from graphmount._support.sizes import format_bytes
from graphmount.errors import BudgetError, OrderError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from graphmount._compile.changes.targets import Target
    from graphmount._compile.dataset.files import OpenedTable
    from graphmount._dataset.spaces.node_space import NodeSpace
    from graphmount._mount.graph import Graph
    from graphmount._mount.node_ids import IdReading
    from graphmount._sources.contract.batches import RowSource
    from graphmount._support.progress import ProgressOption

#: How many ids of nodes are looked up at a time.
_NODES_AT_ONCE = 1 << 20


def add_table(
    target: Target,
    kind: str,
    name: str | None,
    table: Any,  # noqa: ANN401
    *,
    overwrite: bool,
    memory: int | str,
    tmp: str | os.PathLike[str] | None,
    progress: ProgressOption,
) -> None:
    """Adds a table of nodes or edges, or sets the labels or times, which have no name.

    Args:
        target: Whose nodes or edges these are.
        kind: "features", "edge_features", "labels" or "timestamps".
        name: The name of the table.
        table: A `Table`, or any source of rows.
        overwrite: Whether a table of this name may be replaced.
        memory: How much memory to use besides the source.
        tmp: The folder for temporary files; beside the dataset if None.
        progress: A callback of (bytes done, bytes in all); True or False for a bar or none.
    """
    require_choice("overwrite", overwrite, (False, True))
    budget = as_budget(memory)
    file, opened, classes = _open(target, kind, name, table, budget)
    of_nodes: dict[str, Any] = {}
    if kind == "edge_features":
        for graph in target.graphs:
            require_source_rows(graph)  # in whose order the table comes
    else:
        nodes = target.nodes
        of_nodes = {"graph": nodes, "new_ids": _places_of_rows(opened.rows, nodes, budget)}
    with changing(target) as change:
        change.require_free(kind, name, overwrite=overwrite)
        for part in change.parts:
            compile_table(
                opened.rows,
                opened.table,
                change.new_file,
                **(of_nodes or {"edges": part.graph}),
                folder=temporary_place(tmp, change.new_file),
                memory=budget,
                progress=progress,
            )
            named = None if kind == "timestamps" else opened
            change.put(part, kind, name, file, classes=classes, table=named)


def _open(
    target: Target,
    kind: str,
    name: str | None,
    table: Any,  # noqa: ANN401
    memory: int,
) -> tuple[str, OpenedTable, list[str] | None]:
    """The file that a table will be in, the table, and the texts of labels."""
    if kind == "labels":
        return LABELS_FILE, *open_labels(table, on_error="raise", memory=memory)
    if kind == "timestamps":
        return TIMES_FILE, open_times(table, "raise"), None
    file = file_of(target.folder_of(kind), name)
    return file, open_one(file, table, on_error="raise"), None


def set_split(
    target: Target,
    name: str,
    nodes: Any,  # noqa: ANN401
    *,
    ids: IdReading | None,
) -> None:
    """Adds a split, or replaces one.

    Args:
        target: Whose nodes these are.
        name: The name of the split.
        nodes: Ids, a mask, or the path of a file of ids.
        ids: Which ids they are, "internal" or "external"; None if there is no doubt.
    """
    file = file_of("splits", name)
    if isinstance(nodes, str | os.PathLike):
        nodes = read_split(nodes, f"split {name!r}")
    found = to_internal(nodes, f"split {name!r}", target.nodes, ids)
    with changing(target) as change:
        for part in change.parts:
            compile_features(found, change.new_file, progress=False)
            change.put(part, "splits", name, file)


def remove(target: Target, name: str, *, kind: str | None, kinds: tuple[str, ...]) -> None:
    """Removes a table, a split, or labels or times, which are called "labels" and "timestamps".

    Args:
        target: What it is removed from.
        name: The name of the table or of the split.
        kind: What it is; needed if two have the name.
        kinds: What there can be.
    """
    require_type("name", name, str, "the name of a table or a split")
    require_choice("kind", kind, (None, *kinds))
    with changing(target) as change:
        change.drop(*change.find(name, kind))


def _places_of_rows(
    rows: RowSource, graph: Graph | NodeSpace, memory: int
) -> NDArray[np.int64] | None:
    """The node of each row of a table without keys, or None if it has keys, or the graph's order.

    Raises:
        OrderError: The table is in the order of another graph; or rows without keys have no order.
        BudgetError: There are more nodes than the memory has room for.
    """
    if rows.has_keys:
        return None
    require_order(rows, graph.order, graph.path)
    if rows.order == graph.order or graph.node_id_type is None:
        return None
    num_nodes = graph.num_nodes
    if 8 * num_nodes > memory // 2:
        raise BudgetError(
            f"the places of {num_nodes:,} rows take {format_bytes(8 * num_nodes)}, more than half "
            f"of memory={format_bytes(memory)}; pass memory={16 * num_nodes} or more"
        )
    places = np.full(num_nodes, -1, np.int64)
    for first in range(0, num_nodes, _NODES_AT_ONCE):
        nodes = np.arange(first, min(first + _NODES_AT_ONCE, num_nodes))
        numbers = graph.to_external(nodes)
        if isinstance(numbers, list) or ((numbers < 0) | (numbers >= num_nodes)).any():
            raise OrderError(
                f"{rows.name} has no keys, and the ids of the source are not the numbers 0, 1, 2, "
                "…, so nobody knows which node a row is of; pass Table(source=…, key=…) with the "
                "ids"
            )
        places[numbers] = nodes
    if (places < 0).any():
        raise OrderError(
            f"two nodes of {graph.path} have one id: its file is damaged; verify says where"
        )
    return places
