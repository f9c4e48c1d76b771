"""RGCN's layer: a node, and its neighbors by each relation, with weights of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch

from graphmount._support.arguments import as_count, require_choice
from graphmount.torch.nn.aggregation import aggregate_edges, aggregate_edges_beside
from graphmount.torch.nn.edges import divide_rows, edges_of
from graphmount.torch.nn.linear import apply_linear
from graphmount.torch.nn.relations import apply_relations, edges_by_relation

if TYPE_CHECKING:
    from graphmount.torch.nn.edges import Rows


class RGCNConv(torch.nn.Module):
    """PyG's `RGCNConv` for a processor: the same results and parameters, in less time.

    The edges of a layer are of several relations, and each relation has weights of its own. For
    nodes of several types, give each relation a `SAGEConv` instead.

    Args:
        in_channels: Columns of rows, or of those of sources and of targets.
        out_channels: Columns of the results.
        num_relations: How many relations there are.
        num_bases: If given, weights are sums of so many matrices, by factors of each relation.
        num_blocks: If given, weights are so many blocks of a diagonal matrix.
        aggr: What is made of the rows of neighbors by one relation: "mean", "sum" ("add" in PyG) or
            "max". Of equal maxima, the first gets the gradient; PyG divides it among them.
        root_weight: Whether the row of a target itself counts.
        bias: Whether there is one.

    Raises:
        ValueError: Both `num_bases` and `num_blocks` are given, or blocks do not divide columns.

    Examples:
        >>> import torch
        >>> import graphmount.torch.nn
        >>> layer = graphmount.torch.nn.RGCNConv(1, 1, 2, root_weight=False)
        >>> layer.weight.data[:] = torch.tensor([1.0, 10.0]).view(2, 1, 1)
        >>> x = torch.tensor([[1.0], [2.0], [4.0]])
        >>> edges, edge_type = torch.tensor([[1, 2, 2], [0, 0, 0]]), torch.tensor([0, 0, 1])
        >>> layer(x, edges, edge_type).detach()  # (2 + 4) / 2, and 10 times 4
        tensor([[43.],
                [ 0.],
                [ 0.]])
    """

    def __init__(
        self,
        in_channels: int | tuple[int, int],
        out_channels: int,
        num_relations: int,
        *,
        num_bases: int | None = None,
        num_blocks: int | None = None,
        aggr: Literal["mean", "sum", "add", "max"] = "mean",
        root_weight: bool = True,
        bias: bool = True,
    ) -> None:
        super().__init__()
        require_choice("aggr", aggr, ("mean", "sum", "add", "max"))
        pair = in_channels if isinstance(in_channels, tuple) else (in_channels, in_channels)
        if len(pair) != 2:
            raise ValueError(f"in_channels={in_channels!r}; give one number, or a pair")
        sources, targets = (as_count(count, "in_channels") for count in pair)
        as_count(out_channels, "out_channels")
        as_count(num_relations, "num_relations")
        if num_bases is not None and num_blocks is not None:
            raise ValueError("give num_bases or num_blocks, not both")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.num_relations = num_relations
        self.num_bases = num_bases
        self.num_blocks = num_blocks
        self.aggr = aggr
        shape = [num_relations, sources, out_channels]
        if num_bases is not None:
            shape[0] = as_count(num_bases, "num_bases", least=1)
        elif num_blocks is not None:
            blocks = as_count(num_blocks, "num_blocks", least=1)
            if sources % blocks or out_channels % blocks:
                raise ValueError(
                    f"num_blocks={blocks} does not divide {sources} and {out_channels} columns"
                )
            shape = [num_relations, blocks, sources // blocks, out_channels // blocks]
        self.weight = torch.nn.Parameter(torch.empty(shape))
        comp = None if num_bases is None else torch.empty(num_relations, num_bases)
        self.comp = None if comp is None else torch.nn.Parameter(comp)
        root = torch.empty(targets, out_channels) if root_weight else None
        self.root = None if root is None else torch.nn.Parameter(root)
        self.bias = torch.nn.Parameter(torch.empty(out_channels)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws all parameters anew, as PyG does.

        Examples:
            >>> import graphmount.torch.nn
            >>> graphmount.torch.nn.RGCNConv(8, 2, 3).reset_parameters()
        """
        for values in (self.weight, self.comp, self.root):
            if values is not None:
                most = (6.0 / (values.size(-2) + values.size(-1))) ** 0.5
                torch.nn.init.uniform_(values, -most, most)
        if self.bias is not None:
            torch.nn.init.zeros_(self.bias)

    def forward(self, x: Rows, adj: torch.Tensor, edge_type: torch.Tensor) -> torch.Tensor:
        """A row for each target.

        Args:
            x: The rows of all nodes, targets first, or a pair: of sources, and of targets.
            adj: A matrix of `batch.adjs`, or another sparse CSR tensor whose rows are targets; or
                an `edge_index`.
            edge_type: The relation of each edge, from 0 on. With a matrix of `batch.adjs`, those of
                all edges of the batch, of which a layer takes the first.

        Raises:
            ValueError: `edge_type` does not fit the edges or the layer.

        Examples:
            >>> import torch
            >>> import graphmount.torch.nn
            >>> layer = graphmount.torch.nn.RGCNConv(8, 2, 3)
            >>> edges, edge_type = torch.tensor([[1, 2], [0, 0]]), torch.tensor([0, 2])
            >>> layer(torch.rand(3, 8), edges, edge_type).shape
            torch.Size([3, 2])
        """
        sources, targets = divide_rows(x, adj)
        edges = edges_of(adj, len(sources), len(targets))
        grouped = edges_by_relation(edges, edge_type, self.num_relations)
        rows, targets = aggregate_edges_beside(
            (sources, targets),
            grouped.pairs,
            "sum" if self.aggr == "add" else self.aggr,
            are_first=x is sources,
        )
        made = apply_relations(rows, self._weights().transpose(1, 2), grouped.counts)
        out = aggregate_edges(made, grouped.by_target, "sum")
        if self.root is not None:
            return out + apply_linear(targets, self.root.t(), self.bias)
        return out if self.bias is None else out + self.bias

    def _weights(self) -> torch.Tensor:
        """For each relation and column of rows, what it counts in each column of the results."""
        if self.comp is not None:
            return torch.einsum("rb,bio->rio", self.comp, self.weight)
        if self.num_blocks is None:
            return self.weight
        relations, blocks, inputs, outputs = self.weight.shape
        whole = self.weight.new_zeros(relations, blocks, inputs, blocks, outputs)
        each = torch.arange(blocks)
        whole[:, each, :, each] = self.weight.transpose(0, 1)
        return whole.view(relations, blocks * inputs, blocks * outputs)

    def extra_repr(self) -> str:
        """What `repr` says besides the parts.

        Examples:
            >>> import graphmount.torch.nn
            >>> graphmount.torch.nn.RGCNConv(8, 2, 3).extra_repr()
            "8, 2, num_relations=3, aggr='mean'"
        """
        return (
            f"{self.in_channels}, {self.out_channels}, num_relations={self.num_relations}, "
            f"aggr={self.aggr!r}"
        )
