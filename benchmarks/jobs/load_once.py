"""The process that takes batches with little memory, interleaved with others.

Features are a function of the node of the source, so every row of every batch can be checked; that
is done for some of them, between timed batches. With `--train` a model trains on each batch, and
its time counts. To try one alone:
`echo 1 10 | python -m benchmarks.jobs.load_once FOLDER --memory N`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np

import graphmount as gm

from ..data.synthetic_dataset import COLUMNS, features_of
from ..harness.process_counters import disk_read_bytes, process_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

FANOUTS = (15, 10, 5)
BATCH_SIZE = 1024
WAYS = ("loader", "mapped tensor", "mapped array")
_CLASSES = 32
_CHECKED_SHARE = 0.05
_CHECKED_ROWS = 2000


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
    train = ds.splits["train"]
    train = train[np.random.default_rng(options.seed).permutation(len(train))]
    rows = row_reader(gm.FeatureStore(ds.features["x"].path, advice="random"), options.way)
    number = 0
    while True:
        for first in range(0, len(train), BATCH_SIZE):
            seeds = train[first : first + BATCH_SIZE]
            sample = ds.graph.sample_neighbors(seeds, FANOUTS, seed=(options.seed, number))
            number += 1
            yield sample, rows(sample.nodes)


def make_step() -> Callable[[Any, Any], float]:
    """What trains on a batch and its rows, for classes that nodes have by their number."""
    import torch

    from .sage_training import SageTraining

    training = SageTraining(COLUMNS, _CLASSES)

    def step(batch: Any, rows: Any) -> float:  # noqa: ANN401
        nodes, edges = batch.num_sampled_nodes, batch.num_sampled_edges
        return training.step(
            torch.from_numpy(rows),
            torch.stack([torch.from_numpy(batch.row), torch.from_numpy(batch.col)]),
            torch.from_numpy(batch.nodes[: nodes[0]] % _CLASSES),
            nodes=nodes,
            edges=edges,
        )

    return step


class Taker:
    """Takes batches, trains on them if that is wanted, checks some, and keeps count."""

    def __init__(self, ds: gm.Dataset, batches: Iterator[tuple[Any, Any]], *, trains: bool) -> None:
        self._ds, self._batches = ds, batches
        self._train: Callable[[Any, Any], float] | None = None
        if trains:
            self._train = make_step()
        self._generator = np.random.default_rng(1)
        self.batches = self.rows = self.edges = self.wrong_rows = 0

    def take(self, seconds: float) -> dict[str, float]:
        """Takes batches for some time. Returns how many that were, and what they cost."""
        spent = processor = 0.0
        before, read_before = self.batches, disk_read_bytes()
        while spent < seconds:
            start, used = time.perf_counter(), time.process_time()
            batch, rows = next(self._batches)
            if self._train is not None:
                self._train(batch, rows)
            spent += time.perf_counter() - start
            processor += time.process_time() - used
            self.batches += 1
            self.rows += len(batch.nodes)
            self.edges += len(batch.row)
            if self._generator.random() < _CHECKED_SHARE or self.batches == 1:
                self._check(batch.nodes, rows)
        taken = self.batches - before
        return {
            "batches_per_second": taken / spent if taken else 0.0,
            "processor_per_batch": processor / max(1, taken),
            "read_per_batch": (disk_read_bytes() - read_before) / max(1, taken),
        }

    def _check(self, nodes: NDArray[np.int64], rows: NDArray[np.float32]) -> None:
        some = self._generator.integers(0, len(nodes), _CHECKED_ROWS)
        expected = features_of(np.asarray(self._ds.to_external(nodes[some])))
        self.wrong_rows += int((rows[some] != expected).any(axis=1).sum())


def loader_result(loader: gm.NeighborLoader, taken: int) -> dict[str, object]:
    """What the loader says of itself, after so many batches."""
    stats = loader.stats()
    table = stats.tables["x"]
    batches = max(1, stats.batches)
    return {
        "cache_bytes": table.cache_bytes,
        # Sampling is counted for the last epoch, rows for all of them.
        "stages": {
            "sample": stats.sample_seconds / batches,
            "copy": table.copy_seconds / taken,
            "wait": table.wait_seconds / taken,
        },
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
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    loader = taker = None
    start_up = 0.0
    before = process_memory()["anonymous"]
    for line in sys.stdin:
        warm_seconds, seconds = map(float, line.split())
        if taker is None:
            start = time.perf_counter()
            ds = gm.Dataset(options.folder)
            ds.graph.advise("populate")
            if options.way == "loader":
                loader = make_loader(ds, options)
            batches = mapped_batches(ds, options) if loader is None else loader_batches(loader)
            taker = Taker(ds, batches, trains=options.train)
            taker.take(1e-9)
            start_up = time.perf_counter() - start
        taker.take(warm_seconds)
        print(json.dumps(taker.take(seconds)), flush=True)
    if taker is None or taker.batches == 0:
        return 1
    result = {} if loader is None else loader_result(loader, taker.batches)
    result |= {
        "rows_per_batch": taker.rows / taker.batches,
        "edges_per_batch": taker.edges / taker.batches,
        "wrong_rows": taker.wrong_rows,
        "start_up_seconds": start_up,
        "anonymous_before": before,
    }
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
