"""GraphSAGE's layer: a node, and what is made of its neighbors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch

from graphmount._support.arguments import as_count, require_choice
from graphmount.torch.nn.aggregation import Reduce, aggregate_beside
from graphmount.torch.nn.linear import apply_linear

if TYPE_CHECKING:
    from graphmount.torch.batches.aggregated_hop import AggregatedHop
    from graphmount.torch.nn.edges import Rows


class SAGEConv(torch.nn.Module):
    """PyG's `SAGEConv` for a processor: the same results and parameters, in less time.

    Args:
        in_channels: Columns of rows, or of those of sources and of targets.
        out_channels: Columns of the results.
        aggr: What is made of the rows of neighbors: "mean", "sum" or "max". Of equal maxima, the
            first gets the gradient; PyG divides it among them.
        normalize: Whether results are scaled to length 1.
        root_weight: Whether the row of a target itself counts.
        bias: Whether there is one.
        activation: "relu" makes negative results 0, as `torch.relu` after the layer would, without
            another pass over them, there and back.

    Examples:
        >>> import torch
        >>> import graphmount as gm
        >>> import graphmount.torch.nn
        >>> _ = gm.compile_graph(([1, 2, 3], [0, 0, 1]), "g.gl")
        >>> batch = next(iter(gm.torch.NeighborLoader(gm.Graph("g.gl"), [-1, -1])))
        >>> x = torch.rand(batch.num_nodes, 8)
        >>> layers = [gm.torch.nn.SAGEConv(8, 16), gm.torch.nn.SAGEConv(16, 2)]
        >>> for layer, adj in zip(layers, batch.adjs):
        ...     x = layer(x, adj)
        >>> x.shape
        torch.Size([1, 2])
    """

    def __init__(
        self,
        in_channels: int | tuple[int, int],
        out_channels: int,
        *,
        aggr: Reduce = "mean",
        normalize: bool = False,
        root_weight: bool = True,
        bias: bool = True,
        activation: Literal["relu"] | None = None,
    ) -> None:
        super().__init__()
        require_choice("aggr", aggr, ("mean", "sum", "max"))
        require_choice("activation", activation, (None, "relu"))
        pair = in_channels if isinstance(in_channels, tuple) else (in_channels, in_channels)
        if len(pair) != 2:
            raise ValueError(f"in_channels={in_channels!r}; give one number, or a pair")
        sources, targets = (as_count(count, "in_channels") for count in pair)
        as_count(out_channels, "out_channels")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.aggr: Reduce = aggr
        self.normalize = normalize
        self.activation = activation
        self.lin_l = torch.nn.Linear(sources, out_channels, bias=bias)
        self.lin_r = torch.nn.Linear(targets, out_channels, bias=False) if root_weight else None

    def reset_parameters(self) -> None:
        """Draws all parameters anew.

        Examples:
            >>> import graphmount.torch.nn
            >>> graphmount.torch.nn.SAGEConv(8, 2).reset_parameters()
        """
        self.lin_l.reset_parameters()
        if self.lin_r is not None:
            self.lin_r.reset_parameters()

    def forward(self, x: Rows, adj: torch.Tensor | AggregatedHop) -> torch.Tensor:
        """A row for each target.

        Args:
            x: The rows of all nodes, targets first, or a pair: of sources, and of targets. Where
                the loader has aggregated, what it has made of neighbors, and the rows of targets.
            adj: A matrix of `batch.adjs`, or another sparse CSR tensor whose rows are targets; or
                an `edge_index`; or the `AggregatedHop` that a loader gives with `aggregate_last`.

        Examples:
            >>> import torch
            >>> import graphmount.torch.nn
            >>> layer = graphmount.torch.nn.SAGEConv(8, 2)
            >>> layer(torch.rand(3, 8), torch.tensor([[1, 2], [0, 0]])).shape
            torch.Size([3, 2])
        """
        neighbors, targets = aggregate_beside(x, adj, self.aggr)
        relu = self.activation == "relu"
        out = apply_linear(
            neighbors,
            self.lin_l.weight,
            self.lin_l.bias,
            *([] if self.lin_r is None else [targets, self.lin_r.weight]),
            relu=relu and not self.normalize,
        )
        if self.normalize:
            out = torch.nn.functional.normalize(out, dim=-1)
            out = out.relu() if relu else out
        return out

    def extra_repr(self) -> str:
        """What `repr` says besides the parts.

        Examples:
            >>> import graphmount.torch.nn
            >>> graphmount.torch.nn.SAGEConv(8, 2).extra_repr()
            "8, 2, aggr='mean'"
        """
        relu = "" if self.activation is None else f", activation={self.activation!r}"
        return f"{self.in_channels}, {self.out_channels}, aggr={self.aggr!r}{relu}"
