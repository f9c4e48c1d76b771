"""Products of rows with weights in the core: torch's results and gradients."""

from __future__ import annotations

import contextlib
import platform
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="torch is not installed")

from graphmount import _core  # noqa: E402
from graphmount.torch import nn  # noqa: E402
from graphmount.torch.nn import linear  # noqa: E402
from graphmount.torch.nn.linear import apply_linear  # noqa: E402


def make(rows, inputs, more_inputs, outputs, *, bias, seed):
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.randn(*shape, generator=generator)

    made = [draw(rows, inputs), draw(outputs, inputs), draw(outputs) if bias else None]
    if more_inputs:
        made += [draw(rows, more_inputs), draw(outputs, more_inputs)]
    return made


def outcome(tensors, *, relu, dtype, call):
    """The results and the gradients of all tensors, in one dtype."""
    own = [None if each is None else each.to(dtype, copy=True).requires_grad_() for each in tensors]
    out = call(own, relu)
    out.sin().sum().backward()
    return [out.detach()] + [each.grad for each in own if each is not None]


@contextlib.contextmanager
def products(*, of_core):
    """Products of the core or of torch, whatever this processor is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linear, "_HAS_FAST_PRODUCTS", of_core)
        yield


def plain(tensors, relu):
    """What a linear layer is, in torch."""
    rows, weight, bias, *more = tensors
    out = rows @ weight.T
    out = out if bias is None else out + bias
    out = out + more[0] @ more[1].T if more else out
    return out.relu() if relu else out


@given(
    st.integers(0, 300),
    st.integers(1, 70),
    st.sampled_from([0, 1, 33]),
    st.integers(1, 70),
    st.booleans(),
    st.booleans(),
    st.integers(0, 9),
)
@settings(max_examples=60, deadline=None)
def test_results_and_gradients_are_those_of_a_twin_in_float64(  # noqa: PLR0917
    rows, inputs, more_inputs, outputs, bias, relu, seed
):
    tensors = make(rows, inputs, more_inputs, outputs, bias=bias, seed=seed)
    wanted = outcome(tensors, relu=relu, dtype=torch.float64, call=plain)
    for of_core in (True, False):
        with products(of_core=of_core):
            found = outcome(
                tensors,
                relu=relu,
                dtype=torch.float32,
                call=lambda own, cut: apply_linear(*own, relu=cut),
            )
        for one, two in zip(found, wanted, strict=True):
            scale = max(1.0, float(two.abs().max())) if two.numel() else 1.0
            # A result near 0 may be cut off in one and not in the other; its sine is as small.
            tolerance = 2e-4 if relu else 1e-5
            np.testing.assert_allclose(one.double() / scale, two / scale, atol=tolerance)


def test_the_core_multiplies_only_where_that_is_known_to_be_faster():
    rows, weight = torch.rand(5, 4), torch.rand(3, 4)
    with torch.profiler.profile() as profile, products(of_core=False):
        apply_linear(rows, weight)
    assert not any("graphmount" in event.key for event in profile.key_averages())
    with torch.profiler.profile() as profile, products(of_core=True):
        apply_linear(rows, weight)
    assert any("graphmount" in event.key for event in profile.key_averages())


def test_which_processors_have_fast_products():
    processors = Path("/proc/cpuinfo")
    if platform.machine() != "x86_64" or not processors.exists():
        pytest.skip("/proc/cpuinfo of x86 is needed")
    lines = dict(
        map(str.strip, line.split(":", 1))
        for line in processors.read_text().splitlines()
        if ":" in line
    )
    has_vectors = {"avx2", "fma"} <= set(lines["flags"].split())
    assert _core.has_fast_products() == (has_vectors and lines["vendor_id"] != "GenuineIntel")


def test_only_what_is_needed_comes_back():
    rows, weight, bias = make(10, 4, 0, 3, bias=True, seed=0)
    weight.requires_grad_()
    apply_linear(rows, weight, bias).sum().backward()
    assert rows.grad is None
    assert bias.grad is None
    torch.testing.assert_close(weight.grad, rows.sum(0).expand(3, 4))


def test_strided_rows_and_weights_are_taken_as_they_are():
    rows, weight = torch.randn(4, 10).t(), torch.randn(4, 3).t()
    torch.testing.assert_close(apply_linear(rows, weight), rows @ weight.T)


def test_other_floats_are_torchs():
    rows, weight, bias = (each.double() for each in make(10, 4, 0, 3, bias=True, seed=0))
    assert apply_linear(rows, weight, bias).dtype == torch.float64
    with torch.autocast("cpu", dtype=torch.bfloat16):
        made = apply_linear(rows.float(), weight.float(), bias.float())
    assert made.dtype == torch.bfloat16


def test_columns_that_do_not_fit_are_named():
    layer = nn.SAGEConv(4, 2)
    with pytest.raises(ValueError, match="x has 3 columns, and the layer was made for 4"):
        layer(torch.rand(2, 3), torch.tensor([[1], [0]]))


@pytest.mark.parametrize("normalize", [False, True])
def test_a_layer_with_its_activation_is_the_layer_and_relu(normalize):
    plain_layer = nn.SAGEConv(6, 5, normalize=normalize)
    layer = nn.SAGEConv(6, 5, normalize=normalize, activation="relu")
    layer.load_state_dict(plain_layer.state_dict())
    x, edges = torch.randn(30, 6), torch.randint(0, 30, (2, 90))
    one, two = plain_layer(x, edges).relu(), layer(x, edges)
    assert torch.equal(one, two)
    one.sin().sum().backward()
    two.sin().sum().backward()
    for a, b in zip(plain_layer.parameters(), layer.parameters(), strict=True):
        torch.testing.assert_close(a.grad, b.grad)
    assert repr(layer).startswith("SAGEConv(\n  6, 5, aggr='mean', activation='relu'")


class MadeAnew(Sequence):
    """Parts whose arrays nobody else has."""

    def __len__(self):
        return 4

    def __getitem__(self, place):
        if place >= len(self):
            raise IndexError
        return np.full(4, 10.0**place, np.float32), np.ones(4, np.float32), 4


def test_parts_that_nobody_else_has_live_until_the_call_ends():
    out = np.zeros(1, np.float32)
    _core.apply_weights(MadeAnew(), np.zeros(0, np.float32), 1, relu=False, out=out)
    assert out == 4444


def test_other_activations_are_refused():
    with pytest.raises(ValueError, match="activation"):
        nn.SAGEConv(4, 2, activation="tanh")


def test_the_operator_is_sound_for_autograd_and_compile():
    tensors = [each.requires_grad_() for each in make(9, 4, 3, 5, bias=True, seed=0)]
    rows, weight, bias, *more = tensors
    torch.library.opcheck(
        torch.ops.graphmount.apply_weights,
        (rows, weight, *more, bias, True),
        test_utils=("test_schema", "test_autograd_registration", "test_faketensor"),
    )
