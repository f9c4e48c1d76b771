"""Sums, means and maxima along edges, with their way back, in the core.

They are operators of torch with first derivatives; `torch.compile` calls them as they are, between
the parts that it compiles. Sums are made in registers, in the order of edges: results are the same
for any number of threads. The way back goes along the edges by their source, so nothing is sorted,
and threads do not meet. They run on a processor.
"""

from __future__ import annotations

from typing import Any, Literal

import torch

from graphmount._support.arguments import require_choice
from graphmount.torch.batches.aggregated_hop import AggregatedHop
from graphmount.torch.nn.edges import (
    Edges,
    Rows,
    divide_rows,
    edges_of,
    flat,
    lists_of,
    return_sums,
    sum_rows,
    take_aggregated,
    turn_round,
)
from graphmount.torch.nn.operators import calls_by_dtype, operator

Reduce = Literal["mean", "sum", "max"]

_LARGEST_ROWS = calls_by_dtype("largest_rows")
_RETURN_TO_WINNERS = calls_by_dtype("return_to_winners")


def aggregate(x: Rows, adj: torch.Tensor, reduce: Reduce = "mean") -> torch.Tensor:
    """For each target, the mean, sum or maximum of the rows of its neighbors.

    Args:
        x: The rows of the sources. Of a pair (of sources, of targets), the first is taken.
        adj: The edges: a sparse CSR tensor whose rows are the targets, such as those of
            `batch.adjs`, or an `edge_index`. Values of the matrix must be 1.
        reduce: "mean", "sum" or "max". A target without edges gets zeros. Of equal maxima, the
            first gets the gradient; PyG divides it among them.

    Returns:
        A row for each target. Rows of float16 and bfloat16 are summed in float32.

    Raises:
        ValueError: `x` and `adj` do not fit, or `x` has no floats.
        IdError: An edge comes from a row that does not exist.

    Examples:
        >>> import torch
        >>> import graphmount as gm
        >>> import graphmount.torch.nn
        >>> _ = gm.compile_graph(([1, 2, 3], [0, 0, 1]), "g.gl")
        >>> batch = next(iter(gm.torch.NeighborLoader(gm.Graph("g.gl"), [-1, -1])))
        >>> x = torch.tensor([[1.0], [2.0], [4.0], [8.0]])
        >>> gm.torch.nn.aggregate(x, batch.adjs[0], "max")
        tensor([[4.],
                [8.],
                [0.]])
    """
    require_choice("reduce", reduce, ("mean", "sum", "max"))
    sources, targets = divide_rows(x, adj)
    return aggregate_edges(sources, edges_of(adj, len(sources), len(targets)), reduce)


def aggregate_edges(
    x: torch.Tensor, edges: Edges, reduce: Reduce, factors: torch.Tensor | None = None
) -> torch.Tensor:
    """The same, of edges that are known to fit; for a sum or mean, by factors of the edges."""
    return _aggregate(x, edges, reduce, factors, 0)[0]


def aggregate_beside(
    x: Rows, adj: torch.Tensor | AggregatedHop, reduce: Reduce
) -> tuple[torch.Tensor, torch.Tensor]:
    """What is made of the rows of neighbors, and the rows of the targets themselves.

    Where the loader has done so already, `x` is that pair.

    Of rows for all nodes, targets are the first. Torch would make the gradient of such a slice as
    large as that of all rows, mostly zeros, and add both; here it is added to the first rows alone.
    """
    if isinstance(adj, AggregatedHop):
        return take_aggregated(x, adj, reduce)
    sources, targets = divide_rows(x, adj)
    edges = edges_of(adj, len(sources), len(targets))
    return aggregate_edges_beside((sources, targets), edges, reduce, are_first=x is sources)


def aggregate_edges_beside(
    rows: tuple[torch.Tensor, torch.Tensor], edges: Edges, reduce: Reduce, *, are_first: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """The same, of edges that are known to fit, and rows of sources and of targets.

    Edges may lead to more rows than there are targets. `are_first` says that targets are the first
    of the sources.
    """
    sources, targets = rows
    if not are_first or not sources.requires_grad:
        return aggregate_edges(sources, edges, reduce), targets
    return _aggregate(sources, edges, reduce, None, len(targets))


def _aggregate(
    x: torch.Tensor,
    edges: Edges,
    reduce: Reduce,
    factors: torch.Tensor | None,
    num_targets: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    # Floats of other widths have no loops of their own.
    rows = x if x.dtype in _LARGEST_ROWS else x.float()
    operators = torch.ops.graphmount
    if reduce == "max":
        out, targets, _ = operators.largest_rows(
            edges.starts, edges.sources, rows, num_targets, edges.turned
        )
    else:
        exact = torch.float64 if rows.dtype == torch.float64 else torch.float32
        factors = None if factors is None else factors.to(exact)
        is_mean = reduce == "mean"
        out, targets = operators.sum_rows(
            edges.starts, edges.sources, rows, factors, is_mean, num_targets, edges.turned
        )
    return out.to(x.dtype), targets.to(x.dtype)


# Each gives the first rows of x as well, as many as asked for, and takes their gradient back.
@operator(
    "sum_rows",
    "(Tensor starts, Tensor others, Tensor x, Tensor? factors, bool mean,"
    " SymInt num_targets, Tensor? turned) -> (Tensor, Tensor)",
    lambda starts, _others, x, _factors, _mean, num_targets, _turned: (
        x.new_empty(starts.size(0) - 1, x.size(1)),
        x.new_empty(num_targets, x.size(1)),
    ),
)
def _sum_rows(  # noqa: PLR0917  (as operators are called)
    starts: torch.Tensor,
    others: torch.Tensor,
    x: torch.Tensor,
    factors: torch.Tensor | None,
    mean: bool,
    num_targets: int,
    turned: torch.Tensor | None,  # noqa: ARG001  (for the way back)
) -> tuple[torch.Tensor, torch.Tensor]:
    out = sum_rows(starts, others, x, factors, mean=mean)
    return out, x[:num_targets].clone(memory_format=torch.contiguous_format)


@operator(
    "sum_rows_back",
    "(Tensor starts, Tensor others, Tensor? factors, Tensor gradient, Tensor of_targets,"
    " SymInt num_rows, bool mean, Tensor? turned) -> Tensor",
    lambda _starts, _others, _factors, gradient, _of_targets, num_rows, *_rest: gradient.new_empty(
        num_rows, gradient.size(1)
    ),
)
def _sum_rows_back(  # noqa: PLR0917
    starts: torch.Tensor,
    others: torch.Tensor,
    factors: torch.Tensor | None,
    gradient: torch.Tensor,
    of_targets: torch.Tensor,
    num_rows: int,
    mean: bool,
    turned: torch.Tensor | None,
) -> torch.Tensor:
    by_source, owners, places = turn_round(starts, others, num_rows, turned)
    return return_sums(
        (by_source, owners),
        gradient,
        factors=None if factors is None else factors[places],
        means=starts if mean else None,
        of_first=of_targets,
    )


@operator(
    "largest_rows",
    "(Tensor starts, Tensor others, Tensor x, SymInt num_targets, Tensor? turned)"
    " -> (Tensor, Tensor, Tensor)",
    lambda starts, _others, x, num_targets, _turned: (
        x.new_empty(starts.size(0) - 1, x.size(1)),
        x.new_empty(num_targets, x.size(1)),
        x.new_empty(starts.size(0) - 1, x.size(1), dtype=torch.int32),
    ),
)
def _largest_rows(
    starts: torch.Tensor,
    others: torch.Tensor,
    x: torch.Tensor,
    num_targets: int,
    turned: torch.Tensor | None,  # noqa: ARG001  (for the way back)
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    out = x.new_empty(len(starts) - 1, x.size(1))
    winners = torch.empty_like(out, dtype=torch.int32)
    lists = lists_of(starts, others, len(x))
    _LARGEST_ROWS[x.dtype](lists, x.size(1), flat(x), flat(out), flat(winners))
    return out, x[:num_targets].clone(memory_format=torch.contiguous_format), winners


@operator(
    "largest_rows_back",
    "(Tensor starts, Tensor others, Tensor winners, Tensor gradient, Tensor of_targets,"
    " SymInt num_rows, Tensor? turned) -> Tensor",
    lambda _starts, _others, _winners, gradient, _of_targets, num_rows, *_rest: gradient.new_empty(
        num_rows, gradient.size(1)
    ),
)
def _largest_rows_back(  # noqa: PLR0917
    starts: torch.Tensor,
    others: torch.Tensor,
    winners: torch.Tensor,
    gradient: torch.Tensor,
    of_targets: torch.Tensor,
    num_rows: int,
    turned: torch.Tensor | None,
) -> torch.Tensor:
    by_source, owners, places = turn_round(starts, others, num_rows, turned)
    out = gradient.new_empty(num_rows, gradient.size(1))
    _RETURN_TO_WINNERS[gradient.dtype](
        lists_of(by_source, owners, len(gradient)),
        flat(places),
        gradient.size(1),
        flat(gradient),
        flat(winners),
        flat(of_targets),
        flat(out),
    )
    return out


def _keep_for_sums(ctx: Any, inputs: tuple[Any, ...], output: tuple[Any, ...]) -> None:  # noqa: ANN401, ARG001
    starts, others, x, factors, ctx.mean, _, turned = inputs
    ctx.num_rows = x.size(0)
    ctx.save_for_backward(starts, others, factors, turned)


def _back_of_sums(ctx: Any, gradient: torch.Tensor, of_targets: torch.Tensor) -> tuple[Any, ...]:  # noqa: ANN401
    starts, others, factors, turned = ctx.saved_tensors
    back = torch.ops.graphmount.sum_rows_back(
        starts, others, factors, gradient, of_targets, ctx.num_rows, ctx.mean, turned
    )
    return None, None, back, None, None, None, None


def _keep_for_maxima(ctx: Any, inputs: tuple[Any, ...], output: tuple[Any, ...]) -> None:  # noqa: ANN401
    starts, others, x, _, turned = inputs
    ctx.num_rows = x.size(0)
    ctx.save_for_backward(starts, others, output[2], turned)
    ctx.mark_non_differentiable(output[2])


def _back_of_maxima(
    ctx: Any,  # noqa: ANN401
    gradient: torch.Tensor,
    of_targets: torch.Tensor,
    _winners: Any,  # noqa: ANN401
) -> tuple[Any, ...]:
    starts, others, winners, turned = ctx.saved_tensors
    back = torch.ops.graphmount.largest_rows_back(
        starts, others, winners, gradient, of_targets, ctx.num_rows, turned
    )
    return None, None, back, None, None


_sum_rows.register_autograd(_back_of_sums, setup_context=_keep_for_sums)
_largest_rows.register_autograd(_back_of_maxima, setup_context=_keep_for_maxima)
