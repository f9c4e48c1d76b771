"""batch_random_fanout: its rows against the lists, padding, arguments, independence."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sampled_graphs import graphs

import graphmount as gm
from graphmount import errors


@given(graphs(), st.data())
def test_rows_are_drawn_from_the_lists(tmp_path_factory, graph, data):
    edges, options = graph
    path = tmp_path_factory.mktemp("graph") / "g.gl"
    gm.compile_graph(edges, path, **options)
    g = gm.Graph(path, reads=data.draw(st.sampled_from(["batch", "fault"])))
    nodes = data.draw(st.lists(st.integers(0, g.num_nodes - 1), max_size=10))
    k = data.draw(st.integers(0, 20))
    replace = data.draw(st.booleans())
    weighted = g.has_weights and data.draw(st.booleans())
    pad = data.draw(st.sampled_from(["repeat", -1]))
    direction = data.draw(st.sampled_from(["in", "out"]))
    rows = g.batch_random_fanout(
        nodes, k, replace=replace, weighted=weighted, pad=pad, direction=direction, seed=1
    )
    assert rows.shape == (len(nodes), k)
    assert rows.dtype == np.int64
    lists = g.neighbor_lists(direction)
    for node, row in zip(nodes, rows.tolist(), strict=True):
        place = slice(lists.indptr[node], lists.indptr[node + 1])
        neighbors = lists.indices[place]
        if weighted:
            neighbors = neighbors[lists.weights[place] > 0]
        check_row(node, row, neighbors.tolist(), replace=replace, pad=pad)


def check_row(node, row, neighbors, *, replace, pad):
    k = len(row)
    if not neighbors:
        assert row == [node if pad == "repeat" else -1] * k
    elif replace:
        assert set(row) <= set(neighbors)
    elif len(neighbors) >= k:
        assert not Counter(row) - Counter(neighbors)
    elif pad == -1:
        assert Counter(row) == Counter(neighbors) + Counter({-1: k - len(neighbors)})
        assert row[len(neighbors) :] == [-1] * (k - len(neighbors))
    else:
        times, rest = divmod(k, len(neighbors))
        evenly = Counter({key: count * times for key, count in Counter(neighbors).items()})
        assert not evenly - Counter(row)
        remainder = Counter(row) - evenly
        assert remainder.total() == rest
        assert not remainder - Counter(neighbors)


@pytest.mark.parametrize("options", [{}, {"replace": True}, {"weighted": True}], ids=str)
def test_rows_depend_on_seed_and_place_only(large, options):
    nodes = np.random.default_rng(2).integers(0, 20_000, 5000)
    before = gm.num_threads()
    results = []
    try:
        for threads in (1, 2, 7):
            gm.set_num_threads(threads)
            for reads in ("batch", "fault"):
                g = gm.Graph(large, reads=reads)
                results.append(g.batch_random_fanout(nodes, 15, seed=3, **options))
    finally:
        gm.set_num_threads(before)
    for rows in results[1:]:
        np.testing.assert_array_equal(rows, results[0])
    g = gm.Graph(large)
    np.testing.assert_array_equal(
        g.batch_random_fanout(nodes[:77], 15, seed=3, **options), results[0][:77]
    )
    assert (g.batch_random_fanout(nodes, 15, seed=4, **options) != results[0]).any()


def test_rows_do_not_change_when_others_are_made(large):
    g = gm.Graph(large)
    kept = g.batch_random_fanout([1, 2, 3], 5, seed=1)
    view, copy = kept[1:], kept.copy()
    del kept
    for seed in range(20):
        g.batch_random_fanout([1, 2, 3], 5, seed=seed)
    np.testing.assert_array_equal(view, copy[1:])


@pytest.mark.parametrize(
    ("call", "options", "error", "message"),
    [
        (([50], 1), {}, errors.IdError, "node 50"),
        (([-1], 1), {}, errors.IdError, "node -1"),
        (([0.0], 1), {}, TypeError, "nodes must be integers"),
        (([[0]], 1), {}, ValueError, "nodes must be one-dimensional"),
        (([0], -1), {}, ValueError, "k must be at least 0"),
        (([0], 1.0), {}, TypeError, "k must be one integer"),
        (([0], 2**62), {}, (errors.BudgetError, MemoryError), None),
        (([0], 2**55), {}, (errors.BudgetError, MemoryError), None),
        (([0], 1), {"pad": 0}, ValueError, "pad=0"),
        (([0], 1), {"pad": "none"}, ValueError, "pad='none'"),
        (([0], 1), {"direction": "both"}, ValueError, "direction='both'"),
        (([0], 1), {"weighted": "yes"}, ValueError, "weighted='yes'"),
    ],
    ids=str,
)
def test_refusals(graph_path, call, options, error, message):
    with pytest.raises(error, match=message):
        gm.Graph(graph_path).batch_random_fanout(*call, **options)


def test_a_file_that_lacks_what_is_asked_for(tmp_path):
    gm.compile_graph(([0], [1]), tmp_path / "in.gl", neighbors="in")
    g = gm.Graph(tmp_path / "in.gl")
    with pytest.raises(errors.MissingDataError, match="neighbors='out'"):
        g.batch_random_fanout([0], 1, direction="out")
    with pytest.raises(errors.MissingDataError, match="no weights"):
        g.batch_random_fanout([0], 1, weighted=True)


def test_all_weights_zero_is_as_no_neighbors(tmp_path):
    gm.compile_graph(([0, 1], [2, 2]), tmp_path / "g.gl", weights=[0.0, 0.0])
    g = gm.Graph(tmp_path / "g.gl")
    for replace in (False, True):
        assert g.batch_random_fanout([2], 2, weighted=True, replace=replace).tolist() == [[2, 2]]
    assert g.sample_neighbors([2], [-1], weighted=True).num_edges == 0
