"""PyG's models over relations with the fast forms of edges, against the same with `edge_index`."""

from __future__ import annotations

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
nn = pytest.importorskip("torch_geometric.nn", reason="torch_geometric is not installed")

from typed_loader_data import CITES, REV_WRITES, WRITES, make_typed  # noqa: E402

import graphmount as gm  # noqa: E402
import graphmount.pyg  # noqa: E402
import graphmount.torch.nn  # noqa: E402
from graphmount.torch import to_sparse_csr  # noqa: E402

RELATIONS = (WRITES, CITES, REV_WRITES)
WIDTHS = {"paper": 16, "author": 24}


@pytest.fixture(scope="module")
def ds(tmp_path_factory):
    return make_typed(tmp_path_factory.mktemp("typed") / "d")


@pytest.fixture(params=["torch", "pyg"])
def batch(request, ds):
    package = gm.torch if request.param == "torch" else gm.pyg
    options = {"input_nodes": ("paper", "train"), "batch_size": 40, "seed": 1}
    return next(iter(package.NeighborLoader(ds, [4, 3], features=["x"], **options)))


def rows_of(batch):
    """Small rows, so that no function is at its limit."""
    return {name: rows * 0.001 for name, rows in batch.x_dict.items() if name in WIDTHS}


def adjs_of(batch, relation):
    return batch.adjs[relation] if hasattr(batch, "adjs") else batch[relation].adjs


def num_seeds(batch):
    return batch.num_seeds if hasattr(batch, "num_seeds") else batch["paper"].batch_size


def outcome(model, found):
    """Outputs of seeds, and the gradients of all weights that these depend on."""
    model.zero_grad()
    found.square().sum().backward()
    grads = [weight.grad for weight in model.parameters() if weight.grad is not None]
    assert len(grads) > 8
    return [found.detach(), *(grad.clone() for grad in grads)]


def same(one, other):
    return len(one) == len(other) and all(
        torch.allclose(a, b, rtol=1e-4, atol=1e-5) for a, b in zip(one, other, strict=True)
    )


def sage(sizes, out):
    return nn.SAGEConv(sizes, out)


def attention(sizes, out):
    return nn.GATConv(sizes, out, add_self_loops=False)


def own_sage(sizes, out):
    return gm.torch.nn.SAGEConv(sizes, out)


class Hetero(torch.nn.Module):
    """Two layers of `HeteroConv`."""

    def __init__(self, conv):
        super().__init__()
        torch.manual_seed(0)
        self.layers = torch.nn.ModuleList(
            nn.HeteroConv(
                {
                    relation: conv(
                        tuple(WIDTHS[relation[end]] if first else 8 for end in (0, 2)), 8
                    )
                    for relation in RELATIONS
                }
            )
            for first in (True, False)
        )

    def forward(self, x, edge_index):
        for layer in self.layers:
            x = {name: rows.tanh() for name, rows in layer(x, edge_index).items()}
        return x["paper"]

    def by_matrices(self, x, adjs):
        for number, layer in enumerate(self.layers):
            own = {relation: adjs[relation][number] for relation in RELATIONS}
            pairs = {
                relation: (x[relation[0]], x[relation[2]][: adj.size(0)])
                for relation, adj in own.items()
            }
            x = {name: rows.tanh() for name, rows in layer(pairs, own).items()}
        return x["paper"]


@pytest.mark.parametrize("conv", [sage, attention])
def test_hetero_conv_over_the_matrices_of_layers(batch, conv):
    model = Hetero(conv)
    edges = {relation: batch.edge_index_dict[relation] for relation in RELATIONS}
    wanted = outcome(model, model(rows_of(batch), edges)[: num_seeds(batch)])
    adjs = {relation: adjs_of(batch, relation) for relation in RELATIONS}
    assert same(outcome(model, model.by_matrices(rows_of(batch), adjs)), wanted)
    # Edges of one relation that come from other nodes must be noticed.
    cites = adjs[CITES]
    adjs[CITES] = replace(cites, columns=cites.columns % num_seeds(batch))
    assert not same(outcome(model, model.by_matrices(rows_of(batch), adjs)), wanted)


def test_own_layers_in_hetero_conv(batch):
    """The layers of `graphmount.torch.nn` have the weights of PyG's, and go back by `turned`."""
    reference, model = Hetero(sage), Hetero(own_sage)
    model.load_state_dict(reference.state_dict())
    edges = {relation: batch.edge_index_dict[relation] for relation in RELATIONS}
    wanted = outcome(reference, reference(rows_of(batch), edges)[: num_seeds(batch)])
    adjs = {relation: adjs_of(batch, relation) for relation in RELATIONS}
    assert all(adjs[relation].turned is not None for relation in RELATIONS)
    assert same(outcome(model, model.by_matrices(rows_of(batch), adjs)), wanted)


class Plain(torch.nn.Module):
    """Two layers for one kind of nodes, for `to_hetero`."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.SAGEConv((-1, -1), 8), nn.SAGEConv((-1, -1), 8)

    def forward(self, x, edge_index):
        return self.second(self.first(x, edge_index).tanh(), edge_index)


def test_to_hetero_over_one_matrix_of_each_relation(batch):
    torch.manual_seed(0)
    model = nn.to_hetero(Plain(), (list(WIDTHS), list(RELATIONS)))
    edges = {relation: batch.edge_index_dict[relation] for relation in RELATIONS}
    with torch.no_grad():
        model(rows_of(batch), edges)  # layers find out the widths of rows
    seeds = num_seeds(batch)
    wanted = outcome(model, model(rows_of(batch), edges)["paper"][:seeds])
    matrices = to_sparse_csr(batch)
    assert set(matrices) >= set(RELATIONS)
    found = {relation: matrices[relation] for relation in RELATIONS}
    assert same(outcome(model, model(rows_of(batch), found)["paper"][:seeds]), wanted)
    found[CITES] = found[CITES].to_dense().T.to_sparse_csr()  # the other way round
    assert not same(outcome(model, model(rows_of(batch), found)["paper"][:seeds]), wanted)
