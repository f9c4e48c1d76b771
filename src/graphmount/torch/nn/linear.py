"""Products of rows with weights, in the core: what linear layers do, and their way back.

Two products are one operator, since many layers add that of a node to that of its neighbors: the
results are written once. Only in float32, and on processors where that is known to be faster than
torch's own products; all else is torch's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from graphmount import _core
from graphmount.torch.nn.edges import flat
from graphmount.torch.nn.operators import operator

if TYPE_CHECKING:
    from numpy.typing import NDArray


def apply_linear(
    rows: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None = None,
    more_rows: torch.Tensor | None = None,
    more_weight: torch.Tensor | None = None,
    *,
    relu: bool = False,
) -> torch.Tensor:
    """What a linear layer makes of rows, plus what a second one makes of other rows.

    Args:
        rows: A row for each result.
        weight: For each column of the results, what each column of the rows counts.
        bias: What is added to each row of the results.
        more_rows: As many rows, for the second layer.
        more_weight: The weights of the second layer; it has no bias.
        relu: Whether results below 0 become 0.

    Raises:
        ValueError: Rows have another number of columns than the layer takes.
    """
    given = [rows, weight]
    if more_rows is not None and more_weight is not None:
        given += [more_rows, more_weight]
    for values, own in zip(given[::2], given[1::2], strict=True):
        if values.size(1) != own.size(1):
            raise ValueError(
                f"x has {values.size(1)} columns, and the layer was made for {own.size(1)}"
            )
    if not _is_for_core(given):
        out = torch.nn.functional.linear(rows, weight, bias)
        if len(given) == 4:
            out = out + torch.nn.functional.linear(*given[2:])
        return out.relu() if relu else out
    made: torch.Tensor = torch.ops.graphmount.apply_weights(
        rows, weight, more_rows, more_weight, bias, relu
    )
    return made


# By what the processor is, and not by a measurement, which would not always say the same: results
# of both differ in their last bits.
_HAS_FAST_PRODUCTS = _core.has_fast_products()


def _is_for_core(tensors: list[torch.Tensor]) -> bool:
    """Whether products of these are made in the core, and not by torch."""
    return (
        _HAS_FAST_PRODUCTS
        and not torch.is_autocast_enabled("cpu")
        and all(tensor.dtype == torch.float32 and tensor.device.type == "cpu" for tensor in tensors)
    )


def multiply_into(out: torch.Tensor, rows: torch.Tensor, weight: torch.Tensor) -> None:
    """Writes what weights, as those of a linear layer, make of rows; all lie together in memory."""
    if not _is_for_core([rows, weight]):
        torch.mm(rows, weight.t(), out=out)
        return
    _into(out, [(rows, weight)])


def return_to_rows_into(out: torch.Tensor, gradient: torch.Tensor, weight: torch.Tensor) -> None:
    """Writes the gradient of the rows, by that of the results."""
    if not _is_for_core([gradient, weight]):
        torch.mm(gradient, weight, out=out)
        return
    _core.return_to_rows(_of_results(gradient), flat(weight), weight.size(1), flat(out))


def return_to_weights_into(out: torch.Tensor, gradient: torch.Tensor, rows: torch.Tensor) -> None:
    """Writes the gradient of the weights, by that of the results."""
    if not _is_for_core([gradient, rows]):
        torch.mm(gradient.t(), rows, out=out)
        return
    parts = [(flat(rows), rows.size(1), flat(out))]
    _core.return_to_weights(_of_results(gradient), parts, _NOTHING)


_NOTHING = np.empty(0, np.float32)


def _into(
    out: torch.Tensor,
    parts: list[tuple[torch.Tensor, torch.Tensor]],
    bias: torch.Tensor | None = None,
    *,
    relu: bool = False,
) -> None:
    """Writes the sum of what the weights of each part make of its rows."""
    given = [(flat(rows), flat(weight), weight.size(1)) for rows, weight in parts]
    added = _NOTHING if bias is None else flat(bias)
    _core.apply_weights(given, added, out.size(1), relu, flat(out))


def _of_results(
    gradient: torch.Tensor, results: torch.Tensor | None = None
) -> tuple[NDArray[Any], NDArray[Any], int]:
    """The gradient of results, which is cut where they are given and not above 0."""
    return flat(gradient), _NOTHING if results is None else flat(results), gradient.size(1)


@operator(
    "apply_weights",
    "(Tensor rows, Tensor weight, Tensor? more_rows, Tensor? more_weight, Tensor? bias,"
    " bool relu) -> Tensor",
    lambda rows, weight, *_rest: rows.new_empty(rows.size(0), weight.size(0)),
)
def _apply_weights(  # noqa: PLR0917  (as operators are called)
    rows: torch.Tensor,
    weight: torch.Tensor,
    more_rows: torch.Tensor | None,
    more_weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    relu: bool,
) -> torch.Tensor:
    out = rows.new_empty(len(rows), len(weight))
    parts = [(rows, weight)]
    if more_rows is not None and more_weight is not None:
        parts.append((more_rows, more_weight))
    _into(out, parts, bias, relu=relu)
    return out


@operator(
    "weights_back_to_rows",
    "(Tensor gradient, Tensor? results, Tensor weight) -> Tensor",
    lambda gradient, _results, weight: gradient.new_empty(gradient.size(0), weight.size(1)),
)
def _back_to_rows(
    gradient: torch.Tensor, results: torch.Tensor | None, weight: torch.Tensor
) -> torch.Tensor:
    out = gradient.new_empty(len(gradient), weight.size(1))
    given = _of_results(gradient, results)
    _core.return_to_rows(given, flat(weight), weight.size(1), flat(out))
    return out


@operator(
    "rows_back_to_weights",
    "(Tensor gradient, Tensor? results, Tensor rows, Tensor? more_rows)"
    " -> (Tensor, Tensor, Tensor)",
    lambda gradient, _results, rows, more_rows: (
        gradient.new_empty(gradient.size(1), rows.size(1)),
        gradient.new_empty(gradient.size(1), 0 if more_rows is None else more_rows.size(1)),
        gradient.new_empty(gradient.size(1)),
    ),
)
def _back_to_weights(
    gradient: torch.Tensor,
    results: torch.Tensor | None,
    rows: torch.Tensor,
    more_rows: torch.Tensor | None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    outputs = gradient.size(1)
    bias = gradient.new_empty(outputs)
    given = [(rows, gradient.new_empty(outputs, rows.size(1)))]
    if more_rows is not None:
        given.append((more_rows, gradient.new_empty(outputs, more_rows.size(1))))
    parts = [(flat(values), values.size(1), flat(out)) for values, out in given]
    _core.return_to_weights(_of_results(gradient, results), parts, flat(bias))
    made = [out for _, out in given]
    return made[0], made[1] if len(made) > 1 else gradient.new_empty(outputs, 0), bias


def _keep(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:  # noqa: ANN401
    rows, weight, more_rows, more_weight, _, ctx.relu = inputs
    kept = [rows, weight] if more_weight is None else [rows, weight, more_rows, more_weight]
    ctx.save_for_backward(*([output] if ctx.relu else []), *kept)


def _back(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:  # noqa: ANN401
    saved = list(ctx.saved_tensors)
    results = saved.pop(0) if ctx.relu else None
    rows, weights = saved[::2], saved[1::2]
    needs = ctx.needs_input_grad
    operators = torch.ops.graphmount
    made: list[torch.Tensor | None] = [None] * len(needs)
    for number, weight in enumerate(weights):
        if needs[2 * number]:
            made[2 * number] = operators.weights_back_to_rows(gradient, results, weight)
    if needs[1] or needs[3] or needs[4]:
        more_rows = rows[1] if len(rows) > 1 else None
        found = operators.rows_back_to_weights(gradient, results, rows[0], more_rows)
        for place, value in zip((1, 3, 4), found, strict=True):
            made[place] = value if needs[place] else None
    return tuple(made)


_apply_weights.register_autograd(_back, setup_context=_keep)
