"""The edges of a layer as the core's loops take them, from a sparse matrix or an `edge_index`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from graphmount import _core
from graphmount._support.shown import shown
from graphmount.errors import IdError

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
    """The rows of sources and those of targets. Of rows for all nodes, targets are the first.

    Raises:
        TypeError: `x` or `adj` is something else.
        ValueError: They are no rows of floats, or not in the memory of the processor.
    """
    if not isinstance(adj, torch.Tensor):
        raise TypeError(
            f"adj must be a sparse CSR tensor, such as those of batch.adjs, or an edge_index, "
            f"not {shown(adj)}"
        )
    pair = x if isinstance(x, tuple) else (x,)
    if len(pair) > 2 or len(pair) < (2 if isinstance(x, tuple) else 1):
        raise TypeError(f"x must be a tensor or a pair of tensors, not {len(pair)} of them")
    for rows in pair:
        if not isinstance(rows, torch.Tensor):
            raise TypeError(
                f"x must be a tensor, or one of sources and one of targets, not {shown(rows)}"
            )
        if rows.layout != torch.strided or rows.dim() != 2 or not rows.is_floating_point():
            raise ValueError(
                f"x must be rows of floats, not {rows.dtype} of the shape {tuple(rows.shape)}"
            )
        if rows.device.type != "cpu":
            raise ValueError(
                f"x is on {rows.device}, and this works on a processor; use PyG's layers there"
            )
    return (
        (pair[0], pair[1]) if len(pair) == 2 else (pair[0], pair[0][: _num_targets(adj, pair[0])])
    )


def edges_of(adj: torch.Tensor, num_sources: int, num_targets: int) -> Edges:
    """The edges of a CSR tensor whose rows are targets, or of an `edge_index`.

    Raises:
        ValueError: The matrix has another size, values other than 1, or offsets that cannot be; or
            `adj` is neither.
        IdError: An edge has an end that does not exist.
    """
    if adj.layout == torch.sparse_csr:
        if tuple(adj.shape) != (num_targets, num_sources):
            raise ValueError(
                f"adj has {adj.size(0)} rows and {adj.size(1)} columns; there are {num_targets} "
                f"rows of targets and {num_sources} of sources"
            )
        if not bool((adj.values() == 1).all()):
            raise ValueError(
                "adj has values other than 1; edge weights are not for these layers: use PyG's, "
                "or torch.sparse.mm"
            )
        edges = Edges(adj.crow_indices().long(), adj.col_indices().long(), num_sources)
        starts = edges.starts
        if starts[0] != 0 or starts[-1] != len(edges.sources) or bool((starts.diff() < 0).any()):
            raise ValueError(
                "adj: crow_indices must ascend from 0 to the number of entries; make the matrix "
                "with torch.sparse_csr_tensor(..., check_invariants=True)"
            )
        _require_ids("comes from row", edges.sources, num_sources, "sources")
        return edges
    if adj.layout != torch.strided or adj.dim() != 2 or len(adj) != 2 or adj.dtype != torch.int64:
        raise ValueError(
            "adj must be a sparse CSR tensor whose rows are targets, such as those of batch.adjs, "
            f"or an edge_index of int64 and the shape (2, edges), not {adj.dtype} "
            f"{tuple(adj.shape)} {adj.layout}"
        )
    sources, targets = adj.contiguous()
    _require_ids("comes from row", sources, num_sources, "sources")
    _require_ids("leads to row", targets, num_targets, "targets")
    # Each edge is a list of one entry, its target: turned round, they lie by target.
    starts, order, _ = turn_round(torch.arange(len(targets) + 1), targets, num_targets)
    return Edges(starts, sources[order], num_sources)


def _require_ids(what: str, ids: torch.Tensor, count: int, rows: str) -> None:
    if len(ids) == 0:
        return
    low, high = (int(end) for end in ids.aminmax())
    if low < 0 or high >= count:
        bad = low if low < 0 else high
        raise IdError(f"adj: an edge {what} {bad}, and there are {count} rows of {rows}")


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


def _num_targets(adj: torch.Tensor, x: torch.Tensor) -> int:
    return adj.size(0) if adj.layout == torch.sparse_csr else len(x)
