"""Compiling a graph that is larger than memory, next to one of the same kind that is not.

The source is an `.npy` of shape (edges, 2). All runs have the same memory limit, page cache
included, and begin with a cold page cache; the small graph's take turns with the large one's. The
large graph's source and temporary files do not fit into the limit, the small one's do.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING

from ..data.edge_streams import (
    KnownLists,
    node_count,
    skewed_blocks,
    write_edges_csv,
    write_edges_npy,
)
from ..harness.memcap import UnavailableError
from ..harness.scratch import free_bytes, scratch_folder
from ..jobs.compiled_lists import read_facts
from ..report.report import Report, add_size, argument_parser, defaults
from ..report.units import Cell, Spread, Unit, mebibytes, plain, seconds, spread_of, text
from .parts.job_runs import Run, run_capped_job

if TYPE_CHECKING:
    import argparse


_DEGREE = 8
_SLACK = 256 << 20
_PAPERS_EDGES = 1_615_685_872
_SPARE_DISK = 4 << 30
_TIME_COLUMNS: dict[str, Unit] = {
    "way": text,
    "edges": plain,
    "seconds": seconds,
    "ns/edge": Unit(1e9, 1, "less"),
    "reading s": seconds,
    "writing s": seconds,
    "processor s": seconds,
    "runs": plain,
}
_SPACE_COLUMNS: dict[str, Unit] = {
    "way": text,
    "spilled MiB": mebibytes,
    "anonymous MiB": mebibytes,
    "disk read MiB": mebibytes,
    "written MiB": mebibytes,
    "limit hits": plain,
}


def disk_bytes_per_edge(neighbors: str) -> int:
    """Source, temporary file and output, and some more."""
    return 56 if neighbors == "both" else 34


def make_source(
    report: Report, path: str, count: int, neighbors: str
) -> tuple[str, int, KnownLists]:
    num_nodes = node_count(count, _DEGREE)
    known = KnownLists(num_nodes, ["in", "out"] if neighbors == "both" else [neighbors])
    blocks = known.watch(skewed_blocks(count, num_nodes))
    if path.endswith(".csv"):
        write_edges_csv(blocks, path)
    else:
        write_edges_npy(blocks, count, path)
    report.check(f"{os.path.basename(path)} is made", known.num_edges == count, f"{count:,} edges")
    return path, count, known


class Bench:
    """The runs of each source, all within one limit."""

    def __init__(self, report: Report, options: argparse.Namespace, folder: str) -> None:
        self.runs: dict[str, list[Run]] = {}
        self.verified: list[Run] = []
        self.counts: dict[str, int] = {}
        self._report = report
        self._options = options
        self._out = f"{folder}/graph.gl"

    def run(self, way: str, source: tuple[str, int, KnownLists], *, verify: bool) -> None:
        """One run, whose result is looked at, and with `verify` verified within the limit."""
        path, count, known = source
        options = self._options
        arguments = ("--neighbors", options.neighbors, "--memory", str(options.memory))
        job = partial(run_capped_job, options.cap)
        run = job("graphmount.compile_graph", path, self._out, *arguments)
        self.runs.setdefault(way, []).append(run)
        self.counts[way] = count
        expected = known.facts()
        directions = [name for name in expected if name in ("in", "out")]
        facts = read_facts(self._out, reader="graphmount", step=known.step, directions=directions)
        what = f"{way}, run {len(self.runs[way])}"
        self._report.check(f"{what} makes the graph of the source", facts == expected)
        if verify:
            verified = job("graphmount.verify", self._out)
            problems = verified["problems"]
            self._report.check(f"{what} verifies", problems == 0, f"{problems:.0f} problems")
            self.verified.append(verified | {"bytes": os.path.getsize(self._out)})
        os.unlink(self._out)

    def seconds_per_edge(self, way: str) -> Spread:
        """Of all runs."""
        return spread_of([run["seconds"] / self.counts[way] for run in self.runs[way]])

    def cells(self, way: str) -> dict[str, Cell]:
        """Its line of the table."""
        runs = self.runs[way]
        return {
            "way": way,
            "edges": self.counts[way],
            "seconds": spread_of([run["seconds"] for run in runs]),
            "ns/edge": self.seconds_per_edge(way),
            "reading s": spread_of([run["reading"] for run in runs]),
            "writing s": spread_of([run["seconds"] - run["reading"] for run in runs]),
            "processor s": spread_of([run["processor"] for run in runs]),
            "spilled MiB": max(run["spilled"] for run in runs),
            "anonymous MiB": max(run["anonymous"] for run in runs),
            "disk read MiB": max(run["disk_read"] for run in runs),
            "written MiB": max(run["disk_written"] for run in runs),
            "limit hits": max(run["limit_hits"] for run in runs),
            "runs": len(runs),
        }


def judge(report: Report, bench: Bench, memory: int) -> None:
    large, small = (bench.seconds_per_edge(way) for way in ("large .npy", "small .npy"))
    factor = large.median / small.median
    detail = f"{factor:.2f} times ({large.median * 1e9:.1f} and {small.median * 1e9:.1f} ns)"
    report.goal("an edge of the large graph takes at most 2.5 times as long", factor <= 2.5, detail)
    peak = max(run["anonymous"] for run in bench.runs["large .npy"])
    report.goal(
        "anonymous memory within memory= and 256 MiB",
        peak <= memory + _SLACK,
        f"{peak / 2**20:.0f} MiB of {memory / 2**20:.0f} MiB",
    )
    spilled = {way: max(run["spilled"] for run in runs) for way, runs in bench.runs.items()}
    report.check("the small graph fits into memory=", spilled["small .npy"] == 0)
    report.check("the large graph does not", spilled["large .npy"] > 0)
    rows: list[dict[str, Cell]] = [
        {"what": f"ogbn-papers100M, {_PAPERS_EDGES:,} edges", "value": large.median * _PAPERS_EDGES}
    ]
    report.table(
        "A rough extrapolation to another graph, not measured, s",
        {"what": text, "value": seconds},
        rows,
    )


def main() -> int:
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--edges", type=int, help="of the large graph (10**9, or what fits)")
    parser.add_argument("--small-edges", type=int, help="of the small graph (33 million)")
    parser.add_argument("--neighbors", choices=("in", "out", "both"), default="in")
    add_size(parser, "--memory", "memory= of compile_graph (2 GiB)")
    add_size(parser, "--cap", "the memory limit (3 GiB)")
    parser.add_argument("--rounds", type=int, help="runs of the large graph")
    options = parser.parse_args()
    defaults(options, small_edges=(33_000_000, 2_000_000), rounds=(1, 2))
    defaults(options, memory=(2 << 30, 128 << 20), cap=(3 << 30, 256 << 20))
    each = disk_bytes_per_edge(options.neighbors)
    small_bytes = options.small_edges * (each + 18)
    wanted = 30_000_000 if options.quick else 1_000_000_000
    if options.edges is None:
        free = free_bytes(options.folder)
        options.edges = min(wanted, max(1, free - small_bytes - _SPARE_DISK) // each)
    with scratch_folder(options.folder, options.edges * each + small_bytes) as folder:
        report = Report("compile_large", options, folder)
        if options.edges < wanted:
            report.skip(f"{wanted:,} edges", f"{options.edges:,} instead")
        bench = Bench(report, options, folder)
        make = partial(make_source, report, neighbors=options.neighbors)
        small = make(f"{folder}/small.npy", options.small_edges)
        small_text = make(f"{folder}/small.csv", options.small_edges)
        large = make(f"{folder}/large.npy", options.edges)
        try:
            for number in range(options.rounds):
                for turn in ("before", "after"):
                    bench.run("small .npy", small, verify=False)
                    bench.run("small .csv", small_text, verify=False)
                    if turn == "before":
                        bench.run("large .npy", large, verify=number == 0)
        except UnavailableError as error:
            report.skip("compiling within a limit", str(error))
            return report.finish(options.json)
        title = f"neighbors={options.neighbors!r}, memory={options.memory >> 20} MiB, "
        title += f"limit {options.cap >> 20} MiB, cold"
        rows = [bench.cells(way) for way in bench.runs]
        report.table(f"Compiling, {title}", _TIME_COLUMNS, rows)
        report.table("Memory and disk of these runs, the most of them", _SPACE_COLUMNS, rows)
        columns = {"bytes": mebibytes, "seconds": seconds, "anonymous": mebibytes}
        columns |= {"disk_read": mebibytes}
        report.table("Verifying the large graph in the same limit, MiB", columns, bench.verified)
        judge(report, bench, options.memory)
        return report.finish(options.json)


if __name__ == "__main__":
    sys.exit(main())
