"""How fast a model trains with how much memory: graphmount, and PyG with everything in memory.

Each run trains PyG's GraphSAGE of three layers for some steps, cold, in a process that a control
group limits, page cache included. The limit is what torch and PyG take by themselves, what the
batches under way take, and a share of the size of the dataset. graphmount trains with layers of its
own, for which the loader aggregates the last hop, with PyG's layers and the matrices of its
batches, and with PyG's layers and `edge_index`, trimmed from layer to layer as PyG recommends; PyG,
which loads edges and features first, has only the latter. A run that was killed has no speed; what
it is compared by is then its speed with the least share of memory that it can live with.

Half of the share is for rows. The graph has the other half, and what the process leaves of the rest
of the limit: there is no line between them for the system. Of many graphs, lists alone are more
than a tenth of the dataset.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import graphmount as gm

from ...data.synthetic_dataset import COLUMNS, DEGREE, make_dataset
from ...harness.cold_runs import run_cold
from ...harness.memcap import UnavailableError
from ...harness.scratch import require_memory, scratch_folder
from ...jobs import job_command
from ...peers import why_not_here
from ...report.plot import Plot
from ...report.report import Report, argument_parser, defaults
from ...report.units import Cell, Unit, mebibytes, text

if TYPE_CHECKING:
    import argparse

    from ...report.plot import Point

# What torch and PyG take before they do anything: 270 MiB, and 150 MiB of their libraries, which
# count here if nobody else has read them.
_TORCH_BYTES = 450 << 20
_PERCENT = (10, 25, 100, 300)
_FANOUTS = [15, 10, 5]
# Batches that exist at the same time: one is trained with, its layers have rows of their own, and
# the loader has others under way.
_BATCHES_AT_ONCE = 6
_OURS, _MATRICES = "graphmount and its layers", "graphmount, adjs"
_EDGE_INDEX, _PYG = "graphmount, edge_index", "PyG, in memory"
_WAYS = {
    _OURS: ("--way", "graphmount", "--layers", "own"),
    _MATRICES: ("--way", "graphmount", "--layers", "matrices"),
    _EDGE_INDEX: ("--way", "graphmount"),
    _PYG: ("--way", "in memory"),
}
_COLUMNS = {
    "way": text,
    "memory, % of the dataset": Unit(100, 0),
    "limit, MiB": mebibytes,
    "steps/s": Unit(1, 2),
    "ms of processors a step": Unit(1e3, 0),
    "ended": text,
}


def batch_bytes(path: str, options: argparse.Namespace) -> int:
    """What the rows of a batch take."""
    ds = gm.Dataset(path)
    seeds = ds.splits["train"][: options.batch_size]
    return ds.graph.sample_neighbors(seeds, _FANOUTS, seed=0).num_nodes * COLUMNS * 4


def bench(report: Report, path: str, size: int, options: argparse.Namespace) -> None:
    files = [str(file) for file in Path(path).rglob("*.g[ld]")]
    rows: list[dict[str, Cell]] = []
    speeds: dict[str, dict[int, float]] = {way: {} for way in _WAYS}
    under_way = _BATCHES_AT_ONCE * batch_bytes(path, options)
    for share in _PERCENT:
        limit = _TORCH_BYTES + under_way + size * share // 100
        for way, arguments in _WAYS.items():
            command = job_command(
                "train_once",
                path,
                *arguments,
                *("--memory", str(size * share // 200)),
                *("--batch-size", str(options.batch_size), "--fanouts", *map(str, _FANOUTS)),
                *("--hidden", str(options.hidden)),
                *("--steps", str(options.steps), "--warm-steps", str(options.steps // 10)),
            )
            run = run_cold(command, limit, *files)
            fine = run.status == 0 and not run.oom_kills
            result = json.loads(run.stdout) if fine else {}
            if fine:
                speeds[way][share] = result["steps_per_second"]
            rows.append(
                {
                    "way": way,
                    "memory, % of the dataset": share / 100,
                    "limit, MiB": limit,
                    "steps/s": result.get("steps_per_second"),
                    "ms of processors a step": result.get("processor_seconds"),
                    "ended": "fine" if fine else f"{run.oom_kills} OOM kills",
                }
            )
    report.check(
        "graphmount trains with every share of memory", len(speeds[_OURS]) == len(_PERCENT)
    )
    report.table(f"Steps a second by memory: the dataset has {size >> 20:,} MiB", _COLUMNS, rows)
    series: dict[str, list[Point]] = {
        way: [(float(share), speed) for share, speed in found.items()]
        for way, found in speeds.items()
        if found
    }
    report.plot(
        Plot(
            title="Training speed by memory: PyG needs all of it first",
            kind="lines",
            x="memory beside torch and its batches, percent of the dataset",
            y="steps a second",
            series=series,
            log_x=True,
            leads=True,
            ours=(_OURS, _MATRICES, _EDGE_INDEX),
            better="more",
        )
    )
    tenth, all_of_it = _PERCENT[0], _PERCENT[-1]
    for what, other, share, least in (
        ("4 times as fast as edge_index", _EDGE_INDEX, tenth, 4.0),
        ("0.75 of the speed with all of it", _OURS, all_of_it, 0.75),
        ("faster than PyG with all of it", _PYG, all_of_it, 1.0),
    ):
        ours = speeds[_OURS].get(tenth, 0.0)
        lived = [place for place in speeds[other] if place >= share]
        if lived:
            found = speeds[other][lived[0]]
            report.goal(
                f"with a tenth of the memory, {what}",
                ours / found >= least,
                f"{ours / found:.2f} times: {ours:.2f}, {found:.2f} steps/s with {lived[0]} %",
            )


def main() -> int:
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--scale", type=int, help="2^scale nodes (22)")
    parser.add_argument("--steps", type=int, help="steps of a run")
    parser.add_argument("--batch-size", type=int, help="seeds of a step (1,024)")
    parser.add_argument("--hidden", type=int, default=128, help="width of inner layers (128)")
    options = parser.parse_args()
    defaults(options, scale=(22, 16), steps=(50, 20), batch_size=(1024, 256))
    num_nodes = 1 << options.scale
    require_memory(num_nodes * DEGREE * 48, "making the graph")
    with scratch_folder(options.folder, num_nodes * (12 * DEGREE + 8 * COLUMNS)) as folder:
        report = Report("train_memory", options, folder)
        if why := why_not_here("torch", "torch_geometric"):
            report.skip("training", why)
            return report.finish(options.json)
        made = make_dataset(f"{folder}/data", num_nodes, train=1 / 20)
        try:
            bench(report, made.path, made.file_bytes, options)
        except UnavailableError as error:
            report.skip("training", str(error))
        return report.finish(options.json)


if __name__ == "__main__":
    sys.exit(main())
