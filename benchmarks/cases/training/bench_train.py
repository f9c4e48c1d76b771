"""Trains GraphSAGE for an epoch with memory for a quarter of the dataset, and without graphmount.

Both ways run with PyG's modules, cold, in a process that a control group limits to a quarter of the
dataset's size, page cache included. That the one which loads everything is killed is the point of
the exercise: it is shown, not assumed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import graphmount as gm

from ...data.synthetic_dataset import COLUMNS, DEGREE, make_dataset
from ...harness.cold_runs import run_cold
from ...harness.memcap import UnavailableError
from ...harness.scratch import require_memory, scratch_folder
from ...jobs import job_command
from ...peers import why_not_here
from ...report.plot import bars
from ...report.report import Report, argument_parser, defaults
from ...report.units import Cell, Unit, mebibytes, plain, text

_LEAST_LIMIT = 512 << 20  # torch and PyG take 300 MB before they do anything
_COLUMNS = {
    "way": text,
    "ended": text,
    "batches": plain,
    "seconds": Unit(1, 1),
    "loss": Unit(1, 3),
    "anonymous peak, MiB": mebibytes,
    "limit, MiB": mebibytes,
}


def bench(report: Report, path: str, size: int) -> None:
    num_seeds = len(gm.Dataset(path).splits["train"])
    limit = max(size // 4, _LEAST_LIMIT)
    files = [str(file) for file in Path(path).rglob("*.g[ld]")]
    rows: list[dict[str, Cell]] = []
    for way in ("graphmount", "in memory"):
        command = job_command("train_once", path, "--way", way)
        run = run_cold(command, limit, *files)
        fine = run.status == 0 and not run.oom_kills
        result = json.loads(run.stdout) if fine else {}
        ended = "fine" if fine else f"{run.oom_kills} OOM kills, status {run.status}"
        peak = run.anonymous_peak_bytes or 0
        rows.append(
            {"way": way, "ended": ended, "anonymous peak, MiB": peak, "limit, MiB": limit}
            | {name: result.get(name) for name in ("batches", "seconds", "loss")}
        )
        if way == "graphmount":
            report.check("graphmount: the epoch ends", result.get("seeds") == num_seeds, ended)
            report.check("graphmount: peak below the limit", 0 < peak < limit)
        elif limit < size:
            report.goal("in memory: killed, as it does not fit", bool(run.oom_kills), ended)
    title = f"GraphSAGE, one epoch, {size >> 20:,} MiB, limit {limit >> 20:,} MiB"
    report.table(title, _COLUMNS, rows)
    if limit >= size:
        return report.note(f"All of it fits into the least limit, {limit >> 20} MiB: a quick run.")
    title = f"Memory of an epoch: the dataset has {size >> 20:,} MiB, the limit is {limit >> 20:,}"
    report.plot(
        bars(
            title,
            rows,
            of="anonymous peak, MiB",
            y="MiB of anonymous memory",
            factor=2**-20,
            leads=True,
            ours=["graphmount"],
            better="less",
            rivals=[],  # which was killed, so its figure is the limit
        )
    )
    return None


def main() -> int:
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--scale", type=int, help="2^scale nodes (22)")
    options = parser.parse_args()
    defaults(options, scale=(22, 16))
    num_nodes = 1 << options.scale
    require_memory(num_nodes * DEGREE * 48, "making the graph")
    with scratch_folder(options.folder, num_nodes * (12 * DEGREE + 8 * COLUMNS)) as folder:
        report = Report("train", options, folder)
        if why := why_not_here("torch", "torch_geometric"):
            report.skip("training", why)
            return report.finish(options.json)
        made = make_dataset(f"{folder}/data", num_nodes, train=1 / 20)
        try:
            bench(report, made.path, made.file_bytes)
        except UnavailableError as error:
            report.skip("training", str(error))
        return report.finish(options.json)


if __name__ == "__main__":
    sys.exit(main())
