"""How fast a loader feeds batches from tables larger than memory, next to loops over mmap.

The features are 2 GiB in the full run, seeds a tenth of the nodes, three hops. Every way is a
process of its own, begun with cold files, under a memory limit: what it may use for rows, and on
top the topology, the interpreter and the batches under way. The ways take turns of some seconds,
and rows are checked in all of them. The mapped loop is the one that people write by hand, over
files in the order of the source; the loader has a hot-first dataset. At first nobody trains on the
batches, so this is what the loader can do at most; then a model does.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from ..data.synthetic_dataset import COLUMNS, DEGREE
from ..harness.interleaved import Outcome, add_turn_options, run_interleaved
from ..harness.memcap import UnavailableError
from ..harness.scratch import require_memory, scratch_folder
from ..peers import why_not_here
from ..report.report import Report, argument_parser, defaults
from ..report.units import Cell, Spread, Unit, faster, mebibytes, plain, spread_of, text
from .parts.loader_plots import plot_memory
from .parts.loader_ways import (
    CALL_MEMORY,
    FAMILIES,
    MAPPED,
    SHARES,
    Way,
    batch_memory,
    cold_participants,
    loader_memory,
    make_datasets,
    speed_ways,
    training_ways,
    try_batch,
    window_ways,
)

if TYPE_CHECKING:
    import argparse

_TRAINING_BATCHES = 24  # times the rows of a batch for what a model keeps for the way back
_SMALL_MEMORY = 32 << 20  # less than this does not include reads in flight,
_LEAST_READING = 2 << 20  # which need this then
_COLUMNS = {
    "way": text,
    "batches/s": Unit(1, 2, "more"),
    "times": faster,
    "rows read": plain,
    "disk read, MiB": mebibytes,
    "processor, ms": Unit(1e3, 0),
    "start-up, s": Unit(1, 1),
    "peak, MiB": mebibytes,
    "limit, MiB": mebibytes,
    "turns": plain,
}


def run_ways(
    report: Report, family: str, ways: dict[str, Way], options: argparse.Namespace
) -> dict[str, Outcome]:
    """All of them in turns, from cold files; what of it is wrong fails the report."""
    participants = cold_participants(ways)
    results = run_interleaved(
        participants,
        rounds=options.rounds,
        warm_seconds=options.warm_seconds,
        seconds=options.seconds,
    )
    for name, outcome in results.items():
        run, what = outcome.run, f"{family}, {name}"
        fine = run is not None and run.status == 0 and not run.oom_kills
        detail = "" if run is None else f"status {run.status}, {run.oom_kills} OOM kills"
        report.check(f"{what}: no kill", fine, detail)
        wrong = outcome.summary.get("wrong_rows")
        report.check(f"{what}: all rows right", wrong == 0, f"{wrong} wrong")
        memory = ways[name].memory
        if fine and memory is not None:
            most = memory if memory >= _SMALL_MEMORY else memory + _LEAST_READING
            used = outcome.summary["cache_bytes"]
            detail = f"{used / 2**20:.1f} of {most / 2**20:.1f} MiB that are promised"
            report.check(f"{what}: caches within memory=", used <= most, detail)
    return {name: outcome for name, outcome in results.items() if outcome.turns and outcome.summary}


def check_peak(
    report: Report, family: str, ways: dict[str, Way], results: dict[str, Outcome]
) -> None:
    """Compares anonymous memory with what docs/loading.md promises."""
    for share in SHARES:
        name = f"loader, {share} %"
        if name not in results:
            continue
        end, run = results[name].summary, results[name].run
        in_flight = batch_memory(end["rows_per_batch"], end["edges_per_batch"])
        most = (ways[name].memory or 0) + end["anonymous_before"] + in_flight + CALL_MEMORY
        peak = 0 if run is None else run.anonymous_peak_bytes or 0
        detail = f"{peak / 2**20:.0f} of {most / 2**20:.0f} MiB"
        report.check(f"{family}, {name}: peak within the promise", peak <= most, detail)


def show(
    report: Report, title: str, ways: dict[str, Way], results: dict[str, Outcome], base: str
) -> None:
    """A table of ways, each compared with `base` turn by turn."""
    rows: list[dict[str, Cell]] = []
    for name, outcome in results.items():
        end, run = outcome.summary, outcome.run
        read = None if "read_share" not in end else end["rows_per_batch"] * end["read_share"]
        rows.append(
            {
                "way": name,
                "batches/s": spread_of([turn["batches_per_second"] for turn in outcome.turns]),
                "times": speed_ratio(results, name, base),
                "rows read": read,
                "disk read, MiB": spread_of([turn["read_per_batch"] for turn in outcome.turns]),
                "processor, ms": spread_of([turn["processor_per_batch"] for turn in outcome.turns]),
                "start-up, s": end["start_up_seconds"],
                "peak, MiB": None if run is None else run.anonymous_peak_bytes,
                "limit, MiB": ways[name].limit,
                "turns": len(outcome.turns),
            }
        )
    report.table(
        f"{title}; times {base!r}; rows, disk and processor for each batch", _COLUMNS, rows
    )


def speed_ratio(results: dict[str, Outcome], name: str, base: str) -> Spread:
    """How many times as fast as `base` a way was, in each round."""
    pairs = zip(results[name].turns, results[base].turns, strict=False)
    return spread_of([one["batches_per_second"] / two["batches_per_second"] for one, two in pairs])


def shown(spread: Spread) -> str:
    return f"{spread.median:.2f} ({spread.low:.2f} - {spread.high:.2f})"


def bench_family(report: Report, family: str, path: str, options: argparse.Namespace) -> None:
    num_rows, num_edges, size = try_batch(f"{path}-hot")
    title = f"{family}: {1 << options.scale:,} nodes, {size >> 20:,} MiB, {num_rows:,} rows a batch"
    own_memory = loader_memory(num_rows, num_edges)
    ways = speed_ways(path, size, num_rows, num_edges)
    if why := why_not_here("torch"):
        report.skip(f"{family}, mapped tensor", why)
    results = run_ways(report, family, ways, options)
    check_peak(report, family, ways, results)
    if len(results) < len(ways):
        return None  # the checks say who failed
    show(report, f"{title} (limits without topology)", ways, results, next(iter(ways)))
    plot_memory(report, family, results, leads=family == next(iter(FAMILIES)))
    if MAPPED in results:
        times = speed_ratio(results, "loader, 10 %", MAPPED)
        report.goal(
            f"{family}, memory for 10 %: 20 times the speed of the mapped loop",
            times.median >= 20,
            shown(times),
        )
    part = speed_ratio(results, "loader, 25 %", "loader, 100 %")
    report.goal(
        f"{family}, memory for 25 %: half of the speed with everything in memory",
        part.median >= 0.5,
        shown(part),
    )

    ways = window_ways(path, size, 2 * own_memory)
    results = run_ways(report, family, ways, options)
    show(report, f"{family}: windows", ways, results, next(iter(ways)))

    if why := why_not_here("torch", "torch_geometric"):
        return report.skip(f"{family}, training", why)
    ways = training_ways(path, size, own_memory + _TRAINING_BATCHES * num_rows * COLUMNS * 4)
    results = run_ways(report, family, ways, options)
    first, second = ways
    show(report, f"{family}: three layers of GraphSAGE train", ways, results, second)
    part = speed_ratio(results, first, second)
    report.goal(
        f"{family}, memory for 25 %: a model trains at 95 % of the speed with everything in memory",
        part.median >= 0.95,
        shown(part),
    )
    return None


def main() -> int:
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--scale", type=int, help="2^scale nodes (22)")
    add_turn_options(parser)
    parser.add_argument("--family", choices=list(FAMILIES), help="only this one")
    options = parser.parse_args()
    defaults(options, scale=(22, 16), rounds=(7, 2), seconds=(3.0, 0.5), warm_seconds=(1.5, 0.2))
    num_nodes = 1 << options.scale
    require_memory(DEGREE * 48 * num_nodes, "making the graph")
    with scratch_folder(options.folder, num_nodes * (24 * DEGREE + 16 * COLUMNS)) as folder:
        report = Report("loader", options, folder)
        for family in FAMILIES:
            if options.family in (None, family):
                path = f"{folder}/{family}"
                os.unlink(make_datasets(path, family, num_nodes))
                try:
                    bench_family(report, family, path, options)
                except UnavailableError as error:
                    report.skip(family, str(error))
        return report.finish(options.json)


if __name__ == "__main__":
    sys.exit(main())
