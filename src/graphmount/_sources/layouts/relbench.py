"""The folder of a RelBench dataset, as version 3 of RelBench has it.

Each table is a node type, and its rows are the nodes. A foreign key is a relation from the rows
that have it to the rows that it names, `f2p_<column>`, as RelBench calls it; the other direction is
`rev_f2p_<column>`. The time column gives the times of nodes, and columns of numbers their features.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from graphmount._sources.contract.tables import EdgeTable, Table
from graphmount._sources.layouts.relbench_columns import (
    ForeignKeyEdges,
    NumberRows,
    PrimaryKey,
    TimeRows,
    count_rows,
    number_columns,
)
from graphmount._sources.layouts.relbench_manifest import read_manifest, read_yaml
from graphmount._sources.layouts.typed import NodesLayout, TypedLayout
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from graphmount._sources.layouts.relbench_manifest import Manifest, TableManifest
    from graphmount._sources.layouts.typed import Triplet

_SHOWN = 8


def relbench_layout(folder: str) -> TypedLayout:
    """The tables of a RelBench dataset."""
    manifest = read_manifest(os.path.join(folder, "manifest.yaml"))
    paths = {name: _path(folder, name) for name in manifest.tables}
    keys = {
        name: PrimaryKey(paths[name], table.pkey)
        for name, table in manifest.tables.items()
        if table.pkey is not None
    }
    nodes, left_out = {}, []
    edges: dict[Triplet, EdgeTable] = {}
    for name, table in manifest.tables.items():
        own, others = _features(paths[name], table)
        left_out += [f"{name}.{column}" for column in others]
        times = None if table.time_col is None else TimeRows(paths[name], table.time_col)
        nodes[name] = NodesLayout(
            features=own,
            timestamps=None if times is None else Table(source=times),
            num_nodes=count_rows(paths[name]),
        )
        for column, other in table.fkeys.items():
            source = ForeignKeyEdges(paths[name], column, keys[other], is_own=name == other)
            edges[name, f"f2p_{column}", other] = EdgeTable(source=source)
    if not edges:
        raise SourceError(f"{folder}/manifest.yaml has no foreign keys, so there are no edges")
    tasks = _tasks(folder)
    return TypedLayout(
        kind="RelBench",
        folder=folder,
        nodes=nodes,
        edges=edges,
        is_turned=True,
        files=("manifest.yaml", *(os.path.relpath(path, folder) for path in paths.values())),
        notes=tuple(_notes(manifest, left_out, tasks)),
    )


def _path(folder: str, name: str) -> str:
    path = os.path.join(folder, "db", f"{name}.parquet")
    if not os.path.exists(path):
        raise SourceError(f"{path} is missing, though manifest.yaml names its table; get it anew")
    return path


def _features(path: str, table: TableManifest) -> tuple[Table | None, list[str]]:
    """The columns of numbers that are neither keys nor times; and the names of all others."""
    numbers, others = number_columns(path)
    known = {table.pkey, table.time_col, *table.fkeys}
    chosen = [name for name in numbers if name not in known]
    rows = Table(source=NumberRows(path, chosen)) if chosen else None
    return rows, [name for name in others if name not in known]


def _tasks(folder: str) -> dict[str, list[str]]:
    """The tasks in the folder, with the columns that each must not see."""
    parent = os.path.join(folder, "tasks")
    tasks = {}
    for name in sorted(os.listdir(parent)) if os.path.isdir(parent) else []:
        path = os.path.join(parent, name, "manifest.yaml")
        if os.path.isfile(path):
            hidden = read_yaml(path).get("remove_columns") or []
            pairs = [pair for pair in hidden if isinstance(pair, list) and len(pair) == 2]
            tasks[name] = [f"{table}.{column}" for table, column in pairs]
    return tasks


def _notes(manifest: Manifest, left_out: list[str], tasks: dict[str, list[str]]) -> list[str]:
    times = (
        f"Row i of a table is node i. Times are seconds since 1970. {manifest.name} validates "
        f"from {manifest.val_timestamp} on and tests from {manifest.test_timestamp} on; later rows "
        "are here too, so sample with time=."
    )
    notes = [times]
    if left_out:
        more = f" and {len(left_out) - _SHOWN:,} more" if len(left_out) > _SHOWN else ""
        notes.append(f"Columns that are no numbers are left out: {_listed(left_out)}{more}.")
    if tasks:
        notes.append(
            f"Tasks are left to RelBench: {', '.join(tasks)}. Their tables have seeds, times and "
            "labels; the seeds are ids of the source (ids='external')."
        )
    for name, hidden in tasks.items():
        if hidden:
            notes.append(f"The task {name} must not see {_listed(hidden)}.")
    return notes


def _listed(names: list[str]) -> str:
    return ", ".join(names[:_SHOWN])
