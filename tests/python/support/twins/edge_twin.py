"""The slow twin of edge lookup and negative sampling: edges as a list of pairs, nothing clever."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

import graphmount as gm


@dataclass(frozen=True)
class EdgeTwin:
    """A graph as Python sees it, and how it is to be compiled.

    With `num_sources`, edges lead from so many nodes of one type to `num_nodes` of another.
    """

    num_nodes: int
    edges: tuple[tuple[int, int], ...]
    directed: bool = True
    neighbors: str = "both"
    temporal: bool = False
    num_sources: int | None = None

    def mount(self, path):
        sources, destinations = [a for a, _ in self.edges], [b for _, b in self.edges]
        size = {"num_nodes": self.num_nodes}
        if self.num_sources is not None:
            size = {"num_sources": self.num_sources, "num_destinations": self.num_nodes}
        gm.compile_graph(
            (np.array(sources, np.int64), np.array(destinations, np.int64)),
            path,
            **size,
            directed=self.directed,
            neighbors=self.neighbors if self.directed else "both",
            # Times go down as ids go up, so that lists are in another order.
            timestamps=[-a - b for a, b in self.edges] if self.temporal else None,
        )
        return gm.Graph(path)

    def entries(self):
        """The edges as lists have them: an undirected one both ways, a loop once."""
        found = list(self.edges)
        if not self.directed:
            found += [(b, a) for a, b in self.edges if a != b]
        return found

    def pair_weights(self, *, weighting="uniform", strict=False, self_loops=True):
        """In what proportion each pair (source, destination) may be drawn."""
        entries = self.entries()
        num_sources = self.num_nodes if self.num_sources is None else self.num_sources
        weights = np.ones((num_sources, self.num_nodes))
        if weighting == "degree":
            as_source, as_destination = np.zeros(num_sources), np.zeros(self.num_nodes)
            for source, destination in entries:
                as_source[source] += 1
                as_destination[destination] += 1
            weights = np.outer(as_source, as_destination)
        if strict:
            for source, destination in entries:
                weights[source, destination] = 0
        if not self_loops and self.num_sources is None:
            np.fill_diagonal(weights, 0)
        return weights

    def weights(self, kept, *, corrupt="destination", weighting="uniform", **options):
        """In what proportion each node may be drawn for the end that is not kept."""
        pairs = self.pair_weights(weighting="uniform", **options)
        allowed = pairs[kept] if corrupt == "destination" else pairs[:, kept]
        if weighting == "uniform":
            return allowed
        ends = [edge[1 if corrupt == "destination" else 0] for edge in self.entries()]
        return allowed * np.bincount(np.array(ends, np.int64), minlength=len(allowed))


def rectangular_twin(**options):
    """12 nodes of one type and 20 of another, half of all edges at few of them."""
    generator = np.random.default_rng(8)
    edges = (generator.random((90, 2)) ** 2 * [11, 18]).astype(int)
    return EdgeTwin(20, tuple(map(tuple, edges.tolist())), num_sources=12, **options)


def skewed_twin(**options):
    """20 nodes, half of all edges at few of them, with repeated edges and loops."""
    generator = np.random.default_rng(8)
    edges = (generator.random((90, 2)) ** 2 * 18).astype(int)
    return EdgeTwin(20, tuple(map(tuple, edges.tolist())), **options)


@st.composite
def edge_twins(draw, *, least_nodes=0, rectangular=False):
    """Graphs of all kinds, sparse and nearly complete, with repeated edges and loops."""
    num_nodes = draw(st.integers(least_nodes, 9))
    num_sources = draw(st.integers(least_nodes, 9)) if rectangular else num_nodes
    pairs = [(a, b) for a in range(num_sources) for b in range(num_nodes)]
    edges = draw(st.lists(st.sampled_from(pairs), max_size=30)) if pairs else []
    if draw(st.booleans()):
        missing = draw(st.sets(st.sampled_from(pairs), max_size=5)) if pairs else set()
        edges += [pair for pair in pairs if pair not in missing]
    return EdgeTwin(
        num_nodes=num_nodes,
        edges=tuple(edges),
        directed=rectangular or draw(st.booleans()),
        neighbors=draw(st.sampled_from(["in", "out", "both"])),
        temporal=draw(st.booleans()),
        num_sources=num_sources if rectangular else None,
    )
