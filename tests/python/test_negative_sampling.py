"""Negatives against a slow twin: which may be drawn, and how often each one is."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from chi_squared import assert_fits, fits
from edge_twin import EdgeTwin, edge_twins
from hypothesis import given
from hypothesis import strategies as st

import graphmount as gm

DRAWS = 40_000


def skewed_twin(**options):
    """20 nodes, half of all edges at few of them, with repeated edges and loops."""
    generator = np.random.default_rng(8)
    edges = (generator.random((90, 2)) ** 2 * 18).astype(int)
    return EdgeTwin(20, tuple(map(tuple, edges.tolist())), **options)


def crowded_twin(**options):
    """Node 0 has edges to all but three of 400 nodes: trying finds one of these rarely."""
    edges = [(0, node) for node in range(400) if node not in (17, 250, 399)]
    edges += [(5, 17), (6, 17), (7, 399), (8, 0), (8, 0), (9, 250), (0, 30)]
    return EdgeTwin(400, tuple(edges), **options)


def counts_of(negatives, num_nodes):
    return np.bincount(np.ravel(negatives), minlength=num_nodes)


options_of_rows = st.fixed_dictionaries(
    {
        "weighting": st.sampled_from(["uniform", "degree"]),
        "strict": st.booleans(),
        "self_loops": st.booleans(),
        "corrupt": st.sampled_from(["destination", "source"]),
    }
)


def lacks_lists(twin, *, weighting, strict, self_loops, corrupt):
    if not twin.directed or twin.neighbors == "both":
        return False
    needed = "out" if corrupt == "destination" else "in"
    if weighting == "degree" and (strict or not self_loops):
        return True
    return (weighting == "degree" or strict) and twin.neighbors != needed


@given(twin=edge_twins(least_nodes=1), options=options_of_rows, seed=st.integers(0, 2**64 - 1))
def test_rows_hold_what_may_be_drawn(twin, options, seed, tmp_path):
    graph = twin.mount(tmp_path / "g.gl")
    kept = np.arange(twin.num_nodes)
    if lacks_lists(twin, **options):
        with pytest.raises(gm.errors.MissingDataError, match="neighbors='both'"):
            graph.sample_negatives(kept, **options)
        return
    weights = [twin.weights(node, **options) for node in kept]
    negatives = graph.sample_negatives(kept, num=5, pad=-2, seed=seed, **options)
    assert negatives.dtype == np.int64
    assert negatives.shape == (twin.num_nodes, 5)
    for row, weight in zip(negatives, weights, strict=True):
        if weight.any():
            assert (row >= 0).all()
            assert (weight[row] > 0).all()
        else:
            assert (row == -2).all()
    if not all(weight.any() for weight in weights):
        with pytest.raises(gm.errors.MissingDataError, match="pad=-1"):
            graph.sample_negatives(kept, seed=seed, **options)


@given(twin=edge_twins(least_nodes=1), options=options_of_rows, seed=st.integers(0, 2**64 - 1))
def test_pairs_are_what_may_be_drawn(twin, options, seed, tmp_path):
    graph = twin.mount(tmp_path / "g.gl")
    options = {name: value for name, value in options.items() if name != "corrupt"}
    if twin.directed and twin.neighbors != "both" and options["weighting"] == "degree":
        with pytest.raises(gm.errors.MissingDataError, match="neighbors='both'"):
            graph.sample_negative_pairs(3, **options)
        return
    weights = twin.pair_weights(**options)
    sources, destinations = graph.sample_negative_pairs(20, pad=-1, seed=seed, **options)
    if weights.any():
        assert (sources >= 0).all()
        assert (weights[sources, destinations] > 0).all()
    else:
        assert (sources == -1).all()
        assert (destinations == -1).all()
        with pytest.raises(gm.errors.MissingDataError, match="pad=-1"):
            graph.sample_negative_pairs(1, seed=seed, **options)


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


@pytest.fixture
def graph(tmp_path):
    return skewed_twin().mount(tmp_path / "skewed.gl")


@pytest.mark.parametrize("weighting", ["uniform", "degree"])
@pytest.mark.parametrize("strict", [False, True])
def test_results_depend_on_seed_and_position_only(weighting, strict, graph):
    kept = np.random.default_rng(2).integers(0, 20, 5000)
    options = {"weighting": weighting, "strict": strict}
    whole = graph.sample_negatives(kept, num=3, seed=(9, 1), **options)
    pairs = graph.sample_negative_pairs(5000, seed=(9, 1), **options)
    before = gm.num_threads()
    try:
        for count in (1, 2, 7):
            gm.set_num_threads(count)
            again = graph.sample_negatives(kept, num=3, seed=(9, 1), **options)
            assert np.array_equal(again, whole)
            again = graph.sample_negative_pairs(5000, seed=(9, 1), **options)
            assert np.array_equal(again, pairs)
    finally:
        gm.set_num_threads(before)
    for rows in (1, 2, 129, 4999):
        part = graph.sample_negatives(kept[:rows], num=3, seed=(9, 1), **options)
        assert np.array_equal(part, whole[:rows])
        part = graph.sample_negative_pairs(rows, seed=(9, 1), **options)
        assert np.array_equal(part, pairs[:, :rows])
    fewer = graph.sample_negatives(kept, num=2, seed=(9, 1), **options)
    assert np.array_equal(fewer, whole[:, :2])
    other = graph.sample_negatives(kept, num=3, seed=(9, 2), **options)
    assert np.mean(other == whole) < 0.5


def test_defaults(graph):
    kept = np.repeat(np.arange(20), 50)
    strict = graph.sample_negatives(kept, num=20, strict=True)
    assert not graph.has_edge(np.repeat(kept, 20), strict.ravel()).any()
    assert not (strict == kept[:, None]).any()
    loose = graph.sample_negatives(kept, num=20)
    assert graph.has_edge(np.repeat(kept, 20), loose.ravel()).any()
    assert (loose == kept[:, None]).any()
    assert graph.sample_negatives([3]).shape == (1, 1)
    pairs = graph.sample_negative_pairs(3000)
    assert not graph.has_edge(*pairs).any()
    assert (pairs[0] != pairs[1]).all()


def test_nothing_asked_for(graph):
    assert graph.sample_negatives([], num=4).shape == (0, 4)
    assert graph.sample_negatives([1, 2], num=0, strict=True).shape == (2, 0)
    assert graph.sample_negative_pairs(0).shape == (2, 0)


def test_graphs_with_nothing_to_draw(tmp_path):
    none = EdgeTwin(0, ()).mount(tmp_path / "none.gl")
    assert none.sample_negatives([], num=2, strict=True).shape == (0, 2)
    with pytest.raises(gm.errors.IdError, match="there are no nodes"):
        none.sample_negatives([0])
    with pytest.raises(gm.errors.MissingDataError, match="has no nodes to draw; pad=-1"):
        none.sample_negative_pairs(1)
    assert none.sample_negative_pairs(2, pad=-5).tolist() == [[-5, -5], [-5, -5]]
    lonely = EdgeTwin(3, ()).mount(tmp_path / "lonely.gl")
    with pytest.raises(gm.errors.MissingDataError, match="no edges, so weighting='degree'"):
        lonely.sample_negatives([0], weighting="degree")
    assert sorted(set(lonely.sample_negatives([0], num=99, strict=True)[0].tolist())) == [1, 2]


def test_a_node_without_negatives_is_named(tmp_path):
    star = EdgeTwin(5, tuple((2, node) for node in range(5) if node != 2))
    graph = star.mount(tmp_path / "star.gl")
    message = "node 2 (at position 1) has no negative: "
    with pytest.raises(gm.errors.MissingDataError, match=re.escape(message)) as caught:
        graph.sample_negatives([0, 2, 2], strict=True)
    assert caught.value.path == graph.path
    padded = graph.sample_negatives([0, 2], num=2, strict=True, pad=-1)
    assert padded[1].tolist() == [-1, -1]
    assert (padded[0] >= 0).all()
    assert graph.sample_negatives([2], strict=True, self_loops=True).tolist() == [[2]]


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ([[20]], {}, gm.errors.IdError, "node 20 (at position 0) does not exist"),
        ([[0, -1]], {}, gm.errors.IdError, "node -1 (at position 1)"),
        ([[0.5]], {}, TypeError, "kept must be integers"),
        ([[[0]]], {}, ValueError, "kept must be one-dimensional"),
        ([[0]], {"num": -1}, ValueError, "num must be at least 0"),
        ([[0]], {"num": 1.0}, TypeError, "num must be one integer"),
        ([[0]], {"corrupt": "both"}, ValueError, "corrupt='both'; choose one of 'destination'"),
        ([[0]], {"weighting": "pagerank"}, ValueError, "weighting='pagerank'; choose one of"),
        ([[0]], {"strict": 1}, ValueError, "strict=1; choose one of False, True"),
        ([[0]], {"self_loops": "no"}, ValueError, "self_loops='no'; choose one of None, False"),
        ([[0]], {"pad": 0}, ValueError, "pad=0 could be a node; give a number below 0"),
        ([[0]], {"pad": -1.0}, TypeError, "pad must be one integer"),
        ([[0]], {"seed": -1}, ValueError, "seed must be at least 0"),
        ([[0]], {"seed": ()}, ValueError, "seed has no parts"),
    ],
)
def test_bad_arguments(arguments, options, error, message, graph):
    with pytest.raises(error, match=re.escape(message)):
        graph.sample_negatives(*arguments, **options)
    if "kept" in message or error is gm.errors.IdError or "corrupt" in options:
        return
    with pytest.raises(error, match=re.escape(message)):
        graph.sample_negative_pairs(options.pop("num", 1), **options)


@pytest.mark.parametrize("num", [2**50, 2**62, 2**63 - 1])
def test_more_than_memory_holds(num, graph):
    with pytest.raises(MemoryError):
        graph.sample_negatives([0, 0], num=num)
    with pytest.raises(MemoryError):
        graph.sample_negative_pairs(num)
    if num > 2**60:
        with pytest.raises(MemoryError):
            graph.sample_negatives([], num=num)


@pytest.mark.parametrize(("kept", "corrupt"), [("in", "destination"), ("out", "source")])
def test_missing_direction_names_the_remedy(kept, corrupt, tmp_path):
    graph = skewed_twin(neighbors=kept).mount(tmp_path / "g.gl")
    needed = "out" if kept == "in" else "in"
    assert graph.sample_negatives([0], corrupt=corrupt).shape == (1, 1)
    for options in ({"strict": True}, {"weighting": "degree"}):
        with pytest.raises(gm.errors.MissingDataError, match=f"neighbors='{needed}'"):
            graph.sample_negatives([], corrupt=corrupt, **options)


def test_closed(graph):
    graph.close()
    for call in (lambda: graph.sample_negatives([0]), lambda: graph.sample_negative_pairs(1)):
        with pytest.raises(gm.errors.ClosedError):
            call()
