"""GAT's layer: a sum of neighbors by attention."""

from __future__ import annotations

import torch

from graphmount._support.arguments import as_count
from graphmount.torch.nn.attention import attend
from graphmount.torch.nn.edges import Rows, divide_rows, edges_of
from graphmount.torch.nn.linear import apply_linear


class GATConv(torch.nn.Module):
    """PyG's `GATConv` for a processor: the same results and parameters, in less time.

    Args:
        in_channels: Columns of rows.
        out_channels: Columns of the results, for each head.
        heads: How many there are.
        concat: Whether the results of heads lie side by side; their mean is taken if not.
        negative_slope: Scores below 0 are multiplied by it.
        dropout: The share of weights that are left out in training, by chance.
        add_self_loops: Whether every target has an edge to itself, in the place of those that are
            there.
        bias: Whether there is one.

    Examples:
        >>> import torch
        >>> import graphmount as gm
        >>> import graphmount.torch.nn
        >>> _ = gm.compile_graph(([1, 2, 3], [0, 0, 1]), "g.gl")
        >>> batch = next(iter(gm.torch.NeighborLoader(gm.Graph("g.gl"), [-1, -1])))
        >>> layer = gm.torch.nn.GATConv(8, 4, heads=2)
        >>> layer(torch.rand(batch.num_nodes, 8), batch.adjs[0]).shape
        torch.Size([3, 8])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        heads: int = 1,
        concat: bool = True,
        negative_slope: float = 0.2,
        dropout: float = 0.0,
        add_self_loops: bool = True,
        bias: bool = True,
    ) -> None:
        super().__init__()
        as_count(in_channels, "in_channels")
        as_count(out_channels, "out_channels")
        as_count(heads, "heads", least=1)
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout={dropout!r}; give a share from 0 to below 1")
        self.heads, self.out_channels, self.concat = heads, out_channels, concat
        self.negative_slope, self.dropout = negative_slope, dropout
        self.add_self_loops = add_self_loops
        self.lin = torch.nn.Linear(in_channels, heads * out_channels, bias=False)
        self.att_src = torch.nn.Parameter(torch.empty(1, heads, out_channels))
        self.att_dst = torch.nn.Parameter(torch.empty(1, heads, out_channels))
        size = heads * out_channels if concat else out_channels
        self.bias = torch.nn.Parameter(torch.empty(size)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws all parameters anew, as PyG does.

        Examples:
            >>> import graphmount.torch.nn
            >>> graphmount.torch.nn.GATConv(8, 2).reset_parameters()
        """
        for weight in (self.lin.weight, self.att_src, self.att_dst):
            torch.nn.init.xavier_uniform_(weight)
        if self.bias is not None:
            torch.nn.init.zeros_(self.bias)

    def forward(self, x: Rows, adj: torch.Tensor) -> torch.Tensor:
        """A row for each target.

        Args:
            x: The rows of all nodes, targets first, or a pair: of sources, and of targets. The edge
                from a target to itself takes the source of the same number.
            adj: A matrix of `batch.adjs`, or another sparse CSR tensor whose rows are targets; or
                an `edge_index`.

        Examples:
            >>> import torch
            >>> import graphmount.torch.nn
            >>> layer = graphmount.torch.nn.GATConv(8, 2, heads=4, concat=False)
            >>> layer(torch.rand(3, 8), torch.tensor([[1, 2], [0, 0]])).shape
            torch.Size([3, 2])
        """
        sources, targets = divide_rows(x, adj)
        edges = edges_of(adj, len(sources), len(targets))
        if self.add_self_loops:
            edges = edges.with_self_loops()
        # A score is a product of a row with a vector: by way of the parameters it takes much less
        # than by way of all the rows that `lin` would make.
        weight = self.lin.weight.view(self.heads, self.out_channels, -1)
        by_source = sources @ torch.einsum("hci,hc->ih", weight, self.att_src[0])
        by_target = targets @ torch.einsum("hci,hc->ih", weight, self.att_dst[0])
        dropout = self.dropout if self.training else 0.0
        sums_first = self.heads == 1 and edges.is_cheaper_first(
            self.lin.in_features, self.out_channels
        )
        rows = sources if sums_first else apply_linear(sources, self.lin.weight)
        rows = rows.view(len(sources), self.heads, rows.size(1) // self.heads)
        out = attend(rows, by_source, by_target, edges, slope=self.negative_slope, dropout=dropout)
        if sums_first:
            return apply_linear(out.flatten(1), self.lin.weight, self.bias)
        out = out.flatten(1) if self.concat else out.mean(dim=1)
        return out if self.bias is None else out + self.bias
