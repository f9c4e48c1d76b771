"""What it costs a loader to speak the ids of its source: batches per second of the same batches.

All loaders are of `graphmount.pyg`, over the same content in the same order, with the same seed.
One is made of the `Data` itself, and gives `n_id` and `e_id` as the `Data` has them. The others are
made of the dataset that `from_pyg` made of it: one gives both as the dataset has them, the other
has `edge_ids="source"`, so that its `e_id` is that of the `Data`. They take turns, epoch by epoch,
in one process; all files are in the page cache. All say the same of each node and edge.

A node's external id costs one access to a small table. The row of an edge costs one more access to
memory for each edge, far from all others, and so as much as the neighbor itself.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch_geometric.data import Data

import graphmount as gm
import graphmount.pyg

from ..harness.scratch import require_memory, scratch_folder
from ..report.report import Report, argument_parser, defaults
from ..report.units import Unit, plain, ratio, spread_of, text

if TYPE_CHECKING:
    import argparse

_BOTH, _EDGES, _OWN = "n_id and e_id of the Data", "e_id of the Data", "ids of the dataset"
_COLUMNS = {
    "batches have": text,
    "batches/s": Unit(1, 2),
    "times the last": ratio,
    "runs": plain,
}
_MOST_COST = 0.03


def make_data(options: argparse.Namespace) -> Data:
    """Few nodes have many neighbors, as in graphs of people."""
    generator = np.random.default_rng(1)
    ends = generator.random((2, options.edges)) ** 3 * options.nodes
    scattered = generator.permutation(options.nodes)  # so that the order of the dataset is another
    return Data(
        x=torch.from_numpy(generator.random((options.nodes, options.columns), np.float32)),
        edge_index=torch.from_numpy(scattered[ends.astype(np.int64)]),
        y=torch.arange(options.nodes),
    )


def measure(loaders: dict[str, Any], rounds: int) -> dict[str, list[float]]:
    """Batches per second of each epoch, of which each has one in each round, in turns."""
    speeds: dict[str, list[float]] = {name: [] for name in loaders}
    for number in range(rounds + 1):
        names = list(loaders) if number % 2 else list(loaders)[::-1]
        for name in names:
            start = time.perf_counter()
            count = sum(1 for _ in loaders[name])
            if number:  # the first fills the caches
                speeds[name].append(count / (time.perf_counter() - start))
    return speeds


def bench(report: Report, folder: str, options: argparse.Namespace) -> None:
    data = make_data(options)
    gm.from_pyg(data, f"{folder}/dataset", progress=False)
    common: dict[str, Any] = {
        "num_neighbors": [10, 5],
        "batch_size": options.batch_size,
        "memory": options.memory,
        "seed": 1,
    }
    nodes = torch.from_numpy(
        np.random.default_rng(2).integers(0, options.nodes, options.batches * options.batch_size)
    )
    of_dataset: dict[str, Any] = {"input_nodes": nodes, "ids": "external", **common}
    loaders = {
        _BOTH: gm.pyg.NeighborLoader(
            data, input_nodes=nodes, cache=f"{folder}/cache", progress=False, **common
        ),
        _EDGES: gm.pyg.NeighborLoader(f"{folder}/dataset", edge_ids="source", **of_dataset),
        _OWN: gm.pyg.NeighborLoader(f"{folder}/dataset", **of_dataset),
    }
    dataset = gm.Dataset(f"{folder}/dataset")
    is_same = all(
        torch.equal(both.n_id, torch.from_numpy(np.asarray(dataset.to_external(own.n_id))))
        and torch.equal(both.y, both.n_id)
        and torch.equal(both.n_id[both.edge_index], data.edge_index[:, both.e_id])
        and torch.equal(both.e_id, edges.e_id)
        for both, edges, own in zip(*loaders.values(), strict=True)
    )
    report.check("all loaders have the same nodes and edges, each in its own ids", is_same)
    speeds = measure(loaders, options.rounds)
    report.table(
        f"{options.nodes:,} nodes, {options.edges:,} edges, {options.batch_size:,} seeds a batch",
        _COLUMNS,
        [
            {
                "batches have": name,
                "batches/s": spread_of(speeds[name]),
                "times the last": spread_of(_ratios(speeds, name, _OWN)),
                "runs": options.rounds,
            }
            for name in loaders
        ],
    )
    pairs = (("nodes", _BOTH, _EDGES), ("edges", _EDGES, _OWN), ("both", _BOTH, _OWN))
    for what, name, other in pairs:
        median = spread_of(_ratios(speeds, name, other)).median
        report.goal(
            f"ids of the source for {what} cost at most 3 % of the batches per second",
            median >= 1 - _MOST_COST,
            f"{median:.3f} of the speed without",
        )


def _ratios(speeds: dict[str, list[float]], name: str, other: str) -> list[float]:
    """Of each round: how many times as fast the one loader was as the other."""
    return [one / two for one, two in zip(speeds[name], speeds[other], strict=True)]


def main() -> int:
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--nodes", type=int, help="nodes (1 million)")
    parser.add_argument("--edges", type=int, help="edges (16 million)")
    parser.add_argument("--columns", type=int, help="columns of x (128, as ogbn-papers100M has)")
    parser.add_argument("--batch-size", type=int, help="seeds of a batch (1,024)")
    parser.add_argument("--batches", type=int, help="batches of an epoch")
    parser.add_argument("--memory", help="of each loader")
    parser.add_argument("--rounds", type=int, help="epochs of each loader")
    options = parser.parse_args()
    defaults(
        options,
        nodes=(1_000_000, 100_000),
        edges=(16_000_000, 1_000_000),
        columns=(128, 16),
        batch_size=(1024, 512),
        batches=(100, 20),
        rounds=(21, 3),
    )
    options.memory = options.memory or "2GiB"
    needed = 8 * (4 * options.nodes * options.columns + 24 * options.edges)
    require_memory(needed, "a Data and its dataset")
    with scratch_folder(options.folder, needed) as folder:
        report = Report("source_ids", options, folder)
        bench(report, folder, options)
        return report.finish(options.json)


if __name__ == "__main__":
    sys.exit(main())
