"""What lies where in the folder of a dataset, and what describes it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphmount._compile.dataset.no_such_file import advising_on_columns
from graphmount._compile.dataset.splits import as_nodes
from graphmount._compile.feature_compiler import compile_features
from graphmount._dataset.description import encode_description, named_files
from graphmount._dataset.description_fields import DESCRIPTION
from graphmount._dataset.typed_opening import handle_type
from graphmount._sources.contract.tables import Table
from graphmount._sources.opening import open_table
from graphmount._sources.paths import is_paths
from graphmount._support.files.opened_folder import OpenedFolder
from graphmount._support.shown import shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from graphmount._dataset.spaces.node_space import NodeSpace
    from graphmount._mount.graph import Graph
    from graphmount._sources.contract.batches import RowSource
    from graphmount._sources.contract.tables import OnError
    from graphmount._sources.contract.text_values import TextEncoder

#: How long the names of the columns of a table may be together, to be kept.
_MOST_NAMES = 1 << 16
#: Of a file, in bytes.
_LONGEST_NAME = 255


@dataclass(frozen=True, kw_only=True)
class OpenedTable:
    """A table whose source is open.

    Attributes:
        table: The table.
        rows: Its rows.
    """

    table: Table
    rows: RowSource


def open_tables(tables: object, kind: str, *, on_error: OnError) -> dict[str, OpenedTable]:
    """Tables by the file they will be in.

    Args:
        tables: By name, as they are given.
        kind: What they are: "features" or "edge_features".
        on_error: What to do with rows that cannot be read.

    Raises:
        TypeError, ValueError: A name cannot be that of a file, or a table cannot be opened.
    """
    if not isinstance(tables, Mapping | None):
        if is_paths(tables) and not isinstance(tables, os.PathLike):
            what = shown(tables)
        else:
            what = f"one {type(tables).__name__}"
        raise TypeError(
            f"{kind}= is {what}, and tables have names; pass a dict: {kind}={{'x': …}}, where … is "
            "a gm.Table, a path, or an array"
        )
    by_file = {file_of(kind, name): table for name, table in (tables or {}).items()}
    return {file: open_one(file, table, on_error=on_error) for file, table in by_file.items()}


def open_one(
    file: str,
    table: object,
    *,
    on_error: OnError,
    encoder: TextEncoder | None = None,
    is_time: bool = False,
) -> OpenedTable:
    """The table that will be in a file: a `Table`, or any source of rows.

    Args:
        file: The file.
        table: As it is given.
        on_error: What to do with rows that cannot be read.
        encoder: Makes numbers of one column of text; text is refused if None.
        is_time: Whether the values are times: dates become seconds since 1970.
    """
    table = table if isinstance(table, Table) else Table(source=table)
    with advising_on_columns(table.source, "pass {}"):
        rows = open_table(
            table, name=_shown_name(file), on_error=on_error, encoder=encoder, is_time=is_time
        )
    return OpenedTable(table=table, rows=rows)


def file_of(kind: str, name: object) -> str:
    """The file of a table or a split, in the folder of its kind.

    Raises:
        ValueError: The name cannot be that of a file.
    """
    if not isinstance(name, str) or not re.fullmatch(r"[\w][\w .-]*", name):
        raise ValueError(
            f"{kind}: {name!r} cannot be the name of a file; use letters, digits, '_', '-' and '.'"
        )
    if len(os.fsencode(f"{name}.gd")) > _LONGEST_NAME:
        raise ValueError(
            f"{kind}: {name[:40] + '…'!r} cannot be the name of a file: it is too long; use "
            f"{_LONGEST_NAME - 3} bytes at the most"
        )
    return f"{kind}/{name}.gd"


def name_of(file: str) -> str:
    """The name under which a table of this file was given."""
    return os.path.basename(file).removesuffix(".gd")


def _shown_name(file: str) -> str:
    """What messages call a table of this file: as it was given, "features 'x'" or "labels"."""
    kind = os.path.dirname(file)
    return f"{kind} {name_of(file)!r}" if kind else name_of(file)


def write_splits(
    splits: Mapping[str, Any],
    folder: str,
    graph: Graph | NodeSpace,
    *,
    new_ids: NDArray[Any] | None,
) -> dict[str, str]:
    """Writes the nodes of each split, as `read_splits` gives it; returns the files by name."""
    files = {}
    for name, split in splits.items():
        files[name] = file_of("splits", name)
        os.makedirs(os.path.join(folder, "splits"), exist_ok=True)
        nodes = as_nodes(split, name, graph, new_ids=new_ids)
        compile_features(nodes, os.path.join(folder, files[name]), progress=False)
    return files


def write_description(folder: str, *, files_in: str | None = None, **description: object) -> None:
    """Writes what makes a folder a dataset, with a list of its files as they are now.

    Args:
        folder: Where to write it.
        files_in: The folder that has the files, if it is another one.
        description: What it says.
    """
    whole = description | {"files": _listed(files_in or folder, description)}
    with open(os.path.join(folder, DESCRIPTION), "xb") as file:
        file.write(encode_description(whole))
        file.flush()
        os.fsync(file.fileno())


def with_columns(tables: Mapping[str, OpenedTable]) -> dict[str, Any]:
    """What a description says of the names of columns: nothing, where sources have none.

    Args:
        tables: By their files. Names that would fill the description are left out.
    """
    # Users may have sources of their own.
    names = {file: getattr(opened.rows, "column_names", ()) for file, opened in tables.items()}
    kept = {
        file: list(some)
        for file, some in names.items()
        if some and len(json.dumps(some)) <= _MOST_NAMES
    }
    return {"columns": kept} if kept else {}


def _listed(folder: str, description: dict[str, object]) -> dict[str, dict[str, object]]:
    """For each file its size, and the checksum of its header, which covers all of its content."""
    listed: dict[str, dict[str, object]] = {}
    with OpenedFolder(folder) as opened:
        for kind, _, file in named_files(description):
            with handle_type(kind)._open_inside(opened, file) as handle:  # noqa: SLF001
                size, checksum = handle._content  # noqa: SLF001
            listed[file] = {"bytes": size, "checksum": f"{checksum:016x}"}
    return listed


def folder_bytes(path: str) -> int:
    """The size of all files in a folder."""
    return sum(
        os.path.getsize(os.path.join(folder, file))
        for folder, _, files in os.walk(path)
        for file in files
    )
