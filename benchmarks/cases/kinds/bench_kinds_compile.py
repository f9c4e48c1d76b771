"""Compiling a dataset of the shape of MAG240M in little memory, reverse relations included.

First a part of it (`--fraction`), with rows of 768 float16 for papers only; then all of its 244
million nodes with the same part of the edges and no rows, since the order of nodes is what cannot
be cut into pieces. Sources are generated as streams (benchmarks/data/mag_data.py). Each runs in a
control group limited, page cache included, to 3 GiB, and starts with a cold page cache.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from typing import TYPE_CHECKING

import numpy as np

import graphmount as gm

from ...data.mag_data import TOPICS, Shape
from ...harness.memcap import UnavailableError, run_capped
from ...harness.scratch import scratch_folder
from ...jobs import job_command
from ...report.report import Report, add_size, argument_parser, defaults
from ...report.units import Cell, Unit, mebibytes, plain, seconds, text

if TYPE_CHECKING:
    import argparse

_SLACK = 512 << 20  # Python, Arrow and the generator
_TIME = {
    "dataset": text,
    "nodes": plain,
    "edges": plain,
    "rows, MiB": mebibytes,
    "seconds": Unit(1, 1, "less"),
    "making the source, s": seconds,
}
_SPACE = {
    "dataset": text,
    "anonymous peak, MiB": mebibytes,
    "memory=, MiB": mebibytes,
    "limit, MiB": mebibytes,
    "OOM kills": plain,
    "files, MiB": mebibytes,
    "disk read, MiB": mebibytes,
    "written, MiB": mebibytes,
}


def compile_shape(
    report: Report, name: str, shape: Shape, path: str, options: argparse.Namespace
) -> dict[str, Cell] | None:
    """One run; its line of the table, or None if it failed."""
    arguments = ["--nodes", str(shape.nodes), "--edges", str(shape.edges)]
    arguments += ["--rows"] if shape.has_rows else []
    command = job_command("kinds_once", path, *arguments, "--memory", str(options.memory))
    run = run_capped(command, options.limit, keep_stdout=True)
    fine = run.status == 0 and not run.oom_kills
    report.check(f"{name}: ends", fine, f"status {run.status}, {run.oom_kills} OOM kills")
    if not fine:
        return None
    found = json.loads(run.stdout)
    expected = 2 * sum(shape.num_edges.values())
    is_all = found["num_edges"] == expected
    report.check(f"{name}: every edge is there", is_all, f"{found['num_edges']:,} edges")
    peak = run.anonymous_peak_bytes or 0
    report.goal(
        f"{name}: anonymous memory within memory= and 512 MiB",
        peak <= options.memory + _SLACK,
        f"{peak / 2**20:.0f} MiB of {options.memory / 2**20:.0f} MiB",
    )
    return {
        "dataset": name,
        "nodes": found["num_nodes"],
        "edges": found["num_edges"],
        "rows, MiB": shape.row_bytes,
        "seconds": found["seconds"],
        "making the source, s": found["source_seconds"],
        "anonymous peak, MiB": peak,
        "memory=, MiB": options.memory,
        "limit, MiB": options.limit,
        "OOM kills": run.oom_kills,
        "files, MiB": found["bytes"],
        "disk read, MiB": found["disk_read"],
        "written, MiB": found["disk_written"],
    }


def look_at(report: Report, name: str, shape: Shape, path: str) -> None:
    """Whether a few nodes have what the source says of them, by their external ids."""
    ds = gm.Dataset(path)
    assert isinstance(ds, gm.TypedDataset)
    papers = ds.nodes["paper"]
    some = np.linspace(0, shape.num_nodes["paper"] - 1, 1000).astype(np.int64)
    inside = papers.to_internal(some)
    report.check(f"{name}: ids go there and back", np.array_equal(papers.to_external(inside), some))
    if papers.labels is not None:
        is_right = np.array_equal(np.asarray(papers.labels[inside]), some % TOPICS)
        report.check(f"{name}: labels are those of the source", is_right)


def bench(report: Report, folder: str, options: argparse.Namespace) -> None:
    part = f"{100 * options.fraction:g} % of MAG240M"
    shapes = {
        part: Shape(options.fraction, options.fraction, has_rows=True),
        f"{100 * options.all_nodes:g} % of its nodes, {100 * options.fraction:g} % of its edges": (
            Shape(options.all_nodes, options.fraction, has_rows=False)
        ),
    }
    rows: list[dict[str, Cell]] = []
    for name, shape in shapes.items():
        is_kept = name == part and options.keep is not None
        path = options.keep if is_kept else os.path.join(folder, "mag")
        row = compile_shape(report, name, shape, path, options)
        if row is not None:
            rows.append(row)
            look_at(report, name, shape, path)
        if not is_kept:
            shutil.rmtree(path, ignore_errors=True)
    if rows:
        report.table("Compiling with reverse=True, hot nodes first", _TIME, rows)
        report.table("Memory and disk of these runs", _SPACE, rows)


def main() -> int:
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--fraction", type=float, help="of nodes and edges (0.05: 8.7 GiB of rows)")
    parser.add_argument("--all-nodes", type=float, help="of the nodes in the second run (1)")
    parser.add_argument("--keep", metavar="DIR", help="where to put and leave the first dataset")
    add_size(parser, "--memory", "memory= of compile_dataset (2 GiB)")
    add_size(parser, "--limit", "memory, page cache included (3 GiB)")
    options = parser.parse_args()
    defaults(options, fraction=(0.05, 0.0002), all_nodes=(1.0, 0.01))
    defaults(options, memory=(2 << 30, 64 << 20), limit=(3 << 30, 768 << 20))
    whole = Shape(options.fraction, options.fraction, has_rows=True)
    nodes = Shape(options.all_nodes, options.fraction, has_rows=False)
    needed = max(whole.disk_bytes, nodes.disk_bytes)
    with scratch_folder(options.folder, needed) as folder:
        report = Report("kinds_compile", options, folder)
        try:
            bench(report, folder, options)
        except UnavailableError as error:
            report.skip("all of it", str(error))
        return report.finish(options.json)


if __name__ == "__main__":
    sys.exit(main())
