"""Negatives against a slow twin: which may be drawn, on what they depend, what is refused."""

from __future__ import annotations

import re

import numpy as np
import pytest
from edge_twin import EdgeTwin, edge_twins, rectangular_twin, skewed_twin
from hypothesis import given
from hypothesis import strategies as st

import graphmount as gm

options_of_rows = st.fixed_dictionaries(
    {
        "weighting": st.sampled_from(["uniform", "degree"]),
        "strict": st.booleans(),
        "self_loops": st.booleans(),
        "corrupt": st.sampled_from(["destination", "source"]),
    }
)


def lacks_lists(twin, *, weighting, strict, self_loops, corrupt):
    self_loops = self_loops or twin.num_sources is not None  # there are none to leave out
    if not twin.directed or twin.neighbors == "both":
        return False
    needed = "out" if corrupt == "destination" else "in"
    if weighting == "degree" and (strict or not self_loops):
        return True
    return (weighting == "degree" or strict) and twin.neighbors != needed


any_twins = edge_twins(least_nodes=1) | edge_twins(least_nodes=1, rectangular=True)


@given(twin=any_twins, options=options_of_rows, seed=st.integers(0, 2**64 - 1))
def test_rows_hold_what_may_be_drawn(twin, options, seed, tmp_path):
    graph = twin.mount(tmp_path / "g.gl")
    if options["corrupt"] == "destination":
        kept = np.arange(graph.num_sources)
    else:
        kept = np.arange(graph.num_destinations)
    if lacks_lists(twin, **options):
        with pytest.raises(gm.errors.MissingDataError, match="neighbors='both'"):
            graph.sample_negatives(kept, **options)
        return
    weights = [twin.weights(node, **options) for node in kept]
    negatives = graph.sample_negatives(kept, num=5, pad=-2, seed=seed, **options)
    assert negatives.dtype == np.int64
    assert negatives.shape == (len(kept), 5)
    for row, weight in zip(negatives, weights, strict=True):
        if weight.any():
            assert (row >= 0).all()
            assert (weight[row] > 0).all()
        else:
            assert (row == -2).all()
    if not all(weight.any() for weight in weights):
        with pytest.raises(gm.errors.MissingDataError, match="pad=-1"):
            graph.sample_negatives(kept, seed=seed, **options)


@given(twin=any_twins, options=options_of_rows, seed=st.integers(0, 2**64 - 1))
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


def test_ends_of_two_types(tmp_path):
    """Ids of the one type are no ids of the other, and equal numbers are not the same node."""
    twin = rectangular_twin()
    graph = twin.mount(tmp_path / "g.gl")
    for corrupt, num_kept, num_drawn in (("destination", 12, 20), ("source", 20, 12)):
        kept = np.arange(num_kept)
        drawn = graph.sample_negatives(kept, num=400, corrupt=corrupt, strict=True, pad=-1, seed=1)
        assert drawn.max() == num_drawn - 1
        assert (drawn == kept[:, None]).any()
        pairs = [np.repeat(kept, 400), drawn.ravel()]
        is_there = pairs[1] >= 0
        ends = [end[is_there] for end in (pairs if corrupt == "destination" else pairs[::-1])]
        assert not graph.has_edge(*ends).any()
        with pytest.raises(gm.errors.IdError, match=str(num_kept)):
            graph.sample_negatives([num_kept], corrupt=corrupt)
    sources, destinations = graph.sample_negative_pairs(4_000, seed=1)
    assert sources.max() == 11
    assert destinations.max() == 19
    assert (sources == destinations).any()
    assert not graph.has_edge(sources, destinations).any()


def test_types_without_nodes_have_no_negatives(tmp_path):
    graph = EdgeTwin(0, (), num_sources=3).mount(tmp_path / "g.gl")
    for options in ({}, {"strict": True}):
        with pytest.raises(gm.errors.MissingDataError, match="no nodes to draw; pad=-1"):
            graph.sample_negatives([1], **options)
        assert graph.sample_negatives([1], num=2, pad=-1, **options).tolist() == [[-1, -1]]
    with pytest.raises(gm.errors.MissingDataError, match="no nodes to draw"):
        graph.sample_negative_pairs(2)


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
