"""Opening a table of Arrow: a file by its kind, an object by what it is."""

from __future__ import annotations

import os

from graphmount._sources.arrow.lazy_tables import LazyTable, is_lazy
from graphmount._sources.arrow.object_tables import ObjectTable
from graphmount._sources.arrow.ray_tables import RayTable, is_ray_data
from graphmount._sources.arrow.tables import (
    ArrowTable,
    IpcTable,
    OrcTable,
    ParquetTable,
    pyarrow,
    unreadable,
)
from graphmount._support.files.regular_files import require_regular


def is_arrow(source: object) -> bool:
    """Whether an object speaks Arrow (Polars, DuckDB, pandas, pyarrow and others), or will."""
    return hasattr(source, "__arrow_c_stream__") or is_lazy(source) or is_ray_data(source)


def open_table(source: object, kind: str | None = None) -> ArrowTable:
    """A table.

    Args:
        source: A path, or an object for which `is_arrow` is true.
        kind: For a path, what file it is: "parquet", "arrow", "arrow stream" or "orc".

    Raises:
        ImportError: pyarrow is not installed.
        SourceError: The file is damaged, or the query of a LazyFrame is wrong.
        TypeError: The object is no table.
    """
    if not isinstance(source, str):
        if is_ray_data(source):
            return RayTable(source)
        return LazyTable(source) if is_lazy(source) else ObjectTable(source)
    arrow = pyarrow()
    require_regular(os.stat(source).st_mode, source)  # pyarrow would wait for a pipe
    try:
        if kind == "parquet":
            return ParquetTable(source)
        if kind == "orc":
            return OrcTable(source)
        return IpcTable(source, is_stream=kind == "arrow stream")
    except (arrow.ArrowException, OSError) as error:
        raise unreadable(source, error) from error
