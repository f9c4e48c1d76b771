"""Which nodes sampling will meet most often, where the order of a file does not say so.

A node is drawn in proportion to the number of lists that it is in, which is its degree in the other
direction. If a file has no lists of that direction, a trial of sampling counts instead. Either way
takes a little more than 8 bytes for each node that it returns, however many nodes there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphmount._mount.mapped_reads import read_degrees
from graphmount.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from graphmount._mount.graph import Graph
    from graphmount._support.direction import Direction

_HIGHEST_COUNTED = 1 << 16  # degrees from here on count as equal
#: Samples by which caches are filled.
TRIAL_BATCHES = 16


def hottest_nodes(
    graph: Graph | None,
    direction: Direction,
    most: int,
    sample: Callable[[int], NDArray[np.int64]],
) -> NDArray[np.int64]:
    """The nodes to keep in memory, the hottest first.

    Args:
        graph: What is sampled; None if there are several relations, which only trials know.
        direction: The direction of the lists that are sampled.
        most: How many nodes to name, at most.
        sample: The nodes of a batch, by its number.
    """
    other: Direction = "out" if direction == "in" else "in"
    if graph is not None and other in graph.directions:
        return _hottest_by_degree(graph, other, most)
    return _hottest_by_trial(sample, most)


def degree_counts(graph: Graph, direction: Direction) -> NDArray[np.int64]:
    """How many nodes have each degree; from 65,536 on, degrees count as equal."""
    counts = np.zeros(_HIGHEST_COUNTED + 1, np.int64)
    for _, degrees in read_degrees(graph, direction):
        counts += np.bincount(np.minimum(degrees, _HIGHEST_COUNTED), minlength=len(counts))
    return counts


def _hottest_by_degree(graph: Graph, direction: Direction, most: int) -> NDArray[np.int64]:
    # First count how many nodes have each degree. The counts say where the nodes of a degree go, so
    # the nodes of the highest degrees are put there as they come. No other array is as long as the
    # result.
    counts = degree_counts(graph, direction)
    with_more = np.cumsum(counts[::-1])[::-1]  # nodes of at least this degree
    # The first degree that no more have than fit. Nodes that are in no list are never drawn.
    least = max(1, int(np.searchsorted(-with_more, -most)))
    if least == len(with_more):
        return np.empty(0, np.int64)
    hottest = np.empty(int(with_more[least]), np.int64)
    begins = with_more - counts  # of each degree, behind all that are higher
    for first, degrees in read_degrees(graph, direction):
        classes = np.minimum(degrees, _HIGHEST_COUNTED)
        hot = np.flatnonzero(classes >= least)
        hot = hot[np.argsort(classes[hot], kind="stable")]
        found, at, num = np.unique(classes[hot], return_index=True, return_counts=True)
        _require_same(graph, (begins[found] + num <= with_more[found]).all())
        for degree, begin, count in zip(found, at, num, strict=True):
            hottest[begins[degree] : begins[degree] + count] = hot[begin : begin + count] + first
            begins[degree] += count
    _require_same(graph, (begins[least:] == with_more[least:]).all())
    return hottest


def _require_same(graph: Graph, is_same: np.bool_) -> None:
    if not is_same:
        raise FormatError(
            f"{graph.path}: the lists of neighbors changed while they were read; nobody may write "
            "to a mounted file"
        )


def _hottest_by_trial(sample: Callable[[int], NDArray[np.int64]], most: int) -> NDArray[np.int64]:
    nodes = counts = np.empty(0, np.int64)
    for number in range(TRIAL_BATCHES):
        met = np.unique(sample(number))
        joined, place = np.unique(np.concatenate([nodes, met]), return_inverse=True)
        total = np.zeros(len(joined), np.int64)
        total[place[: len(nodes)]] = counts
        total[place[len(nodes) :]] += 1
        # At most twice as many nodes as needed are kept for the next trial.
        order = np.argsort(-total, kind="stable")[: 2 * most]
        nodes, counts = joined[order], total[order]
    return nodes[:most]
