"""How fast a text file of edges becomes a graph file, next to GraphZero's converter.

The file is plain "source,destination" lines of an R-MAT graph, and in the page cache. Both write
their file within the time; ours is on the disk by then, theirs where the kernel has it. What merely
reading the text into memory takes Polars and DuckDB stands next to it. All take turns.
"""

from __future__ import annotations

import os
import sys
from functools import partial

from ..data.edge_streams import KnownLists, node_count, rmat_blocks, write_edges_csv
from ..harness.page_cache import warm_up
from ..harness.scratch import scratch_folder
from ..jobs.compiled_lists import read_facts
from ..report.plot import bars
from ..report.report import Report, argument_parser, defaults
from ..report.units import Cell, ratio, spread_of
from .parts.job_runs import COLUMNS, Run, cells_of, installed, run_job, take_turns

_OURS = "graphmount.compile_graph"
_THEIRS = "graphzero.convert_csv_to_gl"
_READERS = ("polars.read_csv", "duckdb read_csv")
_DEGREE = 16
_BUDGET = 2 << 30
_SLACK = 256 << 20
#: What source and outputs take for an edge: text, ours, and theirs with twice as much to spare.
_DISK_BYTES = 16 + 5 + 2 * 9


def run_way(way: str, source: str, out: str) -> Run:
    return run_job(way, source, out, "--neighbors", "out", "--memory", str(_BUDGET))


def check_contents(
    report: Report, ways: list[str], source: str, out: str, known: KnownLists
) -> dict[str, float]:
    """Whether each way makes the graph of the source. Returns bytes an edge of its file."""
    expected = known.facts()
    sizes = {}
    for way in ways:
        run_way(way, source, out)
        reader = way.split(".", 1)[0]
        facts = read_facts(out, reader=reader, step=known.step, directions=["out"])
        detail = f"{known.num_edges:,} edges, {known.num_nodes:,} nodes"
        report.check(f"{way} makes the graph of the source", facts == expected, detail)
        sizes[way] = os.path.getsize(out) / known.num_edges
        os.unlink(out)
    return sizes


def judge(report: Report, runs: dict[str, list[Run]], bytes_an_edge: float) -> None:
    ours = runs[_OURS]
    if _THEIRS in runs:
        pairs = zip(runs[_THEIRS], ours, strict=True)
        faster = spread_of([their["seconds"] / our["seconds"] for their, our in pairs])
        detail = f"{faster.median:.1f} ({faster.low:.1f} - {faster.high:.1f}) times; we aim at 15"
        report.goal(f"10 times as fast as {_THEIRS}", faster.median >= 10, detail)
    report.goal("at most 4.6 bytes an edge", bytes_an_edge <= 4.6, f"{bytes_an_edge:.2f}")
    peak = max(run["anonymous"] for run in ours)
    what = "anonymous memory within memory='2GiB' and 256 MiB"
    report.goal(what, peak <= _BUDGET + _SLACK, f"{peak / 2**20:.0f} MiB")


def main() -> int:
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--edges", type=int, help="edges in the text (33 million)")
    parser.add_argument("--rounds", type=int, help="runs of each way")
    options = parser.parse_args()
    defaults(options, edges=(33_000_000, 8_000_000), rounds=(5, 2))
    with scratch_folder(options.folder, options.edges * _DISK_BYTES) as folder:
        report = Report("compile_text", options, folder)
        writers = installed(report, [_OURS, _THEIRS])
        ways = writers + installed(report, _READERS)
        source, out = f"{folder}/edges.csv", f"{folder}/graph.gl"
        num_nodes = node_count(options.edges, _DEGREE)
        known = KnownLists(num_nodes, ["out"])
        write_edges_csv(known.watch(rmat_blocks(options.edges, num_nodes)), source)
        sizes = check_contents(report, writers, source, out, known)
        jobs = {way: partial(run_way, way, source, out) for way in ways}
        runs = take_turns(jobs, options.rounds, before=partial(warm_up, source), out=out)
        for way in ways[len(writers) :]:
            found = {run["rows"] for run in runs[way]}
            report.check(f"{way} reads every edge", found == {options.edges})
        size = os.path.getsize(source)
        rows: list[dict[str, Cell]] = [
            cells_of(way, runs[way], runs[_OURS], size) | {"bytes/edge": sizes.get(way)}
            for way in ways
        ]
        title = f"CSV of {options.edges:,} edges, {size / 1e6:.0f} MB, in the page cache"
        title += "; Polars and DuckDB only read it"
        report.table(title, COLUMNS | {"bytes/edge": ratio}, rows)
        report.plot(
            bars(
                "Text to a graph",
                rows,
                of="seconds",
                y="seconds",
                leads=True,
                ours=[_OURS],
                better="less",
                rivals=[_THEIRS],  # the readers do less work: they write nothing
            )
        )
        judge(report, runs, sizes[_OURS])
        return report.finish(options.json)


if __name__ == "__main__":
    sys.exit(main())
