"""Skip-gram pairs and negatives, against the walks that they are made of."""

from __future__ import annotations

import numpy as np
import pytest
import walk_reference as twin
from chi_squared import assert_fits, fits

import graphmount as gm


def test_pairs_do_not_reach_over_restarts(walk_graphs):
    graph = walk_graphs["undirected"]
    # With a restart at every step there is nothing near; and a walk of no steps has no pairs.
    assert len(graph.skip_gram_pairs([0, 1], 8, window=3, restart=1.0).centers) == 0
    assert len(graph.skip_gram_pairs([0, 1], 0, window=3).centers) == 0
    assert len(graph.skip_gram_pairs([], 5, window=3).centers) == 0


def test_pairs_on_a_path(tmp_path):
    gm.compile_graph((np.arange(30), np.arange(1, 31)), tmp_path / "path.gl")
    graph = gm.Graph(tmp_path / "path.gl")
    walks = graph.random_walk([0] * 400, 25, restart=0.2, seed=5)
    pairs = graph.skip_gram_pairs([0] * 400, 25, restart=0.2, window=4, seed=5)
    # There, a walk is at 0 only by a restart, so stretches are known.
    expected = []
    for row in walks:
        for stretch in np.split(row, np.flatnonzero(row[1:] == 0) + 1):
            expected += twin.window_pairs(stretch[None], 4)
    assert list(zip(pairs.centers.tolist(), pairs.contexts.tolist(), strict=True)) == expected
    assert np.abs(pairs.centers - pairs.contexts).max() == 4


@pytest.mark.parametrize("window", [1, 3, 1000])
def test_pairs_are_those_of_the_walks(window, walk_graphs):
    graph = walk_graphs["directed"]
    starts = np.arange(17).repeat(9)
    for dead_end in ("stay", "end"):
        walks = graph.random_walk(starts, 11, q=0.5, dead_end=dead_end, seed=6)
        pairs = graph.skip_gram_pairs(starts, 11, q=0.5, window=window, dead_end=dead_end, seed=6)
        found = list(zip(pairs.centers.tolist(), pairs.contexts.tolist(), strict=True))
        assert found == twin.window_pairs(walks, window)
        assert pairs.negatives.shape == (len(found), 0)


@pytest.mark.parametrize("direction", ["in", "out"])
def test_negatives(direction, walk_graphs):
    graph = walk_graphs["directed"]
    starts = np.arange(17).repeat(200)
    options = {"window": 2, "negatives": 4, "direction": direction, "seed": 7}
    uniform = graph.skip_gram_pairs(starts, 6, **options)
    counts = np.bincount(uniform.negatives.ravel(), minlength=17)
    assert_fits(counts, np.ones(17))
    by_degree = graph.skip_gram_pairs(starts, 6, **options, negative_weighting="degree")
    appearances = np.bincount(graph.neighbor_lists(direction).indices, minlength=17)
    counts = np.bincount(by_degree.negatives.ravel(), minlength=17)
    assert_fits(counts, appearances)
    assert not fits(counts, np.ones(17))
    for place in range(4):  # columns are independent draws
        assert_fits(np.bincount(by_degree.negatives[:, place], minlength=17), appearances)
    # Negatives of a walker do not depend on the others, and pairs do not depend on negatives.
    fewer = graph.skip_gram_pairs(starts[:100], 6, **options)
    assert np.array_equal(fewer.negatives, uniform.negatives[: len(fewer.negatives)])
    assert np.array_equal(by_degree.contexts, uniform.contexts)
