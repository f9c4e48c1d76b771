"""How often training will want each node: what decides which nodes should lie at the front."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from graphmount._mount.graph import Graph
from graphmount._mount.mapped_reads import read_degrees, read_list_section
from graphmount._support.arguments import as_count
from graphmount.errors import IdError

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from graphmount._support.direction import Direction

_EDGES_AT_ONCE = 1 << 22


def expected_access(
    graph: Graph | str | os.PathLike[str],
    seeds: ArrayLike,
    num_neighbors: Sequence[int],
    *,
    batch_size: int = 1024,
    direction: Direction = "in",
) -> NDArray[np.float64]:
    """The probability that a node is in a batch, for each node.

    This is the vertex inclusion probability of SALIENT++ (Kaler et al., 2023): a seed is in a batch
    with probability batch_size / seeds, and a node is sampled in the next hop unless none of the
    nodes that have it for a neighbor samples it. It takes one pass over the lists for each hop, and
    three float64 for each node.

    Pass the result to `compile_dataset(order=…)`. That pays most if the training set lies in one
    corner of the graph, or if few nodes have long lists: a cache then serves far more rows than
    with `order="hot"`. If training starts from everywhere, it serves somewhat more. On the other
    hand, the graph has to be compiled once before, and the order suits only one training set.

    Args:
        graph: The graph, or its path. Its nodes must be in the order of the source.
        seeds: The nodes that training starts from.
        num_neighbors: For each hop, how many neighbors are sampled for each node; -1 for all.
        batch_size: How many seeds a batch has.
        direction: Which neighbor lists are sampled, "in" or "out".

    Raises:
        IdError: A seed does not exist.
        ValueError: A number is not positive.
        FormatError: The lists are damaged; the message says where.
        FileChangedError: The file was cut.

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_graph(([1, 2, 3, 3], [0, 0, 0, 1]), "g.gl")
        >>> gm.expected_access("g.gl", [0], [2], batch_size=1).round(2)
        array([1.  , 0.67, 0.67, 0.67])
    """
    opened = graph if isinstance(graph, Graph) else Graph(graph)
    opened._one_type("expected_access")  # noqa: SLF001
    starts = np.unique(opened._as_nodes(seeds, "seeds"))  # noqa: SLF001
    if len(starts) and not 0 <= starts[0] <= starts[-1] < opened.num_nodes:
        wrong = starts[0] if starts[0] < 0 else starts[-1]
        raise IdError(f"seed {wrong} does not exist: there are {opened.num_nodes} nodes")
    as_count(batch_size, "batch_size", least=1)
    for fanout in num_neighbors:
        if fanout != -1:
            as_count(fanout, "num_neighbors (-1 for all)", least=1)
    ranges = _node_ranges(opened, direction)
    now = np.zeros(opened.num_nodes)
    now[starts] = min(1.0, batch_size / max(len(starts), 1))
    absent = np.log1p(-np.minimum(now, 1 - 1e-12))  # logarithm of the probability to be in no hop
    for fanout in num_neighbors:
        missed = np.zeros(opened.num_nodes)  # logarithm of the probability not to be in this hop
        for begin, end in ranges:
            offsets = read_list_section(opened, "indptr", direction, begin, end + 1 - begin)
            degrees = np.diff(offsets)
            share = 1.0 if fanout < 0 else np.minimum(1.0, fanout / np.maximum(degrees, 1))
            log_missed = np.log1p(-np.minimum(now[begin:end] * share, 1 - 1e-12))
            if not log_missed.any():
                continue
            first, last = int(offsets[0]), int(offsets[-1])
            neighbors = read_list_section(opened, "indices", direction, first, last - first)
            np.add.at(missed, neighbors, np.repeat(log_missed, degrees))
        now = -np.expm1(missed)
        absent += missed
    return -np.expm1(absent)


def _node_ranges(graph: Graph, direction: Direction) -> list[tuple[int, int]]:
    """Ranges of nodes whose lists have a few million entries together."""
    bounds, begin = [0], 0
    for first, degrees in read_degrees(graph, direction):
        ends = np.cumsum(degrees) + begin
        # Where the next million begins, for each that begins within these lists.
        marks = np.arange(-(-begin // _EDGES_AT_ONCE), ends[-1] // _EDGES_AT_ONCE + 1)
        cuts = np.searchsorted(ends, marks * _EDGES_AT_ONCE, side="right") + first
        bounds += cuts[cuts < graph.num_nodes].tolist()
        begin = int(ends[-1])
    bounds = np.unique([*bounds, graph.num_nodes]).tolist()
    return list(pairwise(bounds))
