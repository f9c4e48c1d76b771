"""The weights of a GCN in a matrix, for layers of PyG."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from layer_edges import matrix, random_lists  # noqa: E402

from graphmount.torch import nn  # noqa: E402


def plain(adj):
    """The same of a dense matrix."""
    dense = adj.to_dense()
    targets = dense.size(0)
    dense[torch.arange(targets), torch.arange(targets)] = 1
    degrees = torch.ones(dense.size(1))
    degrees[:targets] = dense.sum(1)
    return dense / degrees[:targets, None].sqrt() / degrees.sqrt()


@pytest.mark.parametrize("sources", [12, 30])
def test_it_is_what_a_dense_matrix_gives(sources):
    adj = matrix(random_lists(sources=sources), sources)
    found = nn.gcn_norm(adj)
    assert found.layout == torch.sparse_csr
    torch.testing.assert_close(found.to_dense(), plain(adj))


def test_pygs_layers_give_with_it_what_ours_give():
    pyg = pytest.importorskip("torch_geometric.nn", reason="PyG is not installed")
    adj = matrix(random_lists(sources=30), 30)
    x = torch.randn(30, 5)
    ours = nn.GCNConv(5, 4)
    theirs = pyg.GCNConv(5, 4, normalize=False)
    theirs.load_state_dict(ours.state_dict())
    sums = pyg.SAGEConv(5, 4, aggr="sum", root_weight=False)
    sums.load_state_dict({"lin_l.weight": ours.lin.weight, "lin_l.bias": ours.bias})
    expected = ours(x, adj)
    norm = nn.gcn_norm(adj)
    torch.testing.assert_close(theirs(x, norm), expected)
    torch.testing.assert_close(sums((x, x[: adj.size(0)]), norm), expected)


def test_other_matrices_are_refused():
    adj = matrix([[0, 1]], 2)
    with pytest.raises(TypeError, match=r"sparse CSR tensor.*not"):
        nn.gcn_norm(adj.to_dense())
    with pytest.raises(ValueError, match="values other than 1"):
        nn.gcn_norm(nn.gcn_norm(adj))
    with pytest.raises(ValueError, match="only 1 of sources"):
        nn.gcn_norm(matrix([[0], [0]], 1))
