"""Graph.has_edge against a set of edges."""

from __future__ import annotations

import re

import numpy as np
import pytest
from edge_twin import EdgeTwin, edge_twins
from hypothesis import given

import graphmount as gm


@pytest.fixture
def small(tmp_path):
    gm.compile_graph(([0, 0, 1], [1, 2, 2]), tmp_path / "g.gl", num_nodes=4)
    return gm.Graph(tmp_path / "g.gl")


@given(twin=edge_twins())
def test_all_pairs_of_all_kinds_of_graphs(twin, tmp_path):
    graph = twin.mount(tmp_path / "g.gl")
    sources, destinations = np.divmod(np.arange(twin.num_nodes**2), max(1, twin.num_nodes))
    edges = set(twin.entries())
    found = graph.has_edge(sources, destinations)
    assert found.dtype == np.bool_
    assert found.tolist() == [
        pair in edges for pair in zip(sources.tolist(), destinations.tolist(), strict=True)
    ]


@pytest.mark.parametrize("neighbors", ["in", "out", "both"])
@pytest.mark.parametrize("temporal", [False, True])
def test_long_lists(neighbors, temporal, tmp_path):
    generator = np.random.default_rng(4)
    hub_edges = [(0, int(node)) for node in generator.integers(0, 3000, 2000)]
    others = [tuple(edge) for edge in generator.integers(0, 3000, (5000, 2)).tolist()]
    twin = EdgeTwin(3000, (*hub_edges, *others), neighbors=neighbors, temporal=temporal)
    graph = twin.mount(tmp_path / "g.gl")
    edges = set(twin.edges)
    sources = np.concatenate([np.zeros(3000, np.int64), [a for a, _ in others]])
    destinations = np.concatenate([np.arange(3000), [b for _, b in others]])
    expected = [pair in edges for pair in zip(sources.tolist(), destinations.tolist(), strict=True)]
    assert graph.has_edge(sources, destinations).tolist() == expected
    assert not graph.has_edge(sources, destinations)[:3000].all()


@pytest.mark.parametrize("count", [1, 2, 7])
def test_any_number_of_threads(count, small):
    sources, destinations = np.random.default_rng(1).integers(0, 4, (2, 20_000))
    expected = (sources < destinations) & (destinations < 3)
    before = gm.num_threads()
    try:
        gm.set_num_threads(count)
        assert np.array_equal(small.has_edge(sources, destinations), expected)
    finally:
        gm.set_num_threads(before)


@pytest.mark.parametrize(
    ("sources", "destinations", "error", "message"),
    [
        ([4], [0], gm.errors.IdError, "source 4 (at position 0) does not exist"),
        ([0, 0], [1, -1], gm.errors.IdError, "destination -1 (at position 1) does not exist"),
        ([2**63], [0], gm.errors.IdError, "sources[0] is 9223372036854775808"),
        ([0.0], [0], TypeError, "sources must be integers, not float64"),
        ([0], [True], TypeError, "destinations must be integers, not bool"),
        ([0], [[0]], ValueError, "destinations must be one-dimensional, not of shape (1, 1)"),
        (0, [1], ValueError, "sources must be one-dimensional, not of shape ()"),
        ([0, 1], [0], ValueError, "there are 2 sources and 1 destinations"),
    ],
)
def test_bad_pairs(sources, destinations, error, message, small):
    with pytest.raises(error, match=re.escape(message)):
        small.has_edge(sources, destinations)


def test_nothing_asked_for(small, tmp_path):
    assert small.has_edge([], []).shape == (0,)
    gm.compile_graph(([], []), tmp_path / "none.gl", num_nodes=0)
    none = gm.Graph(tmp_path / "none.gl")
    assert none.has_edge([], []).dtype == np.bool_
    with pytest.raises(gm.errors.IdError, match="there are no sources"):
        none.has_edge([0], [0])


def test_closed(small):
    small.close()
    with pytest.raises(gm.errors.ClosedError):
        small.has_edge([0], [1])
