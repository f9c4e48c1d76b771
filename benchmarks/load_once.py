"""The process that takes batches with little memory for some time, and prints JSON.

Features are a function of the node of the source, so every row of every batch can be checked; that
is done for some of them, between timed batches. With `--train` a model trains on each batch, and
its time counts.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass
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
_CHECKED_SHARE = 0.05
_CHECKED_ROWS = 2000


def features_of(nodes: NDArray[np.int64]) -> NDArray[np.float32]:
    """What the source says of its nodes."""
    start = (nodes % 65_521).astype(np.float32)[:, None]
    return start + np.arange(COLUMNS).astype(np.float32) * np.float32(1 / 256)


def make_loader(ds: gm.Dataset, options: argparse.Namespace) -> gm.NeighborLoader:
    return gm.NeighborLoader(
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


def loader_batches(loader: gm.NeighborLoader) -> Iterator[tuple[Any, Any]]:
    while True:
        for batch in loader:
            yield batch, batch.features["x"]


def row_reader(store: gm.FeatureStore, way: str) -> Callable[[Any], Any]:
    if way == "mapped array":
        return store.numpy().__getitem__
    import torch

    matrix = store.tensor()
    return lambda nodes: matrix[torch.from_numpy(nodes)].numpy()


def mapped_batches(ds: gm.Dataset, options: argparse.Namespace) -> Iterator[tuple[Any, Any]]:
    """The loop that one writes by hand: sample, then index the mapped matrix."""
    train = np.random.default_rng(options.seed).permutation(ds.splits["train"])
    rows = row_reader(gm.FeatureStore(ds.features["x"].path, advice="random"), options.way)
    number = 0
    while True:
        for first in range(0, len(train), BATCH_SIZE):
            seeds = train[first : first + BATCH_SIZE]
            sample = ds.graph.sample_neighbors(seeds, FANOUTS, seed=(options.seed, number))
            number += 1
            yield sample, rows(sample.nodes)


@dataclass
class Taken:
    """What was taken, and how long that took."""

    batches: int = 0
    rows: int = 0
    edges: int = 0
    wrong_rows: int = 0
    seconds: float = 0.0
    start_up_seconds: float = 0.0
    read_before: int = 0
    processor_before: float = 0.0


def take(ds: gm.Dataset, batches: Iterator[tuple[Any, Any]], options: argparse.Namespace) -> Taken:
    """Takes batches for some seconds, after some that do not count."""
    train = None
    if options.train:
        from benchmarks.sage_training import make_step

        train = make_step(COLUMNS)
    taken = Taken()
    generator = np.random.default_rng(1)
    start = time.perf_counter()
    for number, (batch, rows) in enumerate(batches):
        if train is not None:
            train(batch, rows)
        now = time.perf_counter()
        if number < options.warm_up:
            taken.start_up_seconds += now - start
            taken.read_before = disk_read_bytes()
            taken.processor_before = time.process_time()
        else:
            taken.seconds += now - start
            taken.batches += 1
            taken.rows += len(batch.nodes)
            taken.edges += len(batch.row)
        if generator.random() < _CHECKED_SHARE or number == 0:
            some = generator.integers(0, len(batch.nodes), _CHECKED_ROWS)
            expected = features_of(np.asarray(ds.to_external(batch.nodes[some])))
            taken.wrong_rows += int((rows[some] != expected).any(axis=1).sum())
        if taken.batches and taken.seconds >= options.seconds:
            break
        start = time.perf_counter()
    return taken


def loader_result(loader: gm.NeighborLoader) -> dict[str, object]:
    stats = loader.stats()
    table = stats.tables["x"]
    return {
        "cache_bytes": table.cache_bytes,
        "read_share": table.read_rows / max(1, table.rows),
        "hot_share": table.hot_rows / max(1, table.rows),
        "window_share": table.window_rows / max(1, table.rows),
        "bottleneck": stats.bottleneck,
        "summary": str(stats),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--way", choices=WAYS, default="loader")
    parser.add_argument("--memory", type=int, default=0)
    parser.add_argument("--window", type=int, default=16)
    parser.add_argument("--prefetch", type=int, default=2)
    parser.add_argument("--reader", default="auto")
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--warm-up", type=int, default=5, help="batches that are not timed")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    ds = gm.Dataset(options.folder)
    ds.graph.advise("populate")
    before = process_memory()["anonymous"]
    if options.way == "loader":
        loader = make_loader(ds, options)
        taken = take(ds, loader_batches(loader), options)
        result = loader_result(loader)
    else:
        taken = take(ds, mapped_batches(ds, options), options)
        result = {}
    result |= {
        "batches_per_second": taken.batches / taken.seconds,
        "rows_per_batch": taken.rows / taken.batches,
        "edges_per_batch": taken.edges / taken.batches,
        "read_per_batch": (disk_read_bytes() - taken.read_before) / taken.batches,
        "processor_per_batch": (time.process_time() - taken.processor_before) / taken.batches,
        "wrong_rows": taken.wrong_rows,
        "start_up_seconds": taken.start_up_seconds,
        "anonymous_before": before,
    }
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
