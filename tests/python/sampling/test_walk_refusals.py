"""Walks with bad input, on damaged files, and on graphs with nothing in them."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest
from forge import Forgery

import graphmount as gm


def test_graphs_without_edges_or_nodes(tmp_path):
    gm.compile_graph(([], []), tmp_path / "g.gl", num_nodes=3)
    graph = gm.Graph(tmp_path / "g.gl")
    assert graph.random_walk([0, 2], 2, q=2).tolist() == [[0, 0, 0], [2, 2, 2]]
    options = {"window": 1, "dead_end": "stay", "negatives": 1}
    assert len(graph.skip_gram_pairs([1], 2, **options).negatives) == 4
    with pytest.raises(ValueError, match="the graph has no edges; draw them uniformly"):
        graph.skip_gram_pairs([1], 2, **options, negative_weighting="degree")
    gm.compile_graph(([], []), tmp_path / "none.gl", num_nodes=0)
    none = gm.Graph(tmp_path / "none.gl")
    assert none.random_walk([], 4).shape == (0, 5)
    assert none.visit_counts([], 1, length=4).indptr.tolist() == [0]
    with pytest.raises(gm.errors.IdError, match="there are no nodes"):
        none.random_walk([0], 4)


@pytest.mark.parametrize(
    ("starts", "length", "options", "error", "message"),
    [
        ([17], 1, {}, gm.errors.IdError, "node 17 (at position 0) does not exist"),
        ([0, -1], 1, {}, gm.errors.IdError, "node -1 (at position 1) does not exist"),
        ([2**63], 1, {}, gm.errors.IdError, "starts[0] is 9223372036854775808"),
        ([0.5], 1, {}, TypeError, "starts must be integers"),
        ([True], 1, {}, TypeError, "numpy.flatnonzero"),
        ([[0]], 1, {}, ValueError, "starts must be one-dimensional"),
        (0, 1, {}, ValueError, "starts must be one-dimensional"),
        ([0], -1, {}, ValueError, "length must be at least 0"),
        ([0], 1.0, {}, TypeError, "length must be one integer"),
        ([0], 2**31, {}, ValueError, "length must be at most 2147483647"),
        ([0], 2**63 - 1, {}, ValueError, "length must be at most 2147483647"),
        ([0], 2**64, {}, ValueError, "length must be at least 0"),
        *(
            ([0], 1, {name: value}, ValueError, f"{name} must be positive and finite, not ")
            for name in ("p", "q")
            for value in (0, 0.0, -1, float("nan"), float("inf"), 1e-320)
        ),
        ([0], 1, {"p": "1"}, TypeError, "p must be a number, not '1'"),
        ([0], 1, {"q": None}, TypeError, "q must be a number, not None"),
        ([0], 1, {"restart": -0.1}, ValueError, "restart is a probability, from 0 to 1, not -0.1"),
        ([0], 1, {"restart": 1.1}, ValueError, "restart is a probability"),
        ([0], 1, {"restart": float("nan")}, ValueError, "restart is a probability"),
        ([0], 1, {"weighted": True}, gm.errors.MissingDataError, "the edges have no weights"),
        ([0], 1, {"weighted": 1}, ValueError, "weighted=1; choose one of"),
        ([0], 1, {"dead_end": "stop"}, ValueError, "dead_end='stop'; choose one of 'stay', 'end'"),
        ([0], 1, {"direction": "up"}, ValueError, "direction='up'"),
        ([0], 1, {"seed": -1}, ValueError, "seed must be at least 0"),
        ([0], 1, {"seed": "x"}, TypeError, "seed must be one integer"),
    ],
)
def test_refusals(starts, length, options, error, message, walk_graphs):  # noqa: PLR0917
    graph = walk_graphs["directed"]
    calls = (
        lambda: graph.random_walk(starts, length, **options),
        lambda: graph.skip_gram_pairs(starts, length, window=2, **options),
        lambda: graph.visit_counts(starts, 2, length=length, **options),
    )
    for call in calls:
        with pytest.raises(error, match=re.escape(message)):
            call()


def test_refusals_of_one_call(walk_graphs):
    graph = walk_graphs["directed"]
    for window in (0, -1, 2**64):
        with pytest.raises(ValueError, match="window must be at least 1"):
            graph.skip_gram_pairs([0], 3, window=window)
    with pytest.raises(ValueError, match="negatives must be at least 0"):
        graph.skip_gram_pairs([0], 3, window=1, negatives=-1)
    with pytest.raises(ValueError, match="negative_weighting='log'; choose one of"):
        graph.skip_gram_pairs([0], 3, window=1, negative_weighting="log")
    with pytest.raises(ValueError, match="num_walks must be at least 1"):
        graph.visit_counts([0], 0, length=3)
    with pytest.raises(ValueError, match="top must be at least 1"):
        graph.visit_counts([0], 1, length=3, top=0)


def test_more_than_memory_holds(walk_graphs):
    graph = walk_graphs["undirected"]
    starts = np.zeros(10**6, np.int64)
    with pytest.raises(gm.errors.BudgetError, match="1000000 walks of length 2147483647 take 1717"):
        graph.random_walk(starts, 2**31 - 1)
    with pytest.raises(gm.errors.BudgetError, match="pairs with their negatives take more than 2"):
        graph.skip_gram_pairs([0], 100, window=5, negatives=2**62)


def test_missing_directions(tmp_path):
    gm.compile_graph(([0, 1], [1, 2]), tmp_path / "g.gl", neighbors="in")
    graph = gm.Graph(tmp_path / "g.gl")
    assert graph.random_walk([2], 2, direction="in").tolist() == [[2, 1, 0]]
    with pytest.raises(gm.errors.MissingDataError, match="no neighbor lists for direction='out'"):
        graph.random_walk([2], 2)


def test_closed(graph_path):
    graph = gm.Graph(graph_path)
    graph.close()
    for call in (
        lambda: graph.random_walk([0], 1),
        lambda: graph.skip_gram_pairs([0], 1, window=1),
        lambda: graph.visit_counts([0], 1, length=1),
    ):
        with pytest.raises(gm.errors.ClosedError):
            call()


@pytest.mark.parametrize(
    "options", [{}, {"q": 0.5}, {"weighted": True}, {"p": 0.5, "weighted": True}]
)
@pytest.mark.parametrize(
    ("kind", "item", "value", "message"),
    [
        ("indptr", 20, 2**40, "goes from"),
        ("indptr", 20, -1, "goes from"),
        ("indices", 5, 50, "the neighbor at position 5"),
        ("indices", 5, -1, "the neighbor at position 5"),
        ("alias", 5, 49, "has at position 5 the alias 49, which is beyond the list"),
    ],
)
def test_damaged_files(kind, item, value, message, options, graph_path):  # noqa: PLR0917
    if kind == "alias" and not options.get("weighted"):
        return
    forgery = Forgery(graph_path)
    forgery.set_item(forgery.find(kind, 2), item, value)
    graph = gm.Graph(forgery.save())
    starts = np.arange(50).repeat(100)
    calls = (
        lambda: graph.random_walk(starts, 3, **options),
        lambda: graph.skip_gram_pairs(starts, 3, window=1, **options),
        lambda: graph.visit_counts(starts, 2, length=3, **options),
    )
    for call in calls:
        with pytest.raises(gm.errors.FormatError, match=message):
            call()


def test_any_damaged_lists(graph_path, campaign):
    """Whatever the lists hold, a call gives nodes or a FormatError."""
    generator = np.random.default_rng(15)
    good = graph_path.read_bytes()
    for _ in range(campaign(40, 2000)):
        graph_path.write_bytes(good)
        forgery = Forgery(graph_path)
        for kind in ("indptr", "indices", "alias", "weights"):
            number = forgery.find(kind, 2)
            offset, size = forgery.section(number, "offset"), forgery.section(number, "bytes")
            for place in generator.integers(0, size, generator.integers(0, 3)).tolist():
                forgery.data[offset + place] = generator.integers(0, 256)
        graph = gm.Graph(forgery.save())
        for options in ({}, {"q": 0.3, "p": 4}, {"weighted": True}, {"q": 4, "weighted": True}):
            try:
                walks = graph.random_walk(np.arange(50).repeat(4), 8, **options)
            except gm.errors.FormatError:
                continue
            assert ((walks >= 0) & (walks < 50)).all()


def test_results_are_frozen():
    for result in (gm.SkipGramPairs, gm.VisitCounts):
        assert result.__dataclass_params__.frozen


@pytest.mark.parametrize(
    "method", [gm.Graph.random_walk, gm.Graph.skip_gram_pairs, gm.Graph.visit_counts]
)
def test_keyword_only_after_two(method):
    kinds = [parameter.kind for parameter in inspect.signature(method).parameters.values()]
    assert kinds.count(inspect.Parameter.POSITIONAL_OR_KEYWORD) == 3  # self and two
