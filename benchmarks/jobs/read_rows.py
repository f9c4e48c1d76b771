"""The process that reads a matrix with little memory, checks what it gets, and prints JSON.

Reads random rows, or all rows in order, until all are read or the time is up. Rows are compared
with `patterns` between the timed reads, so a wrong row cannot go unnoticed.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import graphmount as gm

from ..data.patterns import COLUMNS, expected_rows, expected_sum
from ..harness.process_counters import disk_read_bytes, process_memory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

#: How to get a matrix out of a file.
READERS = ("graphmount.numpy", "graphmount.tensor", "numpy.load", "torch.from_numpy")


def open_matrix(reader: str, path: str, advice: Any) -> Any:  # noqa: ANN401
    """The matrix as an array or tensor over the pages of the file."""
    if reader == "graphmount.numpy":
        return gm.FeatureStore(path, advice=advice).numpy()
    if reader == "graphmount.tensor":
        return gm.FeatureStore(path, advice=advice).tensor()
    if reader == "numpy.load":
        return np.load(path, mmap_mode="r")
    import torch

    return torch.from_numpy(np.load(path, mmap_mode="c"))


#: Reads some rows now, and returns how many, and a check that counts the wrong ones among them.
Read = Callable[[], tuple[int, Callable[[], int]]]


def random_reads(
    matrix: Any,  # noqa: ANN401
    count: int,
    batch: int,
    seed: int,
) -> Iterator[Read]:
    """`count` rows anywhere, `batch` at a time."""
    generator = np.random.default_rng(seed)
    for first in range(0, count, batch):
        ids = generator.integers(0, matrix.shape[0], min(batch, count - first))
        yield partial(_read_rows, matrix, ids)


def sequential_reads(matrix: Any, count: int, batch: int) -> Iterator[Read]:  # noqa: ANN401
    """The sum of the first `count` rows, `batch` at a time."""
    count = min(count, matrix.shape[0])
    for begin in range(0, count, batch):
        yield partial(_sum_rows, matrix, begin, min(begin + batch, count))


def _read_rows(
    matrix: Any,  # noqa: ANN401
    ids: NDArray[np.int64],
) -> tuple[int, Callable[[], int]]:
    if isinstance(matrix, np.ndarray):
        rows = matrix[ids]
    else:
        import torch

        rows = matrix[torch.from_numpy(ids)].numpy()
    return len(ids), lambda: int((rows != expected_rows(ids)).any(axis=1).sum())


def _sum_rows(matrix: Any, begin: int, end: int) -> tuple[int, Callable[[], int]]:  # noqa: ANN401
    total = matrix[begin:end].sum(0, dtype=np.float64)

    def count_wrong() -> int:
        return 0 if np.array_equal(total, expected_sum(begin, end)) else end - begin

    return end - begin, count_wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path")
    parser.add_argument("--reader", choices=READERS, required=True)
    parser.add_argument("--advice", default="normal")
    parser.add_argument("--sequential", action="store_true")
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--batch", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.reader in ("graphmount.tensor", "torch.from_numpy"):
        import torch

        torch.arange(2)[torch.tensor([1])]  # what torch sets up at first use is not the file's
    before, read_before = process_memory(), disk_read_bytes()
    faults_before = resource.getrusage(resource.RUSAGE_SELF).ru_majflt
    start = time.perf_counter()
    matrix = open_matrix(options.reader, options.path, options.advice)
    open_seconds = time.perf_counter() - start
    assert matrix.shape[1] == COLUMNS
    reads = (
        sequential_reads(matrix, options.rows, options.batch)
        if options.sequential
        else random_reads(matrix, options.rows, options.batch, options.seed)
    )
    spent, rows_read, wrong_rows = 0.0, 0, 0
    deadline = time.perf_counter() + 3 * options.seconds
    for read in reads:
        start = time.perf_counter()
        count, count_wrong = read()
        spent += time.perf_counter() - start
        rows_read += count
        wrong_rows += count_wrong()
        # Of a file that fits, reading is so fast that checking would take all the time.
        if spent > options.seconds or time.perf_counter() > deadline:
            break
    after = process_memory()
    json.dump(
        {
            "open_seconds": open_seconds,
            "read_seconds": spent,
            "rows": rows_read,
            "wrong_rows": wrong_rows,
            "anonymous_before": before["anonymous"],
            "anonymous_added": after["anonymous"] - before["anonymous"],
            "resident_added": after["resident"] - before["resident"],
            "disk_read": disk_read_bytes() - read_before,
            "major_faults": resource.getrusage(resource.RUSAGE_SELF).ru_majflt - faults_before,
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()
