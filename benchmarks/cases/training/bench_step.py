"""How long a step of training takes: PyG's own layers with `edge_index`, and with `batch.adjs`.

A step is the forward and backward pass of a model of three layers over one batch; the loader is
idle. Both ways have the same batches, weights and layers. The one with `edge_index` trims it from
layer to layer, as PyG recommends, and the other gives each layer its sparse matrix. They take turns
step by step, and their outputs and gradients are compared.
"""

from __future__ import annotations

import itertools
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch_geometric import nn
from torch_geometric.utils import trim_to_layer

import graphmount as gm
import graphmount.pyg

from ...data.synthetic_dataset import COLUMNS, DEGREE, make_dataset
from ...harness.scratch import require_memory, scratch_folder
from ...jobs.layers_with_matrices import with_matrices
from ...report.report import Report, argument_parser, defaults
from ...report.units import Unit, plain, ratio, spread_of, text

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

_CLASSES = 47
_FANOUTS = [15, 10, 5]
_COLUMNS = {
    "layers": text,
    "edges as": text,
    "ms a step": Unit(1e3, 1),
    "times edge_index": ratio,
    "runs": plain,
}
#: Layers by name, and how many times as fast they should be with matrices.
_LAYERS: dict[str, tuple[Callable[[int, int], Any], float | None]] = {
    "SAGE, mean": (nn.SAGEConv, 5.0),
    "SAGE, max": (lambda inputs, outputs: nn.SAGEConv(inputs, outputs, aggr="max"), None),
    "GraphConv, sum": (nn.GraphConv, None),
    "GIN": (lambda inputs, outputs: nn.GINConv(torch.nn.Linear(inputs, outputs)), None),
}


def make_model(layer: Callable[[int, int], Any], hidden: int) -> torch.nn.ModuleList:
    torch.manual_seed(0)
    sizes = [COLUMNS, *[hidden] * (len(_FANOUTS) - 1), _CLASSES]
    return torch.nn.ModuleList(layer(*pair) for pair in itertools.pairwise(sizes))


def with_edge_index(layers: torch.nn.ModuleList, batch: Any) -> torch.Tensor:  # noqa: ANN401
    x, edges = batch.x, batch.edge_index
    for number, layer in enumerate(layers):
        x, edges, _ = trim_to_layer(
            number, batch.num_sampled_nodes, batch.num_sampled_edges, x, edges
        )
        x = layer(x, edges)
        if number + 1 < len(layers):
            x = x.relu()
    out: torch.Tensor = x[: batch.batch_size]
    return out


_WAYS: dict[str, Callable[[torch.nn.ModuleList, Any], torch.Tensor]] = {
    "edge_index": with_edge_index,
    "matrices": lambda layers, batch: with_matrices(layers, batch.x, batch.adjs),
}


def step(
    way: str,
    layers: torch.nn.ModuleList,
    batch: Any,  # noqa: ANN401
) -> tuple[float, torch.Tensor, torch.Tensor]:
    """The seconds of a step, its outputs, and the gradients of all weights."""
    layers.zero_grad()
    targets = torch.arange(batch.batch_size) % _CLASSES
    start = time.perf_counter()
    out = _WAYS[way](layers, batch)
    torch.nn.functional.cross_entropy(out, targets).backward()  # type: ignore[no-untyped-call]
    seconds = time.perf_counter() - start
    gradients = [weight.grad.flatten() for weight in layers.parameters() if weight.grad is not None]
    return seconds, out.detach(), torch.cat(gradients)


def bench(report: Report, batches: list[Any], options: argparse.Namespace) -> None:
    rows: list[dict[str, Any]] = []
    for name, (layer, goal) in _LAYERS.items():
        model = make_model(layer, options.hidden)
        seconds: dict[str, list[float]] = {way: [] for way in _WAYS}
        difference = 0.0
        for number in range(options.rounds + 1):
            batch = batches[number % len(batches)]
            made = {way: step(way, model, batch) for way in _WAYS}
            for way, (taken, *_) in made.items():
                if number:  # the first fills the caches
                    seconds[way].append(taken)
            for one, two in zip(made["edge_index"][1:], made["matrices"][1:], strict=True):
                difference = max(difference, float((one - two).norm() / one.norm()))
        report.check(
            f"{name}: the same outputs and gradients", difference < 1e-4, f"{difference:.1e}"
        )
        ratios = [
            slow / fast
            for slow, fast in zip(seconds["edge_index"], seconds["matrices"], strict=True)
        ]
        rows.extend(
            {
                "layers": name,
                "edges as": way,
                "ms a step": spread_of(seconds[way]),
                "times edge_index": spread_of(ratios) if way == "matrices" else 1.0,
                "runs": options.rounds,
            }
            for way in _WAYS
        )
        if goal is not None:
            median = spread_of(ratios).median
            report.goal(
                f"{name}: at least {goal} times as fast as with edge_index",
                median >= goal,
                f"{median:.2f} times",
            )
    edges = np.mean([batch.num_edges for batch in batches])
    nodes = np.mean([batch.num_nodes for batch in batches])
    report.table(
        f"A step of three layers, {options.hidden} wide: {options.batch_size:,} seeds, "
        f"{nodes:,.0f} nodes, {edges:,.0f} edges",
        _COLUMNS,
        rows,
    )


def main() -> int:
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--nodes", type=int, help="nodes of the R-MAT graph (1 million)")
    parser.add_argument("--hidden", type=int, help="columns of inner layers (128)")
    parser.add_argument("--batch-size", type=int, help="seeds of a batch (1,024)")
    parser.add_argument("--rounds", type=int, help="steps of each way")
    options = parser.parse_args()
    defaults(
        options,
        nodes=(1_000_000, 50_000),
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
