"""Opening a source of any kind: by the type of an object, then by a file's first bytes and name.

Paths may be folders, patterns or lists, whose files are of one kind and are read one after another.
A library is imported when a source needs it, and its objects are recognised only if it is loaded.
Edges and rows may also come from a source that is open already, and the keys of rows in memory
from a separate array.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from graphmount._sources import edge_openers, row_openers
from graphmount._sources.arrays.array_stream import MemoryStream
from graphmount._sources.arrays.npy_files import open_npy
from graphmount._sources.arrays.value_streams import SideColumns
from graphmount._sources.arrow.cluster_edges import ClusterEdges
from graphmount._sources.arrow.opening import is_arrow
from graphmount._sources.concatenated import ConcatenatedEdges, ConcatenatedRows
from graphmount._sources.contract.batches import EdgeSource
from graphmount._sources.contract.exact import as_seconds
from graphmount._sources.contract.file_stamps import stamps_of
from graphmount._sources.contract.tables import EdgeRequest, RowRequest
from graphmount._sources.contract.text_values import EncodedRows
from graphmount._sources.kinds import kind_of
from graphmount._sources.objects.memory_edges import as_array
from graphmount._sources.paths import expand, is_paths
from graphmount._support.arguments import as_plain, require_choice
from graphmount._support.conversion import dtype_name
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from graphmount._sources.arrays.array_stream import Stream
    from graphmount._sources.contract.batches import RowSource
    from graphmount._sources.contract.tables import EdgeTable, KeyKind, OnError, Table
    from graphmount._sources.contract.text_values import TextEncoder
    from graphmount._sources.kinds import Kind

#: What sources call the types of keys.
_KEYS_OF_TYPES: dict[str | None, KeyKind | None] = {"int": "int", "str": "text", None: None}
#: As which dtype text is read to be stored as another. For dtypes that are not listed, such as
#: int8, it is guessed.
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

    Raises:
        SourceError: The source is damaged, or not one of edges.
        ValueError, TypeError: An option is wrong, or means nothing for this kind of source.
        OSError: A file cannot be read.
        ImportError: A library is needed that is not installed.
    """
    require_choice("ids", ids, ("dense", "map"))
    require_choice("key_type", key_type, (None, "int", "str"))
    keys = "dense" if ids == "dense" else _KEYS_OF_TYPES[key_type]
    return open_edges(EdgeRequest(**vars(table), keys=keys, on_error=on_error))


def open_edges(request: EdgeRequest) -> EdgeSource:
    """Opens a source of edges; weights and times may lie beside it.

    Args:
        request: What to read.
    """
    given = {"weights": request.weights, "timestamps": request.timestamps}
    columns = {name: _side_column(value, name) for name, value in given.items()}
    values = {name: column for name, column in columns.items() if column is not None}
    if not values:
        return _open_edges(request)
    if isinstance(request.source, ClusterEdges):
        raise ValueError(  # noqa: TRY004  (a value that means nothing here)
            f"{' and '.join(values)} of ClusterEdges must be a column of the dataset: its tasks do "
            "not see arrays of this process"
        )
    if request.on_error == "skip":
        raise ValueError(
            "on_error='skip' cannot be used with weights or timestamps from elsewhere: where rows "
            "are left out, they would not match"
        )
    paths: list[Any] = [value for value in given.values() if _is_side_path(value)]
    stamps = stamps_of(map(os.fsdecode, paths))
    nothing: dict[str, Any] = dict.fromkeys(values)
    opened = _open_edges(replace(request, **nothing))
    sided = SideColumns(opened, values)
    sided.stamps = (*opened.stamps, *stamps)
    return sided


def _open_edges(request: EdgeRequest) -> EdgeSource:
    source = request.source
    if isinstance(source, EdgeSource):  # as layouts have them
        request.allow(source.name, "a source that is open", "keys")
        return source
    if not is_paths(source):
        return edge_openers.open_object(source, request)
    paths, kind = _one_kind(source, is_headerless=request.shape is not None)
    stamps = stamps_of(paths)
    if isinstance(source, tuple) and kind == "npy" and len(paths) == len(source) == 2:
        opened: EdgeSource = edge_openers.open_pair(paths[0], paths[1], request)
    else:
        parts = [edge_openers.open_file(path, kind, request) for path in paths]
        opened = parts[0] if len(parts) == 1 else ConcatenatedEdges(parts)
    opened.stamps = stamps
    return opened


def open_table(
    table: Table,
    *,
    name: str | None = None,
    on_error: OnError = "raise",
    encoder: TextEncoder | None = None,
    is_time: bool = False,
) -> RowSource:
    """Opens a source of rows.

    Args:
        table: The source, with the options to read it by.
        name: What messages call a source in memory, which has no path to be told by.
        on_error: "skip" leaves out rows that cannot be read, and counts them.
        encoder: Makes numbers of one column of text; text is refused if None.
        is_time: Whether the values are times: dates become seconds since 1970.

    Raises:
        SourceError: The source is damaged, or does not hold numbers.
        ValueError, TypeError: An option is wrong, or means nothing for this kind of source.
        OSError: A file cannot be read.
        ImportError: A library is needed that is not installed.
    """
    source = table.source
    if hasattr(source, "batches") and hasattr(source, "num_columns"):
        if table.key is not None or table.columns is not None or table.shape is not None:
            raise ValueError("key=, columns= and shape= do not go with a source that is open")
        return cast("RowSource", source)
    if is_time and isinstance(source, np.ndarray) and source.dtype.kind == "M":
        source = _times_in_memory(source, name or "timestamps")
        table = replace(table, source=source)
    request = RowRequest(**vars(table), on_error=on_error, encoder=encoder, is_time=is_time)
    if is_paths(source) or is_arrow(source):
        if table.key is not None and not isinstance(table.key, str | int):
            raise TypeError("key= is the name or number of a column of the file or table")
        dtype = table.dtype if table.source_dtype is None else table.source_dtype
        read_as: str | None = None if dtype is None else dtype_name(dtype)
        if table.shape is None:  # only text does not know its dtype
            is_text = is_paths(source) and kind_of(expand(source)[0]) == "text"
            read_as = _TEXT_DTYPES.get(read_as or "") if is_text else None
        request = replace(request, source_dtype=read_as)
    opened = open_rows(request)
    if name is not None and not is_paths(source):
        opened.rename(f"{name} ({opened.name})")
    return opened


def _times_in_memory(source: NDArray[Any], name: str) -> NDArray[np.int64]:
    """Times of NumPy as seconds since 1970."""
    values = as_plain(source, name)
    missing = np.flatnonzero(np.isnat(values))
    if len(missing):
        raise SourceError(f"{name}, row {missing[0]}: the time is missing (NaT)")
    return as_seconds(values, f"{name}, row", 0)


def open_rows(request: RowRequest) -> RowSource:
    """Opens a source of rows.

    Args:
        request: What to read; headerless files and text, which do not know their dtype, as its
            `source_dtype`.
    """
    source = request.source
    if not is_paths(source):
        return _encoded(row_openers.open_object(source, request), request)
    paths, kind = _one_kind(source, is_headerless=request.shape is not None)
    stamps = stamps_of(paths)
    parts = [_encoded(row_openers.open_file(path, kind, request), request) for path in paths]
    opened = parts[0] if len(parts) == 1 else ConcatenatedRows(parts)
    opened.stamps = stamps
    return opened


def _encoded(source: RowSource, request: RowRequest) -> RowSource:
    """The source; one of text as numbers."""
    if request.encoder is None or not source.has_text_values:
        return source
    return EncodedRows(source, request.encoder, request)


def _one_kind(source: object, *, is_headerless: bool) -> tuple[list[str], Kind]:
    """The files of a source, and what kind they are."""
    paths = expand(source)
    kinds = {path: kind_of(path, is_headerless=is_headerless) for path in paths}
    first = kinds[paths[0]]
    for path, kind in kinds.items():
        if kind != first:
            raise SourceError(
                f"{paths[0]} is {first}, but {path} is {kind}; files that are read as one are of "
                "one kind: pass a pattern, such as 'folder/*.parquet'"
            )
    return paths, first


def _is_side_path(value: object) -> bool:
    """Whether weights or times are a file of their own."""
    return isinstance(value, os.PathLike) or (isinstance(value, str) and value.endswith(".npy"))


def _side_column(value: Any, name: str) -> Stream | None:  # noqa: ANN401
    """Weights or times from elsewhere; None if the value names a column, or nothing."""
    if _is_side_path(value):
        return open_npy(os.fsdecode(value))
    if value is None or isinstance(value, bool | int | str):
        return None
    array = as_array(value, name)
    if array.size == 0 and isinstance(value, list | tuple):
        array = array.astype(np.int64)  # cast: there is nothing in it; an empty list has no dtype
    kinds, wanted = ("fiu", "numbers") if name == "weights" else ("iuM", "integers or datetime64")
    if array.dtype.kind not in kinds:
        raise TypeError(f"{name} must be {wanted}, not {array.dtype}")
    return MemoryStream(array=array, name=name)
