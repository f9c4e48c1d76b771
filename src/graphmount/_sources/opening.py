"""Opening a source of any kind: by the type of an object, then by a file's first bytes and name.

Paths may be folders, patterns or lists, whose files are of one kind and are read one after another.
Libraries are imported when a source needs them, and objects recognised only if theirs is loaded.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from graphmount._sources import edge_openers, row_openers
from graphmount._sources.arrays.array_stream import MemoryStream
from graphmount._sources.arrays.npy_files import open_npy
from graphmount._sources.arrays.side_columns import SideColumns
from graphmount._sources.concatenated import ConcatenatedEdges, ConcatenatedRows
from graphmount._sources.contract.file_stamps import adopt, remember, stamps_of
from graphmount._sources.contract.options import EdgeOptions, RowOptions
from graphmount._sources.kinds import kind_of
from graphmount._sources.objects.memory_edges import as_array
from graphmount._sources.paths import expand, is_paths
from graphmount._support.arguments import require_choice
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, DTypeLike

    from graphmount._sources.arrays.array_stream import Stream
    from graphmount._sources.contract.batches import EdgeSource, RowSource
    from graphmount._sources.contract.options import OnError

__all__ = ["open_edges", "open_rows"]


def open_edges(
    source: Any,  # noqa: ANN401  (whatever has edges)
    *,
    columns: Sequence[str | int] | str | None = None,
    weights: ArrayLike | str | os.PathLike[str] | bool | None = None,
    timestamps: ArrayLike | str | os.PathLike[str] | bool | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    comments: str = "#%",
    keys: Literal["dense", "int", "text"] | None = None,
    on_error: OnError = "raise",
    shape: tuple[int, ...] | None = None,
    dtype: DTypeLike | None = None,
) -> EdgeSource:
    """Opens a source of edges.

    Args:
        source: A path, folder, pattern or list of paths; a tuple of two `.npy` files, of sources
            and destinations; a pair of arrays or an array of shape (2, edges), of NumPy or torch;
            a PyG `Data`; a SciPy matrix; a NetworkX graph; a `Graph`; or a table that speaks Arrow
            (Polars, DuckDB, pandas, pyarrow).
        columns: The columns (sources, destinations) of a table or text, by name or number, or the
            members of an `.npz`; by default the first two, or what the file is known by.
        weights: The column, member or attribute with the weights; or an array, or the path of a
            `.npy` file, with one for each edge. True for those the source is known to have.
        timestamps: The same for times.
        delimiter: What separates the columns of text.
        header: Whether text begins with the names of its columns.
        comments: The characters that begin lines of text to be passed over.
        keys: What ids are: "dense" (0, 1, … as they are), "int" or "text"; by default, what the
            source has.
        on_error: "skip" leaves out rows of tables and text that cannot be read, and counts them.
        shape: Of a binary file without a header.
        dtype: Of a binary file without a header.

    Raises:
        SourceError: The source is damaged, or not one of edges.
        ValueError, TypeError: An option is wrong, or means nothing for this kind of source.
        OSError: A file cannot be read.
        ImportError: A library is needed that is not installed.
    """
    require_choice("keys", keys, (None, "dense", "int", "text"))
    require_choice("on_error", on_error, ("raise", "skip"))
    side_weights = _side_column(weights, "weights")
    side_times = _side_column(timestamps, "timestamps")
    if on_error == "skip" and (side_weights or side_times):
        raise ValueError(
            "on_error='skip' cannot be used with weights or timestamps from elsewhere: where rows "
            "are left out, they would not match"
        )
    options = EdgeOptions(
        columns=columns,
        weights=None if side_weights else weights,
        timestamps=None if side_times else timestamps,
        delimiter=delimiter,
        header=header,
        comments=comments,
        keys=keys,
        on_error=on_error,
        shape=shape,
        dtype=dtype,
    )
    side_paths: list[Any] = [value for value in (weights, timestamps) if _is_side_path(value)]
    side_stamps = stamps_of(map(os.fsdecode, side_paths))
    opened = _open_edges(source, options)
    if side_weights or side_times:
        sided = SideColumns(opened, weights=side_weights, timestamps=side_times)
        adopt(sided, opened)
        remember(sided, side_stamps)
        return sided
    return opened


def _open_edges(source: Any, options: EdgeOptions) -> EdgeSource:  # noqa: ANN401
    if not is_paths(source):
        return edge_openers.open_object(source, options)
    paths, kind = _one_kind(source, is_headerless=options.shape is not None)
    stamps = stamps_of(paths)
    if isinstance(source, tuple) and kind == "npy" and len(paths) == len(source) == 2:
        opened: EdgeSource = edge_openers.open_pair(paths[0], paths[1], options)
    else:
        parts = [edge_openers.open_file(path, kind, options) for path in paths]
        opened = parts[0] if len(parts) == 1 else ConcatenatedEdges(parts)
    remember(opened, stamps)
    return opened


def open_rows(
    source: Any,  # noqa: ANN401  (whatever has rows)
    *,
    key: str | int | None = None,
    columns: Sequence[str | int] | str | int | None = None,
    dtype: DTypeLike | None = None,
    shape: tuple[int, ...] | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    comments: str = "#%",
    on_error: OnError = "raise",
    member: str | None = None,
) -> RowSource:
    """Opens a source of rows of features.

    Args:
        source: A path, folder, pattern or list of paths; an array of NumPy or torch; a
            `FeatureStore`; or a table that speaks Arrow (Polars, DuckDB, pandas, pyarrow).
        key: The column of a table or text that says which node a row belongs to.
        columns: The columns with the values, by name or number; by default all but the key.
        dtype: Of a binary file without a header; as what to read the values of text. Other
            sources know their dtype.
        shape: Of a binary file without a header.
        delimiter: What separates the columns of text.
        header: Whether text begins with the names of its columns.
        comments: The characters that begin lines of text to be passed over.
        on_error: "skip" leaves out rows of tables and text that cannot be read, and counts them.
        member: The member of an `.npz` archive; not needed if it has one.

    Raises:
        SourceError: The source is damaged, or does not hold numbers.
        ValueError, TypeError: An option is wrong, or means nothing for this kind of source.
        OSError: A file cannot be read.
        ImportError: A library is needed that is not installed.
    """
    require_choice("on_error", on_error, ("raise", "skip"))
    options = RowOptions(
        key=key,
        columns=columns,
        dtype=dtype,
        shape=shape,
        delimiter=delimiter,
        header=header,
        comments=comments,
        on_error=on_error,
        member=member,
    )
    if not is_paths(source):
        return row_openers.open_object(source, options)
    paths, kind = _one_kind(source, is_headerless=shape is not None)
    stamps = stamps_of(paths)
    parts = [row_openers.open_file(path, kind, options) for path in paths]
    opened = parts[0] if len(parts) == 1 else ConcatenatedRows(parts)
    remember(opened, stamps)
    return opened


def _one_kind(source: object, *, is_headerless: bool) -> tuple[list[str], Any]:
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
    if value is None or isinstance(value, bool | int):
        return None
    if _is_side_path(value):
        return open_npy(os.fsdecode(value))
    if isinstance(value, str):
        return None
    array = as_array(value, name)
    if array.size == 0 and isinstance(value, list | tuple):
        array = array.astype(np.int64)  # cast: there is nothing in it; an empty list has no dtype
    kinds, wanted = ("fiu", "numbers") if name == "weights" else ("iuM", "integers or datetime64")
    if array.dtype.kind not in kinds:
        raise TypeError(f"{name} must be {wanted}, not {array.dtype}")
    return MemoryStream(array=array, name=name)
