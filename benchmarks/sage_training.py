"""A training step as people take it: three layers of GraphSAGE, with PyG's own modules.

Each layer computes only what the layers after it need (`trim_to_layer`). This is the fast way to
train in PyG, so a loader that keeps up with it keeps up with slower ones.
"""

from __future__ import annotations

import importlib
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

_HIDDEN = 128
_CLASSES = 32


def make_step(num_features: int) -> Callable[[Any, Any], float]:
    """What trains on one batch: (batch, rows) to its loss."""
    SAGEConv = importlib.import_module("torch_geometric.nn").SAGEConv  # noqa: N806
    trim_to_layer = importlib.import_module("torch_geometric.utils").trim_to_layer
    torch.manual_seed(0)
    sizes = [num_features, _HIDDEN, _HIDDEN, _CLASSES]
    layers = torch.nn.ModuleList([SAGEConv(one, other) for one, other in pairwise(sizes)])
    optimizer = torch.optim.Adam(layers.parameters(), lr=0.01)

    def step(batch: Any, rows: Any) -> float:  # noqa: ANN401
        nodes, edges = list(batch.num_sampled_nodes), list(batch.num_sampled_edges)
        x = torch.from_numpy(rows)
        edge_index = torch.stack([torch.from_numpy(batch.row), torch.from_numpy(batch.col)])
        target = torch.from_numpy(batch.nodes[: nodes[0]] % _CLASSES)
        for number, layer in enumerate(layers):
            x, edge_index, _ = trim_to_layer(number, nodes, edges, x, edge_index)
            x = layer(x, edge_index)
            if number < len(layers) - 1:
                x = x.relu()
        loss = torch.nn.functional.cross_entropy(x[: nodes[0]], target)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        return float(loss.detach())

    return step
