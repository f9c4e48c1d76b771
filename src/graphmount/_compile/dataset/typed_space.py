"""Whether the disk has room for a dataset of many node types, asked before its edges are read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from graphmount._compile.order.new_ids import new_ids_bytes
from graphmount._compile.rows.stored_form import check_table
from graphmount._support.conversion import item_bytes
from graphmount._support.files.disk_space import require_free

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from graphmount._compile.dataset.files import OpenedTable
    from graphmount._compile.dataset.typed_edges import RelationIntake
    from graphmount._compile.dataset.typed_nodes import OpenedNodes
    from graphmount._compile.edges.graph_options import GraphOptions

#: Of each node, for a number and its place in the table by which it is found.
_ID_BYTES = 8 + 6


def require_space(
    types: Mapping[str, OpenedNodes],
    intakes: Iterable[RelationIntake],
    options: GraphOptions,
    *,
    is_hot: bool,
    out: str,
    folder: str,
    memory: int,
) -> None:
    """Raises if the disk clearly has no room for the files and the temporary ones.

    Args:
        types: The node types. Of those whose number of nodes is not known yet, little is counted.
        intakes: The relations.
        options: What to make of their edges.
        is_hot: Whether nodes are put into another order.
        out: The folder that is to be written.
        folder: Where temporary files will be made.
        memory: The budget, in bytes.

    Raises:
        OSError: With ENOSPC and the folder.
    """
    counts = {name: nodes.num_nodes or 0 for name, nodes in types.items()}
    files = temporary = num_edges = 0
    for intake in intakes:
        entries = intake.known_entries
        num_edges += entries
        for source, _, destination in (edge_type for edge_type, _ in intake.cores()):
            num_lists = counts[destination] * (options.neighbors != "out")
            num_lists += counts[source] * (options.neighbors != "in")
            graph, spooled = options.needed_bytes(intake.source, entries)
            files += graph + 8 * num_lists
            temporary += spooled
    tables = [_table_bytes(table) for nodes in types.values() for table in nodes.tables.values()]
    num_nodes = sum(counts.values())
    if is_hot:
        files += _ID_BYTES * num_nodes
    needed = [temporary] if temporary > memory // 3 else []
    # Edges are gone before the first table is written, which may have to be sorted.
    needed += [size for size in tables if is_hot and size > memory * 3 // 4]
    needs = {os.path.dirname(out): files + sum(tables)}
    needs[folder] = needs.get(folder, 0) + max(needed, default=0)
    if is_hot:
        needs[folder] += new_ids_bytes(num_nodes)
    require_free(needs, f"compiling {num_nodes:,} nodes and about {num_edges:,} edges")


def _table_bytes(opened: OpenedTable) -> int:
    rows = opened.rows
    return (rows.num_rows or 0) * rows.num_columns * item_bytes(check_table(rows, opened.table))
