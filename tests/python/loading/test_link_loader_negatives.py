"""Negatives of loaders of links: every way to ask for them, what they depend on, their weights."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from link_twin import edges_of, make_link_graph
from loader_data import same

import graphmount as gm
from graphmount import errors


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return make_link_graph(tmp_path_factory.mktemp("links"))


@pytest.mark.parametrize("mode", ["binary", "triplet"])
def test_negatives_depend_on_seed_epoch_and_number_only(dataset, mode):
    links = edges_of(dataset.graph)[:, ::50]

    def run(**options):
        loader = gm.LinkNeighborLoader(
            dataset,
            [3, 2],
            edge_label_index=links,
            ids="internal",
            neg_sampling=mode,
            batch_size=64,
            shuffle=True,
            **({"seed": 4} | options),
        )
        return [list(loader), list(loader)]

    def ends(batch):
        if mode == "binary":
            return batch.nodes[batch.edge_label_index]
        return batch.nodes[batch.dst_neg_index]

    expected = run()
    before = gm.num_threads()
    try:
        for threads, options in ((1, {"window": 1, "memory": 0}), (3, {"window": 63})):
            gm.set_num_threads(threads)
            for epoch, found in zip(expected, run(**options), strict=True):
                assert all(map(same, found, epoch))
                for one, other in zip(found, epoch, strict=True):
                    np.testing.assert_array_equal(ends(one), ends(other))
    finally:
        gm.set_num_threads(before)
    assert not np.array_equal(ends(expected[0][0]), ends(expected[1][0]))
    assert not np.array_equal(ends(expected[0][0]), ends(run(seed=5)[0][0]))


def test_every_way_to_ask_for_negatives(small):
    ours = gm.LinkNegatives("triplet", 2)
    theirs = SimpleNamespace(mode=SimpleNamespace(value="triplet"), amount=2)
    ways = [ours, theirs, ("triplet", 2), ["triplet", 2.0], {"mode": "triplet", "amount": 2}]
    expected = None
    for way in ways:
        (batch,) = gm.LinkNeighborLoader(small, [1], neg_sampling=way, batch_size=1000, seed=1)
        negatives = batch.nodes[batch.dst_neg_index]
        assert negatives.shape == (small.num_edges, 2)
        expected = negatives if expected is None else expected
        np.testing.assert_array_equal(negatives, expected)


def test_where_every_node_is_reached_any_may_come(small):
    links = np.array([[7] * 200, [0] * 200])
    (batch,) = gm.LinkNeighborLoader(
        small, [], edge_label_index=links, neg_sampling="triplet", batch_size=200, seed=1
    )
    assert len(np.unique(batch.nodes[batch.dst_neg_index])) > 20


def test_negatives_by_weights_of_nodes(small):
    weights = np.arange(30.0) ** 2
    weights[10:20] = 0
    links = np.array([[3] * 3000, [4] * 3000])
    edges = set(map(tuple, edges_of(small).T.tolist()))
    for strict in (False, True):
        may_stay = [
            node for node in range(30) if not strict or (node != 3 and (3, node) not in edges)
        ]
        expected = np.zeros(30)
        expected[may_stay] = weights[may_stay] / weights[may_stay].sum()
        negatives = gm.LinkNegatives("triplet", 2, strict=strict, dst_weight=weights)
        (batch,) = gm.LinkNeighborLoader(
            small, [], edge_label_index=links, neg_sampling=negatives, batch_size=3000, seed=1
        )
        drawn = np.bincount(batch.nodes[batch.dst_neg_index].ravel(), minlength=30) / 6000
        assert np.abs(drawn - expected).max() < 0.03
        assert not drawn[expected == 0].any()
    for ends in ({"src_weight": weights}, {"dst_weight": weights}):
        negatives = gm.LinkNegatives("binary", **ends)
        (batch,) = gm.LinkNeighborLoader(
            small, [], edge_label_index=links, neg_sampling=negatives, batch_size=3000, seed=1
        )
        sources, destinations = batch.nodes[batch.edge_label_index][:, 3000:]
        assert not small.has_edge(sources, destinations).any()
        by_weight, evenly = sources, destinations
        if "dst_weight" in ends:
            by_weight, evenly = destinations, sources
        assert set(by_weight) <= set(np.flatnonzero(weights))
        assert len(np.unique(evenly)) >= 28


def test_weights_where_every_node_is_reached(small):
    links = np.array([[7] * 50, [0] * 50])
    weights = np.zeros(30)
    weights[[4, 9]] = 1
    negatives = gm.LinkNegatives("triplet", dst_weight=weights)
    (batch,) = gm.LinkNeighborLoader(
        small, [], edge_label_index=links, neg_sampling=negatives, batch_size=50, seed=1
    )
    assert set(batch.nodes[batch.dst_neg_index].ravel()) == {4, 9}


def test_negatives_that_may_be_edges(tmp_path):
    gm.compile_graph(([0, 0, 1], [1, 2, 2]), tmp_path / "in.gl", neighbors="in")
    graph = gm.Graph(tmp_path / "in.gl")
    with pytest.raises(errors.MissingDataError, match=r"strict=False") as caught:
        gm.LinkNeighborLoader(graph, [1], neg_sampling="triplet")
    assert caught.value.path == graph.path
    assert len(list(gm.LinkNeighborLoader(graph, [1], neg_sampling="binary"))) == 3
    loose = gm.LinkNegatives("triplet", 50, strict=False)
    for batch in gm.LinkNeighborLoader(graph, [1], neg_sampling=loose):
        assert set(batch.nodes[batch.dst_neg_index[0]]) == {0, 1, 2}
