"""GCN's layer: a sum of neighbors by the degrees of both ends of an edge."""

from __future__ import annotations

import torch

from graphmount._support.arguments import as_count
from graphmount.torch.nn.aggregation import aggregate_edges
from graphmount.torch.nn.edges import divide_rows, edges_of
from graphmount.torch.nn.gcn_norm import gcn_factors
from graphmount.torch.nn.linear import apply_linear


class GCNConv(torch.nn.Module):
    """PyG's `GCNConv` for a processor: the same results and parameters, in less time.

    An edge counts 1 / sqrt(d(source) d(target)), where d is the number of edges that lead to a node
    in this layer, with one from the node to itself. Such an edge is added to every target, in the
    place of those that are there. With a matrix of `batch.adjs`, nodes that are only sources in
    this layer have the degree 1, as in PyG with `trim_to_layer`; without trimming, PyG counts the
    edges of further hops, too.

    Args:
        in_channels: Columns of rows.
        out_channels: Columns of the results.
        bias: Whether there is one.

    Examples:
        >>> import torch
        >>> import graphmount.torch.nn
        >>> layer = graphmount.torch.nn.GCNConv(1, 1, bias=False)
        >>> _ = torch.nn.init.ones_(layer.lin.weight)
        >>> x = torch.tensor([[1.0], [1.0]])
        >>> layer(x, torch.tensor([[1], [0]])).detach()  # 1 / 2 + 1 / sqrt(2), and 1
        tensor([[1.2071],
                [1.0000]])
    """

    def __init__(self, in_channels: int, out_channels: int, *, bias: bool = True) -> None:
        super().__init__()
        as_count(in_channels, "in_channels")
        as_count(out_channels, "out_channels")
        self.lin = torch.nn.Linear(in_channels, out_channels, bias=False)
        self.bias = torch.nn.Parameter(torch.empty(out_channels)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws all parameters anew, as PyG does.

        Examples:
            >>> import graphmount.torch.nn
            >>> graphmount.torch.nn.GCNConv(8, 2).reset_parameters()
        """
        torch.nn.init.xavier_uniform_(self.lin.weight)
        if self.bias is not None:
            torch.nn.init.zeros_(self.bias)

    def forward(self, x: torch.Tensor, adj: torch.Tensor) -> torch.Tensor:
        """A row for each target.

        Args:
            x: The rows of all nodes, targets first. No pair: sources and targets are of one kind.
            adj: A matrix of `batch.adjs`, or another sparse CSR tensor whose rows are targets; or
                an `edge_index`.

        Raises:
            TypeError: `x` is a pair.

        Examples:
            >>> import torch
            >>> import graphmount.torch.nn
            >>> layer = graphmount.torch.nn.GCNConv(8, 2)
            >>> layer(torch.rand(3, 8), torch.tensor([[1, 2], [0, 0]])).shape
            torch.Size([3, 2])
        """
        if isinstance(x, tuple):
            raise TypeError("a GCN has nodes of one kind: pass x alone, targets first, not a pair")
        sources, targets = divide_rows(x, adj)
        edges = edges_of(adj, len(sources), len(targets)).with_self_loops()
        factors = gcn_factors(edges, self.lin.weight.dtype)
        if edges.is_cheaper_first(self.lin.in_features, self.lin.out_features):
            sums = aggregate_edges(sources, edges, "sum", factors)
            return apply_linear(sums, self.lin.weight, self.bias)
        rows = apply_linear(sources, self.lin.weight)
        out = aggregate_edges(rows, edges, "sum", factors)
        return out if self.bias is None else out + self.bias
