"""GraphSAGE in plain torch, and how well a model does on a split: what other examples train.

A layer gives rows only to the nodes that later layers ask for: a batch has its nodes and its edges
in the order of hops, so these are always the first ones.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Protocol, TypeVar

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


class SageBatch(Protocol):
    """What the model needs of a batch. A `graphmount.torch.TensorBatch` has it, and more."""

    @property
    def features(self) -> Mapping[str, torch.Tensor]:
        """The rows of all nodes, in the table "x"."""

    @property
    def edge_index(self) -> torch.Tensor:
        """Sources and destinations of the edges, as numbers of nodes in the batch."""

    @property
    def num_sampled_nodes(self) -> Sequence[int]:
        """Seeds, then new nodes of each hop."""

    @property
    def num_sampled_edges(self) -> Sequence[int] | None:
        """Edges of each hop; None where edges are not in the order of hops."""

    @property
    def labels(self) -> torch.Tensor | None:
        """The labels of the seeds."""


Batch = TypeVar("Batch", bound=SageBatch)


class SageLayer(torch.nn.Module):
    """A node and the mean of its neighbors."""

    def __init__(self, num_inputs: int, num_outputs: int) -> None:
        super().__init__()
        self.own = torch.nn.Linear(num_inputs, num_outputs)
        self.neighbors = torch.nn.Linear(num_inputs, num_outputs, bias=False)

    def forward(
        self, x: torch.Tensor, edge_index: torch.Tensor, num_targets: int | None = None
    ) -> torch.Tensor:
        """The rows of the first `num_targets` nodes, or of all; edges may only lead to these."""
        src, dst = edge_index
        targets = x[:num_targets]
        total = torch.zeros_like(targets).index_add(0, dst, x[src])
        count = dst.bincount(minlength=len(targets)).clamp(min=1)
        out: torch.Tensor = self.own(targets) + self.neighbors(total / count[:, None])
        return out


class Sage(torch.nn.Module):
    """As many layers as a batch has hops.

    Args:
        sizes: Features of a node, then outputs of each layer; the last are one for each class.
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        super().__init__()
        layers = [SageLayer(inputs, outputs) for inputs, outputs in pairwise(sizes)]
        self.layers = torch.nn.ModuleList(layers)

    def forward(self, batch: SageBatch) -> torch.Tensor:
        """The outputs of the seeds of a batch."""
        if batch.num_sampled_edges is None or len(batch.num_sampled_edges) != len(self.layers):
            raise ValueError(f"{len(self.layers)} layers need a batch of as many hops, in order")
        x = batch.features["x"].float()
        for number, layer in enumerate(self.layers):
            hops = len(self.layers) - number
            num_edges = sum(batch.num_sampled_edges[:hops])
            num_targets = sum(batch.num_sampled_nodes[:hops])
            x = layer(x, batch.edge_index[:, :num_edges], num_targets)
            if hops > 1:
                x = x.relu()
        return x


def targets_of(batch: SageBatch) -> torch.Tensor:
    """The labels of the seeds."""
    if batch.labels is None:
        raise ValueError("the dataset has no labels; compile it with labels=")
    return batch.labels


def accuracy(model: Callable[[Batch], torch.Tensor], batches: Iterable[Batch]) -> float:
    """The share of the seeds of all batches that a model finds the right class for."""
    right = total = 0
    with torch.inference_mode():
        for batch in batches:
            hits = model(batch).argmax(dim=1) == targets_of(batch)
            right += int(hits.sum())
            total += len(hits)
    return right / max(1, total)
