"""How often each negative is drawn, against the weights that a slow twin gives it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from chi_squared import assert_fits, fits
from edge_twin import EdgeTwin, rectangular_twin, skewed_twin

DRAWS = 40_000


def crowded_twin(**options):
    """Node 0 has edges to all but three of 400 nodes: trying finds one of these rarely."""
    edges = [(0, node) for node in range(400) if node not in (17, 250, 399)]
    edges += [(5, 17), (6, 17), (7, 399), (8, 0), (8, 0), (9, 250), (0, 30)]
    return EdgeTwin(400, tuple(edges), **options)


def counts_of(negatives, num_nodes):
    return np.bincount(np.ravel(negatives), minlength=num_nodes)


@pytest.mark.parametrize("weighting", ["uniform", "degree"])
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("self_loops", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_distribution_of_rows(weighting, strict, self_loops, directed, tmp_path):
    twin = skewed_twin(directed=directed)
    graph = twin.mount(tmp_path / "g.gl")
    options = {"weighting": weighting, "strict": strict, "self_loops": self_loops}
    for kept, corrupt in itertools.product((0, 3, 19), ("destination", "source")):
        options["corrupt"] = corrupt
        # Once as many rows, once as many draws: neither may repeat what another has.
        rows = graph.sample_negatives([kept] * DRAWS, seed=1, **options)
        row = graph.sample_negatives([kept], num=DRAWS, seed=(1, 2), **options)
        for negatives in (rows, row):
            assert_fits(counts_of(negatives, 20), twin.weights(kept, **options))


@pytest.mark.parametrize("weighting", ["uniform", "degree"])
@pytest.mark.parametrize("strict", [False, True])
def test_distribution_between_two_types(weighting, strict, tmp_path):
    twin = rectangular_twin()
    graph = twin.mount(tmp_path / "g.gl")
    options = {"weighting": weighting, "strict": strict}
    for kept, corrupt in itertools.product((0, 3, 11), ("destination", "source")):
        weights = twin.weights(kept, corrupt=corrupt, **options)
        drawn = graph.sample_negatives([kept] * DRAWS, corrupt=corrupt, seed=1, **options)
        assert_fits(counts_of(drawn, len(weights)), weights)
        if weighting == "uniform" and not strict:
            # The test itself: samplers do not fit that draw from the other number of nodes, or
            # that leave out the node of the other type that has the same number.
            other = len(twin.weights(kept, corrupt="source")) if corrupt == "destination" else 20
            wrong = np.random.default_rng(1).integers(0, other, DRAWS) % len(weights)
            assert not fits(counts_of(wrong, len(weights)), weights)
            assert not fits(counts_of(drawn[drawn != kept], len(weights)), weights)
    weights = twin.pair_weights(**options)
    draws = 20 * int(weights.sum() / weights[weights > 0].min())
    pairs = graph.sample_negative_pairs(draws, seed=4, **options)
    assert_fits(np.bincount(pairs[0] * 20 + pairs[1], minlength=240), weights)


@pytest.mark.parametrize("weighting", ["uniform", "degree"])
def test_distribution_between_two_types_where_trying_mostly_fails(weighting, tmp_path):
    """Source 0 has edges to all but three of 400 destinations; there are 9 sources."""
    edges = [(0, node) for node in range(400) if node not in (17, 250, 399)]
    edges += [(5, 17), (6, 17), (7, 399), (8, 0), (8, 0), (3, 250), (0, 30)]
    twin = EdgeTwin(400, tuple(edges), num_sources=9)
    graph = twin.mount(tmp_path / "g.gl")
    options = {"weighting": weighting, "strict": True}
    negatives = graph.sample_negatives([0], num=4000, seed=3, **options)
    weights = twin.weights(0, **options)
    assert np.count_nonzero(weights) == 3
    assert_fits(counts_of(negatives, 400), weights)


@pytest.mark.parametrize("weighting", ["uniform", "degree"])
@pytest.mark.parametrize("temporal", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_distribution_where_trying_mostly_fails(weighting, temporal, directed, tmp_path):
    twin = crowded_twin(temporal=temporal, directed=directed)
    graph = twin.mount(tmp_path / "g.gl")
    for self_loops in (False, True):
        options = {"weighting": weighting, "strict": True, "self_loops": self_loops}
        negatives = graph.sample_negatives([0], num=4000, seed=3, **options)
        weights = twin.weights(0, **options)
        assert 1 < np.count_nonzero(weights) < 5
        assert_fits(counts_of(negatives, 400), weights)


@pytest.mark.parametrize("weighting", ["uniform", "degree"])
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("self_loops", [False, True])
def test_distribution_of_pairs(weighting, strict, self_loops, tmp_path):
    options = {"weighting": weighting, "strict": strict, "self_loops": self_loops}
    twins = [skewed_twin(), skewed_twin(directed=False), skewed_twin(temporal=True)]
    if weighting == "uniform":
        twins += [skewed_twin(neighbors="in"), skewed_twin(neighbors="out")]
    for twin in twins:
        graph = twin.mount(tmp_path / "g.gl")
        weights = twin.pair_weights(**options)
        # By degree, some pairs are too rare to be counted one by one.
        draws = 20 * int(weights.sum() / weights[weights > 0].min())
        pairs = graph.sample_negative_pairs(draws, seed=4, **options)
        counts = np.bincount(pairs[0] * 20 + pairs[1], minlength=400)
        assert_fits(counts, weights)


@pytest.mark.parametrize(
    ("weighting", "neighbors"),
    [("uniform", "in"), ("uniform", "out"), ("uniform", "both"), ("degree", "both")],
)
def test_distribution_of_pairs_where_trying_mostly_fails(weighting, neighbors, tmp_path):
    missing = {(3, 4), (3, 9), (11, 2), (20, 29)}
    edges = [(a, b) for a in range(30) for b in range(30) if a != b and (a, b) not in missing]
    edges += [(0, 4)] * 20 + [(11, 0)] * 50
    twin = EdgeTwin(30, tuple(edges), neighbors=neighbors)
    graph = twin.mount(tmp_path / "g.gl")
    sources, destinations = graph.sample_negative_pairs(5000, weighting=weighting, seed=5)
    weights = twin.pair_weights(weighting=weighting, strict=True, self_loops=False)
    assert np.count_nonzero(weights) == 4
    assert_fits(np.bincount(sources * 30 + destinations, minlength=900), weights)


def test_a_biased_sampler_does_not_fit():
    """What one might write: where the draw is an edge, take the next node that is none."""
    twin = skewed_twin()
    weights = twin.weights(0, strict=True, self_loops=False)
    generator = np.random.default_rng(1)
    stepping = []
    for node in generator.integers(0, 20, DRAWS).tolist():
        chosen = node
        while weights[chosen] == 0:
            chosen = (chosen + 1) % 20
        stepping.append(chosen)
    assert not fits(counts_of(stepping, 20), weights)
    # Nor does a node that may never be drawn, even once; what is fair does.
    fair = generator.choice(20, DRAWS, p=weights / weights.sum())
    assert_fits(counts_of(fair, 20), weights)
    fair[0] = np.flatnonzero(weights == 0)[0]
    assert not fits(counts_of(fair, 20), weights)
    # And draws by another degree than that of the end in question.
    by_degree = twin.weights(0, weighting="degree")
    other = twin.weights(0, weighting="degree", corrupt="source")
    assert not fits(np.round(other / other.sum() * DRAWS), by_degree)
