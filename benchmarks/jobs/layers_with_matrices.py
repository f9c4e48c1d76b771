"""Layers of PyG over the matrices of a batch: how a model trains fast on a processor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def with_matrices(
    layers: Any,  # noqa: ANN401
    x: Any,  # noqa: ANN401
    adjs: Any,  # noqa: ANN401
    *,
    in_pairs: bool = True,
) -> torch.Tensor:
    """The rows of the seeds: each layer gets its matrix, with ReLU between layers.

    PyG's layers want pairs of sources and targets; ours take the rows of all nodes, or the pair
    that a loader gives with `aggregate_last`.
    """
    for number, (layer, adj) in enumerate(zip(layers, adjs, strict=True)):
        x = layer((x, x[: adj.size(0)]) if in_pairs else x, adj)
        if number + 1 < len(adjs):
            x = x.relu_()
    out: torch.Tensor = x
    return out
