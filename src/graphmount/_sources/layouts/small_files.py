"""Compressed files of OGB's folders: how many nodes there are, of which types, and splits."""

from __future__ import annotations

import gzip
import os
import zlib
from typing import TYPE_CHECKING

from graphmount._sources.layouts.recognition import table_at
from graphmount._support.files.regular_files import open_regular
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from graphmount._sources.contract.tables import Table

_MOST_BYTES = 1 << 20


def unpack(path: str) -> bytes:
    """What is in a small file of gzip: its first MiB, if it is larger.

    Raises:
        SourceError: It is damaged.
        OSError: It cannot be read.
    """
    try:
        with open_regular(path) as raw, gzip.open(raw, "rb") as file:
            return file.read(_MOST_BYTES)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise SourceError(f"{path} cannot be unpacked: {error}; get the file anew") from error


def rows_at(path: str, dtype: str) -> Table | None:
    """The rows of a file of OGB, if it is there."""
    return table_at(path, delimiter=",", header=False, source_dtype=dtype)


def splits_at(folder: str) -> dict[str, Table]:
    """The splits of nodes that a folder of OGB has."""
    found = {
        name: rows_at(os.path.join(folder, f"{name}.csv.gz"), "int64")
        for name in ("train", "valid", "test")
    }
    return {name: rows for name, rows in found.items() if rows is not None}
