"""What stands for the edges of the first layer where the loader has aggregated along them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class AggregatedHop:
    """The first of `batch.adjs` if the loader was made with `aggregate_last`.

    There is no matrix, since the rows that it would be multiplied with do not exist. Layers of
    `graphmount.torch.nn` take it in the place of one, with the pair of what was aggregated and of
    the targets' own rows: `conv((batch.aggregated["x"], batch.x), batch.adjs[0])`, or
    `conv((batch.x_aggregated, batch.x), batch.adjs[0])` with PyG's batches. They raise if they
    aggregate in another way.

    Attributes:
        reduce: What was made of the rows of neighbors: "mean" or "sum".
        num_targets: How many rows there are.

    Examples:
        >>> import graphmount as gm
        >>> import graphmount.torch.nn
        >>> x = [[0.0], [1.0], [2.0], [3.0]]
        >>> _ = gm.compile_dataset(
        ...     "four", edges=([1, 2, 3], [0, 0, 1]), features={"x": x}, order="given"
        ... )
        >>> loader = gm.torch.NeighborLoader(
        ...     gm.Dataset("four"), [-1, -1], dtype="float32", aggregate_last="mean"
        ... )
        >>> batch = next(iter(loader))
        >>> batch.aggregated["x"]
        tensor([[1.5000],
                [3.0000],
                [0.0000]])
        >>> batch.adjs[0]
        AggregatedHop(reduce='mean', num_targets=3)
        >>> x = batch.aggregated["x"], batch.x
        >>> convs = gm.torch.nn.SAGEConv(1, 8), gm.torch.nn.SAGEConv(8, 2)
        >>> for conv, adj in zip(convs, batch.adjs):
        ...     x = conv(x, adj)
        >>> x.shape
        torch.Size([1, 2])
    """

    reduce: Literal["mean", "sum"]
    num_targets: int
