"""`RGCNConv`: PyG's results, a twin that goes edge by edge, and what it refuses."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmount.errors import IdError

torch = pytest.importorskip("torch", reason="torch is not installed")

from layer_edges import edge_index, matrix, random_lists  # noqa: E402

from graphmount.torch import nn  # noqa: E402
from graphmount.torch.nn import linear  # noqa: E402

OPTIONS = {
    "mean": {},
    "add": {"aggr": "add"},
    "max": {"aggr": "max"},
    "bases": {"num_bases": 2},
    "blocks": {"num_blocks": 4},
    "plain": {"root_weight": False, "bias": False},
}


def types_of(edges, num_relations, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, num_relations, (edges.size(1),), generator=generator)


@pytest.mark.parametrize("of_core", [True, False])
@pytest.mark.parametrize("name", OPTIONS)
def test_it_loads_the_state_of_pygs_and_gives_its_results(name, of_core, monkeypatch):
    pyg = pytest.importorskip("torch_geometric.nn", reason="PyG is not installed")
    monkeypatch.setattr(linear, "_HAS_FAST_PRODUCTS", of_core)
    theirs = pyg.RGCNConv(16, 8, 5, **OPTIONS[name])
    ours = nn.RGCNConv(16, 8, 5, **OPTIONS[name])
    ours.load_state_dict(theirs.state_dict())
    lists = random_lists(targets=40, sources=60)
    lists[0] = [3, 5]  # PyG divides the gradient of equal maxima
    adj, edges = matrix(lists, 60), edge_index(lists)
    edge_type = types_of(edges, 4)  # the last relation has no edges
    mixed = torch.randperm(edges.size(1))
    x = torch.randn(60, 16, requires_grad=True)

    def run(layer, call):
        layer.zero_grad()
        out = call()[:40]
        (gradient,) = torch.autograd.grad(out.sin().sum(), x, retain_graph=True)
        out.sin().sum().backward()
        x.grad = None
        return [out, gradient, *(weight.grad for weight in layer.parameters())]

    expected = run(theirs, lambda: theirs(x, edges, edge_type))
    for call in (
        lambda: ours(x, adj, edge_type),
        lambda: ours(x, adj, torch.cat([edge_type, edge_type])),  # those of the whole batch
        lambda: ours((x, x[:40]), adj, edge_type.int()),
        lambda: ours(x, edges, edge_type),
        lambda: ours(x, edges[:, mixed], edge_type[mixed]),
    ):
        for one, two in zip(expected, run(ours, call), strict=True):
            assert torch.allclose(one, two, atol=1e-5, rtol=1e-5)
    theirs.load_state_dict(ours.state_dict())


def plain(layer, x, lists, types, reduce):
    """The layer, target by target and relation by relation."""
    rows = []
    for target, sources in enumerate(lists):
        row = x[target] @ layer.root + layer.bias
        for relation in range(layer.num_relations):
            own = [s for s, kind in zip(sources, types[target], strict=True) if kind == relation]
            if own:
                taken = x[own]
                found = {"mean": taken.mean(0), "sum": taken.sum(0), "max": taken.max(0).values}
                row = row + found[reduce] @ layer.weight[relation]
        rows.append(row)
    return torch.stack(rows)


@given(
    lists=st.lists(
        st.lists(st.tuples(st.integers(0, 7), st.integers(0, 2)), max_size=5),
        min_size=1,
        max_size=7,
    ),
    reduce=st.sampled_from(["mean", "sum", "max"]),
    width=st.sampled_from([1, 3, 33]),
)
@settings(max_examples=40, deadline=None)
def test_it_is_what_a_loop_over_targets_and_relations_gives(lists, reduce, width):
    sources = [[source for source, _ in each] for each in lists]
    types = [[kind for _, kind in each] for each in lists]
    torch.manual_seed(1)
    layer = nn.RGCNConv(width, 2, 3, aggr=reduce).double()
    x = torch.randn(8, width, dtype=torch.float64, requires_grad=True)
    expected = plain(layer, x, sources, types, reduce)
    edge_type = torch.tensor([kind for each in types for kind in each], dtype=torch.int64)
    found = layer(x, matrix(sources, 8), edge_type)
    torch.testing.assert_close(found, expected)
    wanted = [x, *layer.parameters()]
    for one, two in zip(
        torch.autograd.grad(found.sin().sum(), wanted),
        torch.autograd.grad(expected.sin().sum(), wanted, materialize_grads=True),
        strict=True,
    ):
        torch.testing.assert_close(one, two)


@pytest.mark.parametrize("name", OPTIONS)
def test_gradients_are_those_of_differences(name):
    lists = random_lists(targets=8, sources=10)
    adj, edge_type = matrix(lists, 10), types_of(edge_index(lists), 3)
    layer = nn.RGCNConv(4, 4, 3, **OPTIONS[name]).double()
    x = torch.randn(10, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda rows, *_: layer(rows, adj, edge_type), (x, *layer.parameters())
    )


def test_results_do_not_depend_on_the_number_of_threads():
    lists = random_lists(targets=1500, sources=3000, most=9)
    adj, edge_type = matrix(lists, 3000), types_of(edge_index(lists), 6)
    layer = nn.RGCNConv(33, 17, 6)
    x = torch.randn(3000, 33, requires_grad=True)
    before = torch.get_num_threads()
    found = []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            out = layer(x, adj, edge_type)
            found.append((out, *torch.autograd.grad(out.square().sum(), [x, layer.weight])))
    finally:
        torch.set_num_threads(before)
    for other in found[1:]:
        assert all(torch.equal(one, two) for one, two in zip(found[0], other, strict=True))


def test_batches_of_a_loader_bring_the_types_of_their_edges():
    data = pytest.importorskip("torch_geometric.data", reason="PyG is not installed")
    loaders = pytest.importorskip("graphmount.pyg")
    generator = torch.Generator().manual_seed(0)
    graph = data.Data(
        x=torch.randn(200, 8, generator=generator),
        edge_index=torch.randint(0, 200, (2, 2000), generator=generator),
        edge_type=torch.randint(0, 3, (2000,), generator=generator),
    )
    loader = loaders.NeighborLoader(graph, [4, 3], batch_size=50, seed=1)
    batch = next(iter(loader))
    torch.manual_seed(0)
    layers = [nn.RGCNConv(8, 6, 3), nn.RGCNConv(6, 2, 3)]
    x = y = batch.x
    for layer, adj in zip(layers, batch.adjs, strict=True):
        x = layer(x, adj, batch.edge_type)
        y = layer(y, batch.edge_index, batch.edge_type)
    assert x.shape == (50, 2)
    torch.testing.assert_close(x, y[:50])


def test_lower_precision_and_autocast():
    lists = random_lists()
    adj, edge_type = matrix(lists, 30), types_of(edge_index(lists), 3)
    layer, x = nn.RGCNConv(16, 8, 3), torch.randn(30, 16)
    expected = layer(x, adj, edge_type)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = layer(x.requires_grad_(), adj, edge_type)
    found.float().sum().backward()
    assert layer.weight.grad.dtype == torch.float32
    torch.testing.assert_close(found.float(), expected, atol=0.1, rtol=0.1)
    half = layer.bfloat16()(x.bfloat16(), adj, edge_type)
    assert half.dtype == torch.bfloat16
    torch.testing.assert_close(half.float(), expected, atol=0.1, rtol=0.1)


def test_operators_are_sound_for_autograd_and_compile():
    rows, weights = torch.randn(9, 4, requires_grad=True), torch.randn(3, 5, 4, requires_grad=True)
    torch.library.opcheck(
        torch.ops.graphmount.apply_relations,
        (rows, weights, [4, 0, 5]),
        test_utils=("test_schema", "test_autograd_registration", "test_faketensor"),
    )


def test_what_does_not_fit_is_refused():
    layer, x = nn.RGCNConv(4, 2, 3), torch.rand(5, 4)
    edges, adj = torch.tensor([[1, 2], [0, 0]]), matrix([[1, 2]], 5)
    for bad in (3, -1):
        with pytest.raises(ValueError, match=f"edge_type has {bad}, .* for 3 relations"):
            layer(x, edges, torch.tensor([0, bad]))
    with pytest.raises(ValueError, match="3 numbers for 2 edges"):
        layer(x, edges, torch.tensor([0, 1, 2]))
    with pytest.raises(ValueError, match="1 numbers for 2 edges"):
        layer(x, adj, torch.tensor([0]))
    with pytest.raises(ValueError, match=r"one whole number for each edge, not torch\.float32"):
        layer(x, adj, torch.rand(2))
    with pytest.raises(ValueError, match="one whole number for each edge"):
        layer(x, adj, torch.zeros(2, 1, dtype=torch.int64))
    with pytest.raises(TypeError, match="edge_type must be a tensor"):
        layer(x, adj, [0, 1])
    with pytest.raises(ValueError, match="x has 3 columns, and the layer was made for 4"):
        layer(x[:, :3], adj, torch.tensor([0, 1]))
    with pytest.raises(IdError):
        layer(x, torch.tensor([[9], [0]]), torch.tensor([0]))
    with pytest.raises(ValueError, match="num_bases or num_blocks, not both"):
        nn.RGCNConv(4, 2, 3, num_bases=2, num_blocks=2)
    with pytest.raises(ValueError, match="num_blocks=3 does not divide 4 and 2 columns"):
        nn.RGCNConv(4, 2, 3, num_blocks=3)
    with pytest.raises(ValueError, match="aggr"):
        nn.RGCNConv(4, 2, 3, aggr="median")
    with pytest.raises(ValueError, match="one number, or a pair"):
        nn.RGCNConv((4, 4, 4), 2, 3)
    assert layer(
        x, torch.empty(2, 0, dtype=torch.int64), torch.empty(0, dtype=torch.int64)
    ).shape == (5, 2)
    assert repr(layer) == "RGCNConv(4, 2, num_relations=3, aggr='mean')"
