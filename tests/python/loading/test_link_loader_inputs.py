"""What loaders of links take: links, labels and options; and what they refuse."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from link_twin import edges_of, make_link_graph
from loader_data import NUM_NODES

import graphmount as gm
from graphmount import errors


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return make_link_graph(tmp_path_factory.mktemp("links"))


def test_all_edges_are_the_links_by_default(small, tmp_path):
    (batch,) = gm.LinkNeighborLoader(small, [], batch_size=1000)
    np.testing.assert_array_equal(batch.nodes[batch.edge_label_index], edges_of(small))
    gm.compile_graph(([0, 0, 2], [1, 2, 1]), tmp_path / "out.gl", neighbors="out")
    graph = gm.Graph(tmp_path / "out.gl")
    (batch,) = gm.LinkNeighborLoader(graph, [-1], direction="out", batch_size=10)
    assert batch.nodes[batch.edge_label_index].tolist() == [[0, 0, 2], [1, 2, 1]]


def test_labels(small):
    links = edges_of(small)[:, :10]
    options = {"edge_label_index": links, "batch_size": 10}

    def label(**more):
        (batch,) = gm.LinkNeighborLoader(small, [1], **options, **more)
        return batch.edge_label

    assert label() is None
    assert label(edge_label=np.arange(10)).tolist() == list(range(10))
    zero = label(edge_label=np.arange(10, dtype=np.int8), neg_sampling="binary")
    assert zero.dtype == np.int8
    assert zero.tolist() == [*range(1, 11), *[0] * 10]
    one = label(edge_label=np.arange(1, 11), neg_sampling="binary")
    assert one.tolist() == [*range(1, 11), *[0] * 10]
    masks = label(edge_label=np.arange(10) > 4, neg_sampling="binary")
    assert masks.tolist() == [1] * 5 + [2] * 5 + [0] * 10
    plain = label(neg_sampling_ratio=0.5)
    assert plain.dtype == np.float32
    assert plain.tolist() == [1] * 10 + [0] * 5
    several = label(edge_label=np.ones((10, 3), np.float32), neg_sampling_ratio=1)
    assert several.shape == (20, 3)
    assert several.sum() == 30


def test_node_ids_out_of_a_dataset(loader_folder):
    dataset = gm.Dataset(loader_folder / "given")
    loader = gm.LinkNeighborLoader(dataset, [2], edge_label_index=[[NUM_NODES - 1], [0]])
    (batch,) = loader
    assert "LinkBatch 0 of epoch 0: 2 seeds" in repr(batch)
    assert "LinkNeighborLoader of" in repr(loader)
    assert set(batch.external_ids[:2]) == {0, NUM_NODES - 1}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"edge_label_index": [[0], [30]]}, errors.IdError, "edge_label_index.1, 0. is 30"),
        ({"edge_label_index": [[-1], [3]]}, errors.IdError, "edge_label_index.0, 0. is -1"),
        ({"edge_label_index": [[0.5], [3]]}, TypeError, "sources. must be integers"),
        ({"edge_label_index": [[0, 1], [3]]}, ValueError, "2 sources for 1 destinations"),
        ({"edge_label_index": np.zeros((3, 2), int)}, ValueError, "shape .3, 2."),
        ({"edge_label_index": np.zeros(3, int)}, ValueError, "shape .3,."),
        ({"edge_label": [1, 2]}, ValueError, r"shape \(2,\) for 150 links"),
        ({"edge_label_time": [1, 2]}, ValueError, "2 times for 150 links"),
        ({"neg_sampling": "other"}, ValueError, "mode='other'"),
        ({"neg_sampling": 3}, TypeError, "neg_sampling must be"),
        ({"neg_sampling": ("binary", 0)}, ValueError, "amount must be"),
        ({"neg_sampling": ("binary", float("inf"))}, ValueError, "amount must be"),
        ({"neg_sampling": ("triplet", 1.5)}, ValueError, "whole for triplets"),
        ({"neg_sampling": "binary", "neg_sampling_ratio": 1}, ValueError, "give one"),
        (
            {"neg_sampling": "triplet", "edge_label": np.zeros(150)},
            ValueError,
            "do not go together",
        ),
        (
            {"neg_sampling": SimpleNamespace(mode="binary", amount=1, src_weight=[1, 2])},
            ValueError,
            "src_weight has 2 weights for 30 nodes",
        ),
        (
            {"neg_sampling": {"mode": "triplet", "dst_weight": [-1.0] * 30}},
            ValueError,
            "the weight of node 0 is -1",
        ),
        (
            {"neg_sampling": {"mode": "triplet", "dst_weight": np.zeros(30)}},
            ValueError,
            "no node to draw",
        ),
        (
            {"neg_sampling": {"mode": "triplet", "dst_weight": np.ones((30, 1))}},
            ValueError,
            "one weight for each node",
        ),
        (
            {"neg_sampling": {"mode": "binary", "weighting": "degree", "src_weight": [1]}},
            ValueError,
            "two ways to draw",
        ),
        ({"batch_size": 0}, ValueError, "batch_size must be at least 1"),
        ({"num_neighbors": [-2]}, ValueError, "num_neighbors.0."),
    ],
    ids=str,
)
def test_refusals(small, options, error, message):
    with pytest.raises(error, match=message):
        gm.LinkNeighborLoader(small, **({"num_neighbors": [2]} | options))


def test_labels_that_cannot_go_up_are_refused(dataset):
    """The largest label would become the smallest, or the 0 of negatives."""
    options = {"edge_label_index": [[0, 1], [2, 3]], "ids": "external"}
    for dtype in (np.int8, np.uint8, np.int64):
        labels = np.array([0, np.iinfo(dtype).max], dtype)
        with pytest.raises(ValueError, match="give labels of a wider dtype"):
            gm.LinkNeighborLoader(dataset, [1], **options, edge_label=labels, neg_sampling="binary")
        gm.LinkNeighborLoader(dataset, [1], **options, edge_label=labels)
    with pytest.raises(TypeError, match="edge_label must be numbers, not <U1"):
        gm.LinkNeighborLoader(dataset, [1], **options, edge_label=["a", "b"])
