"""Layers over the matrices of a batch: how a model trains fast on a processor."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import torch

import graphmount.torch.nn as own

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def make_layers(layer: Callable[[int, int], Any], sizes: list[int]) -> torch.nn.ModuleList:
    """Layers from size to size, whose weights are always the same. ReLU is in ours, if it can."""
    torch.manual_seed(0)
    layers = torch.nn.ModuleList(layer(*pair) for pair in itertools.pairwise(sizes))
    for inner in layers[:-1]:
        if isinstance(inner, own.SAGEConv):
            inner.activation = "relu"
    return layers


def with_matrices(
    layers: Any,  # noqa: ANN401
    x: Any,  # noqa: ANN401
    adjs: Any,  # noqa: ANN401
    *,
    in_pairs: bool = True,
    more: Sequence[Any] = (),
) -> torch.Tensor:
    """The rows of the seeds: each layer gets its matrix, with ReLU between layers.

    Layers of ours may have the ReLU in them.

    PyG's layers want pairs of sources and targets; ours take the rows of all nodes, or the pair
    that a loader gives with `aggregate_last`. `more` is what else each layer gets.
    """
    for number, (layer, adj) in enumerate(zip(layers, adjs, strict=True)):
        x = layer((x, x[: adj.size(0)]) if in_pairs else x, adj, *more)
        if number + 1 < len(adjs) and getattr(layer, "activation", None) is None:
            x = x.relu_()
    out: torch.Tensor = x
    return out
