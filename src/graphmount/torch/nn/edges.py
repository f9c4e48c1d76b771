"""The edges of a layer as the core's loops take them, from a sparse matrix or an `edge_index`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from graphmount import _core
from graphmount._support.shown import shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: What a layer takes for rows: those of all nodes, or those of sources and of targets.
Rows = torch.Tensor | tuple[torch.Tensor, torch.Tensor]


@dataclass(frozen=True, eq=False)
class Edges:
    """For each target, the sources of its edges: `sources[starts[i]]` to `sources[starts[i + 1]]`.

    Attributes:
        starts: One for each target, and the end of the last.
        sources: One for each edge.
        num_sources: How many there are to number.
    """

    starts: torch.Tensor
    sources: torch.Tensor
    num_sources: int

    @property
    def num_targets(self) -> int:
        """How many rows the layer gives."""
        return len(self.starts) - 1

    def with_self_loops(self) -> Edges:
        """The same with one edge from each target to itself, and no other such."""
        starts = torch.empty_like(self.starts)
        sources = self.sources.new_empty(len(self.sources) + self.num_targets)
        count = _core.add_self_loops(
            self.starts.numpy(),
            self.sources.numpy(),
            self.num_sources,
            starts.numpy(),
            sources.numpy(),
        )
        return Edges(starts, sources[:count], self.num_sources)

    def is_cheaper_first(self, inputs: int, outputs: int) -> bool:
        """Whether sums of rows as they are, and then a product, take less than the product first.

        Both give the same. Targets are fewer than sources, so a product is smaller after it; but if
        it makes rows much narrower, sums are. A product takes about a tenth of the time of a sum
        for each number.
        """
        saved = (self.num_sources - self.num_targets) * inputs * outputs / 10
        return saved > len(self.sources) * (inputs - outputs)


def divide_rows(x: Rows, adj: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The rows of sources and those of targets. Of rows for all nodes, targets are the first."""
    if not isinstance(adj, torch.Tensor):
        raise TypeError(
            f"adj must be a sparse CSR tensor, such as those of batch.adjs, or an edge_index, "
            f"not {shown(adj)}"
        )
    pair = x if isinstance(x, tuple) else (x, x[: _num_targets(adj, len(x))])
    if len(pair) != 2 or not all(isinstance(rows, torch.Tensor) for rows in pair):
        raise TypeError(f"x must be a tensor, or a pair of those of sources and targets, not {x!r}")
    return pair


def edges_of(adj: torch.Tensor, num_sources: int, num_targets: int) -> Edges:
    """The edges of a CSR tensor whose rows are targets, or of an `edge_index`.

    Raises:
        ValueError: The matrix has another size, or `adj` is neither.
    """
    if adj.layout == torch.sparse_csr:
        if tuple(adj.shape) != (num_targets, num_sources):
            raise ValueError(
                f"adj has {adj.size(0)} rows and {adj.size(1)} columns; there are {num_targets} "
                f"rows of targets and {num_sources} of sources"
            )
        return Edges(adj.crow_indices().long(), adj.col_indices().long(), num_sources)
    if adj.layout != torch.strided or adj.dim() != 2 or len(adj) != 2 or adj.dtype != torch.int64:
        raise ValueError(
            "adj must be a sparse CSR tensor whose rows are targets, such as those of batch.adjs, "
            f"or an edge_index of int64 and the shape (2, edges), not {adj.dtype} "
            f"{tuple(adj.shape)} {adj.layout}"
        )
    # Each edge is a list of one entry, its target: turned round, they lie by target.
    sources, targets = adj.contiguous()
    starts, order, _ = turn_round(torch.arange(len(targets) + 1), targets, num_targets)
    return Edges(starts, sources[order], num_sources)


def turn_round(
    starts: torch.Tensor, others: torch.Tensor, num_others: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Edges by their source: starts, for each edge its target, and its place before."""
    turned = starts.new_empty(num_others + 1)
    owners, places = torch.empty_like(others), torch.empty_like(others)
    _core.turn_edges_round(
        starts.numpy(), others.numpy(), turned.numpy(), owners.numpy(), places.numpy()
    )
    return turned, owners, places


def flat(tensor: torch.Tensor) -> NDArray[Any]:
    """The values of a tensor in one dimension, for the core; a copy if they do not lie together."""
    values: NDArray[Any] = tensor.detach().contiguous().view(-1).numpy()
    return values


def _num_targets(adj: torch.Tensor, num_nodes: int) -> int:
    return adj.size(0) if adj.layout == torch.sparse_csr else num_nodes
