"""One opener for each kind of rows, with the options that mean something to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmount._sources.arrays.npy_files import open_npy
from graphmount._sources.arrays.npz_files import NpzFile
from graphmount._sources.arrays.stream_rows import StreamRows
from graphmount._sources.arrow.opening import is_arrow, open_table
from graphmount._sources.arrow.rows import ArrowRows
from graphmount._sources.graph_files.graphzero import open_graphzero_rows
from graphmount._sources.graph_files.mounted import open_feature_rows
from graphmount._sources.kinds import TABLE_KINDS
from graphmount._sources.objects.memory_rows import MemoryRows
from graphmount._sources.objects.memory_text import MemoryText, find_text
from graphmount._sources.text.tables import TextRows
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from graphmount._sources.contract.batches import RowSource
    from graphmount._sources.contract.tables import RowRequest
    from graphmount._sources.kinds import Kind

_TEXT_OPTIONS = ("key", "columns", "source_dtype", "delimiter", "header", "comments", "on_error")


def open_file(path: str, kind: Kind, request: RowRequest) -> RowSource:
    """Rows of one file.

    Args:
        path: The file.
        kind: What it is.
        request: What the user wants of it.
    """
    if kind in ("npy", "binary"):
        request.allow(path, "an array", "shape", "source_dtype")
        return StreamRows(open_npy(path, shape=request.shape, dtype=request.source_dtype))
    if kind == "npz":
        request.allow(path, "a NumPy archive", "member")
        return _open_npz(path, request.member)
    if kind in TABLE_KINDS:
        return _open_table(path, kind, request)
    if kind == "graphzero features":
        request.allow(path, "a feature file of GraphZero")
        return open_graphzero_rows(path)
    if kind == "features":
        request.allow(path, "a feature file of graphmount")
        return open_feature_rows(path)
    if kind in ("graph", "graphzero graph", "matrix market"):
        raise SourceError(f"{path} holds edges ({kind}), not rows of features")
    request.allow(path, "text", *_TEXT_OPTIONS)
    return TextRows(path, request)


def open_object(source: object, request: RowRequest) -> RowSource:
    """Rows of an object in memory.

    Args:
        source: The object.
        request: What the user wants of it.
    """
    if is_arrow(source):
        return _open_table(source, None, request)
    for name in ("delimiter", "header", "shape", "source_dtype", "member"):
        if getattr(request, name) is not None:
            raise ValueError(f"{name}= is for files, and the source is in memory")
    text = None if request.encoder is None else find_text(source, request.columns)
    if text is not None:
        return MemoryText(text, request)
    return MemoryRows(source, key=request.key, columns=request.columns)


def _open_npz(path: str, member: str | None) -> RowSource:
    archive = NpzFile(path)
    if not archive.names:
        raise SourceError(f"{path} is an archive without an array; save it again")
    if member is None and len(archive.names) != 1:
        raise SourceError(
            f"{path} has several members; pass member= one of {', '.join(map(repr, archive.names))}"
        )
    return StreamRows(archive.stream(archive.names[0] if member is None else member))


def _open_table(source: object, kind: str | None, request: RowRequest) -> RowSource:
    table = open_table(source, kind)
    request.allow(table.name, "a table", "key", "columns", "on_error")
    return ArrowRows(table, request)
