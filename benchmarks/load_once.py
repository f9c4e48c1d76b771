"""The process that takes batches with little memory for some time, and prints JSON.

Features are a function of the node of the source, so every row of every batch can be checked; that
is done for some of them, between timed batches.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np

import graphmount as gm
from benchmarks.open_once import disk_read_bytes, process_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

FANOUTS = (15, 10, 5)
BATCH_SIZE = 1024
COLUMNS = 128
WAYS = ("loader", "mapped tensor", "mapped array")


def features_of(nodes: NDArray[np.int64]) -> NDArray[np.float32]:
    """What the source says of its nodes."""
    start = (nodes % 65_521).astype(np.float32)[:, None]
    return start + np.arange(COLUMNS).astype(np.float32) * np.float32(1 / 256)


def loader_batches(ds: gm.Dataset, options: argparse.Namespace) -> Iterator[tuple[Any, Any]]:
    loader = gm.NeighborLoader(
        ds,
        FANOUTS,
        input_nodes="train",
        batch_size=BATCH_SIZE,
        shuffle=True,
        memory=options.memory,
        window=options.window,
        prefetch=options.prefetch,
        reader=options.reader,
        seed=options.seed,
    )
    STATE["loader"] = loader
    while True:
        for batch in loader:
            yield batch.nodes, batch.features["x"]


def mapped_batches(ds: gm.Dataset, options: argparse.Namespace) -> Iterator[tuple[Any, Any]]:
    """The loop that one writes by hand: sample, then index the mapped matrix."""
    train = np.random.default_rng(options.seed).permutation(ds.splits["train"])
    store = gm.FeatureStore(ds.features["x"].path, advice="random")
    rows: Callable[[Any], Any]
    if options.way == "mapped tensor":
        import torch

        matrix = store.tensor()
        rows = lambda nodes: matrix[torch.from_numpy(nodes)].numpy()  # noqa: E731
    else:
        rows = store.numpy().__getitem__
    number = 0
    while True:
        for first in range(0, len(train), BATCH_SIZE):
            seeds = train[first : first + BATCH_SIZE]
            sample = ds.graph.sample_neighbors(seeds, FANOUTS, seed=(options.seed, number))
            number += 1
            yield sample.nodes, rows(sample.nodes)


STATE: dict[str, Any] = {}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--way", choices=WAYS, default="loader")
    parser.add_argument("--memory", type=int, default=0)
    parser.add_argument("--window", type=int, default=16)
    parser.add_argument("--prefetch", type=int, default=2)
    parser.add_argument("--reader", default="auto")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--warm-up", type=int, default=5, help="batches that are not timed")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    ds = gm.Dataset(options.folder)
    ds.graph.advise("populate")
    make = loader_batches if options.way == "loader" else mapped_batches
    start = time.perf_counter()
    batches = make(ds, options)
    spent = rows = taken = wrong = 0.0
    generator = np.random.default_rng(1)
    read_before = disk_read_bytes()
    while spent < options.seconds or taken == 0:
        begin = time.perf_counter()
        nodes, features = next(batches)
        elapsed = time.perf_counter() - begin
        if options.warm_up > 0:
            options.warm_up -= 1
            read_before = disk_read_bytes()
            start_up = time.perf_counter() - start
        else:
            spent += elapsed
            taken += 1
            rows += len(nodes)
        if generator.random() < 0.05 or taken == 1:
            some = generator.integers(0, len(nodes), 2000)
            expected = features_of(np.asarray(ds.to_external(nodes[some])))
            wrong += int((features[some] != expected).any(axis=1).sum())
            del expected
    result: dict[str, object] = {
        "batches_per_second": taken / spent,
        "rows_per_batch": rows / taken,
        "read_per_batch": (disk_read_bytes() - read_before) / taken,
        "wrong_rows": wrong,
        "start_up_seconds": start_up,
        "anonymous": process_memory()["anonymous"],
    }
    if "loader" in STATE:
        stats = STATE["loader"].stats()
        table = stats.tables["x"]
        result |= {
            "cache_bytes": table.cache_bytes,
            "read_rows": table.read_rows / max(1, stats.batches),
            "hot_share": table.hot_rows / max(1, table.rows),
            "window_share": table.window_rows / max(1, table.rows),
            "bottleneck": stats.bottleneck,
            "summary": str(stats),
        }
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
