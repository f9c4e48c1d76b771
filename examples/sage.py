"""GraphSAGE in plain torch, and how well a model does on a split: what other examples train.

A batch has a sparse matrix for each layer, `batch.adjs`. A layer gives rows only to the nodes that
later layers ask for, which are always the first ones: as many as its matrix has rows.
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
    def adjs(self) -> Iterable[torch.Tensor]:
        """The edges as a sparse matrix for each layer, from the first on."""

    @property
    def num_sampled_nodes(self) -> Sequence[int]:
        """Seeds, then new nodes of each hop."""

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

    def forward(self, x: torch.Tensor, adj: torch.Tensor) -> torch.Tensor:
        """The rows of as many nodes as `adj` has rows."""
        means = torch.sparse.mm(adj, x, "mean")
        out: torch.Tensor = self.own(x[: adj.size(0)]) + self.neighbors(means)
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
        x = batch.features["x"].float()
        for layer, adj in zip(self.layers, batch.adjs, strict=True):
            x = layer(x, adj)
            if layer is not self.layers[-1]:
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
