"""Opens the rows of `compile_features`: any source, or one that is open already.

Keys may be a column of the source, or an array that comes beside rows in memory. The dtype says how
headerless files are to be read; text is read as a dtype that holds what will be stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from graphmount._conversion import dtype_name
from graphmount.sources.arrow_tables import is_arrow
from graphmount.sources.kinds import kind_of
from graphmount.sources.memory_rows import MemoryRows
from graphmount.sources.opening import open_rows
from graphmount.sources.paths import expand, is_paths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, DTypeLike

    from graphmount.sources.batches import RowSource


def open_table(
    source: Any,  # noqa: ANN401  (whatever has rows)
    *,
    key: int | str | ArrayLike | Sequence[str] | None,
    columns: Sequence[int] | Sequence[str] | None,
    dtype: DTypeLike | str | None,
    shape: tuple[int, ...] | None,
    **options: Any,  # noqa: ANN401  (those of open_rows)
) -> RowSource:
    """Opens a source of rows; see `compile_features` for the arguments."""
    if hasattr(source, "batches") and hasattr(source, "num_columns"):
        if key is not None or columns is not None or shape is not None:
            raise ValueError("key=, columns= and shape= do not go with a source that is open")
        return cast("RowSource", source)
    if not is_paths(source) and not is_arrow(source):
        return _open_memory(source, key, columns, shape=shape, **options)
    if key is not None and not isinstance(key, str | int):
        raise TypeError("key= is the name or number of a column of the file or table")
    name = None if dtype is None else dtype_name(dtype)
    if shape is None and not (name in ("float64", "int64") and _is_text(source)):
        name = None  # other files know their dtype, and other text is read as float32
    return open_rows(source, key=key, columns=columns, dtype=name, shape=shape, **options)


def _is_text(source: object) -> bool:
    return is_paths(source) and kind_of(expand(source)[0], is_headerless=False) == "text"


def _open_memory(
    source: object,
    key: int | str | ArrayLike | Sequence[str] | None,
    columns: Sequence[int] | Sequence[str] | None,
    **options: object,
) -> RowSource:
    defaults = {"comments": "#%", "on_error": None}
    for name, value in options.items():
        if value is not None and name != "on_error" and value != defaults.get(name):
            raise ValueError(f"{name}= is for files, and the source is in memory")
    given = {"key": key, "columns": columns}
    return MemoryRows(source, **{name: x for name, x in given.items() if x is not None})  # type: ignore[arg-type]
