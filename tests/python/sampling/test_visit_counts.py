"""Visit counts against walks, and against PageRank by power iteration."""

from __future__ import annotations

import numpy as np
import pytest
import walk_reference as twin

import graphmount as gm


@pytest.mark.parametrize("weighted", [False, True])
def test_visits_approximate_pagerank(weighted, walk_graphs):
    graph = walk_graphs["undirected, weighted"]
    entries = twin.entries_of(graph, "out", weighted=weighted)
    visits = graph.visit_counts(range(17), 2000, length=300, weighted=weighted, seed=8)
    for start, found in enumerate(twin.visits_by_start(visits)):
        exact = twin.walk_distributions(entries, start, 300, restart=0.15).mean(axis=0)
        limit = twin.personalized_pagerank(entries, start, 0.15)
        share = np.zeros(17)
        for node, count in found:
            share[node] = count / (2000 * 301)
        assert np.abs(share - exact).sum() < 0.01
        assert np.abs(share - limit).sum() < 0.03  # the start weighs a little more than in the end
        assert sum(count for _, count in found) == 2000 * 301


def test_visits_of_the_top(walk_graphs):
    graph = walk_graphs["undirected"]
    every = twin.visits_by_start(graph.visit_counts(range(17), 30, length=20, seed=9))
    for top in (1, 3, 1000):
        some = graph.visit_counts(range(17), 30, length=20, top=top, seed=9)
        assert twin.visits_by_start(some) == [found[:top] for found in every]
    none = graph.visit_counts([], 30, length=20)
    assert (none.indptr.tolist(), none.nodes.tolist(), none.counts.tolist()) == ([0], [], [])
    assert twin.visits_by_start(graph.visit_counts([4], 7, length=0)) == [[(4, 7)]]


def test_visits_of_many_nodes(tmp_path):
    """More nodes than a table holds before it grows, and starts of one, and of many walks."""
    generator = np.random.default_rng(14)
    gm.compile_graph(generator.integers(0, 5000, (2, 40_000)), tmp_path / "g.gl", num_nodes=5000)
    graph = gm.Graph(tmp_path / "g.gl")
    for num_walks, starts in ((1, range(600)), (300, range(5)), (3000, [7])):
        options = {"restart": 0.05, "q": 2.0, "seed": num_walks}
        visits = graph.visit_counts(starts, num_walks, length=40, **options)
        walks = graph.random_walk(np.repeat(starts, num_walks), 40, **options)
        assert twin.visits_by_start(visits) == twin.visits_of(walks, num_walks)
