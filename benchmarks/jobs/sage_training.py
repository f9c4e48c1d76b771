"""A training step as people take it: three layers of GraphSAGE, with PyG's own modules.

Each layer computes only what the layers after it need (`trim_to_layer`). This is the fast way to
train in PyG, so a loader that keeps up with it keeps up with slower ones.
"""

from __future__ import annotations

import importlib
from itertools import pairwise
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Sequence

_HIDDEN = 128


class SageTraining:
    """A model and its optimizer, from a fixed seed."""

    def __init__(self, num_features: int, num_classes: int) -> None:
        convolution = importlib.import_module("torch_geometric.nn").SAGEConv
        self._trim = importlib.import_module("torch_geometric.utils").trim_to_layer
        torch.manual_seed(0)
        sizes = [num_features, _HIDDEN, _HIDDEN, num_classes]
        self._layers = torch.nn.ModuleList(
            [convolution(one, other) for one, other in pairwise(sizes)]
        )
        self._optimizer = torch.optim.Adam(self._layers.parameters(), lr=0.01)

    def step(
        self,
        x: torch.Tensor,
        edge_index: torch.Tensor,
        target: torch.Tensor,
        *,
        nodes: Sequence[int],
        edges: Sequence[int],
    ) -> float:
        """Trains on one batch, of which the nodes and edges of each hop are given; -1 is no target.

        Returns the loss.
        """
        hops = [list(nodes), list(edges)]
        for number, layer in enumerate(self._layers):
            x, edge_index, _ = self._trim(number, *hops, x, edge_index)
            x = layer(x, edge_index)
            if number < len(self._layers) - 1:
                x = x.relu()
        loss = torch.nn.functional.cross_entropy(x[: nodes[0]], target, ignore_index=-1)
        self._optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self._optimizer.step()
        return float(loss.detach())
