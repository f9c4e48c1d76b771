"""One opener for each kind of rows, with the options that mean something to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphmount._mount.features import FeatureStore
from graphmount._sources.arrays.npy_files import open_npy
from graphmount._sources.arrays.npz_files import NpzFile
from graphmount._sources.arrays.stream_rows import StreamRows
from graphmount._sources.arrow.rows import ArrowRows
from graphmount._sources.arrow.tables import is_arrow, open_table
from graphmount._sources.kinds import TABLE_KINDS
from graphmount._sources.objects.graphzero import open_graphzero_rows
from graphmount._sources.objects.memory_rows import MemoryRows
from graphmount._sources.objects.mounted import open_feature_rows
from graphmount._sources.text.tables import TextRows
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from graphmount._sources.contract.batches import RowSource
    from graphmount._sources.contract.options import RowOptions
    from graphmount._sources.kinds import Kind

_TABLE_OPTIONS = ("key", "columns", "on_error")
_TEXT_OPTIONS = ("key", "columns", "dtype", "delimiter", "header", "comments", "on_error")


def open_file(path: str, kind: Kind, options: RowOptions) -> RowSource:
    """Rows of one file.

    Args:
        path: The file.
        kind: What it is.
        options: What the user wants of it.
    """
    if kind in ("npy", "binary"):
        options.allow(path, "an array", "shape", "dtype")
        return StreamRows(open_npy(path, shape=options.shape, dtype=options.dtype))
    if kind == "npz":
        options.allow(path, "a NumPy archive", "member")
        return _open_npz(path, options.member)
    if kind in TABLE_KINDS:
        return _open_table(path, kind, options)
    if kind == "graphzero features":
        options.allow(path, "a feature file of GraphZero")
        return open_graphzero_rows(path)
    if kind == "features":
        options.allow(path, "a feature file of graphmount")
        return open_feature_rows(path)
    if kind in ("graph", "graphzero graph", "matrix market"):
        raise SourceError(f"{path} holds edges ({kind}), not rows of features")
    options.allow(path, "text", *_TEXT_OPTIONS)
    wanted = {name: getattr(options, name) for name in _TEXT_OPTIONS}
    return TextRows(path, **wanted)


def open_object(source: Any, options: RowOptions) -> RowSource:  # noqa: ANN401
    """Rows of an object in memory.

    Args:
        source: The object.
        options: What the user wants of it.
    """
    if isinstance(source, FeatureStore):
        options.allow(source.path, "a feature file of graphmount")
        return open_feature_rows(source)
    if is_arrow(source):
        return _open_table(source, None, options)
    options.allow("an array in memory", "which knows its dtype and shape")
    return MemoryRows(source)


def _open_npz(path: str, member: str | None) -> RowSource:
    archive = NpzFile(path)
    if not archive.names:
        raise SourceError(f"{path} is an archive without an array; save it again")
    if member is None and len(archive.names) != 1:
        raise SourceError(
            f"{path} has several members; pass member= one of {', '.join(map(repr, archive.names))}"
        )
    return StreamRows(archive.stream(archive.names[0] if member is None else member))


def _open_table(source: object, kind: str | None, options: RowOptions) -> RowSource:
    table = open_table(source, kind)
    options.allow(table.name, "a table", *_TABLE_OPTIONS)
    return ArrowRows(table, key=options.key, columns=options.columns, on_error=options.on_error)
