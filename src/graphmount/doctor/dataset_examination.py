"""Looks at a dataset: sizes, and a few batches, sampled for real in a bounded time.

With few seeds first, and more if that was quick. What a cache of the hottest rows would serve of
them is kept as a curve, so that any size of cache can be asked about later.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from graphmount._hot_rows import degree_counts
from graphmount.doctor.dataset import BatchFacts, DatasetFacts, TableFacts

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from graphmount.dataset import Dataset
    from graphmount.direction import Direction
    from graphmount.features import FeatureStore
    from graphmount.graph import Graph

__all__ = ["examine_dataset", "largest_table"]

_FANOUTS = (15, 10, 5)
_SEEDS = (16, 128, 1024)
_MOST_BATCHES = 4
_COPY_BYTES = 64 << 20
#: Shares of the nodes that a cache may hold: fine at the beginning, where most is to be had.
_CACHE_SHARES = (0.0, *(2.0**-power for power in range(12, 5, -1)), *np.linspace(0.03125, 1, 32))


def largest_table(dataset: Dataset) -> FeatureStore | None:
    """The table to measure the disk with."""
    tables = (*dataset.features.values(), *dataset.edge_features.values())
    return max(tables, key=lambda store: store.file_bytes, default=None)


def examine_dataset(
    dataset: Dataset, *, seconds: float, report: Callable[[float], None]
) -> DatasetFacts:
    """Looks at a dataset, and samples a few batches.

    Args:
        dataset: The dataset.
        seconds: How long to sample, about.
        report: Called with the share that is done.

    Raises:
        GraphmountError: It is damaged.
    """
    graph = dataset.graph
    direction: Direction = "in" if "in" in graph.directions else "out"
    lists = graph.neighbor_lists(direction)
    is_hot_first = dataset.description.get("order") != "given"
    ranks = _hotness_ranks(graph, direction, is_hot_first=is_hot_first)
    tables = tuple(
        _table_facts(name, store, of_edges=of_edges)
        for of_edges, found in ((False, dataset.features), (True, dataset.edge_features))
        for name, store in found.items()
    )
    row_bytes = sum(table.row_bytes for table in tables if not table.of_edges)
    batches = _sample(dataset, direction, seconds, report)
    return DatasetFacts(
        path=dataset.path,
        num_nodes=dataset.num_nodes,
        num_edges=dataset.num_edges,
        is_hot_first=is_hot_first,
        list_bytes=lists.indptr.nbytes + lists.indices.nbytes,
        tables=tables,
        batch=None if batches is None else batches.facts(_copy_rate(row_bytes)),
        served=None if batches is None or ranks is None else _curve(ranks(batches.nodes)),
        appearances=_appearances(graph, direction) if is_hot_first else None,
    )


def _table_facts(name: str, store: FeatureStore, *, of_edges: bool) -> TableFacts:
    item_bytes = 2 if store.dtype == "bfloat16" else np.dtype(store.dtype).itemsize
    return TableFacts(
        name=name,
        rows=len(store),
        row_bytes=item_bytes * math.prod(store.shape[1:]),
        dtype=str(store.dtype),
        of_edges=of_edges,
    )


@dataclass(frozen=True)
class _Batches:
    """Those that were sampled last, all of the same number of seeds."""

    num_seeds: int
    nodes: NDArray[np.int64]  # of all of them, one after the other
    count: int
    sample_seconds: float

    def facts(self, copy_bytes_per_second: float) -> BatchFacts:
        return BatchFacts(
            fanouts=_FANOUTS,
            num_seeds=self.num_seeds,
            num_nodes=len(self.nodes) / self.count,
            sample_seconds=self.sample_seconds,
            copy_bytes_per_second=copy_bytes_per_second,
        )


def _sample(
    dataset: Dataset, direction: Direction, seconds: float, report: Callable[[float], None]
) -> _Batches | None:
    graph, generator = dataset.graph, np.random.default_rng(0)
    train = dataset.splits.get("train")
    if train is not None and train.size == 0:
        train = None
    num_inputs = graph.num_nodes if train is None else len(train)
    begin = time.monotonic()
    done: _Batches | None = None
    for size in _SEEDS:
        num_seeds = min(size, num_inputs)
        if num_seeds == 0 or (done is not None and done.num_seeds == num_seeds):
            break
        nodes: list[NDArray[np.int64]] = []
        warm: list[float] = []
        longest = 0.0
        while len(nodes) < (_MOST_BATCHES if size == _SEEDS[-1] else 1):
            # A slow disk must not hold us up: the next batch has to fit into what is left.
            if nodes and time.monotonic() - begin + longest > seconds:
                break
            start = time.monotonic()
            seeds = generator.choice(num_inputs, num_seeds, replace=False)
            if train is not None:
                seeds = train[seeds]
            sample = graph.sample_neighbors(seeds, _FANOUTS, direction=direction, seed=len(nodes))
            again = time.monotonic()
            graph.sample_neighbors(seeds, _FANOUTS, direction=direction, seed=len(nodes))
            warm.append(time.monotonic() - again)
            longest = max(longest, time.monotonic() - start)
            nodes.append(sample.nodes)
        done = _Batches(num_seeds, np.concatenate(nodes), len(nodes), float(np.median(warm)))
        spent = time.monotonic() - begin
        report(min(1.0, spent / seconds))
        growth = _SEEDS[1] / _SEEDS[0]
        if spent + growth * longest > seconds:
            break
    return done


def _copy_rate(row_bytes: int) -> float:
    """Bytes that one thread copies in a second, of scattered rows in memory."""
    columns = max(1, row_bytes)
    table = np.zeros((max(1, _COPY_BYTES // columns), columns), np.uint8)
    ids = np.random.default_rng(0).integers(0, len(table), len(table) // 4 + 1)
    out = np.zeros((len(ids), columns), np.uint8)
    start = time.perf_counter()
    np.take(table, ids, axis=0, out=out, mode="clip")
    return out.nbytes / max(time.perf_counter() - start, 1e-9)


def _hotness_ranks(
    graph: Graph, direction: Direction, *, is_hot_first: bool
) -> Callable[[NDArray[np.int64]], NDArray[np.float64]] | None:
    """What gives the place of nodes among all by hotness, as a share; None if nobody knows."""
    count = max(1, graph.num_nodes)
    if is_hot_first:
        return lambda nodes: nodes / count
    other: Direction = "out" if direction == "in" else "in"
    if other not in graph.directions:
        return None
    counts = degree_counts(graph, other)
    # Behind all that have a higher degree, and in the middle of those that have the same.
    hotter = count - np.cumsum(counts) + counts / 2
    return lambda nodes: (
        hotter[np.minimum(graph.degree(nodes, direction=other), len(counts) - 1)] / count
    )


def _curve(ranks: NDArray[np.float64]) -> tuple[tuple[float, float], ...]:
    ordered = np.sort(ranks)
    served = np.searchsorted(ordered, _CACHE_SHARES) / max(1, len(ordered))
    return tuple(zip(map(float, _CACHE_SHARES), served.tolist(), strict=True))


def _appearances(graph: Graph, direction: Direction) -> tuple[tuple[float, float], ...] | None:
    """How many list entries are of the first nodes: their degrees in the other direction."""
    other: Direction = "out" if direction == "in" else "in"
    if other not in graph.directions or graph.num_edges == 0:
        return None
    indptr = graph.neighbor_lists(other).indptr
    heights = [
        int(indptr[round(share * graph.num_nodes)]) / int(indptr[-1]) for share in _CACHE_SHARES
    ]
    return tuple(zip(map(float, _CACHE_SHARES), heights, strict=True))
