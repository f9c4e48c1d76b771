"""Sums, maxima and attention along edges: against loops, `gradcheck`, threads and forks."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmount.errors import IdError

torch = pytest.importorskip("torch", reason="torch is not installed")

from layer_edges import edge_index, matrix, random_lists  # noqa: E402

from graphmount.torch import nn  # noqa: E402
from graphmount.torch.nn.attention import attend  # noqa: E402
from graphmount.torch.nn.edges import edges_of  # noqa: E402

REDUCES = ("mean", "sum", "max")


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


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("reduce", REDUCES)
@pytest.mark.parametrize("width", [1, 64, 70])
def test_half_precision_is_that_of_a_twin_in_float64_rounded_once(dtype, reduce, width):
    lists = random_lists(sources=40)
    generator = torch.Generator().manual_seed(width)
    rows = torch.randn(40, width, generator=generator).to(dtype)
    rows[0, 0], rows[1, 0] = 60_000.0, 1e-7  # near the ends of what float16 has
    towards = torch.randn(len(lists), width, generator=generator).to(dtype)
    exact = rows.double().requires_grad_()
    half = rows.clone().requires_grad_()
    expected = plain(exact, lists, reduce)
    (gradient,) = torch.autograd.grad(expected, exact, towards.double())
    found = nn.aggregate((half, half[: len(lists)]), matrix(lists, 40), reduce)
    (back,) = torch.autograd.grad(found, half, towards)
    # Sums in float32 are so near that rounding once to 16 bits is all that is lost.
    spacing = torch.finfo(dtype).eps
    for one, two in ((found, expected), (back, gradient)):
        assert one.dtype == dtype
        torch.testing.assert_close(
            one.double(), two.detach().to(dtype).double(), rtol=spacing, atol=1e-5
        )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_every_number_of_16_bits_goes_there_and_back(dtype):
    rows = torch.arange(-(1 << 15), 1 << 15).to(torch.int16).view(dtype)[:, None]
    lists = [[row] for row in range(len(rows))]
    found = nn.aggregate(rows, matrix(lists, len(rows)), "sum")
    assert torch.equal(found.isnan(), rows.isnan())
    assert torch.equal(found[~found.isnan()], rows[~rows.isnan()])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_sums_are_rounded_as_torch_rounds(dtype):
    generator = torch.Generator().manual_seed(0)
    scales = torch.tensor([1e-8, 1e-6, 1e-4, 1.0, 1e3, 1e4])
    rows = (torch.randn(3000, 6, generator=generator) * scales).to(dtype)
    lists = [[row, row + 1] for row in range(2999)]
    found = nn.aggregate((rows, rows[:2999]), matrix(lists, 3000), "sum")
    assert torch.equal(found, (rows[:-1].float() + rows[1:].float()).to(dtype))


def test_second_derivatives_are_refused_and_not_wrong():
    x = torch.rand(3, 4, requires_grad=True)
    for call in (
        lambda: nn.aggregate(x, torch.tensor([[1, 2], [0, 0]])),
        lambda: nn.SAGEConv(4, 2)(x, torch.tensor([[1, 2], [0, 0]])),
    ):
        (first,) = torch.autograd.grad(call().sin().sum(), x, create_graph=True)
        with pytest.raises(RuntimeError, match="no autograd formula"):
            first.sum().backward()
    with pytest.raises(RuntimeError, match=r"not through torch\.func.*autograd"):
        torch.func.grad(lambda rows: nn.aggregate(rows, torch.tensor([[1], [0]])).sum())(x)


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


def test_operators_are_sound_for_autograd_and_compile():
    adj = matrix(random_lists(), 30)
    edges = edges_of(adj, 30, 12)
    starts, others = edges.starts, edges.sources
    x = torch.randn(30, 4, requires_grad=True)
    checks = ("test_schema", "test_autograd_registration", "test_faketensor")
    operators = torch.ops.graphmount
    for inputs in ((None, True, 0, None), (torch.rand(len(others)), False, 5, starts)):
        torch.library.opcheck(operators.sum_rows, (starts, others, x, *inputs), test_utils=checks)
    torch.library.opcheck(operators.largest_rows, (starts, others, x, 5, None), test_utils=checks)
    rows, scores = torch.randn(30, 2, 4, requires_grad=True), torch.randn(30, 2)
    torch.library.opcheck(
        operators.attend, (starts, others, rows, scores, scores[:12], None, 0.2), test_utils=checks
    )


def test_rows_that_do_not_lie_together():
    adj = matrix(random_lists(), 30)
    x = torch.randn(4, 30).t()
    edges = edges_of(adj, 30, 12)
    for reduce in REDUCES:
        assert torch.equal(nn.aggregate(x, adj, reduce), nn.aggregate(x.contiguous(), adj, reduce))
    checks = ("test_schema", "test_autograd_registration", "test_faketensor")
    operators = torch.ops.graphmount
    inputs = (edges.starts, edges.sources, x.requires_grad_())
    torch.library.opcheck(operators.sum_rows, (*inputs, None, True, 5, None), test_utils=checks)
    torch.library.opcheck(operators.largest_rows, (*inputs, 5, None), test_utils=checks)


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
