"""Writing `.gd` files: rows from memory, or from anything that can be sliced like an array."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount import _core
from graphmount._arguments import as_count
from graphmount._conversion import convert, dtype_name
from graphmount._progress import ProgressOption, reporting
from graphmount._sizes import parse_bytes
from graphmount.errors import OrderError
from graphmount.features import FeatureStore
from graphmount.graph import Graph

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray

__all__ = ["CompiledFeatures", "compile_features"]

_LARGEST_PIECE_BYTES = 32 << 20


@dataclass(frozen=True, kw_only=True)
class CompiledFeatures:
    """What `compile_features` wrote.

    Attributes:
        path: The file.
        shape: Rows and columns, or rows alone.
        dtype: The name of the element type.
        file_bytes: Its size.
        seconds: How long it took.

    Examples:
        >>> import graphmount as gm
        >>> gm.compile_features([[1.0, 2.0]], "x.gd", dtype="float16").dtype
        'float16'
    """

    path: str
    shape: tuple[int, ...]
    dtype: str
    file_bytes: int
    seconds: float


def compile_features(
    source: ArrayLike | FeatureStore,
    out: str | os.PathLike[str],
    *,
    dtype: DTypeLike | str | None = None,
    num_nodes: int | None = None,
    order: Graph | str | os.PathLike[str] | None = None,
    memory: int | str = "2GiB",
    progress: ProgressOption = None,
) -> CompiledFeatures:
    """Writes a matrix of features, or a vector of labels, to a `.gd` file.

    The file appears complete or not at all, and replaces one that is there; who has mounted the old
    one keeps it.

    Args:
        source: A NumPy array (also a memory-mapped one, which is read piece by piece), a torch
            tensor, a `FeatureStore`, or nested lists, of one or two dimensions.
        out: The file to write.
        dtype: How to store the values: "float32", "float64", "float16", "bfloat16", "int8",
            "int16", "int32", "int64", "uint8" or "bool"; as they are if None. A value that does not
            fit is an error, not an infinity.
        num_nodes: Checked against the number of rows.
        order: The graph (or its path) whose nodes the rows belong to, row i to node i. The file
            gets the graph's fingerprint, and the number of rows is checked.
        memory: How much memory to use besides the source.
        progress: A callback of (bytes done, bytes in all); True or False for a bar or none.

    Returns:
        A `CompiledFeatures`.

    Raises:
        SourceError: A value cannot be stored in this dtype; the message says which.
        OrderError: The rows are not as many as the nodes of `order`.
        ValueError, TypeError: The source is not a numeric matrix, or an option is wrong.
        OSError: The file cannot be written.

    Examples:
        >>> import numpy as np
        >>> import graphmount as gm
        >>> x = np.arange(6, dtype=np.float32).reshape(3, 2)
        >>> gm.compile_features(x, "x.gd", dtype="float16").shape
        (3, 2)
    """
    start = time.monotonic()
    array, source_dtype = _as_matrix(source)
    target = dtype_name(source_dtype if dtype is None else dtype)
    if num_nodes is not None and as_count(num_nodes, "num_nodes") != len(array):
        raise ValueError(f"the source has {len(array)} rows, but num_nodes={num_nodes}")
    path = os.path.realpath(os.fspath(out))
    writer = _core.FeatureWriter(
        os.fsencode(path),
        dtype=target,
        rows=len(array),
        columns=1 if array.ndim == 1 else array.shape[1],
        one_dimensional=array.ndim == 1,
        order=_order_of(order, len(array)),
    )
    row_bytes = max(array.itemsize, np.dtype(_numpy_name(target)).itemsize) * (
        1 if array.ndim == 1 else array.shape[1]
    )
    # A piece, its conversion and the checks on it are in memory at once.
    piece_bytes = min(_LARGEST_PIECE_BYTES, parse_bytes(memory, "memory") // 8)
    step = max(1, piece_bytes // max(row_bytes, 1))
    with reporting(progress, f"writing {os.path.basename(path)}", in_bytes=True) as report:
        for first in range(0, len(array), step):
            rows = array[first : first + step]
            rows = rows.astype(rows.dtype.newbyteorder("="), copy=False)
            rows = np.ascontiguousarray(convert(rows, source_dtype, target, first))
            writer.append(rows.reshape(-1).view(np.uint8))
            if report:
                report(min(first + step, len(array)) * row_bytes, len(array) * row_bytes)
        writer.finish()
    return CompiledFeatures(
        path=path,
        shape=array.shape,
        dtype=target,
        file_bytes=os.stat(path).st_size,
        seconds=time.monotonic() - start,
    )


def _numpy_name(name: str) -> str:
    return "uint16" if name == "bfloat16" else name


def _as_matrix(source: object) -> tuple[NDArray[Any], str]:
    """The source as an array of one or two dimensions, and the name of its dtype."""
    if isinstance(source, str | os.PathLike):
        raise TypeError(
            f"compile_features takes an array, and {os.fspath(source)!r} is a path; pass "
            "numpy.load(path, mmap_mode='r') for a .npy file"
        )
    torch = sys.modules.get("torch")
    if isinstance(source, FeatureStore):
        array, name = source.numpy(), str(source.dtype)
    elif torch is not None and isinstance(source, torch.Tensor):
        from graphmount.torch import to_numpy  # only where torch is loaded anyway

        array, name = to_numpy(source)
    else:
        array = np.asarray(source)
        name = array.dtype.name
        if name == "bfloat16":  # of ml_dtypes
            array = array.view(np.uint16)
    if array.ndim not in (1, 2):
        raise ValueError(
            f"features must have one or two dimensions, not shape {array.shape}; reshape them to "
            "(rows, columns)"
        )
    if array.dtype.kind not in "fiub":
        raise TypeError(f"features must be numbers, not {array.dtype}")
    return array, name


def _order_of(order: Graph | str | os.PathLike[str] | None, num_rows: int) -> int:
    if order is None:
        return 0
    graph = order if isinstance(order, Graph) else Graph(order)
    if graph.num_nodes != num_rows:
        raise OrderError(
            f"the source has {num_rows} rows, but {graph.path} has {graph.num_nodes} nodes"
        )
    return graph.order
