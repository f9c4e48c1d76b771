"""What a sample of neighbors must be, whoever made it: checked before anybody is timed.

Of every node that is sampled from come min(degree, fanout) of its neighbors, no edge twice. Which
nodes are sampled from at a hop is where libraries differ: those met in the hop before ("new"), or
all that were met so far ("all").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

#: Which nodes a hop samples from.
Expands = Literal["new", "all"]


@dataclass(frozen=True)
class Lists:
    """The neighbors of all nodes, one after the other, and where those of each begin."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.integer]


@dataclass(frozen=True)
class Hop:
    """Edges of one hop, by the nodes' numbers in the graph: `neighbors[i]` is one of `nodes[i]`."""

    nodes: NDArray[np.integer]
    neighbors: NDArray[np.integer]


def problems_of(
    lists: Lists,
    seeds: NDArray[np.int64],
    fanouts: Sequence[int],
    hops: Sequence[Hop],
    expands: Expands,
) -> list[str]:
    """What is wrong with a sample, hop by hop; nothing if it keeps the contract."""
    if len(hops) != len(fanouts):
        return [f"{len(hops)} hops instead of {len(fanouts)}"]
    problems = []
    met = np.unique(seeds)
    expanded = met
    for number, (hop, fanout) in enumerate(zip(hops, fanouts, strict=True), 1):
        found = _problems_of_hop(lists, expanded, fanout, hop)
        problems += [f"hop {number}: {problem}" for problem in found]
        fresh = np.setdiff1d(hop.neighbors, met)
        met = np.union1d(met, fresh)
        expanded = fresh if expands == "new" else met
    return problems


def _problems_of_hop(
    lists: Lists, expanded: NDArray[np.integer], fanout: int, hop: Hop
) -> list[str]:
    num_nodes = len(lists.indptr) - 1
    if len(hop.nodes) != len(hop.neighbors):
        return [f"{len(hop.nodes)} nodes have {len(hop.neighbors)} neighbors"]
    ends = np.concatenate([hop.nodes, hop.neighbors])
    if len(ends) and (ends.min() < 0 or ends.max() >= num_nodes):
        return [f"a node that the graph of {num_nodes:,} does not have"]
    problems = []
    strangers = np.setdiff1d(hop.nodes, expanded)
    if len(strangers):
        problems.append(f"{len(strangers):,} nodes sampled from that it should not")
    degrees = np.diff(lists.indptr)
    counts = np.bincount(hop.nodes.astype(np.int64), minlength=num_nodes)[expanded]
    wrong = int((counts != np.minimum(degrees[expanded], fanout)).sum())
    if wrong:
        problems.append(f"{wrong:,} nodes without min(degree, {fanout}) neighbors")
    false, twice = _count_wrong_edges(lists, hop, num_nodes)
    if false:
        problems.append(f"{false:,} edges that the graph does not have")
    if twice:
        problems.append(f"{twice:,} edges more often than the graph has them")
    return problems


def _count_wrong_edges(lists: Lists, hop: Hop, num_nodes: int) -> tuple[int, int]:
    """How many edges are none, and how many come more often than they exist."""
    nodes = np.unique(hop.nodes).astype(np.int64)
    firsts, lengths = lists.indptr[nodes], np.diff(lists.indptr)[nodes]
    places = np.repeat(firsts - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
    there = np.repeat(nodes, lengths) * num_nodes + lists.indices[places]
    # Few neighbors of hubs were drawn; the others need not be sorted.
    was_drawn = np.zeros(num_nodes, bool)
    was_drawn[hop.neighbors] = True
    there = there[was_drawn[lists.indices[places]]]
    there, times_there = np.unique(there, return_counts=True)
    drawn = hop.nodes.astype(np.int64) * num_nodes + hop.neighbors
    drawn, times_drawn = np.unique(drawn, return_counts=True)
    # One more at the end, for what would be behind all that is there.
    there, times_there = np.append(there, -1), np.append(times_there, 0)
    found = np.searchsorted(there[:-1], drawn)
    is_there = there[found] == drawn
    is_more = times_drawn > times_there[found]
    return int(times_drawn[~is_there].sum()), int((is_there & is_more).sum())
