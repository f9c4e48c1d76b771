"""How fast a model trains with how much memory: graphmount, and PyG with everything in memory.

Each run trains PyG's GraphSAGE of two layers for some steps, cold, in a process that a control
group limits, page cache included. The limit is what torch and PyG take by themselves, and a share
of the size of the dataset. graphmount trains with the matrices of its batches and with plain
`edge_index`; PyG, which loads edges and features first, has plain `edge_index`. A run that was
killed has no speed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

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

_TORCH_BYTES = 450 << 20  # what torch and PyG take before they do anything
_PERCENT = (10, 25, 50, 100, 300)
_OURS, _OURS_PLAIN, _PYG = "graphmount", "graphmount, edge_index", "PyG, in memory"
_WAYS = {
    _OURS: ("--way", "graphmount", "--matrices"),
    _OURS_PLAIN: ("--way", "graphmount"),
    _PYG: ("--way", "in memory"),
}
_COLUMNS = {
    "way": text,
    "memory, % of the dataset": Unit(100, 0),
    "limit, MiB": mebibytes,
    "steps/s": Unit(1, 2),
    "ended": text,
}


def bench(report: Report, path: str, size: int, options: argparse.Namespace) -> None:
    files = [str(file) for file in Path(path).rglob("*.g[ld]")]
    rows: list[dict[str, Cell]] = []
    speeds: dict[str, dict[int, float]] = {way: {} for way in _WAYS}
    for share in _PERCENT:
        limit = _TORCH_BYTES + size * share // 100
        for way, arguments in _WAYS.items():
            command = job_command(
                "train_once",
                path,
                *arguments,
                *("--memory", str(size * share // 200)),
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
            x="memory beside torch itself, percent of the dataset",
            y="steps a second",
            series=series,
            log_x=True,
            leads=True,
            ours=(_OURS, _OURS_PLAIN),
            better="more",
        )
    )
    if speeds[_PYG] and speeds[_OURS]:
        best = max(speeds[_PYG].values())
        report.goal(
            "with a tenth of the memory, at least as fast as PyG with all of it",
            speeds[_OURS].get(_PERCENT[0], 0.0) >= best,
            f"{speeds[_OURS].get(_PERCENT[0], 0.0):.2f} and {best:.2f} steps/s",
        )


def main() -> int:
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--scale", type=int, help="2^scale nodes (22)")
    parser.add_argument("--steps", type=int, help="steps of a run")
    options = parser.parse_args()
    defaults(options, scale=(22, 16), steps=(100, 20))
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
