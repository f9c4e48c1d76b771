"""Opens a source with the options that stand beside it in a `Table` or `EdgeTable`.

Rows may come from any source, or one that is open already. Their keys may be a column of the
source, or an array that comes beside rows in memory. The dtype says how headerless files are to be
read; text is read as a dtype that holds what will be stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

from graphmount._sources.arrow.tables import is_arrow
from graphmount._sources.kinds import kind_of
from graphmount._sources.objects.memory_rows import MemoryRows
from graphmount._sources.opening import open_edges, open_rows
from graphmount._sources.paths import expand, is_paths
from graphmount._support.arguments import require_choice
from graphmount._support.conversion import dtype_name

if TYPE_CHECKING:
    from graphmount._sources.contract.batches import EdgeSource, RowSource
    from graphmount._sources.contract.options import OnError
    from graphmount._sources.tables import EdgeTable, Table

#: What sources call the types of keys.
_KEYS_OF_TYPES: dict[str | None, Literal["int", "text"] | None] = {
    "int": "int",
    "str": "text",
    None: None,
}
#: What text is read as, for it to become of a dtype; it is found out for others, such as int8.
_TEXT_DTYPES = {
    "float64": "float64",
    "float32": "float32",
    "float16": "float32",
    "bfloat16": "float32",
    "int64": "int64",
}


def open_edge_table(
    table: EdgeTable,
    *,
    ids: Literal["dense", "map"],
    key_type: Literal["int", "str"] | None,
    on_error: OnError,
) -> EdgeSource:
    """Opens a source of edges.

    Args:
        table: The source, with the options to read it by.
        ids: Whether ids are node numbers ("dense"), or keys to be numbered ("map").
        key_type: What keys in text are; None to find out.
        on_error: "skip" leaves out rows that cannot be read, and counts them.
    """
    require_choice("ids", ids, ("dense", "map"))
    require_choice("key_type", key_type, (None, "int", "str"))
    return open_edges(
        table.source,
        columns=table.columns,
        weights=table.weights,
        timestamps=table.timestamps,
        delimiter=table.delimiter,
        header=table.header,
        comments=table.comments,
        keys="dense" if ids == "dense" else _KEYS_OF_TYPES[key_type],
        on_error=on_error,
        shape=table.shape,
        dtype=table.dtype,
    )


def open_table(table: Table, *, name: str | None = None, on_error: OnError) -> RowSource:
    """Opens a source of rows.

    Args:
        table: The source, with the options to read it by.
        name: What messages call a source in memory, which has no path to be told by.
        on_error: "skip" leaves out rows that cannot be read, and counts them.
    """
    opened = _open_rows(table, on_error)
    if name is not None and opened is not table.source and not is_paths(table.source):
        opened.name = f"{name} ({opened.name})"
    return opened


def _open_rows(table: Table, on_error: OnError) -> RowSource:
    source, key = table.source, table.key
    if hasattr(source, "batches") and hasattr(source, "num_columns"):
        if key is not None or table.columns is not None or table.shape is not None:
            raise ValueError("key=, columns= and shape= do not go with a source that is open")
        return cast("RowSource", source)
    if not is_paths(source) and not is_arrow(source):
        return _open_memory(table)
    if key is not None and not isinstance(key, str | int):
        raise TypeError("key= is the name or number of a column of the file or table")
    dtype = table.dtype if table.source_dtype is None else table.source_dtype
    name: str | None = None if dtype is None else dtype_name(dtype)
    if table.shape is None:  # only text does not know its dtype
        name = _TEXT_DTYPES.get(name or "") if _is_text(source) else None
    return open_rows(
        source,
        key=key,
        columns=table.columns,
        dtype=name,
        shape=table.shape,
        delimiter=table.delimiter,
        header=table.header,
        comments=table.comments,
        on_error=on_error,
        member=table.member,
    )


def _open_memory(table: Table) -> RowSource:
    for name in ("delimiter", "header", "shape", "source_dtype", "member"):
        if getattr(table, name) is not None:
            raise ValueError(f"{name}= is for files, and the source is in memory")
    given = {"key": table.key, "columns": table.columns}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    return MemoryRows(table.source, **options)


def _is_text(source: object) -> bool:
    return is_paths(source) and kind_of(expand(source)[0], is_headerless=False) == "text"
