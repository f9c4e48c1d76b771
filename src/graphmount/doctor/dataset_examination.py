"""Looks at a dataset: sizes, and a few batches, sampled for real in a bounded time.

With few seeds first, and more if that was quick. What a cache of the hottest rows would serve of
them is kept as a curve, so that any size of cache can be asked about later.
"""

from __future__ import annotations

import math
import statistics
import sys
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from graphmount._loading.rows.hot_rows import degree_counts
from graphmount._mount.mapped_reads import ListOffsets
from graphmount._mount.node_ids import mark_ids
from graphmount.doctor.dataset import BatchFacts, DatasetFacts, TableFacts
from graphmount.doctor.estimate import bytes_under_way

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from graphmount._dataset.dataset import Dataset
    from graphmount._mount.features import FeatureStore
    from graphmount._mount.graph import Graph
    from graphmount._support.direction import Direction

_FANOUTS = (15, 10, 5)
_SEEDS = (16, 64, 256, 1024)
_MOST_BATCHES = 4
_COPY_BYTES = 64 << 20
#: Shares of the nodes that a cache may hold: in fine steps at the beginning, where a cache gains
#: most.
_CACHE_SHARES = (0.0, *(2.0**-power for power in range(12, 5, -1)), *np.linspace(0.03125, 1, 32))


def largest_table(dataset: Dataset) -> FeatureStore | None:
    """The table to measure the disk with."""
    tables = (*dataset.features.values(), *dataset.edge_features.values())
    return max(tables, key=lambda store: store.file_bytes, default=None)


def examine_dataset(
    dataset: Dataset,
    *,
    usable_bytes: int | None,
    seconds: float,
    report: Callable[[float], None],
) -> DatasetFacts:
    """Looks at a dataset, and samples a few batches.

    Args:
        dataset: The dataset.
        usable_bytes: The memory that there is. Batches are to take half of it at the most.
        seconds: How long to sample, about.
        report: Called with the share that is done.

    Raises:
        GraphmountError: It is damaged.
    """
    graph = dataset.graph
    direction: Direction = "in" if "in" in graph.directions else "out"
    is_hot_first = dataset.description.get("order") != "given"
    ranks = _hotness_ranks(graph, direction, is_hot_first=is_hot_first)
    tables = tuple(
        _table_facts(name, store, of_edges=of_edges)
        for of_edges, found in ((False, dataset.features), (True, dataset.edge_features))
        for name, store in found.items()
    )
    row_bytes = sum(table.row_bytes for table in tables if not table.of_edges)
    batch, nodes = _sample(
        dataset,
        direction,
        row_bytes=row_bytes,
        most_bytes=sys.maxsize if usable_bytes is None else usable_bytes // 2,
        seconds=seconds,
        report=report,
    )
    return DatasetFacts(
        path=dataset.path,
        num_nodes=dataset.num_nodes,
        num_edges=dataset.num_edges,
        is_hot_first=is_hot_first,
        list_bytes=_list_bytes(graph, direction),
        tables=tables,
        batch=batch,
        copy_bytes_per_second=_copy_rate(row_bytes),
        served=None if batch is None or ranks is None else _curve(ranks(nodes)),
        appearances=_appearances(graph, direction) if is_hot_first else None,
    )


def _list_bytes(graph: Graph, direction: Direction) -> int:
    """What offsets and neighbors take."""
    stored = direction if graph.directed else "in"
    names = (f"indptr ({stored})", f"indices ({stored})")
    return sum(section.num_bytes for section in graph.sections if section.name in names)


def _table_facts(name: str, store: FeatureStore, *, of_edges: bool) -> TableFacts:
    item_bytes = 2 if store.dtype == "bfloat16" else np.dtype(store.dtype).itemsize
    return TableFacts(
        name=name,
        rows=len(store),
        row_bytes=item_bytes * math.prod(store.shape[1:]),
        dtype=str(store.dtype),
        of_edges=of_edges,
    )


def _sample(
    dataset: Dataset,
    direction: Direction,
    *,
    row_bytes: int,
    most_bytes: int,
    seconds: float,
    report: Callable[[float], None],
) -> tuple[BatchFacts | None, NDArray[np.int64]]:
    """What batches are made of, and the nodes of those that were sampled."""
    trial = _Trial(dataset, direction)
    begin, before = time.monotonic(), 0.0
    facts: BatchFacts | None = None
    nodes = np.empty(0, np.int64)
    for size in _SEEDS:
        num_seeds = min(size, trial.num_inputs)
        if num_seeds == 0:
            return None, nodes
        drawn = [trial.draw(num_seeds)]
        if facts is not None and bytes_under_way(_mean(drawn, num_seeds), row_bytes) > most_bytes:
            return replace(facts, smaller_because="memory"), nodes
        longest = drawn[0].seconds
        # A slow disk must not hold us up: the next batch has to fit into what is left.
        while size == _SEEDS[-1] and len(drawn) < _MOST_BATCHES:
            if time.monotonic() - begin + longest > seconds:
                break
            drawn.append(trial.draw(num_seeds))
            longest = max(longest, drawn[-1].seconds)
        facts, nodes = _mean(drawn, num_seeds), np.concatenate([one.nodes for one in drawn])
        spent = time.monotonic() - begin
        report(min(1.0, spent / seconds))
        if num_seeds < size:
            return replace(facts, smaller_because="seeds"), nodes
        # Time grows as it did the last time, or as the number of seeds does.
        growth = min(_SEEDS[1] / _SEEDS[0], longest / before if before else math.inf)
        if size != _SEEDS[-1] and spent + growth * longest > seconds:
            return replace(facts, smaller_because="time"), nodes
        before = longest
    return facts, nodes


@dataclass(frozen=True)
class _Drawn:
    """One sample."""

    nodes: NDArray[np.int64]
    sample_bytes: int
    seconds: float  # for sampling it twice
    warm_seconds: float  # for the second time


class _Trial:
    """Draws samples like those of training: from the split "train", or from all nodes."""

    def __init__(self, dataset: Dataset, direction: Direction) -> None:
        has_train = "train" in dataset.description["splits"]
        train = dataset._read_split("train") if has_train else None  # noqa: SLF001
        self._train = None if train is None or train.size == 0 else train
        self._graph = dataset.graph
        self._direction: Direction = direction
        self._generator = np.random.default_rng(0)
        self._number = 0
        self.num_inputs = self._graph.num_nodes if self._train is None else len(self._train)

    def draw(self, num_seeds: int) -> _Drawn:
        seeds = self._generator.choice(self.num_inputs, num_seeds, replace=False)
        if self._train is not None:
            seeds = self._train[seeds]
        marked = mark_ids(seeds, self._graph.order)
        self._number += 1
        start = time.monotonic()
        for _ in range(2):
            again = time.monotonic()
            sample = self._graph.sample_neighbors(
                marked, _FANOUTS, direction=self._direction, seed=self._number
            )
        arrays = (sample.nodes, sample.row, sample.col, sample.edge_ids)
        end = time.monotonic()
        return _Drawn(sample.nodes, sum(array.nbytes for array in arrays), end - start, end - again)


def _mean(drawn: list[_Drawn], num_seeds: int) -> BatchFacts:
    return BatchFacts(
        fanouts=_FANOUTS,
        num_seeds=num_seeds,
        num_nodes=statistics.fmean(len(one.nodes) for one in drawn),
        sample_bytes=max(one.sample_bytes for one in drawn),
        sample_seconds=statistics.median(one.warm_seconds for one in drawn),
    )


def _copy_rate(row_bytes: int) -> float:
    """Bytes that one thread copies in a second, of scattered rows in memory."""
    columns = max(1, row_bytes)
    table = np.ones((max(1, _COPY_BYTES // columns), columns), np.uint8)
    ids = np.random.default_rng(0).integers(0, len(table), len(table) // 4 + 1)
    out = np.ones((len(ids), columns), np.uint8)
    times = []
    for _ in range(3):
        start = time.perf_counter()
        np.take(table, ids, axis=0, out=out, mode="clip")
        times.append(time.perf_counter() - start)
    return out.nbytes / max(statistics.median(times), 1e-9)


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
    # The rank is after all nodes of a higher degree, and in the middle of those of the same degree.
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
    offsets = ListOffsets(graph, other)
    heights = [offsets[round(share * graph.num_nodes)] / graph.num_edges for share in _CACHE_SHARES]
    return tuple(zip(map(float, _CACHE_SHARES), heights, strict=True))
