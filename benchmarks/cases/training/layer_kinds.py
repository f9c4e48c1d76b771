"""Kinds of layers whose steps are compared: PyG's, ours, and how fast both should be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch_geometric import nn

import graphmount.torch.nn as own

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Layer:
    """A kind of layer: PyG's, how it takes matrices, ours, and how fast both should be."""

    theirs: Callable[[int, int], Any]
    ours: Callable[[int, int], Any]
    with_adjs: Callable[[int, int], Any] | None = None  # if PyG has another one for matrices
    takes: str | None = "PyG, adjs"  # how PyG's layer is given the edges of each hop, if it can be
    change: Callable[[Any], Any] | None = None  # what is made of each matrix for it
    has_relations: bool = False
    goal: float | None = None
    own_goal: float | None = None
    least_gain: float | None = None  # of ours over PyG's with the edges of each hop


RELATIONS = 8
EDGE_INDEX, PAIRS, OURS = (
    "PyG, edge_index",
    "PyG, edge_index in pairs",
    "graphmount.torch.nn, adjs",
)
LAYERS = {
    "SAGE, mean": Layer(nn.SAGEConv, own.SAGEConv, goal=5.0, own_goal=6.5),
    "SAGE, max": Layer(
        lambda inputs, outputs: nn.SAGEConv(inputs, outputs, aggr="max"),
        lambda inputs, outputs: own.SAGEConv(inputs, outputs, aggr="max"),
        own_goal=5.0,
    ),
    "GIN": Layer(
        lambda inputs, outputs: nn.GINConv(torch.nn.Linear(inputs, outputs)),
        lambda inputs, outputs: own.GINConv(torch.nn.Linear(inputs, outputs)),
    ),
    # The same function of PyG's, which sums before it multiplies: see docs/pyg.md.
    "GCN": Layer(
        nn.GCNConv,
        own.GCNConv,
        with_adjs=lambda inputs, outputs: nn.SAGEConv(
            inputs, outputs, aggr="sum", root_weight=False
        ),
        change=own.gcn_norm,
        goal=4.0,
        own_goal=4.0,
    ),
    "GAT": Layer(nn.GATConv, own.GATConv, takes=None, own_goal=2.5),
    "RGCN": Layer(
        lambda inputs, outputs: nn.RGCNConv(inputs, outputs, RELATIONS),
        lambda inputs, outputs: own.RGCNConv(inputs, outputs, RELATIONS),
        takes=PAIRS,
        has_relations=True,
        least_gain=1.3,
    ),
}
