"""Tables of Arrow as files of every kind, and as objects."""

from __future__ import annotations

import pytest

pa = pytest.importorskip("pyarrow")
orc = pytest.importorskip("pyarrow.orc")
parquet = pytest.importorskip("pyarrow.parquet")

KINDS = ["parquet", "feather", "arrow", "arrows", "orc", "table", "reader"]


def stored(table, kind, folder, *, rows=3):
    """The table as a file of this kind, in pieces of some rows, or as an object."""
    path = folder / f"table.{kind}"
    if kind == "parquet":
        parquet.write_table(table, path, row_group_size=rows)
    elif kind in ("feather", "arrow", "arrows"):
        new = pa.ipc.new_stream if kind == "arrows" else pa.ipc.new_file
        options = pa.ipc.IpcWriteOptions(compression="lz4" if kind == "feather" else None)
        with pa.OSFile(str(path), "wb") as file, new(file, table.schema, options=options) as out:
            out.write_table(table, max_chunksize=rows)
    elif kind == "orc":
        orc.write_table(table, path)
    elif kind == "reader":
        return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(rows))
    else:
        return table
    return path
