"""Where gathered rows go: the dtype that is wanted, and an array for it, new or the caller's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount._support.conversion import dtype_name

if TYPE_CHECKING:
    from numpy.typing import NDArray


def gather_dtype(stored: str, dtype: object, out: NDArray[Any] | None) -> str:
    """The name of the dtype to gather: what is asked for, that of `out`, or that of the file.

    Raises:
        TypeError: `out` is no array.
        ValueError: There is no such dtype.
    """
    if out is not None and not isinstance(out, np.ndarray):
        raise TypeError(f"out must be a NumPy array, not {type(out).__name__}")
    if dtype is not None:
        return dtype_name(dtype)
    if out is None or (stored == "bfloat16" and out.dtype == np.uint16):
        return stored
    return dtype_name(out.dtype)


def gather_output(
    out: NDArray[Any] | None, shape: tuple[int, ...], name: str, ids: NDArray[np.int64]
) -> NDArray[Any]:
    """`out` if it will do, or a new array.

    Args:
        out: The caller's array.
        shape: What it must have.
        name: The dtype it must have; bfloat16 is uint16 to NumPy.
        ids: It must not share memory with these.

    Raises:
        ValueError: It does not fit.
    """
    dtype = np.dtype(np.uint16 if name == "bfloat16" else name)
    if out is None:
        return np.empty(shape, dtype)
    if out.shape != shape:
        raise ValueError(f"out has the shape {out.shape}; these rows need {shape}")
    if out.dtype != dtype and not (name == "bfloat16" and out.dtype.name == name):
        raise ValueError(f"out is of {out.dtype}; these rows need {dtype}")
    if not (out.flags.c_contiguous and out.flags.aligned and out.flags.writeable):
        raise ValueError("out must be C-contiguous, aligned and writeable; numpy.empty makes such")
    if np.may_share_memory(out, ids):
        raise ValueError("out shares memory with ids, which would change while they are read")
    return out
