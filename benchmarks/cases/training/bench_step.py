"""How long a step of training takes: PyG's layers with `edge_index`, with `batch.adjs`, and ours.

A step is the forward and backward pass of a model of three layers over one batch; the loader is
idle. All ways have the same batches and weights. The one with `edge_index` trims it from layer to
layer, as PyG recommends; the others give each layer its sparse matrix, to PyG's own layers where
these take it, and to those of `graphmount.torch.nn`. Edges of RGCN are of eight relations; PyG's
layer takes no matrix, and is given the edges of each hop with pairs of rows. They take turns step
by step, and their outputs and gradients are compared. Then one hop alone, there and back.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch_geometric.utils import trim_to_layer

import graphmount as gm
import graphmount.pyg
import graphmount.torch.nn as own

from ...data.synthetic_dataset import COLUMNS, DEGREE, make_dataset
from ...harness.scratch import require_memory, scratch_folder
from ...jobs.layers_with_matrices import make_layers, with_matrices
from ...report.report import Report, argument_parser, defaults
from ...report.units import Unit, plain, ratio, spread_of, text
from .layer_kinds import EDGE_INDEX, LAYERS, OURS, PAIRS, RELATIONS, Layer

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

_CLASSES = 47
_FANOUTS = [15, 10, 5]
_COLUMNS = {
    "layers": text,
    "way": text,
    "ms a step": Unit(1e3, 1),
    "times edge_index": ratio,
    "runs": plain,
}
_HOP_COLUMNS = {
    "along edges": text,
    "there, ms": Unit(1e3, 2),
    "back, ms": Unit(1e3, 2),
    "back / there": ratio,
    "runs": plain,
}


def make_model(layer: Callable[[int, int], Any], hidden: int) -> torch.nn.ModuleList:
    return make_layers(layer, [COLUMNS, *[hidden] * (len(_FANOUTS) - 1), _CLASSES])


def with_edge_index(layers: torch.nn.ModuleList, batch: Any, *types: Any) -> torch.Tensor:  # noqa: ANN401
    """The rows of the seeds; relations of edges, if there are, go with them."""
    x, edges, trimmed = batch.x, batch.edge_index, types[0] if types else None
    for number, layer in enumerate(layers):
        x, edges, trimmed = trim_to_layer(
            number, batch.num_sampled_nodes, batch.num_sampled_edges, x, edges, trimmed
        )
        x = layer(x, edges) if trimmed is None else layer(x, edges, trimmed)
        if number + 1 < len(layers):
            x = x.relu_()
    out: torch.Tensor = x[: batch.batch_size]
    return out


def with_pairs(layers: torch.nn.ModuleList, batch: Any, types: torch.Tensor) -> torch.Tensor:  # noqa: ANN401
    """The same, where each layer makes rows for the targets of its hop alone."""
    x: torch.Tensor = batch.x
    for hops in range(len(layers), 0, -1):
        targets, edges = sum(batch.num_sampled_nodes[:hops]), sum(batch.num_sampled_edges[:hops])
        x = layers[-hops]((x, x[:targets]), batch.edge_index[:, :edges], types[:edges])
        x = x.relu_() if hops > 1 else x
    return x


def parameters_of(layers: torch.nn.ModuleList) -> list[torch.nn.Parameter]:
    """All parameters, in each layer matrices first: layers name them in other orders."""
    return [
        weight
        for layer in layers
        for weight in sorted(layer.parameters(), key=lambda each: -each.dim())
    ]


def step(
    way: str,
    layer: Layer,
    layers: torch.nn.ModuleList,
    batch: Any,  # noqa: ANN401
) -> tuple[float, torch.Tensor, torch.Tensor]:
    """The seconds of a step, its outputs, and the gradients of all weights."""
    layers.zero_grad()
    targets = torch.arange(batch.batch_size) % _CLASSES
    types = [batch.e_id % RELATIONS] if layer.has_relations else []
    start = time.perf_counter()
    if way == EDGE_INDEX:
        out = with_edge_index(layers, batch, *types)
    elif way == PAIRS:
        out = with_pairs(layers, batch, *types)
    else:
        change = None if way == OURS else layer.change
        adjs = batch.adjs if change is None else [change(adj) for adj in batch.adjs]
        out = with_matrices(layers, batch.x, adjs, in_pairs=way != OURS, more=types)
    torch.nn.functional.cross_entropy(out, targets).backward()  # type: ignore[no-untyped-call]
    seconds = time.perf_counter() - start
    gradients = [
        weight.grad.flatten() for weight in parameters_of(layers) if weight.grad is not None
    ]
    return seconds, out.detach(), torch.cat(gradients)


def bench_layer(
    report: Report, name: str, batches: list[Any], options: argparse.Namespace
) -> list[dict[str, Any]]:
    """All ways of a kind of layer, in turns."""
    layer = LAYERS[name]
    theirs, ours = (make_model(kind, options.hidden) for kind in (layer.theirs, layer.ours))
    ours.load_state_dict(theirs.state_dict())
    matrices = theirs if layer.with_adjs is None else make_model(layer.with_adjs, options.hidden)
    with torch.no_grad():
        for given, taken_over in zip(parameters_of(theirs), parameters_of(matrices), strict=True):
            taken_over.copy_(given)
    ways = {EDGE_INDEX: theirs, OURS: ours}
    if layer.takes is not None:
        ways = {EDGE_INDEX: theirs, layer.takes: matrices, OURS: ours}
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    difference = 0.0
    for number in range(options.rounds + 1):
        batch = batches[number % len(batches)]
        made = {way: step(way, layer, model, batch) for way, model in ways.items()}
        for way, (taken, *results) in made.items():
            if number:  # the first fills the caches
                seconds[way].append(taken)
            for one, two in zip(made[EDGE_INDEX][1:], results, strict=True):
                difference = max(difference, float((one - two).norm() / one.norm()))
    report.check(f"{name}: the same outputs and gradients", difference < 1e-4, f"{difference:.1e}")
    gains = {
        way: spread_of([a / b for a, b in zip(seconds[EDGE_INDEX], taken, strict=True)])
        for way, taken in seconds.items()
    }
    for measured, goal in ((layer.takes, layer.goal), (OURS, layer.own_goal)):
        if measured is not None and goal is not None:
            report.goal(
                f"{name}, {measured}: at least {goal} times as fast as with edge_index",
                gains[measured].median >= goal,
                f"{gains[measured].median:.2f} times",
            )
    if layer.takes is not None and layer.least_gain is not None:
        pairs = zip(seconds[layer.takes], seconds[OURS], strict=True)
        gain = spread_of([a / b for a, b in pairs]).median
        report.goal(
            f"{name}: ours at least {layer.least_gain} times as fast as {layer.takes}",
            gain >= layer.least_gain,
            f"{gain:.2f} times",
        )
    return [
        {
            "layers": name,
            "way": way,
            "ms a step": spread_of(seconds[way]),
            "times edge_index": gains[way],
            "runs": options.rounds,
        }
        for way in ways
    ]


def bench_hop(report: Report, batch: Any, options: argparse.Namespace) -> None:  # noqa: ANN401
    """The second layer's edges, there and back: inner layers need gradients, the first does not."""
    adj = batch.adjs[1]
    rows: list[dict[str, Any]] = []
    for reduce in ("mean", "sum", "max"):
        x = torch.rand(adj.size(1), options.hidden, requires_grad=True)
        gradient = torch.rand(adj.size(0), options.hidden)
        there, back = [], []
        for number in range(10 * options.rounds + 1):
            start = time.perf_counter()
            out = own.aggregate(x, adj, reduce)
            middle = time.perf_counter()
            out.backward(gradient)  # type: ignore[no-untyped-call]
            if number:
                there.append(middle - start)
                back.append(time.perf_counter() - middle)
            x.grad = None
        part = spread_of(back).median / spread_of(there).median
        report.goal(
            f"{reduce}: the way back at most 1.5 times the way there", part <= 1.5, f"{part:.2f}"
        )
        rows.append(
            {
                "along edges": reduce,
                "there, ms": spread_of(there),
                "back, ms": spread_of(back),
                "back / there": part,
                "runs": len(there),
            }
        )
    title = f"One hop: {adj.size(0):,} targets, {adj.size(1):,} sources, {adj._nnz():,} edges"  # noqa: SLF001
    report.table(title, _HOP_COLUMNS, rows)


def bench(report: Report, batches: list[Any], options: argparse.Namespace) -> None:
    rows = [row for name in LAYERS for row in bench_layer(report, name, batches, options)]
    edges = np.mean([batch.num_edges for batch in batches])
    nodes = np.mean([batch.num_nodes for batch in batches])
    report.table(
        f"A step of three layers, {options.hidden} wide: {options.batch_size:,} seeds, "
        f"{nodes:,.0f} nodes, {edges:,.0f} edges",
        _COLUMNS,
        rows,
    )
    bench_hop(report, batches[0], options)


def main() -> int:
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--nodes", type=int, help="nodes of the R-MAT graph (4 million)")
    parser.add_argument("--hidden", type=int, help="columns of inner layers (128)")
    parser.add_argument("--batch-size", type=int, help="seeds of a batch (1,024)")
    parser.add_argument("--rounds", type=int, help="steps of each way")
    options = parser.parse_args()
    defaults(
        options,
        nodes=(4_194_304, 50_000),
        hidden=(128, 32),
        batch_size=(1024, 256),
        rounds=(10, 3),
    )
    needed = options.nodes * (4 * COLUMNS * 2 + 24 * DEGREE)
    require_memory(needed, "the dataset")
    with scratch_folder(options.folder, needed) as folder:
        report = Report("step", options, folder)
        make_dataset(f"{folder}/dataset", options.nodes)
        loader = gm.pyg.NeighborLoader(
            f"{folder}/dataset",
            _FANOUTS,
            input_nodes="train",
            batch_size=options.batch_size,
            memory="1GiB",
            seed=1,
        )
        batches = [batch for batch, _ in zip(loader, range(4), strict=False)]
        loader.close()
        bench(report, batches, options)
        return report.finish(options.json)


if __name__ == "__main__":
    sys.exit(main())
