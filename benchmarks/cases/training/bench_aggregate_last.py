"""Training with `aggregate_last` and without: what a loader saves that aggregates the last hop.

Epochs of three-layer GraphSAGE, loader and optimizer included, with all rows in memory. All ways
have the same batches and begin with the same weights, and their losses are compared. They take
turns epoch by epoch. There are two families of graphs: R-MAT, where hubs are the neighbors of
nearly every node, and communities, where the rows of a batch lie all over the table.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from torch_geometric import nn

import graphmount as gm
import graphmount.pyg
import graphmount.torch.nn as own

from ...data.edge_streams import community_blocks, rmat_blocks
from ...data.synthetic_dataset import COLUMNS, DEGREE, compile_edges, make_edges
from ...harness.scratch import require_memory, scratch_folder
from ...jobs.layers_with_matrices import make_layers, with_matrices
from ...report.report import Report, argument_parser, defaults
from ...report.units import Unit, plain, ratio, spread_of, text

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

_CLASSES = 47
_FANOUTS = [15, 10, 5]
_FAMILIES = {"R-MAT": (rmat_blocks, 1.2), "communities": (community_blocks, 1.4)}
_COLUMNS = {
    "graph": text,
    "way": text,
    "ms a step": Unit(1e3, 1),
    "times PyG, adjs": ratio,
    "ms of processors": Unit(1e3, 1),
    "runs": plain,
}
_PYG, _OURS, _LAST = "PyG, adjs", "graphmount.torch.nn, adjs", "graphmount.torch.nn, aggregate_last"


def write_rows(path: str, num_nodes: int) -> None:
    """An `.npy` of rows drawn by chance, piece by piece."""
    generator = np.random.default_rng(0)
    rows = np.lib.format.open_memmap(path, "w+", np.float32, (num_nodes, COLUMNS))
    for piece in np.array_split(rows, 64):
        piece[:] = generator.standard_normal(piece.shape, np.float32)
    rows.flush()


class Way:
    """A model, its loader and its optimizer."""

    def __init__(
        self,
        layer: Callable[[int, int], Any],
        path: str,
        options: argparse.Namespace,
        aggregate_last: Literal["mean"] | None = None,
    ) -> None:
        sizes = [COLUMNS, *[options.hidden] * (len(_FANOUTS) - 1), _CLASSES]
        self.layers = make_layers(layer, sizes)
        self.takes_pairs = layer is nn.SAGEConv
        self.optimizer = torch.optim.Adam(self.layers.parameters(), lr=1e-3)
        dataset = gm.Dataset(path)
        self.loader = gm.pyg.NeighborLoader(
            dataset,
            _FANOUTS,
            input_nodes=dataset.splits["train"][: options.steps * options.batch_size],
            batch_size=options.batch_size,
            shuffle=True,
            memory=2 * options.nodes * 4 * COLUMNS,
            seed=1,
            aggregate_last=aggregate_last,
        )

    def step(self, batch: Any) -> float:  # noqa: ANN401
        """Trains with a batch, and returns the loss."""
        x = (batch.x_aggregated, batch.x) if "x_aggregated" in batch else batch.x
        out = with_matrices(self.layers, x, batch.adjs, in_pairs=self.takes_pairs)
        loss = torch.nn.functional.cross_entropy(out, batch.n_id[: len(out)] % _CLASSES)
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        return float(loss.detach())

    def epoch(self) -> tuple[float, float, list[float]]:
        """Seconds for each step, those of processors, and all losses."""
        start, start_work = time.perf_counter(), time.process_time()
        losses = [self.step(batch) for batch in self.loader]
        taken, work = time.perf_counter() - start, time.process_time() - start_work
        return taken / len(losses), work / len(losses), losses


def bench_family(
    report: Report, name: str, folder: str, options: argparse.Namespace
) -> list[dict[str, Any]]:
    blocks, goal = _FAMILIES[name]
    path = f"{folder}/{name}"
    compile_edges(path, make_edges(options.nodes, blocks), options.nodes, f"{folder}/x.npy")
    ways = {
        _PYG: Way(nn.SAGEConv, path, options),
        _OURS: Way(own.SAGEConv, path, options),
        _LAST: Way(own.SAGEConv, path, options, aggregate_last="mean"),
    }
    for each in ways.values():
        each.layers.load_state_dict(ways[_PYG].layers.state_dict())
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    work: dict[str, list[float]] = {way: [] for way in ways}
    difference = 0.0
    for number in range(options.rounds + 1):
        losses = {}
        for way, each in ways.items():
            taken, worked, losses[way] = each.epoch()
            if number:  # the first fills the caches
                seconds[way].append(taken)
                work[way].append(worked)
        for found in losses.values():
            pairs = zip(losses[_PYG], found, strict=True)
            difference = max(difference, *(abs(a - b) / abs(a) for a, b in pairs))
    report.check(f"{name}: the same losses", difference < 1e-3, f"{difference:.1e}")
    gains = {
        way: spread_of([a / b for a, b in zip(seconds[_PYG], taken, strict=True)])
        for way, taken in seconds.items()
    }
    report.goal(
        f"{name}, aggregate_last: at least {goal} times as fast as PyG's layers over adjs",
        gains[_LAST].median >= goal,
        f"{gains[_LAST].median:.2f} times",
    )
    return [
        {
            "graph": name,
            "way": way,
            "ms a step": spread_of(taken),
            "times PyG, adjs": gains[way],
            "ms of processors": spread_of(work[way]),
            "runs": options.rounds,
        }
        for way, taken in seconds.items()
    ]


def main() -> int:
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--nodes", type=int, help="nodes of each graph (2 million)")
    parser.add_argument("--hidden", type=int, help="columns of inner layers (128)")
    parser.add_argument("--batch-size", type=int, help="seeds of a batch (1,024)")
    parser.add_argument("--steps", type=int, help="batches of an epoch (30)")
    parser.add_argument("--rounds", type=int, help="epochs of each way (5)")
    options = parser.parse_args()
    defaults(
        options,
        nodes=(2_097_152, 65_536),
        hidden=(128, 32),
        batch_size=(1024, 256),
        steps=(30, 4),
        rounds=(5, 2),
    )
    needed = options.nodes * (4 * COLUMNS * 5 + 24 * DEGREE)
    require_memory(needed, "three loaders with all rows in memory")
    with scratch_folder(options.folder, needed) as folder:
        report = Report("aggregate_last", options, folder)
        write_rows(f"{folder}/x.npy", options.nodes)
        rows = [row for name in _FAMILIES for row in bench_family(report, name, folder, options)]
        title = (
            f"A step of training, loader included: three layers, {options.hidden} wide, "
            f"{options.batch_size:,} seeds"
        )
        report.table(title, _COLUMNS, rows)
        return report.finish(options.json)


if __name__ == "__main__":
    sys.exit(main())
