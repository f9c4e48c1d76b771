"""Arguments as users write them, checked with messages that name them."""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount._support.shown import shown
from graphmount.errors import GraphmountError, IdError

if TYPE_CHECKING:
    from types import UnionType

    from numpy.typing import ArrayLike, NDArray

_LIMIT = 2**63


def as_plain(values: Any, name: str) -> NDArray[Any]:  # noqa: ANN401
    """`numpy.asarray(values)`, but masked arrays are refused. All arrays of users go through this.

    Some values of a masked array are missing, and NumPy would return what lies under the mask.

    Raises:
        ValueError: Values are masked; or lists are not all of the same length.
        TypeError: NumPy cannot make an array of it.
    """
    masked = [values]
    if isinstance(values, list | tuple) and values and isinstance(values[0], np.ndarray):
        masked = list(values)
    for part in masked:
        if isinstance(part, np.ma.MaskedArray) and np.ma.getmaskarray(part).any():
            count = int(np.ma.getmaskarray(part).sum())
            raise ValueError(
                f"{name}: {count} of the values are masked, and what lies under a mask is no value;"
                " pass array.filled(…) with a value to put there, or leave these entries out"
            )
    try:
        return np.asarray(values)
    except OverflowError:  # of a number with a thousand digits beside a float, say
        raise ValueError(f"{name}: a number is too large for any dtype of NumPy") from None
    except ValueError:
        raise ValueError(
            f"{name}: {shown(values)} cannot be an array; lists must all be of the same length"
        ) from None


def as_ids(
    ids: ArrayLike, name: str, *, error: type[GraphmountError] = IdError
) -> NDArray[np.int64]:
    """A contiguous one-dimensional int64 array of `ids`; the core checks their range.

    Floats and bools are refused rather than rounded: they are a mask or a mistake. Integers that
    int64 cannot hold raise `error`.
    """
    array = as_plain(ids, name)
    if array.size == 0 and not isinstance(ids, np.ndarray):
        array = array.astype(np.int64)  # an empty list has no dtype of its own
    if array.dtype.kind not in "iu":
        _refuse_huge_integers(ids, array, name, error)
        advice = "; use numpy.flatnonzero(mask)" if array.dtype.kind == "b" else ""
        what = "text" if array.dtype.kind in "UST" else array.dtype
        raise TypeError(f"{name} must be integers, not {what}{advice}")
    if array.ndim != 1:
        advice = f"; write [{shown(ids)}] for one" if array.ndim == 0 else ""
        raise ValueError(f"{name} must be one-dimensional, not of shape {array.shape}{advice}")
    if array.dtype == np.uint64:
        _refuse_huge_integers(array, array, name, error)
    return np.ascontiguousarray(array, dtype=np.int64)


def _refuse_huge_integers(
    ids: Any,  # noqa: ANN401
    array: NDArray[Any],
    name: str,
    error: type[GraphmountError],
) -> None:
    """Raises if ids are integers beyond int64, which NumPy takes for uint64, objects or floats."""
    if array.dtype == np.uint64:
        if array.size == 0 or array.max() < _LIMIT:
            return
        values = array.tolist()
    elif array.ndim == 1 and (
        array.dtype.kind == "O" or (array.dtype.kind == "f" and isinstance(ids, list | tuple))
    ):
        values = list(ids)
    else:
        return
    for place, value in enumerate(values):
        if not isinstance(value, int | np.integer) or isinstance(value, bool):
            return
        if not -_LIMIT <= value < _LIMIT:
            raise error(
                f"{name}[{place}] is {shown(value)}, which no node or row can have for its number"
            )


def first_text(values: Any) -> str | None:  # noqa: ANN401
    """The first of these, or the only one, if it is text."""
    if isinstance(values, np.ndarray):
        values = values.reshape(-1)[:1].tolist()
    first = values[0] if isinstance(values, list | tuple) and values else values
    return first if isinstance(first, str) else None


def as_id(value: object, name: str) -> int:
    """One id as an int; the core checks its range."""
    number = _as_int(value, name)
    if not -_LIMIT <= number < _LIMIT:
        raise IdError(f"{name} is {shown(number)}, which no node or row can have for its number")
    return number


def as_count(value: object, name: str, *, least: int = 0, most: int = _LIMIT - 1) -> int:
    """A number of things."""
    number = _as_int(value, name)
    if not least <= number <= most:
        # Nobody asks for 2^63 of anything: as a limit it is only noise beside a number too small.
        limit = f" and at most {most}" if most < _LIMIT - 1 or number > most else ""
        raise ValueError(f"{name} must be at least {least}{limit}, not {shown(number)}")
    return number


def as_counts(values: object, name: str, *, least: int = 0) -> list[int]:
    """Several numbers of things, such as one for each hop."""
    parts = as_list(values, name, "integers")
    return [as_count(part, f"{name}[{i}]", least=least) for i, part in enumerate(parts)]


def require_list_of_text(values: object, name: str) -> None:
    """Raises if one text alone was given where several are expected."""
    if isinstance(values, str | bytes):
        raise TypeError(f"{name} must be a list, not one text; write [{shown(values)}] for one")


def as_list(values: Any, name: str, what: str) -> list[Any]:  # noqa: ANN401
    """Several things that come in an order."""
    # Text, sets and dicts can be iterated as well, but are surely a mistake here.
    if not isinstance(values, str | bytes | Mapping | AbstractSet):
        try:
            return list(values)
        except TypeError:
            pass
    raise TypeError(f"{name} must be a list of {what}, not {shown(values)}")


def _as_int(value: object, name: str) -> int:
    # Bools are integers to Python, but not to users.
    if not isinstance(value, bool | np.bool_) and hasattr(value, "__index__"):
        try:
            return operator.index(value)
        except TypeError:  # a class; or an array of more than one number, or of others
            pass
    raise TypeError(f"{name} must be one integer, not {shown(value)}")


def as_number(value: object) -> float | None:
    """A number that NumPy can hold, Python's or NumPy's; None for anything else."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        return None
    if not isinstance(value, numbers.Integral):
        try:
            number = float(value)
        except OverflowError:  # of a fraction
            return None
        # A longdouble may be finite where a float is not.
        return None if math.isinf(number) and value != number else number
    number = int(value)
    return number if -_LIMIT <= number < _LIMIT else None


def is_text(name: str) -> bool:
    """Whether a str can be written as UTF-8: it has no lone surrogates."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def require_type(name: str, value: object, kind: type | UnionType, what: str) -> None:
    """Raises unless `value` is of a type; `what` says which, as in "a mounted Graph"."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be {what}, not {shown(value)}")


def require_function(name: str, value: object) -> None:
    """Raises unless `value` can be called."""
    if not callable(value):
        raise TypeError(f"{name} must be a function, not {shown(value)}")


def require_text(name: str, value: object) -> None:
    """Raises unless `value` is None, or text that the core can take."""
    if value is not None and (not isinstance(value, str) or not is_text(value)):
        raise TypeError(f"{name}={shown(value)}; pass a str")


def require_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    """Raises unless `value` is one of `choices`, type and all: 1 is not True here."""
    if not any(type(value) is type(choice) and value == choice for choice in choices):
        raise ValueError(f"{name}={shown(value)}; choose one of {', '.join(map(repr, choices))}")


def as_native(array: NDArray[Any]) -> NDArray[Any]:
    """The same array with NumPy's own int64.

    NumPy has two 64-bit integer types on Linux. Arrays of C++'s int64 get the other one, which
    prints as `dtype=int64` but has another type number than `numpy.int64`.
    """
    return array.view(np.int64) if array.dtype == np.int64 else array
