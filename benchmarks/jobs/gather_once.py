"""The process that gathers random rows in one way, checks what it gets, and prints JSON.

Rows are compared with `patterns` between the timed calls, so a wrong row cannot go unnoticed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np

import graphmount as gm

from ..data.patterns import expected_rows
from ..harness.process_counters import disk_read_bytes, process_memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

WAYS = ("auto", "mapped", "pread", "uring", "auto-out", "torch", "torch-out", "numpy")


def gather_by(store: gm.FeatureStore, way: str, batch: int) -> Callable[[Any], NDArray[Any]]:
    """What gets rows out of `store`: ids to rows."""
    if way in ("torch", "torch-out"):
        import torch

        tensor = store.tensor()
        place = torch.empty((batch, tensor.shape[1])) if way == "torch-out" else None
        return lambda ids: torch.index_select(tensor, 0, torch.from_numpy(ids), out=place).numpy()
    if way == "numpy":
        array = store.numpy()
        return lambda ids: array.take(ids, axis=0)
    if way == "auto-out":
        out = np.empty((batch, store.shape[1]), np.float32)
        return lambda ids: store.gather(ids, out)
    reader: Any = way
    return lambda ids: store.gather(ids, reader=reader)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path")
    parser.add_argument("--way", choices=WAYS, required=True)
    parser.add_argument("--advice", default="auto")
    parser.add_argument("--row-bytes", type=int, required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    options = parser.parse_args()
    advice: Any = options.advice
    store = gm.FeatureStore(options.path, advice=advice)
    gather = gather_by(store, options.way, options.batch)
    generator = np.random.default_rng()
    gather(np.zeros(options.batch, np.int64))  # what is set up at first use is not the disk's
    before, read_before = process_memory(), disk_read_bytes()
    spent, rows_read, wrong_rows = 0.0, 0, 0
    deadline = time.perf_counter() + 3 * options.seconds
    while spent < options.seconds and time.perf_counter() < deadline:
        ids = generator.integers(0, len(store), options.batch)
        start = time.perf_counter()
        rows = gather(ids)
        spent += time.perf_counter() - start
        rows_read += len(ids)
        wrong_rows += count_wrong(rows, ids, options.row_bytes // 4)
    json.dump(
        {
            "read_seconds": spent,
            "rows": rows_read,
            "wrong_rows": wrong_rows,
            "anonymous_added": process_memory()["anonymous"] - before["anonymous"],
            "disk_read": disk_read_bytes() - read_before,
        },
        sys.stdout,
    )


def count_wrong(rows: NDArray[Any], ids: NDArray[np.int64], columns: int) -> int:
    """How many rows are not what their ids say; in pieces, for little memory."""
    wrong = 0
    piece = max(1, (1 << 20) // columns)
    for first in range(0, len(ids), piece):
        expected = expected_rows(ids[first : first + piece], columns)
        wrong += int((rows[first : first + piece] != expected).any(axis=1).sum())
    return wrong


if __name__ == "__main__":
    main()
