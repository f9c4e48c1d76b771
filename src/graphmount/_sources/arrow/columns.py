"""Columns of Arrow as batches have them: ids, weights and times, checked row by row.

Each role has a check, which finds the rows that cannot be read, and a conversion, which is right
for all others. Ids are integers of any width, decimals without a fraction, strings of all kinds,
dictionaries of these, and UUIDs, which become text. Times are integers as they are; timestamps and
dates become seconds since 1970, rounded down.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from graphmount._sources.arrow.tables import pyarrow, unreadable
from graphmount._sources.contract.exact import changed_by_cast
from graphmount._support.text_columns import TextColumn, from_uuids
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from graphmount._support.text_columns import Keys

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


@dataclass(frozen=True, kw_only=True, slots=True)
class BadRows:
    """Rows that cannot be read, and why."""

    rows: NDArray[np.bool_]
    reason: str


def plain(column: Any) -> Any:  # noqa: ANN401
    """The column without dictionaries, extension types and views, which not all of Arrow knows."""
    types = pyarrow("pyarrow.types")
    while True:
        if isinstance(column.type, pyarrow().BaseExtensionType):
            column = column.storage
        elif types.is_dictionary(column.type):
            column = _plain_dictionary(column).dictionary_decode()
        elif _is_view(column.type):
            column = column.cast(pyarrow().large_string())
        else:
            return column


def _plain_dictionary(column: Any) -> Any:  # noqa: ANN401
    """The column with a dictionary that Arrow can look things up in: Polars has one of views."""
    if not _is_view(column.type.value_type):
        return column
    texts = column.dictionary.cast(pyarrow().large_string())
    return pyarrow().DictionaryArray.from_arrays(column.indices, texts)


def plain_type(kind: Any) -> Any:  # noqa: ANN401
    """The type of a column without dictionaries and extension types."""
    types = pyarrow("pyarrow.types")
    while True:
        if isinstance(kind, pyarrow().BaseExtensionType):
            kind = kind.storage_type
        elif types.is_dictionary(kind):
            kind = kind.value_type
        else:
            return kind


def is_string(kind: Any) -> bool:  # noqa: ANN401
    """Whether a plain type is text."""
    types = pyarrow("pyarrow.types")
    return bool(types.is_string(kind) or types.is_large_string(kind) or _is_view(kind))


def _is_view(kind: Any) -> bool:  # noqa: ANN401
    """Whether a type is text in views, which older versions of Arrow do not know."""
    types = pyarrow("pyarrow.types")
    return hasattr(types, "is_string_view") and bool(types.is_string_view(kind))


def _is_uuid(kind: Any) -> bool:  # noqa: ANN401
    return bool(pyarrow("pyarrow.types").is_fixed_size_binary(kind) and kind.byte_width == 16)


def has_text_ids(kind: Any, keys: str | None, name: str) -> bool:  # noqa: ANN401
    """Whether a column of this type gives ids as text.

    Args:
        kind: Its type.
        keys: "dense" or "int" to read strings as numbers, "text" to read numbers as strings.
        name: What messages call the column.

    Raises:
        SourceError: A column of this type has no ids.
    """
    types = pyarrow("pyarrow.types")
    kind = plain_type(kind)
    if types.is_integer(kind) or types.is_decimal(kind) or types.is_null(kind):
        return keys == "text"
    if is_string(kind):
        return keys in (None, "text")
    if _is_uuid(kind):
        if keys in (None, "text"):
            return True
        wanted = "pass ids='map' to number them" if keys == "dense" else "leave key_type='int' out"
        raise SourceError(f"{name} holds UUIDs, which are text; {wanted}")
    raise SourceError(f"{name} is of type {kind}; node ids are integers or text")


def bad_ids(column: Any, *, as_text: bool) -> BadRows | None:  # noqa: ANN401
    """What is wrong with a plain column of ids."""
    types = pyarrow("pyarrow.types")
    bad = bad_nulls(column)
    if as_text or bad is not None:  # without the nulls, the rest will be checked again
        return bad
    if types.is_uint64(column.type):
        return bad_where(as_numpy(column) >= 2**63, "is too large for int64")
    return None if types.is_integer(column.type) else _bad_casts(column)


def bad_where(rows: NDArray[np.bool_], reason: str) -> BadRows | None:
    """The rows that are marked, if any is."""
    return BadRows(rows=rows, reason=reason) if rows.any() else None


def _bad_casts(column: Any) -> BadRows | None:  # noqa: ANN401
    arrow = pyarrow()
    try:
        column.cast(arrow.int64())
    except arrow.ArrowInvalid:
        fine = np.ones(len(column), np.bool_)
        for place in range(len(column)):
            try:
                column.slice(place, 1).cast(arrow.int64())
            except arrow.ArrowInvalid:
                fine[place] = False
        return bad_where(~fine, "is not an integer that int64 can hold")
    return None


def bad_values(column: Any, *, dtype: np.dtype[Any]) -> BadRows | None:  # noqa: ANN401
    """What is wrong with a plain column of numbers that are to be of a dtype."""
    bad = bad_nulls(column)
    if bad is not None:
        return bad
    if pyarrow("pyarrow.types").is_decimal(column.type):
        return _bad_casts(column) if dtype.kind == "i" else None
    numbers = as_numpy(column)
    if numbers.dtype == dtype or numbers.dtype.kind not in "iu":
        return None
    reason = f"would be another number as {dtype}, which other columns need; take columns= apart"
    return bad_where(changed_by_cast(numbers, dtype), reason)


def bad_nulls(column: Any) -> BadRows | None:  # noqa: ANN401
    """The rows of a column that are null."""
    if column.null_count == 0:
        return None
    return BadRows(rows=as_numpy(column.is_null()), reason="is missing (null)")


def as_ids(column: Any, *, as_text: bool, name: str) -> Keys:  # noqa: ANN401
    """The ids of a plain column in which nothing is wrong."""
    if not as_text:
        numbers = as_numpy(column.cast(pyarrow().int64()))
        return np.ascontiguousarray(numbers, np.int64)  # cast: Arrow has made them int64
    if _is_uuid(column.type):
        size = 16 * len(column)
        data = column.buffers()[1]
        begin = 16 * column.offset
        raw = np.frombuffer(data, np.uint8)[begin : begin + size] if data else np.empty(0, np.uint8)
        return from_uuids(raw.reshape(-1, 16))
    return text_of(column, name)


def text_of(column: Any, name: str) -> TextColumn:  # noqa: ANN401
    """The strings of a plain column without nulls."""
    arrow = pyarrow()
    strings = column.cast(arrow.large_string())
    try:
        strings.validate(full=True)
    except arrow.ArrowInvalid as error:
        raise unreadable(name, error) from error
    _, offset_buffer, data_buffer = strings.buffers()
    offsets = np.zeros(1, np.int64)
    if len(strings):
        begin = strings.offset
        offsets = np.frombuffer(offset_buffer, np.int64)[begin : begin + len(strings) + 1]
    data = np.empty(0, np.uint8)
    if data_buffer is not None:
        data = np.frombuffer(data_buffer, np.uint8)[offsets[0] : offsets[-1]]
    return TextColumn(offsets=offsets - offsets[0], data=data)


def require_weights(kind: Any, name: str) -> None:  # noqa: ANN401
    """Raises unless a column of this type can be weights."""
    types = pyarrow("pyarrow.types")
    kind = plain_type(kind)
    if not (types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)):
        raise SourceError(f"{name} is of type {kind}; weights are numbers")


def bad_weights(column: Any) -> BadRows | None:  # noqa: ANN401
    """What is wrong with a plain column of weights."""
    bad = bad_nulls(column)
    if bad is not None:
        return bad
    wide = _as_floats(column).astype(np.float64)  # cast: is wider
    return bad_where(changed_by_cast(wide, np.float32), "is too large for float32")


def as_weights(column: Any) -> NDArray[np.float32]:  # noqa: ANN401
    """The weights of a plain column in which nothing is wrong."""
    return np.ascontiguousarray(_as_floats(column), np.float32)


def _as_floats(column: Any) -> NDArray[Any]:  # noqa: ANN401
    if pyarrow("pyarrow.types").is_decimal(column.type):
        column = column.cast(pyarrow().float64())
    return as_numpy(column)


def require_timestamps(kind: Any, name: str) -> None:  # noqa: ANN401
    """Raises unless a column of this type can be timestamps."""
    types = pyarrow("pyarrow.types")
    kind = plain_type(kind)
    if not (types.is_integer(kind) or is_time(kind)):
        raise SourceError(f"{name} is of type {kind}; timestamps are integers, times or dates")


def is_time(kind: Any) -> bool:  # noqa: ANN401
    """Whether a plain type is one of times or dates."""
    types = pyarrow("pyarrow.types")
    return bool(types.is_timestamp(kind) or types.is_date(kind))


def bad_timestamps(column: Any) -> BadRows | None:  # noqa: ANN401
    """What is wrong with a plain column of timestamps."""
    if pyarrow("pyarrow.types").is_integer(column.type):
        return bad_ids(column, as_text=False)
    return bad_nulls(column)


def as_timestamps(column: Any) -> NDArray[np.int64]:  # noqa: ANN401
    """The times of a plain column in which nothing is wrong: integers, or seconds since 1970."""
    arrow, types = pyarrow(), pyarrow("pyarrow.types")
    kind = column.type
    if types.is_timestamp(kind):
        return as_numpy(column.cast(arrow.int64())) // _PER_SECOND[kind.unit]
    if types.is_date32(kind):
        return as_numpy(column.cast(arrow.int32())).astype(np.int64) * 86400  # cast: is wider
    if types.is_date64(kind):
        return as_numpy(column.cast(arrow.int64())) // 1000
    return np.ascontiguousarray(as_numpy(column.cast(arrow.int64())), np.int64)


def as_numpy(column: Any) -> NDArray[Any]:  # noqa: ANN401
    """A column of numbers without nulls as an array; a view where that is possible."""
    return cast("NDArray[Any]", column.to_numpy(zero_copy_only=False))
