"""Layers of `graphmount.torch.nn`: PyG's results, and what they refuse."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import graphmount as gm
from graphmount.errors import IdError

torch = pytest.importorskip("torch", reason="torch is not installed")

from layer_edges import edge_index, matrix, random_lists  # noqa: E402

from graphmount.torch import nn  # noqa: E402


def layers():
    pyg = pytest.importorskip("torch_geometric.nn", reason="PyG is not installed")
    linear = torch.nn.Linear(16, 8)
    return {
        "mean": (pyg.SAGEConv(16, 8), nn.SAGEConv(16, 8)),
        "sum": (pyg.SAGEConv(16, 8, aggr="sum"), nn.SAGEConv(16, 8, aggr="sum")),
        "max": (pyg.SAGEConv(16, 8, aggr="max"), nn.SAGEConv(16, 8, aggr="max")),
        "normalized": (
            pyg.SAGEConv((16, 16), 8, normalize=True, root_weight=False, bias=False),
            nn.SAGEConv((16, 16), 8, normalize=True, root_weight=False, bias=False),
        ),
        "GIN": (
            pyg.GINConv(linear, eps=0.5, train_eps=True),
            nn.GINConv(copy.deepcopy(linear), train_eps=True),
        ),
        "GIN, fixed": (pyg.GINConv(linear, eps=0.5), nn.GINConv(copy.deepcopy(linear))),
        "GCN": (pyg.GCNConv(16, 8), nn.GCNConv(16, 8)),
        "GCN, wider": (pyg.GCNConv(16, 90, bias=False), nn.GCNConv(16, 90, bias=False)),
        "GAT": (pyg.GATConv(16, 8), nn.GATConv(16, 8)),
        "GAT, heads": (pyg.GATConv(16, 8, heads=3), nn.GATConv(16, 8, heads=3)),
        "GAT, mean": (
            pyg.GATConv(16, 4, heads=2, concat=False, add_self_loops=False, bias=False),
            nn.GATConv(16, 4, heads=2, concat=False, add_self_loops=False, bias=False),
        ),
    }


NAMES = ["mean", "sum", "max", "normalized", "GIN", "GIN, fixed", "GCN", "GCN, wider"]


NAMES += ["GAT", "GAT, heads", "GAT, mean"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("sources", [30, 12, 4000])
def test_layers_load_the_state_of_pygs_and_give_its_results(name, sources):
    theirs, ours = layers()[name]
    ours.load_state_dict(theirs.state_dict())
    lists = random_lists(sources=sources)
    num_targets, adj, edges = len(lists), matrix(lists, sources), edge_index(lists)
    x = torch.randn(sources, 16, requires_grad=True)

    def run(layer, call):
        layer.zero_grad()
        out = call()
        (gradient,) = torch.autograd.grad(out.sin().sum(), x, retain_graph=True)
        out.sin().sum().backward()
        x.grad = None
        return [out, gradient, *(weight.grad for weight in layer.parameters())]

    expected = run(theirs, lambda: theirs(x, edges)[:num_targets])
    calls = [lambda: ours(x, adj), lambda: ours(x, edges)[:num_targets]]
    if not name.startswith("GCN"):
        calls.append(lambda: ours((x, x[:num_targets]), adj))
        calls.append(lambda: ours((x, x[:num_targets].clone()), adj))
    for call in calls:
        for one, two in zip(expected, run(ours, call), strict=True):
            assert torch.allclose(one, two, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("name", ["mean", "GAT", "GAT, heads", "GAT, mean"])
def test_targets_may_be_of_another_kind(name):
    theirs, ours = layers()[name]
    ours.load_state_dict(theirs.state_dict())
    lists = random_lists()
    pair = torch.randn(30, 16), torch.randn(12, 16)
    expected = theirs(pair, edge_index(lists))
    assert torch.allclose(ours(pair, matrix(lists, 30)), expected, atol=1e-5)
    with pytest.raises(TypeError, match="pass x alone, targets first, not a pair"):
        nn.GCNConv(16, 8)(pair, matrix(lists, 30))


def test_self_loops_need_a_source_for_each_target():
    pair, adj = (torch.rand(1, 3), torch.rand(3, 3)), matrix([[0], [0], []], 1)
    with pytest.raises(ValueError, match="pass add_self_loops=False"):
        nn.GATConv(3, 2)(pair, adj)
    assert nn.GATConv(3, 2, add_self_loops=False)(pair, adj).shape == (3, 2)


def test_edges_that_do_not_lie_together():
    both = torch.stack([torch.tensor([0, 2, 3]), torch.tensor([9, 9, 9])], dim=1)
    adj = torch.sparse_csr_tensor(
        both[:, 0], torch.tensor([[1, 9], [2, 9], [0, 9]])[:, 0], torch.ones(3), size=(2, 3),
        check_invariants=False,
    )  # fmt: skip
    x = torch.randn(3, 4, requires_grad=True)
    for layer in (nn.SAGEConv(4, 2), nn.GCNConv(4, 2), nn.GATConv(4, 2)):
        found, expected = layer(x, adj), layer(x, matrix([[1, 2], [0]], 3))
        assert torch.equal(found, expected)
        found.sum().backward()


def test_attention_leaves_weights_out_in_training_only():
    layer = nn.GATConv(16, 8, dropout=0.5)
    x, adj = torch.randn(30, 16), matrix(random_lists(), 30)
    torch.manual_seed(0)
    assert not torch.equal(layer(x, adj), layer(x, adj))
    layer.eval()
    assert torch.equal(layer(x, adj), layer(x, adj))


def test_batches_train_with_them(tmp_path):
    generator = np.random.default_rng(0)
    x = generator.random((200, 16), dtype=np.float32)
    gm.compile_dataset(
        tmp_path / "d",
        edges=generator.integers(0, 200, (2, 3000)),
        num_nodes=200,
        features={"x": x},
        labels=x[:, :3].argmax(axis=1),
    )
    loader = gm.torch.NeighborLoader(gm.Dataset(tmp_path / "d"), [5, 5], batch_size=50, seed=1)
    torch.manual_seed(0)
    convs = torch.nn.ModuleList([nn.SAGEConv(16, 32), nn.SAGEConv(32, 3, aggr="max")])
    optimizer = torch.optim.Adam(convs.parameters(), lr=0.01)
    losses = []
    for _ in range(20):
        for batch in loader:
            x = batch.features["x"]
            for conv, adj in zip(convs, batch.adjs, strict=True):
                x = conv(x, adj)
                x = x.relu() if conv is convs[0] else x
            loss = torch.nn.functional.cross_entropy(x, batch.labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(float(loss.detach()))
    assert np.mean(losses[-4:]) < 0.8 * np.mean(losses[:4])


def test_layers_copy_and_pickle():
    x, adj = torch.randn(30, 16), matrix(random_lists(), 30)
    for layer in (nn.SAGEConv(16, 4), nn.GCNConv(16, 4), nn.GATConv(16, 4)):
        for twin in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):  # noqa: S301
            assert torch.equal(twin(x, adj), layer(x, adj))
        layer.reset_parameters()


def test_only_rows_that_the_layer_cuts_off_itself_share_a_gradient():
    """A slice of the same memory may be detached, or a parameter of its own."""
    adj, layer = matrix([[1, 2], [3]], 4), nn.SAGEConv(3, 2)
    x = torch.randn(4, 3, requires_grad=True)
    gradients = []
    for targets in (x[:2].detach(), x[:2].detach().clone()):
        (found,) = torch.autograd.grad(layer((x, targets), adj).sum(), x)
        gradients.append(found)
    assert torch.equal(*gradients)
    memory = torch.randn(4, 3)
    sources, targets = torch.nn.Parameter(memory), torch.nn.Parameter(memory[:2])
    nn.GINConv(torch.nn.Identity())((sources, targets), adj).sum().backward()
    assert torch.equal(targets.grad, torch.ones(2, 3))
    x = torch.arange(12.0).view(4, 3).requires_grad_()
    more = nn.GINConv(torch.nn.Identity())((x[:1], x[:3]), matrix([[0], [0], []], 1))
    assert torch.equal(more, x[:3] + torch.tensor([[1.0], [1.0], [0.0]]) * x[0])


@pytest.mark.parametrize("sources", [4, 400])
def test_autocast_and_half_precision(sources):
    adj, x = matrix([[1, 2], [3], []], sources), torch.randn(sources, 16)
    for make in (nn.SAGEConv, nn.GCNConv, nn.GATConv):
        layer = make(16, 8)
        exact = layer(x, adj)
        with torch.autocast("cpu", torch.bfloat16):
            assert torch.allclose(layer(x, adj).float(), exact, atol=0.1)
        for dtype in (torch.bfloat16, torch.float16):
            half = copy.deepcopy(layer).to(dtype)(x.to(dtype), adj)
            assert half.dtype == dtype
            assert torch.allclose(half.float(), exact, atol=0.1)


def test_batches_of_nothing():
    nothing, none = torch.rand(0, 3), torch.empty(2, 0, dtype=torch.int64)
    for layer in (nn.SAGEConv(3, 2), nn.GCNConv(3, 2), nn.GATConv(3, 2), nn.GATConv(3, 2, heads=2)):
        assert len(layer(nothing, none)) == 0
        assert len(layer(nothing, matrix([], 0))) == 0
        assert len(layer(torch.rand(2, 3), none)) == 2


def test_matrices_with_weights_or_wrong_offsets_are_refused():
    x = torch.rand(4, 3)
    weighted = torch.sparse_csr_tensor([0, 1], [1], [5.0], size=(1, 4), check_invariants=False)
    layers = (nn.SAGEConv(3, 2), nn.GCNConv(3, 2), nn.GATConv(3, 2, add_self_loops=False))
    for layer in layers:
        with pytest.raises(ValueError, match="values other than 1; edge weights are not"):
            layer(x, weighted)
        for starts in ([1, 2, 3], [0, 1, 2], [0, 4, 3], [0, -1, 3]):
            forged = torch.sparse_csr_tensor(
                starts, [0, 1, 2], torch.ones(3), size=(2, 4), check_invariants=False
            )
            with pytest.raises(ValueError, match="crow_indices must ascend from 0"):
                layer(x, forged)
        with pytest.raises(IdError, match="comes from row 4, and there are 4 rows of sources"):
            layer(x, matrix([[4]], 4))
        with pytest.raises(ValueError, match="rows of floats"):
            layer(torch.rand(4, 3, 1), matrix([[0]], 4))


def test_sizes_that_cannot_be_are_refused():
    for make in (nn.SAGEConv, nn.GCNConv, nn.GATConv):
        with pytest.raises(ValueError, match="in_channels must be at least 0"):
            make(-1, 2)
    with pytest.raises(TypeError, match="in_channels"):
        nn.GATConv((3, 3), 2)
    with pytest.raises(ValueError, match="one number, or a pair"):
        nn.SAGEConv((3, 3, 3), 2)
    with pytest.raises(ValueError, match="heads must be at least 1"):
        nn.GATConv(3, 2, heads=0)
    for share in (-1.0, 1.0, 2.0):
        with pytest.raises(ValueError, match="a share from 0 to below 1"):
            nn.GATConv(3, 2, dropout=share)
