"""Data whose every value is known, and that takes little memory to make at any size.

Row i of the matrix is f(i), f(i + 1), … f(i + columns - 1) for a scrambling f, so it is a view of
one vector, no two rows are equal, and any row can be checked from its number alone.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

import graphmount as gm

from ..harness.scratch import require_memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: 128 columns of float32 make rows of 512 bytes.
COLUMNS = 128
ROW_BYTES = 4 * COLUMNS

_PIECE_ROWS = 1 << 16
# What the source and the compiler hold for one edge, at most (as measured, and some more).
_COMPILE_BYTES_PER_EDGE = 120
_BUDGET = "1TiB"  # `edges` has seen to it that there is enough


def _scramble(numbers: NDArray[np.int64]) -> NDArray[np.float32]:
    # Integers below 2**24, which float32 holds exactly.
    return ((numbers * 0x9E3779B1 >> 7) & 0xFFFFFF).astype(np.float32)


def expected_rows(ids: NDArray[np.int64], columns: int = COLUMNS) -> NDArray[np.float32]:
    """What the rows `ids` of every matrix made here are."""
    return _scramble(ids[:, None] + np.arange(columns))


def expected_sum(begin: int, end: int) -> NDArray[np.float64]:
    """What the rows from `begin` to `end` add up to, exactly, without making them."""
    sums = np.cumsum(_scramble(np.arange(begin, end + COLUMNS - 1)), dtype=np.float64)
    sums = np.concatenate([[0.0], sums])
    return np.asarray(sums[end - begin :] - sums[:COLUMNS])


def matrix(size: int, columns: int = COLUMNS) -> NDArray[np.float32]:
    """A read-only matrix of `size` bytes that occupies a 128th of them, by the default."""
    rows = max(1, size // (4 * columns))
    vector = _scramble(np.arange(rows + columns - 1))
    return np.lib.stride_tricks.sliding_window_view(vector, columns)


def write_npy(rows: NDArray[Any], path: str) -> None:
    """`numpy.save`, piece by piece: that would gather a matrix like ours element by element."""
    with open(path, "wb") as file:
        header = {"descr": rows.dtype.str, "fortran_order": False, "shape": rows.shape}
        np.lib.format.write_array_header_1_0(file, header)
        for first in range(0, len(rows), _PIECE_ROWS):
            np.ascontiguousarray(rows[first : first + _PIECE_ROWS]).tofile(file)
        file.flush()
        os.fsync(file.fileno())


def edges(count: int, degree: int = 16) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Random edges between count / degree nodes, every node as likely as any other."""
    require_memory(count * _COMPILE_BYTES_PER_EDGE, f"compiling {count:,} edges")
    generator = np.random.default_rng(1)
    num_nodes = max(2, count // degree)
    return generator.integers(0, num_nodes, count), generator.integers(0, num_nodes, count)


def compile_plain_graph(size: int, path: str) -> gm.CompiledGraph:
    """A `.gl` of about `size` bytes with the lists of both directions: 13 bytes an edge."""
    count = max(64, size // 13)
    return gm.compile_graph(edges(count), path, memory=_BUDGET)


def compile_rich_graph(size: int, path: str) -> gm.CompiledGraph:
    """A `.gl` of about `size` bytes with every kind of section: 65 bytes an edge."""
    count = max(64, size // 65)
    return gm.compile_graph(
        edges(count),
        path,
        weights=np.ones(count, np.float32),
        timestamps=np.arange(count),
        source_rows=True,
        index_dtype="int64",
        memory=_BUDGET,
    )
