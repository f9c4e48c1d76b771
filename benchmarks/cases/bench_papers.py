"""A dataset of the shape of ogbn-papers100M, or as much of it as the disk holds, from end to end.

Edges and rows are generated as a stream, or come from the folder that OGB makes (`--source`); they
are compiled, mounted, and a three-layer GraphSAGE trains on a few hundred batches. All of it runs
in control groups limited, page cache included, to 8 GiB: half of what a laptop has.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import graphmount as gm

from ..data.papers_data import shape_of
from ..harness.cold_runs import run_cold
from ..harness.memcap import CappedRun, UnavailableError
from ..harness.scratch import free_bytes, scratch_folder
from ..jobs import job_command
from ..report.report import Report, add_size, argument_parser, defaults
from ..report.units import Cell, Unit, mebibytes, plain, seconds, text

if TYPE_CHECKING:
    import argparse

_COMPILE_SHARE, _LOADER_SHARE = 4, 4  # of the limit, for `memory=`
_STEPS = {
    "step": text,
    "seconds": Unit(1, 1, "less"),
    "anonymous peak, MiB": mebibytes,
    "limit, MiB": mebibytes,
    "memory=, MiB": mebibytes,
    "disk read, MiB": mebibytes,
    "written, MiB": mebibytes,
}
_TRAINING = {
    "what": text,
    "batches/s": Unit(1, 2, "more"),
    "batches": plain,
    "rows a batch": plain,
    "first batch, s": seconds,
    "from cache, %": Unit(100, 1),
    "read a batch, MiB": mebibytes,
    "loss at first": Unit(1, 2),
    "loss at last": Unit(1, 2),
}


def largest_fraction(folder: str | None) -> float:
    """What fits on the disk with a tenth to spare, in hundredths of the whole."""
    free = 0.9 * free_bytes(folder)
    hundredths = [place for place in range(1, 101) if shape_of(place / 100).disk_bytes <= free]
    return max(hundredths, default=0) / 100


def needed_bytes(options: argparse.Namespace) -> int:
    """What will be written. OGB's archives are compressed, features by little."""
    if options.source is None:
        return shape_of(options.fraction).disk_bytes
    return 3 * sum(file.stat().st_size for file in Path(options.source, "raw").iterdir())


def run_step(
    report: Report, step: str, path: str, limit: int, *arguments: str
) -> tuple[dict[str, Any], CappedRun]:
    """One step in a process of its own, from cold files."""
    command = job_command("papers_once", step, path, *arguments)
    files = [str(file) for file in Path(path).rglob("*.g[ld]")]
    run = run_cold(command, limit, *files)
    fine = run.status == 0 and not run.oom_kills
    report.check(f"{step}: ends", fine, f"status {run.status}, {run.oom_kills} OOM kills")
    return (json.loads(run.stdout) if fine else {}), run


def bench(report: Report, folder: str, options: argparse.Namespace) -> None:
    path, limit = f"{folder}/papers", options.limit
    origin = ["--source", options.source] if options.source else []
    rows: list[dict[str, Cell]] = []
    for step, share, arguments in (
        ("compile", _COMPILE_SHARE, [*origin, "--fraction", str(options.fraction)]),
        ("train", _LOADER_SHARE, ["--batches", str(options.batches)]),
    ):
        memory = limit // share
        found, run = run_step(report, step, path, limit, "--memory", str(memory), *arguments)
        if not found:
            return
        rows.append(
            {
                "step": step,
                "seconds": found["seconds"],
                "anonymous peak, MiB": run.anonymous_peak_bytes,
                "limit, MiB": limit,
                "memory=, MiB": memory,
                "disk read, MiB": found["disk_read"],
                "written, MiB": found["disk_written"],
            }
        )
        if step == "compile":
            expected = shape_of(options.fraction).num_edges
            is_right = options.source is not None or found["num_edges"] == expected
            report.check("compile: every edge is there", is_right, f"{found['num_edges']:,} edges")
    ds = gm.Dataset(path)
    size = sum(table.file_bytes for table in ds.features.values())
    title = f"{ds.num_nodes:,} nodes, {ds.num_edges:,} edges, {size / 2**30:.1f} GiB of features, "
    title += f"{ds.graph.file_bytes / 2**30:.1f} GiB of graph"
    report.table(title, _STEPS, rows)
    trained: dict[str, Cell] = {
        "what": "GraphSAGE, 3 layers, 1,024 seeds",
        "batches/s": found["batches_per_second"],
        "batches": found["batches"],
        "rows a batch": found["rows_per_batch"],
        "first batch, s": found["first_batch"],
        "from cache, %": found["hit_rate"],
        "read a batch, MiB": found["read_per_batch"],
        "loss at first": found["first_loss"],
        "loss at last": found["last_loss"],
    }
    report.table("Training", _TRAINING, [trained])
    report.note(f"What the loader says of its last epoch: {found['summary']}")
    learned = found["last_loss"] < found["first_loss"]
    report.check("train: the loss falls", learned or found["batches"] < 20)


def main() -> int:
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--fraction", type=float, help="of nodes and edges (what the disk holds)")
    parser.add_argument("--source", metavar="DIR", help="the folder ogbn_papers100M of OGB")
    parser.add_argument("--batches", type=int, help="to train on (300)")
    add_size(parser, "--limit", "memory, page cache included (8 GiB)")
    options = parser.parse_args()
    if options.source is not None:
        options.fraction = 1.0
    defaults(options, batches=(300, 10), limit=(8 << 30, 1 << 30))
    if options.fraction is None:
        options.fraction = 0.001 if options.quick else largest_fraction(options.folder)
    with scratch_folder(options.folder, needed_bytes(options)) as folder:
        report = Report("papers", options, folder)
        try:
            bench(report, folder, options)
        except UnavailableError as error:
            report.skip("all of it", str(error))
        return report.finish(options.json)


if __name__ == "__main__":
    sys.exit(main())
