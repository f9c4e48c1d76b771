"""Edges of several relations, and the products of rows with the weights of each.

Neighbors are aggregated for each pair of a relation and a target that has such edges, and there are
fewer such pairs than edges. The pairs of one relation lie together: their rows are multiplied with
its weights where they lie, and nothing is made for pairs without edges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from graphmount._support.shown import shown
from graphmount.torch.nn.edges import Edges, turn_round
from graphmount.torch.nn.linear import multiply_into, return_to_rows_into, return_to_weights_into
from graphmount.torch.nn.operators import operator


@dataclass(frozen=True, eq=False)
class RelationEdges:
    """The edges of a layer by relation, and in each by target.

    Attributes:
        pairs: For each pair of a relation and a target, the sources of its edges.
        counts: How many pairs each relation has.
        by_target: For each target, its pairs, in the order of relations.
    """

    pairs: Edges
    counts: list[int]
    by_target: Edges


def edges_by_relation(edges: Edges, edge_type: torch.Tensor, num_relations: int) -> RelationEdges:
    """Divides edges by relation: by counting, nothing is sorted.

    Args:
        edges: All of them.
        edge_type: The relation of each edge; of a matrix of `batch.adjs`, those of all edges of the
            batch, of which its own are the first.
        num_relations: How many there are.

    Raises:
        TypeError: `edge_type` is no tensor.
        ValueError: There are not as many as edges, or a number is no relation.
    """
    relations = _checked(edge_type, edges, num_relations)
    num_edges = len(relations)
    _, order, _ = turn_round(torch.arange(num_edges + 1), relations, num_relations)
    targets = torch.repeat_interleave(torch.arange(edges.num_targets), edges.starts.diff())[order]
    relations = relations[order]
    begins_pair = torch.ones(num_edges, dtype=torch.bool)
    begins_pair[1:] = (relations[1:] != relations[:-1]) | (targets[1:] != targets[:-1])
    begins = begins_pair.nonzero().view(-1)
    starts = torch.cat([begins, begins.new_tensor([num_edges])])
    of_targets, owners, _ = turn_round(
        torch.arange(len(begins) + 1), targets[begins], edges.num_targets
    )
    return RelationEdges(
        pairs=Edges(starts, edges.sources[order], edges.num_sources),
        counts=torch.bincount(relations[begins], minlength=num_relations).tolist(),
        by_target=Edges(of_targets, owners, len(begins)),
    )


def _checked(edge_type: torch.Tensor, edges: Edges, num_relations: int) -> torch.Tensor:
    """The relation of each edge, in the order of `edges`."""
    if not isinstance(edge_type, torch.Tensor):
        raise TypeError(f"edge_type must be a tensor, not {shown(edge_type)}")
    if edge_type.dim() != 1 or edge_type.is_floating_point() or edge_type.is_complex():
        raise ValueError(
            f"edge_type must have one whole number for each edge, not {edge_type.dtype} of the "
            f"shape {tuple(edge_type.shape)}"
        )
    num_edges = len(edges.sources)
    # The edges of a layer are the first of the batch.
    is_enough = len(edge_type) >= num_edges if edges.order is None else len(edge_type) == num_edges
    if not is_enough:
        raise ValueError(f"edge_type has {len(edge_type)} numbers for {num_edges} edges")
    relations = edge_type[:num_edges].long()
    if num_edges:
        low, high = (int(end) for end in relations.aminmax())
        if low < 0 or high >= num_relations:
            bad = low if low < 0 else high
            raise ValueError(
                f"edge_type has {bad}, and the layer was made for {num_relations} relations, "
                "numbered from 0 on"
            )
    return relations if edges.order is None else relations[edges.order]


def apply_relations(rows: torch.Tensor, weights: torch.Tensor, counts: list[int]) -> torch.Tensor:
    """Multiplies the rows of each relation with its weights.

    Args:
        rows: Those of the first relation, then those of the second, and so on.
        weights: For each relation and column of the results, what each column of rows counts.
        counts: How many rows each relation has.

    Raises:
        ValueError: Rows have another number of columns than the layer takes.
    """
    if rows.size(1) != weights.size(2):
        raise ValueError(
            f"x has {rows.size(1)} columns, and the layer was made for {weights.size(2)}"
        )
    if torch.is_autocast_enabled("cpu"):
        lower = torch.get_autocast_dtype("cpu")
        rows, weights = rows.to(lower), weights.to(lower)
    made: torch.Tensor = torch.ops.graphmount.apply_relations(rows, weights, counts)
    return made


def _each(counts: list[int]) -> list[tuple[int, slice]]:
    """Relations that have rows, and where these are."""
    found, done = [], 0
    for relation, count in enumerate(counts):
        if count:
            found.append((relation, slice(done, done + count)))
        done += count
    return found


@operator(
    "apply_relations",
    "(Tensor rows, Tensor weights, SymInt[] counts) -> Tensor",
    lambda rows, weights, _counts: rows.new_empty(rows.size(0), weights.size(1)),
)
def _apply_relations(rows: torch.Tensor, weights: torch.Tensor, counts: list[int]) -> torch.Tensor:
    rows, weights = rows.contiguous(), weights.contiguous()
    out = rows.new_empty(len(rows), weights.size(1))
    for relation, part in _each(counts):
        multiply_into(out[part], rows[part], weights[relation])
    return out


@operator(
    "relations_back_to_rows",
    "(Tensor gradient, Tensor weights, SymInt[] counts) -> Tensor",
    lambda gradient, weights, _counts: gradient.new_empty(gradient.size(0), weights.size(2)),
)
def _back_to_rows(gradient: torch.Tensor, weights: torch.Tensor, counts: list[int]) -> torch.Tensor:
    gradient, weights = gradient.contiguous(), weights.contiguous()
    out = gradient.new_empty(len(gradient), weights.size(2))
    for relation, part in _each(counts):
        return_to_rows_into(out[part], gradient[part], weights[relation])
    return out


@operator(
    "relations_back_to_weights",
    "(Tensor gradient, Tensor rows, SymInt[] counts) -> Tensor",
    lambda gradient, rows, counts: gradient.new_empty(len(counts), gradient.size(1), rows.size(1)),
)
def _back_to_weights(gradient: torch.Tensor, rows: torch.Tensor, counts: list[int]) -> torch.Tensor:
    gradient, rows = gradient.contiguous(), rows.contiguous()
    out = gradient.new_zeros(len(counts), gradient.size(1), rows.size(1))
    for relation, part in _each(counts):
        return_to_weights_into(out[relation], gradient[part], rows[part])
    return out


def _keep(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:  # noqa: ANN401, ARG001
    rows, weights, ctx.counts = inputs
    ctx.save_for_backward(rows, weights)


def _back(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:  # noqa: ANN401
    rows, weights = ctx.saved_tensors
    needs_rows, needs_weights, *_ = ctx.needs_input_grad
    operators = torch.ops.graphmount
    return (
        operators.relations_back_to_rows(gradient, weights, ctx.counts) if needs_rows else None,
        operators.relations_back_to_weights(gradient, rows, ctx.counts) if needs_weights else None,
        None,
    )


_apply_relations.register_autograd(_back, setup_context=_keep)
