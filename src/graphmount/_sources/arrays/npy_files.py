"""NumPy's `.npy` files, and binary files without a header, as streams.

The header is read by itself: no part of a file is ever unpickled. Some datasets (IGB's larger ones)
have files that are called `.npy` and are none; these are read when their shape and dtype are given.
"""

from __future__ import annotations

import ast
import math
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from graphmount._sources.arrays.array_stream import file_stream
from graphmount._sources.arrays.stored_bytes import file_size
from graphmount._sources.contract.claims import array_bytes, require_rows
from graphmount._support.arguments import as_count
from graphmount._support.files.regular_files import open_regular
from graphmount._support.shown import shown
from graphmount._support.sizes import format_bytes
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from graphmount._sources.arrays.array_stream import ArrayStream

NPY_MAGIC = b"\x93NUMPY"

#: Headers list shape and dtype; what is longer is no header.
_LONGEST_HEADER = 1 << 16


def open_npy(
    path: str, *, shape: tuple[int, ...] | None = None, dtype: DTypeLike | None = None
) -> ArrayStream:
    """The array of a `.npy` file, or of a binary file if `shape` and `dtype` are given.

    Args:
        path: The file.
        shape: Its shape, if it has no header; one of the sizes may be -1. A header must agree.
        dtype: Its dtype, if it has no header. A header must agree.

    Raises:
        SourceError: The file is not what it should be; the message says what it is.
        ValueError, TypeError: `shape` or `dtype` cannot be that of an array.
    """
    kind = None if dtype is None else as_dtype(dtype)
    if shape is not None:
        if not isinstance(shape, tuple | list) or not shape:
            raise TypeError(f"shape={shown(shape)}; pass a tuple of sizes, such as (1000, 128)")
        shape = tuple(as_count(length, "shape", least=-1) for length in shape)
    with open_regular(path) as file:
        if file.read(len(NPY_MAGIC)) == NPY_MAGIC:
            file.seek(0)
            found_shape, found_dtype, is_fortran = read_npy_header(file, path)
            offset = file.tell()
        else:
            return _open_raw(path, shape, kind)
    if shape is not None and not _agrees(found_shape, shape):
        raise SourceError(f"{path}: its header says shape {found_shape}, not shape={shape}")
    if kind is not None and kind != found_dtype:
        raise SourceError(f"{path}: its header says {found_dtype}, not dtype={kind}")
    require_bytes(path, found_shape, found_dtype, there=file_size(path) - offset)
    return file_stream(path, offset, found_shape, found_dtype, is_fortran=is_fortran)


def require_bytes(name: str, shape: tuple[int, ...], dtype: np.dtype[Any], *, there: int) -> None:
    """Raises unless there are as many bytes as an array takes by its header."""
    needed = array_bytes(name, shape, dtype.itemsize)
    if there < needed:
        raise SourceError(
            f"{name} is cut off: an array of shape {shape} and dtype {dtype} takes {needed} "
            f"bytes, and {there} are there"
        )


def as_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    """A dtype as users give it.

    Raises:
        ValueError: NumPy knows no such dtype.
    """
    with suppress(TypeError, ValueError, SyntaxError):
        return np.dtype(dtype)
    raise ValueError(f"dtype={shown(dtype)} is no dtype of NumPy; pass one such as 'float32'")


def _open_raw(path: str, shape: tuple[int, ...] | None, kind: np.dtype[Any] | None) -> ArrayStream:
    size = file_size(path)
    if shape is None or kind is None:
        missing = (
            "shape= and dtype=" if shape is None and kind is None else "both shape= and dtype="
        )
        raise SourceError(
            f"{path} does not begin like a .npy file; it may be a binary file of "
            f"{format_bytes(size)} without a header, as IGB's larger ones are: pass {missing} of "
            "its array"
        )
    require_numbers(path, kind)
    if shape.count(-1) > 1:
        raise ValueError(f"shape={shape}: sizes are at least 0, and one may be -1")
    known = math.prod(length for length in shape if length != -1) * kind.itemsize
    if -1 in shape and known and size % known == 0:
        shape = tuple(size // known if length == -1 else length for length in shape)
    elif known != size or -1 in shape:
        raise SourceError(
            f"{path} has {size} bytes, but an array of shape {shape} and dtype {kind} takes "
            + (f"{known}" if -1 not in shape else f"a multiple of {known}")
        )
    _require_dimensions(path, shape)
    require_rows(path, shape)
    return file_stream(path, 0, tuple(shape), kind)


def _agrees(found: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    return len(found) == len(wanted) and all(
        want in (-1, length) for length, want in zip(found, wanted, strict=True)
    )


def read_npy_header(file: IO[bytes], name: str) -> tuple[tuple[int, ...], np.dtype[Any], bool]:
    """Reads the header of an array of numbers: shape, dtype, and whether it is in Fortran order.

    Afterwards the file stands at the first byte of the array.

    Raises:
        SourceError: It is damaged, or not of such an array.
    """
    shape, dtype, is_fortran = read_any_header(file, name)
    require_numbers(name, dtype)
    _require_dimensions(name, shape)
    require_rows(name, shape)
    return shape, dtype, is_fortran


def read_any_header(file: IO[bytes], name: str) -> tuple[tuple[int, ...], np.dtype[Any], bool]:
    """Reads a header of any version, of an array of anything."""
    start = file.read(8)
    version = start[6:8]
    if len(start) < 8 or version not in (b"\x01\x00", b"\x02\x00", b"\x03\x00"):
        raise SourceError(f"{name}: not a .npy header of version 1, 2 or 3")
    length = int.from_bytes(file.read(2 if version[0] == 1 else 4), "little")
    if length > _LONGEST_HEADER:
        raise SourceError(f"{name}: its header claims to be {length} bytes long")
    try:
        header = ast.literal_eval(
            file.read(length).decode("utf-8" if version[0] == 3 else "latin-1").strip()
        )
        shape, is_fortran = header["shape"], header["fortran_order"]
        dtype: np.dtype[Any] = np.lib.format.descr_to_dtype(header["descr"])
        is_shape = isinstance(shape, tuple) and all(type(size) is int for size in shape)
    except Exception as error:  # Python's parser and NumPy have many
        raise SourceError(f"{name}: its header is damaged; save the array again") from error
    if not is_shape or min(shape, default=0) < 0 or not isinstance(is_fortran, bool):
        raise SourceError(f"{name}: its header is damaged; save the array again")
    array_bytes(name, shape, dtype.itemsize)
    return shape, dtype, is_fortran


def require_numbers(name: str, dtype: np.dtype[Any]) -> None:
    """Raises unless the dtype is a number, a bool or a time."""
    if dtype.hasobject:
        raise SourceError(
            f"{name} holds pickled Python objects, which are never loaded; save it as an array of "
            "numbers"
        )
    if dtype.kind not in "fiubM" or dtype.subdtype is not None:
        raise SourceError(f"{name} holds {dtype}, not numbers")


def _require_dimensions(name: str, shape: tuple[int, ...]) -> None:
    if len(shape) not in (1, 2):
        raise SourceError(
            f"{name} has shape {shape}; edges and rows are arrays of one or two dimensions"
        )
