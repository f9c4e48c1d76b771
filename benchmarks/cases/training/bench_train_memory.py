"""How fast a model trains with memory for a part of its rows: graphmount, and PyG with all of them.

Each run trains PyG's GraphSAGE of three layers for some steps, cold, in a process that a control
group limits, page cache included. The limit is what torch and PyG take by themselves, what a step
takes, the topology, and a share of the rows, as in `bench_loader`; `memory=` of the loader is that
share, and rows are read past the page cache where that can be had, so that a process which takes
less than its limit has no rows there. graphmount trains with layers of its own, for which the
loader aggregates the last hop, with PyG's layers and the matrices of its batches, and with PyG's
layers and `edge_index`, trimmed from layer to layer as PyG recommends; PyG, which loads edges and
features first, has only the latter. Rounds repeat all runs, so that ways take turns.

A run that was killed has no speed; what it is compared by is then its speed with the least share
of memory that it can live with.
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
from ...report.units import Cell, Spread, Unit, mebibytes, ratio, spread_of, text

if TYPE_CHECKING:
    import argparse

    from ...report.plot import Point

# What torch and PyG take before they do anything: 270 MiB, and 150 MiB of their libraries, which
# count here if nobody else has read them.
_TORCH_BYTES = 450 << 20
_PERCENT = (10, 25, 100, 300)  # of the rows
_FANOUTS = [15, 10, 5]
# What a step takes, in batches: one is trained with, the loader has others under way, and layers
# with edge_index make a row for each edge, there and back.
_BATCHES_AT_ONCE = 12
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
    "memory for rows, %": Unit(100, 0),
    "memory=, MiB": mebibytes,
    "limit, MiB": mebibytes,
    "anonymous at most, MiB": mebibytes,
    "steps/s": Unit(1, 2),
    "ms of processors a step": Unit(1e3, 0),
    "ended": text,
}


def batch_bytes(path: str, options: argparse.Namespace) -> int:
    """What the rows of a batch take."""
    ds = gm.Dataset(path)
    seeds = ds.splits["train"][: options.batch_size]
    return ds.graph.sample_neighbors(seeds, _FANOUTS, seed=0).num_nodes * COLUMNS * 4


def reader_of(path: str) -> str:
    """The reader that leaves nothing of the rows in the page cache, where there is one."""
    return "uring" if "uring" in gm.Dataset(path).features["x"].readers else "auto"


class Runs:
    """All runs of a benchmark: what each found, and how it ended.

    Args:
        path: The dataset.
        size: Of its files.
        options: Of the benchmark.
    """

    def __init__(self, path: str, size: int, options: argparse.Namespace) -> None:
        self._path, self._options = path, options
        self._files = [str(file) for file in Path(path).rglob("*.g[ld]")]
        self.topology = (Path(path) / "graph.gl").stat().st_size
        self.rows = size - self.topology
        step = _BATCHES_AT_ONCE * batch_bytes(path, options)
        self._besides_rows = _TORCH_BYTES + step + self.topology
        self._reader = reader_of(path)
        self._found: dict[tuple[str, int], list[dict[str, float]]] = {}
        self._ended: dict[tuple[str, int], set[str]] = {}

    def memory(self, share: int) -> int:
        """For so many percent of the rows."""
        return self.rows * share // 100

    def limit(self, share: int) -> int:
        """Of a process with memory for so many percent of the rows."""
        return self._besides_rows + self.memory(share)

    def add(self, way: str, share: int) -> None:
        """Runs it once more."""
        options = self._options
        command = job_command(
            "train_once",
            self._path,
            *_WAYS[way],
            *("--memory", str(self.memory(share)), "--reader", self._reader),
            *("--batch-size", str(options.batch_size), "--fanouts", *map(str, _FANOUTS)),
            *("--hidden", str(options.hidden)),
            *("--steps", str(options.steps), "--warm-steps", str(options.steps // 10)),
        )
        run = run_cold(command, self.limit(share), *self._files)
        fine = run.status == 0 and not run.oom_kills
        found = self._found.setdefault((way, share), [])
        how = "fine" if fine else f"{run.oom_kills} OOM kills, status {run.status}"
        self._ended.setdefault((way, share), set()).add(how)
        if fine:
            found.append(json.loads(run.stdout) | {"peak": run.anonymous_peak_bytes or 0})

    def spread(self, way: str, share: int, what: str) -> Spread | None:
        """Of all runs that ended well."""
        found = [each[what] for each in self._found[way, share]]
        return spread_of(found) if found else None

    def steps_per_second(self, way: str) -> dict[int, float]:
        """The median for each share of memory that it lives with."""
        spreads = {share: self.spread(way, share, "steps_per_second") for share in _PERCENT}
        return {share: spread.median for share, spread in spreads.items() if spread is not None}

    def row(self, way: str, share: int) -> dict[str, Cell]:
        """Of the table."""
        return {
            "way": way,
            "memory for rows, %": share / 100,
            "memory=, MiB": None if way == _PYG else self.memory(share),
            "limit, MiB": self.limit(share),
            "anonymous at most, MiB": self.spread(way, share, "peak"),
            "steps/s": self.spread(way, share, "steps_per_second"),
            "ms of processors a step": self.spread(way, share, "processor_seconds"),
            "ended": ", ".join(sorted(self._ended[way, share])),
        }

    def ratio(self, ours: tuple[str, int], other: tuple[str, int]) -> Spread | None:
        """How many times as fast one was as the other, round by round."""
        pairs = list(zip(self._found[ours], self._found[other], strict=False))
        name = "steps_per_second"
        return spread_of([one[name] / two[name] for one, two in pairs]) if pairs else None


def bench(report: Report, path: str, size: int, options: argparse.Namespace) -> None:
    runs = Runs(path, size, options)
    for _ in range(options.rounds):
        for share in _PERCENT:
            for way in _WAYS:
                runs.add(way, share)
    speeds = {way: runs.steps_per_second(way) for way in _WAYS}
    report.check(
        "graphmount trains with every share of memory", len(speeds[_OURS]) == len(_PERCENT)
    )
    report.table(
        f"Steps a second by memory for rows: {runs.rows >> 20:,} MiB of rows, "
        f"{runs.topology >> 20:,} MiB of topology, {options.rounds} runs of each",
        _COLUMNS,
        [runs.row(way, share) for share in _PERCENT for way in _WAYS],
    )
    series: dict[str, list[Point]] = {
        way: [(float(share), speed) for share, speed in found.items()]
        for way, found in speeds.items()
        if found
    }
    report.plot(
        Plot(
            title="Training speed by memory: PyG needs all of it first",
            kind="lines",
            x="memory for rows, percent of all rows",
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
        lives_with = next((place for place in speeds[other] if place >= share), None)
        if lives_with is None:
            continue
        times = runs.ratio((_OURS, tenth), (other, lives_with))
        report.goal(
            f"with memory for a tenth of the rows, {what}",
            times is not None and times.median >= least,
            f"{ratio(times)} times; the other with {lives_with} %",
        )


def main() -> int:
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--scale", type=int, help="2^scale nodes (22)")
    parser.add_argument("--steps", type=int, help="steps of a run")
    parser.add_argument("--batch-size", type=int, help="seeds of a step (1,024)")
    parser.add_argument("--hidden", type=int, default=128, help="width of inner layers (128)")
    parser.add_argument("--rounds", type=int, help="runs of each way (3)")
    options = parser.parse_args()
    defaults(options, scale=(22, 16), steps=(100, 20), batch_size=(1024, 256), rounds=(3, 1))
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
