"""The edges of a sample of any kind, one relation at a time, as matrices are made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from graphmount._support.shown import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphmount._dataset.typed.results import EdgeType


@dataclass(frozen=True)
class SampledEdges:
    """The edges of a sample, or of one relation of it, and the nodes at both of their ends.

    Attributes:
        columns: The number of the source of each edge.
        rows: The number of its target.
        starts: Where the edges of each target begin, if the sample knows that.
        size: How many targets and sources there are.
        num_sampled_targets: Seeds and new nodes of each hop of the type of the targets, if edges
            lie by hop.
        num_sampled_sources: The same for the type of the sources.
        num_sampled_edges: Edges of each hop; None where they do not lie so.
    """

    columns: torch.Tensor
    rows: torch.Tensor
    starts: torch.Tensor | None
    size: tuple[int, int]
    num_sampled_targets: Sequence[int] | None
    num_sampled_sources: Sequence[int] | None
    num_sampled_edges: Sequence[int] | None


def plain_edges(sample: Any) -> SampledEdges:  # noqa: ANN401
    """The edges of a sample of one kind."""
    edge_index = getattr(sample, "edge_index", None)
    if isinstance(edge_index, torch.Tensor):
        columns, rows = edge_index[0], edge_index[1]
    else:
        row, col = getattr(sample, "row", None), getattr(sample, "col", None)
        if row is None or col is None:
            raise TypeError(f"to_sparse_csr takes a batch or a NeighborSample, not {shown(sample)}")
        columns, rows = torch.from_numpy(row), torch.from_numpy(col)
    counts = getattr(sample, "num_sampled_nodes", None)
    return SampledEdges(
        columns,
        rows,
        _as_tensor(getattr(sample, "indptr", None)),
        (sample.num_nodes, sample.num_nodes),
        counts,
        counts,
        getattr(sample, "num_sampled_edges", None),
    )


def relations_of(sample: Any) -> dict[EdgeType, SampledEdges] | None:  # noqa: ANN401
    """The edges of each relation of a sample of many types; None of another sample."""
    if hasattr(sample, "node_stores") and hasattr(sample, "edge_types"):  # PyG's HeteroData
        return {
            relation: _edges_between(
                sample[relation].edge_index,
                None,
                [sample[relation[end]].num_nodes for end in (2, 0)],
                [sample[relation[end]].get("num_sampled_nodes") for end in (2, 0)],
                sample[relation].get("num_sampled_edges"),
            )
            for relation in sample.edge_types
        }
    edge_index = getattr(sample, "edge_index", None)
    if not isinstance(edge_index, Mapping):
        return None
    hops, indptr = sample.num_sampled_edges, getattr(sample, "indptr", None)
    return {
        relation: _edges_between(
            _as_tensor(ends),
            None if indptr is None else _as_tensor(indptr[relation]),
            [len(sample.nodes[relation[end]]) for end in (2, 0)],
            [sample.num_sampled_nodes[relation[end]] for end in (2, 0)],
            None if hops is None else hops[relation],
        )
        for relation, ends in edge_index.items()
    }


def _edges_between(
    edge_index: Any,  # noqa: ANN401
    indptr: torch.Tensor | None,
    num_nodes: list[int],
    num_sampled: list[Sequence[int] | None],
    num_sampled_edges: Sequence[int] | None,
) -> SampledEdges:
    return SampledEdges(
        edge_index[0],
        edge_index[1],
        indptr,
        (num_nodes[0], num_nodes[1]),
        num_sampled[0],
        num_sampled[1],
        num_sampled_edges,
    )


def _as_tensor(array: Any) -> Any:  # noqa: ANN401
    return torch.from_numpy(array.view(np.ndarray)) if isinstance(array, np.ndarray) else array
