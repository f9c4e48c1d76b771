"""`graphmount.pyg.Node2Vec`: PyG's constructor and methods, over walks of a mounted graph."""

from __future__ import annotations

import gc
import os
import pickle
from pathlib import Path

import numpy as np
import pytest

import graphmount as gm

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

import graphmount.pyg  # noqa: E402

RING = torch.tensor([[0, 1, 2, 3, 4], [1, 2, 3, 4, 0]])


@pytest.fixture(scope="module")
def communities():
    """Two groups of 20 nodes with many edges inside and few between, and the group of each node."""
    generator = np.random.default_rng(3)
    group = np.repeat([0, 1], 20)
    nearness = np.where(group[:, None] == group[None, :], 0.5, 0.02)
    edges = np.argwhere(generator.random((40, 40)) < nearness)
    return torch.from_numpy(edges.T.copy()), torch.from_numpy(group)


def train(model, *, epochs=12):
    torch.manual_seed(0)
    model.reset_parameters()
    optimizer = torch.optim.SparseAdam(list(model.parameters()), lr=0.05)
    losses = []
    for _ in range(epochs):
        for pos_rw, neg_rw in model.loader(batch_size=20, shuffle=True):
            optimizer.zero_grad()
            loss = model.loss(pos_rw, neg_rw)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


def test_training_separates_communities(communities):
    edges, group = communities
    model = gm.pyg.Node2Vec(edges, 16, 10, 5, walks_per_node=5, p=0.5, q=2.0, sparse=True)
    losses = train(model)
    assert np.mean(losses[-3:]) < 0.8 * losses[0]
    z = model()
    pytest.importorskip("sklearn")
    is_train = torch.arange(40) % 2 == 0
    accuracy = model.test(z[is_train], group[is_train], z[~is_train], group[~is_train], max_iter=99)
    assert accuracy > 0.9


def test_the_loss_against_the_slow_way(communities):
    edges, _ = communities
    ours = gm.pyg.Node2Vec(edges, 16, 6, 3, sparse=True)
    pos_rw, neg_rw = ours.sample(torch.arange(40))
    expected = reference(ours, pos_rw, neg_rw)
    assert torch.allclose(ours.loss(pos_rw, neg_rw), expected, atol=1e-5)


def reference(model, pos_rw, neg_rw):
    """The loss, node by node."""
    z = model.embedding.weight

    def mean(windows, sign):
        scores = [
            torch.sigmoid(sign * (z[window[0]] * z[other]).sum()).log()
            for window in windows
            for other in window[1:]
        ]
        return -torch.stack(scores).mean()

    return mean(pos_rw, 1) + mean(neg_rw, -1)


def test_windows_are_those_of_walks():
    model = gm.pyg.Node2Vec(RING, 4, walk_length=4, context_size=3, walks_per_node=2)
    windows = model.pos_sample(torch.tensor([0, 3]))
    # From each node the ring has one walk; windows at the same place of all walks come together.
    first = [[0, 1, 2], [3, 4, 0]] * 2
    second = [[1, 2, 3], [4, 0, 1]] * 2
    assert windows.tolist() == first + second


def test_negatives_begin_at_the_nodes():
    model = gm.pyg.Node2Vec(RING, 4, 4, 3, walks_per_node=2, num_negative_samples=3)
    windows = model.neg_sample(torch.tensor([0, 3]))
    assert windows.shape == (2 * 2 * 3 * 2, 3)
    assert windows[:12, 0].tolist() == [0, 3] * 6
    assert windows.max() < 5


def test_weights_and_p_and_q_lead_walks():
    two_ways = torch.tensor([[0, 0, 1, 2], [1, 2, 0, 0]])
    weights = torch.tensor([1.0, 0.0, 1.0, 1.0])
    model = gm.pyg.Node2Vec(two_ways, 4, 3, 3, edge_weight=weights)
    assert set(model.pos_sample(torch.zeros(50, dtype=torch.int64))[:, 1].tolist()) == {1}
    returns = gm.pyg.Node2Vec(two_ways, 4, 3, 3, p=1e-6)
    assert set(returns.pos_sample(torch.zeros(50, dtype=torch.int64))[:, 2].tolist()) == {0}


def test_num_nodes_and_nodes_without_edges():
    model = gm.pyg.Node2Vec(RING, 4, 3, 2, num_nodes=9)
    assert model().shape == (9, 4)
    assert model.pos_sample(torch.tensor([8])).tolist() == [[8, 8], [8, 8]]
    assert repr(model) == "Node2Vec(9, 4)"


@pytest.mark.parametrize("workers", [0, 2])
def test_the_loader_has_all_nodes(workers):
    model = gm.pyg.Node2Vec(RING, 4, 2, 2)
    batches = list(model.loader(batch_size=2, shuffle=True, num_workers=workers))
    starts = torch.cat([pos_rw[:, 0] for pos_rw, _ in batches])
    assert sorted(starts.tolist()) == [0, 1, 2, 3, 4]


def test_the_same_seed_has_the_same_walks(communities):
    edges, _ = communities
    model = gm.pyg.Node2Vec(edges, 4, 5, 3)
    torch.manual_seed(7)
    once = model.sample(torch.arange(40))
    torch.manual_seed(7)
    again = model.sample(torch.arange(40))
    assert all(torch.equal(a, b) for a, b in zip(once, again, strict=True))


def test_embeddings_of_some_nodes():
    model = gm.pyg.Node2Vec(RING, 4, 2, 2)
    assert torch.equal(model(torch.tensor([3, 1])), model()[[3, 1]])
    assert torch.equal(model(torch.tensor([True, False, True, False, False])), model()[[0, 2]])
    with pytest.raises(gm.errors.IdError, match="5 nodes"):
        model(torch.tensor([5]))


def test_a_dataset_and_whose_ids(tmp_path, communities):
    edges, _ = communities
    gm.compile_dataset(
        tmp_path / "two", edges=tuple(edges.numpy()), splits={"train": [5, 30]}, neighbors="both"
    )
    dataset = gm.Dataset(tmp_path / "two")
    model = gm.pyg.Node2Vec(dataset, 8, 6, 3, sparse=True)
    with pytest.raises(gm.errors.IdError, match=r"external.*internal"):
        model(torch.tensor([5, 30]))
    expected = model()[torch.from_numpy(np.array(dataset.to_internal([5, 30])))]
    assert torch.equal(model(torch.tensor([5, 30]), ids="external"), expected)
    assert torch.equal(model("train"), expected)
    assert torch.equal(model(dataset.splits["train"]), expected)
    assert len(train(model, epochs=1)) == 2


def test_the_temporary_graph_goes_with_the_model():
    model = gm.pyg.Node2Vec(RING, 4, 2, 2)
    folder = Path(model._data.graph.path).parent
    assert folder.is_dir()
    process = os.fork()
    if process == 0:
        del model
        gc.collect()
        os._exit(0)
    os.waitpid(process, 0)
    assert folder.is_dir(), "a child must not remove what is its parent's"
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301
    assert torch.equal(copy(), model())
    del model
    gc.collect()
    assert not folder.exists()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"edge_index": [[0], [1]]}, TypeError, "edge_index must be a tensor"),
        ({"edge_index": torch.zeros(3, 2, dtype=torch.int64)}, ValueError, "shape .3, 2."),
        ({"edge_index": torch.tensor([[0], [-1]])}, gm.errors.GraphmountError, "-1"),
        ({"edge_index": torch.rand(2, 3)}, TypeError, "integers"),
        ({"walk_length": 2}, ValueError, "less than context_size=3"),
        ({"context_size": 1}, ValueError, "context_size must be at least 2"),
        ({"embedding_dim": 0}, ValueError, "embedding_dim must be at least 1"),
        ({"p": 0.0}, ValueError, "p"),
        ({"q": "x"}, TypeError, "q"),
        ({"num_nodes": 2}, gm.errors.GraphmountError, "2"),
        ({"edge_weight": torch.ones(3)}, gm.errors.GraphmountError, "weights"),
        ({"weighted": True}, gm.errors.MissingDataError, "weights"),
    ],
)
def test_refusals(change, error, message):
    options = {"edge_index": RING, "embedding_dim": 4, "walk_length": 4, "context_size": 3}
    with pytest.raises(error, match=message):
        gm.pyg.Node2Vec(**(options | change))


def test_a_graph_without_outgoing_lists(tmp_path):
    gm.compile_graph(tuple(RING.numpy()), tmp_path / "g.gl", neighbors="in")
    with pytest.raises(gm.errors.MissingDataError, match='neighbors="both"'):
        gm.pyg.Node2Vec(gm.Graph(tmp_path / "g.gl"), 4, 2, 2)
