"""Layers of PyG over the matrices of a batch: how a model trains fast on a processor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def with_matrices(layers: Any, x: torch.Tensor, adjs: Any) -> torch.Tensor:  # noqa: ANN401
    """The rows of the seeds: each layer gets its matrix, with ReLU between layers."""
    for number, (layer, adj) in enumerate(zip(layers, adjs, strict=True)):
        x = layer((x, x[: adj.size(0)]), adj)
        if number + 1 < len(adjs):
            x = x.relu_()
    return x
