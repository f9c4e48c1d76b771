"""Arrays on their way to the core and back: ids as users write them, results as NumPy has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def as_ids(ids: ArrayLike, name: str) -> NDArray[np.int64]:
    """A contiguous one-dimensional int64 array of `ids`; the core checks their range.

    Floats and bools are refused rather than rounded: they are a mask or a mistake.
    """
    array = np.asarray(ids)
    if array.size == 0 and not isinstance(ids, np.ndarray):
        array = array.astype(np.int64)  # an empty list has no dtype of its own
    if array.dtype.kind not in "iu":
        advice = "; use numpy.flatnonzero(mask)" if array.dtype.kind == "b" else ""
        raise TypeError(f"{name} must be integers, not {array.dtype}{advice}")
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, not of shape {array.shape}")
    if array.dtype == np.uint64 and array.size and array.max() > np.iinfo(np.int64).max:
        place = int(np.argmax(array > np.iinfo(np.int64).max))
        raise ValueError(f"{name}[{place}] is {array[place]}, which is not below 2**63")
    return np.ascontiguousarray(array, dtype=np.int64)


def as_native(array: NDArray[Any]) -> NDArray[Any]:
    """The same array with NumPy's own int64.

    NumPy has two 64-bit integer types on Linux, and takes what C++ calls int64 for the one that
    prints as `dtype=int64` everywhere and differs from `numpy.int64` in its type number.
    """
    return array.view(np.int64) if array.dtype == np.int64 else array
