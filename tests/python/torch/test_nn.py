"""Layers and aggregation of `graphmount.torch.nn`: against dense loops, PyG, and `gradcheck`."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphmount as gm
from graphmount.errors import IdError

torch = pytest.importorskip("torch", reason="torch is not installed")

from graphmount.torch import nn  # noqa: E402
from graphmount.torch.nn.attention import attend  # noqa: E402
from graphmount.torch.nn.edges import edges_of  # noqa: E402

REDUCES = ("mean", "sum", "max")


def matrix(lists, num_sources):
    """A CSR tensor with an entry for each edge, in the order given, repeated ones and all."""
    starts = np.cumsum([0, *map(len, lists)])
    columns = torch.tensor([source for sources in lists for source in sources], dtype=torch.int64)
    return torch.sparse_csr_tensor(
        torch.from_numpy(starts),
        columns,
        torch.ones(len(columns)),
        size=(len(lists), num_sources),
        check_invariants=False,
    )


def edge_index(lists):
    ends = [(source, target) for target, sources in enumerate(lists) for source in sources]
    return torch.tensor(ends, dtype=torch.int64).reshape(-1, 2).T.contiguous()


def random_lists(seed=0, *, targets=12, sources=30, most=6):
    generator = np.random.default_rng(seed)
    lists = [
        generator.integers(0, sources, generator.integers(0, most)).tolist() for _ in range(targets)
    ]
    lists[0] = [0, 5, 0]  # an edge to itself, twice
    return lists


def plain(x, lists, reduce):
    """What `aggregate` should give, target by target, in torch: autograd goes through it too."""
    rows = []
    for sources in lists:
        taken = x[sources]
        if not sources:
            rows.append(0 * x[0])
        elif reduce == "max":
            rows.append(taken.max(dim=0).values)
        else:
            rows.append(taken.mean(dim=0) if reduce == "mean" else taken.sum(dim=0))
    return torch.stack(rows)


@given(
    lists=st.lists(st.lists(st.integers(0, 6), max_size=5), min_size=1, max_size=7),
    width=st.sampled_from([1, 3, 64, 70]),
    reduce=st.sampled_from(REDUCES),
)
@settings(max_examples=60, deadline=None)
def test_aggregate_is_what_a_loop_over_targets_gives(lists, width, reduce):
    x = torch.randn(7, width, generator=torch.Generator().manual_seed(1), requires_grad=True)
    towards = torch.randn(len(lists), width, generator=torch.Generator().manual_seed(2))
    expected = plain(x, lists, reduce)
    (gradient,) = torch.autograd.grad(expected, x, towards)
    for adj in (matrix(lists, 7), edge_index(lists)):
        targets = x[: len(lists)]
        out = nn.aggregate((x, targets), adj, reduce)
        assert torch.allclose(out, expected, atol=1e-6)
        (found,) = torch.autograd.grad(out, x, towards)
        assert torch.allclose(
            found, torch.zeros_like(x) if gradient is None else gradient, atol=1e-5
        )


@pytest.mark.parametrize("reduce", REDUCES)
def test_gradients_are_those_of_differences(reduce):
    adj = matrix(random_lists(), 30)
    x = torch.randn(30, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda rows: nn.aggregate(rows, adj, reduce), x)


def test_gradients_of_attention_are_those_of_differences():
    edges = edges_of(matrix(random_lists(), 30), 30, 12).with_self_loops()
    rows = torch.randn(30, 2, 3, dtype=torch.float64, requires_grad=True)
    by_source = torch.randn(30, 2, dtype=torch.float64, requires_grad=True)
    by_target = torch.randn(12, 2, dtype=torch.float64, requires_grad=True)

    def call(*inputs):
        torch.manual_seed(3)  # the same weights are left out each time
        return attend(*inputs, edges, slope=0.2, dropout=0.3)

    assert torch.autograd.gradcheck(call, (rows, by_source, by_target))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_halves_are_summed_in_float32(dtype):
    lists = [list(range(30)) * 20]
    x = torch.rand(30, 5).to(dtype)
    out = nn.aggregate((x, x[:1]), matrix(lists, 30), "sum")
    assert out.dtype == dtype
    assert torch.equal(out, plain(x.float(), lists, "sum").to(dtype))


@pytest.mark.parametrize("reduce", REDUCES)
def test_results_do_not_depend_on_the_number_of_threads(reduce):
    adj = matrix(random_lists(targets=3000, sources=5000, most=9), 5000)
    x = torch.randn(5000, 33, requires_grad=True)
    before = torch.get_num_threads()
    found = []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            out = nn.aggregate(x, adj, reduce)
            found.append((out, *torch.autograd.grad(out.square().sum(), x)))
    finally:
        torch.set_num_threads(before)
    for other in found[1:]:
        assert all(torch.equal(one, two) for one, two in zip(found[0], other, strict=True))


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
    for call in (
        lambda: ours(x, adj),
        lambda: ours((x, x[:num_targets]), adj),
        lambda: ours((x, x[:num_targets].clone()), adj),
        lambda: ours(x, edges)[:num_targets],
    ):
        for one, two in zip(expected, run(ours, call), strict=True):
            assert torch.allclose(one, two, atol=1e-5, rtol=1e-4)


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


def test_operators_are_sound_for_autograd_and_compile():
    adj = matrix(random_lists(), 30)
    edges = edges_of(adj, 30, 12)
    starts, others = edges.starts, edges.sources
    x = torch.randn(30, 4, requires_grad=True)
    checks = ("test_schema", "test_autograd_registration", "test_faketensor")
    operators = torch.ops.graphmount
    for inputs in ((None, True, 0), (torch.rand(len(others)), False, 5)):
        torch.library.opcheck(operators.sum_rows, (starts, others, x, *inputs), test_utils=checks)
    torch.library.opcheck(operators.largest_rows, (starts, others, x, 5), test_utils=checks)
    rows, scores = torch.randn(30, 2, 4, requires_grad=True), torch.randn(30, 2)
    torch.library.opcheck(
        operators.attend, (starts, others, rows, scores, scores[:12], None, 0.2), test_utils=checks
    )


FORK = """
import os, signal
import torch
from graphmount.torch import nn

torch.set_num_threads(2)
torch.rand(20_000, 64).exp()  # has threads at work, which a child will not have
x = torch.rand(5_000, 64)
adj = torch.sparse_csr_tensor(
    torch.arange(5_001) * 4, torch.randint(0, 5_000, (20_000,)), torch.ones(20_000),
    size=(5_000, 5_000), check_invariants=False,
)
expected = nn.aggregate(x, adj)
child = os.fork()
if child == 0:
    signal.alarm(20)
    same = (nn.aggregate(x, adj).numpy() == expected.numpy()).all()
    os._exit(0 if same else 1)
print(os.waitpid(child, 0)[1])
"""


def test_a_forked_child_can_aggregate():
    """Torch's threads are not there in a child, and OpenMP would wait for them for ever.

    So does torch itself, in operations that are large enough to be divided.
    """
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORK],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (found.stdout, found.stderr) == ("0\n", "")


def test_threads_do_not_disturb_each_other():
    adj = matrix(random_lists(targets=500, sources=900), 900)
    x = torch.randn(900, 20)
    expected = [nn.aggregate(x, adj, reduce) for reduce in REDUCES]

    def run():
        for _ in range(20):
            rows = x.clone().requires_grad_()
            nn.aggregate(rows, adj, "max").sum().backward()
            found = [nn.aggregate(x, adj, reduce) for reduce in REDUCES]
            assert all(torch.equal(one, two) for one, two in zip(found, expected, strict=True))
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(task.result() for task in [pool.submit(run) for _ in range(4)])


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


def test_rows_that_do_not_lie_together():
    adj = matrix(random_lists(), 30)
    x = torch.randn(4, 30).t()
    edges = edges_of(adj, 30, 12)
    for reduce in REDUCES:
        assert torch.equal(nn.aggregate(x, adj, reduce), nn.aggregate(x.contiguous(), adj, reduce))
    checks = ("test_schema", "test_autograd_registration", "test_faketensor")
    operators = torch.ops.graphmount
    inputs = (edges.starts, edges.sources, x.requires_grad_())
    torch.library.opcheck(operators.sum_rows, (*inputs, None, True, 5), test_utils=checks)
    torch.library.opcheck(operators.largest_rows, (*inputs, 5), test_utils=checks)


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


@pytest.mark.parametrize(
    ("x", "adj", "message"),
    [
        (torch.rand(3, 2), torch.rand(2, 3), "edge_index of int64"),
        (torch.rand(3, 2), torch.zeros(3, 1, dtype=torch.int64), "edge_index of int64"),
        (torch.rand(3, 2), matrix([[0]], 4), "1 rows and 4 columns; there are 1"),
        ((torch.rand(4, 2), torch.rand(2, 2)), matrix([[0]], 4), "there are 2 rows of targets"),
        (torch.zeros(4, 2, dtype=torch.int64), matrix([[0]], 4), "rows of floats"),
        (torch.rand(4), matrix([[0]], 4), "rows of floats"),
    ],
)
def test_what_does_not_fit_is_refused(x, adj, message):
    with pytest.raises(ValueError, match=message):
        nn.aggregate(x, adj)


def test_wrong_kinds_and_ids_are_refused():
    x = torch.rand(3, 2)
    with pytest.raises(TypeError, match="adj must be a sparse CSR tensor"):
        nn.aggregate(x, [[0], [1]])
    with pytest.raises(TypeError, match="a pair of tensors, not 1"):
        nn.aggregate((x,), matrix([[0]], 3))
    with pytest.raises(ValueError, match="choose one of 'mean', 'sum', 'max'"):
        nn.aggregate(x, matrix([[0]], 3), "add")
    with pytest.raises(ValueError, match="choose one of"):
        nn.SAGEConv(2, 2, aggr="lstm")
    for bad in (3, -1):
        with pytest.raises(IdError):
            nn.aggregate(x, torch.tensor([[bad], [0]]))
        with pytest.raises(IdError):
            nn.aggregate(x, torch.tensor([[0], [bad]]))
        with pytest.raises(IdError):
            nn.aggregate(x, matrix([[bad]], 3))
    ends = torch.tensor([0, 9])
    forged = torch.sparse_csr_tensor(
        ends, torch.tensor([0]), torch.ones(1), size=(1, 3), check_invariants=False
    )
    with pytest.raises(ValueError, match="crow_indices must ascend"):
        nn.aggregate(x, forged)
    with pytest.raises(ValueError, match="use PyG's layers there"):
        nn.aggregate((x.to("meta"), x[:1]), matrix([[0]], 3))
