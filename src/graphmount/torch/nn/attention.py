"""Attention along edges, as in GAT: a sum of the rows of neighbors by weights that add up to 1.

The weight of an edge is the softmax of a score over all edges of its target. Scores, weights and
sums are made edge by edge in the core, for each head; the rows of neighbors are never copied.
"""

from __future__ import annotations

from typing import Any

import torch

from graphmount import _core
from graphmount.torch.nn.edges import Edges, flat, lists_of, sum_rows, turn_round
from graphmount.torch.nn.operators import operator


def attend(
    rows: torch.Tensor,
    by_source: torch.Tensor,
    by_target: torch.Tensor,
    edges: Edges,
    *,
    slope: float,
    dropout: float = 0.0,
) -> torch.Tensor:
    """For each target and head, the sum of the rows of its neighbors by their weights.

    Args:
        rows: Of the sources, of the shape (sources, heads, columns).
        by_source: What each source adds to a score, for each head.
        by_target: The same for targets.
        edges: Which sources each target has.
        slope: Scores below 0 are multiplied by it.
        dropout: The share of weights that are left out, by chance.

    Returns:
        Of the shape (targets, heads, columns), in the dtype of `rows`.
    """
    dtype = rows.dtype
    exact = torch.float64 if dtype == torch.float64 else torch.float32
    rows, by_source, by_target = (part.to(exact) for part in (rows, by_source, by_target))
    kept = None
    if dropout > 0:
        kept = rows.new_ones(len(edges.sources), rows.size(1))
        kept = torch.nn.functional.dropout(kept, p=dropout, training=True)
    out: torch.Tensor = torch.ops.graphmount.attend(
        edges.starts, edges.sources, rows, by_source, by_target, kept, slope
    )[0]
    return out.to(dtype)


def _scores(
    starts: torch.Tensor, others: torch.Tensor, by_source: torch.Tensor, by_target: torch.Tensor
) -> torch.Tensor:
    of_targets = by_target.repeat_interleave(starts.diff(), dim=0, output_size=len(others))
    return by_source[others].add_(of_targets)


@operator(
    "attend",
    "(Tensor starts, Tensor others, Tensor rows, Tensor by_source, Tensor by_target,"
    " Tensor? kept, float slope) -> (Tensor, Tensor)",
    lambda starts, others, rows, *_rest: (
        rows.new_empty(starts.size(0) - 1, *rows.shape[1:]),
        rows.new_empty(others.size(0), rows.size(1)),
    ),
)
def _attend(  # noqa: PLR0917  (as operators are called)
    starts: torch.Tensor,
    others: torch.Tensor,
    rows: torch.Tensor,
    by_source: torch.Tensor,
    by_target: torch.Tensor,
    kept: torch.Tensor | None,
    slope: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    scores = _scores(starts, others, by_source, by_target)
    scores = torch.nn.functional.leaky_relu_(scores, slope)
    weights = torch.empty_like(scores)
    lists = lists_of(starts, others, len(rows))
    _core.softmax_entries(lists, scores.size(1), flat(scores), flat(weights))
    return sum_rows(starts, others, rows, weights if kept is None else weights * kept), weights


@operator(
    "attend_back",
    "(Tensor starts, Tensor others, Tensor rows, Tensor by_source, Tensor by_target,"
    " Tensor? kept, Tensor weights, Tensor gradient, float slope) -> (Tensor, Tensor, Tensor)",
    lambda _starts, _others, *rows_and_scores: tuple(
        like.new_empty(like.shape) for like in rows_and_scores[:3]
    ),
)
def _attend_back(  # noqa: PLR0917
    starts: torch.Tensor,
    others: torch.Tensor,
    rows: torch.Tensor,
    by_source: torch.Tensor,
    by_target: torch.Tensor,
    kept: torch.Tensor | None,
    weights: torch.Tensor,
    gradient: torch.Tensor,
    slope: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    heads, width = rows.shape[1:]
    lists = lists_of(starts, others, len(rows))
    of_weights = torch.empty_like(weights)
    _core.multiply_rows(lists, (heads, width), flat(gradient), flat(rows), flat(of_weights))
    factors = weights
    if kept is not None:
        factors = weights * kept
        of_weights.mul_(kept)
    of_scores = torch.empty_like(weights)
    _core.softmax_gradient(lists, heads, flat(weights), flat(of_weights), flat(of_scores))
    scores = _scores(starts, others, by_source, by_target)
    of_scores = torch.where(scores > 0, of_scores, of_scores * slope)
    turned, owners, places = turn_round(starts, others, len(rows))
    entries = torch.arange(len(others))
    return (
        sum_rows(turned, owners, gradient, factors[places]),
        sum_rows(turned, places, of_scores[:, :, None]).squeeze(2),
        sum_rows(starts, entries, of_scores[:, :, None]).squeeze(2),
    )


def _keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[Any, ...]) -> None:  # noqa: ANN401
    *tensors, kept, ctx.slope = inputs
    ctx.has_kept = kept is not None
    ctx.save_for_backward(*tensors, output[1], *([kept] if ctx.has_kept else []))
    ctx.mark_non_differentiable(output[1])


def _back(ctx: Any, gradient: torch.Tensor, _weights: Any) -> tuple[Any, ...]:  # noqa: ANN401
    starts, others, rows, by_source, by_target, weights, *rest = ctx.saved_tensors
    kept = rest[0] if ctx.has_kept else None
    back = torch.ops.graphmount.attend_back(
        starts, others, rows, by_source, by_target, kept, weights, gradient, ctx.slope
    )
    return None, None, *back, None, None


_attend.register_autograd(_back, setup_context=_keep)
