"""Which nodes sampling will meet most often, where the order of a file does not say so.

A node is drawn in proportion to how many lists it is in, which is its degree in the other
direction. Where a file has no such lists, a trial of sampling tells. Either takes little memory,
however many nodes there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphmount._mapped_reads import read_degrees

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from graphmount.direction import Direction
    from graphmount.graph import Graph

_HIGHEST_COUNTED = 1 << 16  # degrees from here on count as equal
_TRIAL_BATCHES = 16


def hottest_nodes(
    graph: Graph,
    direction: Direction,
    most: int,
    sample: Callable[[int], NDArray[np.int64]],
) -> NDArray[np.int64]:
    """The nodes to keep in memory, the hottest first.

    Args:
        graph: What is sampled.
        direction: Of the lists that are sampled.
        most: How many nodes to name, at most.
        sample: The nodes of a batch, by its number.
    """
    other: Direction = "out" if direction == "in" else "in"
    if other in graph.directions:
        return _hottest_by_degree(graph, other, most)
    return _hottest_by_trial(sample, most)


def degree_counts(graph: Graph, direction: Direction) -> NDArray[np.int64]:
    """How many nodes have each degree; from 65,536 on, degrees count as equal."""
    counts = np.zeros(_HIGHEST_COUNTED + 1, np.int64)
    for _, degrees in read_degrees(graph, direction):
        counts += np.bincount(np.minimum(degrees, _HIGHEST_COUNTED), minlength=len(counts))
    return counts


def _hottest_by_degree(graph: Graph, direction: Direction, most: int) -> NDArray[np.int64]:
    # First how many nodes have each degree, then the nodes of the highest ones.
    counts = degree_counts(graph, direction)
    with_more = np.cumsum(counts[::-1])[::-1]  # nodes of at least this degree
    least = int(np.searchsorted(-with_more, -most))  # the first degree that no more have than fit
    nodes, hotness = [], []
    for first, degrees in read_degrees(graph, direction):
        hot = np.flatnonzero(degrees >= max(1, least))
        nodes.append(hot + first)
        hotness.append(degrees[hot])
    order = np.argsort(-np.concatenate(hotness), kind="stable")
    return np.concatenate(nodes)[order][:most].astype(np.int64)


def _hottest_by_trial(sample: Callable[[int], NDArray[np.int64]], most: int) -> NDArray[np.int64]:
    seen = [np.unique(sample(number)) for number in range(_TRIAL_BATCHES)]
    nodes, counts = np.unique(np.concatenate(seen), return_counts=True)
    return nodes[np.argsort(-counts, kind="stable")][:most]
