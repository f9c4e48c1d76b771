"""Gathers random rows of a mapped `.npy` file for some time, as NumPy or GraphBolt do.

At last, through the same call, the rows that the benchmark wants to see: it knows what they are.
Prints JSON.
"""

from __future__ import annotations

import argparse
import json
import mmap
import os
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from turn_loop import disk_read_bytes, own_memory

if TYPE_CHECKING:
    from collections.abc import Callable

WAYS = ("take", "index", "index-random", "graphbolt")


def gather_by(way: str, path: str) -> Callable[[Any], Any]:
    """Ids to rows."""
    if way == "graphbolt":
        os.environ["DGLBACKEND"] = "pytorch"
        import dgl.graphbolt as gb
        import torch

        # As TorchBasedFeatureStore opens what its metadata says is not in memory.
        feature = gb.TorchBasedFeature(torch.as_tensor(np.load(path, mmap_mode="r+")))
        return lambda ids: feature.read(torch.from_numpy(ids)).numpy()
    array = np.load(path, mmap_mode="r")
    if way == "index-random":
        array._mmap.madvise(mmap.MADV_RANDOM)  # noqa: SLF001  (NumPy has no other way to say it)
    if way == "take":
        return lambda ids: array.take(ids, axis=0)
    return lambda ids: array[ids]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path")
    parser.add_argument("--way", choices=WAYS, required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--check", nargs=2, metavar=("IDS", "OUT"), required=True)
    options = parser.parse_args()
    gather = gather_by(options.way, options.path)
    num_rows = len(np.load(options.path, mmap_mode="r"))
    generator = np.random.default_rng()
    gather(np.zeros(options.batch, np.int64))  # what is set up at first use is not the disk's
    before, read_before = own_memory(), disk_read_bytes()
    spent, rows = 0.0, 0
    while spent < options.seconds:
        ids = generator.integers(0, num_rows, options.batch)
        start = time.perf_counter()
        gather(ids)
        spent += time.perf_counter() - start
        rows += len(ids)
    result = {
        "read_seconds": spent,
        "rows": rows,
        "anonymous_added": own_memory()["anonymous"] - before["anonymous"],
        "disk_read": disk_read_bytes() - read_before,
    }
    ids, out = options.check
    np.save(out, gather(np.load(ids)))
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
