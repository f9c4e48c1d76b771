"""Edges by source, which loaders make ahead for the way back of layers."""

from __future__ import annotations

import copy
import itertools
import pickle

import numpy as np
import pytest

import graphmount as gm

torch = pytest.importorskip("torch", reason="torch is not installed")

from typed_loader_data import make_typed  # noqa: E402

import graphmount.torch.nn  # noqa: E402
from graphmount.torch.batches.layer_matrices import TURNED_MARK  # noqa: E402
from graphmount.torch.nn import edges as nn_edges  # noqa: E402


@pytest.fixture(scope="module")
def typed(tmp_path_factory):
    return make_typed(tmp_path_factory.mktemp("typed") / "d")


@pytest.fixture
def graph(tmp_path):
    edges = np.random.default_rng(0).integers(0, 300, (2, 3000))
    gm.compile_graph(edges, tmp_path / "g.gl", num_nodes=300)
    return gm.Graph(tmp_path / "g.gl")


def first_batch(graph, **options):
    options = {"num_neighbors": [4, 3, 2], "batch_size": 20, **options}
    return next(iter(gm.torch.NeighborLoader(graph, **options)))


def check_turned(adj):
    """The edges by source that a matrix has are taken, and are those of a plain loop."""
    given = getattr(adj, TURNED_MARK)
    args = adj.crow_indices(), adj.col_indices(), adj.size(1)
    starts, owners, places = nn_edges.turn_round(*args, given)
    assert starts.data_ptr() == given[1:].data_ptr()  # taken, and not made again
    found = [
        list(zip(owners[a:b].tolist(), places[a:b].tolist(), strict=True))
        for a, b in itertools.pairwise(starts.tolist())
    ]
    assert found == turned_of(adj)


def turned_of(adj):
    """Edges by source, one after the other."""
    lists = [[] for _ in range(adj.size(1))]
    columns, starts = adj.col_indices().tolist(), adj.crow_indices().tolist()
    for target in range(adj.size(0)):
        for place in range(starts[target], starts[target + 1]):
            lists[columns[place]].append((target, place))
    return lists


@pytest.mark.parametrize("fanouts", [[4], [4, 3], [4, 3, 2], [2, -1, 1, 3]])
@pytest.mark.parametrize("disjoint", [False, True])
def test_they_are_those_of_a_plain_loop(graph, fanouts, disjoint):
    batch = first_batch(graph, num_neighbors=fanouts, disjoint=disjoint)
    assert not hasattr(batch.adjs[0], TURNED_MARK)  # its rows need no gradient
    for adj in batch.adjs[1:]:
        check_turned(adj)


@pytest.mark.parametrize("reduce", ["mean", "sum", "max"])
def test_gradients_are_the_same_with_and_without(graph, reduce):
    batch = first_batch(graph)
    adj = batch.adjs[1]
    other = torch.sparse_csr_tensor(
        adj.crow_indices(), adj.col_indices(), adj.values(), size=adj.shape, check_invariants=False
    )
    found = []
    for each in (adj, other):
        x = torch.randn(adj.size(1), 5, generator=torch.Generator().manual_seed(1))
        x.requires_grad_()
        gm.torch.nn.aggregate(x, each, reduce).sin().sum().backward()
        found.append(x.grad)
    assert torch.equal(*found)


def test_edges_that_were_changed_are_not_gone_back_by_the_old_ones(graph):
    batch = first_batch(graph)
    batch.edge_index[0, :5] = 0  # in the memory that the matrices share
    adj = batch.adjs[1]
    x = torch.rand(adj.size(1), 3, requires_grad=True)
    gm.torch.nn.aggregate(x, adj, "sum").sum().backward()
    counts = torch.bincount(adj.col_indices(), minlength=adj.size(1)).float()
    torch.testing.assert_close(x.grad, counts[:, None].expand(-1, 3))


def test_they_go_with_copies(graph):
    batch = first_batch(graph)
    for other in (
        batch.to("cpu"),
        copy.deepcopy(batch),
        pickle.loads(pickle.dumps(batch)),  # noqa: S301
    ):
        assert torch.equal(other.turned, batch.turned)
    for adjs in (batch.adjs.clone(), copy.deepcopy(batch.adjs), batch.adjs.to("cpu")):
        assert torch.equal(adjs.turned, batch.turned)
        assert torch.equal(getattr(adjs[1], TURNED_MARK), getattr(batch.adjs[1], TURNED_MARK))


@pytest.mark.parametrize(
    "options", [{"subgraph_type": "induced"}, {"subgraph_type": "bidirectional"}]
)
def test_other_samples_have_none(graph, options):
    assert first_batch(graph, **options).turned is None


def test_out_of_pyg(graph):
    pytest.importorskip("torch_geometric", reason="PyG is not installed")

    loader = pytest.importorskip("graphmount.pyg").NeighborLoader(graph, [4, 3, 2], batch_size=20)
    batch = next(iter(loader))
    assert [hasattr(adj, TURNED_MARK) for adj in batch.adjs] == [False, True, True]
    assert loader([0, 1]).adjs.turned is None  # made at once, not by the threads of a loop


@pytest.mark.parametrize("seed_type", ["paper", "author", "topic"])
def test_each_relation_has_its_own(typed, seed_type):
    """Also those that were not reached; topics have no relation at all."""
    options = {"input_nodes": seed_type, "batch_size": 50, "seed": 1}
    for batch in gm.torch.NeighborLoader(typed, [3, 2, 2], **options):
        assert list(batch.turned) == list(typed.edge_types)
        for adjs in batch.adjs.values():
            assert not hasattr(adjs[0], TURNED_MARK)
            for adj in adjs[1:]:
                check_turned(adj)
        moved = batch.to("cpu")
        assert all(torch.equal(moved.turned[name], own) for name, own in batch.turned.items())
    links = gm.torch.LinkNeighborLoader(
        typed, [3, 2], edge_label_index=typed.edge_types[0], batch_size=50, seed=1
    )
    for adjs in next(iter(links)).adjs.values():
        check_turned(adjs[1])
    induced = gm.torch.NeighborLoader(typed, [2], subgraph_type="induced", **options)
    assert next(iter(induced)).turned is None


def test_each_relation_has_its_own_out_of_pyg(typed):
    pytest.importorskip("torch_geometric", reason="PyG is not installed")
    loader = pytest.importorskip("graphmount.pyg").NeighborLoader(
        typed, [3, 2], input_nodes="paper", batch_size=50
    )
    batch = next(iter(loader))
    for relation in typed.edge_types:
        check_turned(batch[relation].adjs[1])
    called = loader(torch.arange(2))  # made at once, not by the threads of a loop
    assert called[typed.edge_types[0]].adjs.turned is None
