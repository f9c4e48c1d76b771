"""How fast a loader feeds batches from tables larger than memory, next to loops over mmap.

The features are 2 GiB in the full run, seeds a tenth of the nodes, three hops. Every way is a
process of its own, begun with cold files, under a memory limit: what it may use for rows, and on
top the topology, the interpreter and the batches under way. The ways take turns of some seconds,
and rows are checked in all of them. The mapped loop is the one that people write by hand, over
files in the order of the source; the loader has a hot-first dataset. At first nobody trains on the
batches, so this is what the loader can do at most; then a model does.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

import graphmount as gm

from .edge_streams import community_blocks, rmat_blocks
from .load_once import BATCH_SIZE, COLUMNS, FANOUTS, features_of
from .memcap import UnavailableError
from .page_cache import evict
from .report import (
    Cell,
    Report,
    Spread,
    argument_parser,
    defaults,
    in_unit,
    mebibytes,
    plain,
    ratio,
    spread_of,
    text,
)
from .scratch import require_memory, scratch_folder
from .turns import Played, Player, play

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

_DEGREE = 16
_PIECE_ROWS = 1 << 18
_MAPPED_MEMORY = 190 << 20  # for the interpreter and torch; batches come on top
_TRAINING_MEMORY = 300 << 20  # for torch and the model,
_TRAINING_BATCHES = 24  # and this many times the rows of a batch for what it keeps for the way back
_SMALL_MEMORY = 32 << 20  # less than this does not include reads in flight,
_LEAST_READING = 2 << 20  # which need this then
_CALL_MEMORY = 64 << 20  # for threads, and what calls keep for the next ones
_WINDOW, _PREFETCH = 16, 2  # of the loader
_SHARES = (5, 10, 25, 100)  # of the features, in percent
_WINDOWS = (1, 4, 16, 32)
MAPPED = "mapped tensor, 10 %"
_COLUMNS = {
    "way": text,
    "batches/s": in_unit(1, 2),
    "times": ratio,
    "rows read": plain,
    "disk read, MiB": mebibytes,
    "processor, ms": in_unit(1e3, 0),
    "start-up, s": in_unit(1, 1),
    "peak, MiB": mebibytes,
    "limit, MiB": mebibytes,
    "turns": plain,
}


def make_datasets(
    path: str, blocks: Callable[[int, int], Iterator[NDArray[np.int64]]], num_nodes: int
) -> None:
    """The same data twice: hot-first, and in the order of the source."""
    edges = np.concatenate(list(blocks(_DEGREE * num_nodes, num_nodes)))
    source = f"{path}.npy"
    rows = np.lib.format.open_memmap(source, "w+", np.float32, (num_nodes, COLUMNS))
    for first in range(0, num_nodes, _PIECE_ROWS):
        rows[first : first + _PIECE_ROWS] = features_of(
            np.arange(first, min(first + _PIECE_ROWS, num_nodes))
        )
    rows.flush()
    del rows
    train = np.random.default_rng(0).permutation(num_nodes)[: num_nodes // 10]
    orders: tuple[Literal["hot", "given"], ...] = ("hot", "given")
    for order in orders:
        gm.compile_dataset(
            f"{path}-{order}",
            edges=edges.T,
            num_nodes=num_nodes,
            neighbors="in",
            features={"x": source},
            splits={"train": train},
            order=order,
            memory="8GiB",
        )
    os.unlink(source)


@dataclass(frozen=True)
class Way:
    """How batches are taken: from which files, what the process is told, and its memory limit.

    The limit is without topology, which comes on top.
    """

    folder: str
    arguments: list[str]
    limit: int

    @property
    def memory(self) -> int | None:
        """What the loader may use, if it is one."""
        if "--memory" not in self.arguments:
            return None
        return int(self.arguments[self.arguments.index("--memory") + 1])


def loader_way(path: str, memory: int, own_memory: int, *arguments: str) -> Way:
    # Past the page cache where that can be had: a generous limit must not serve rows from there.
    readers = gm.Dataset(f"{path}-hot").features["x"].readers
    reader = "uring" if "uring" in readers else "auto"
    told = ["--memory", str(memory), "--reader", reader, *arguments]
    return Way(f"{path}-hot", told, memory + own_memory)


def speed_ways(path: str, size: int, own_memory: int, num_rows: int) -> dict[str, Way]:
    mapped = ["--way", "mapped tensor"]
    limit = size // 10 + _MAPPED_MEMORY + 2 * num_rows * COLUMNS * 4
    ways = {MAPPED: Way(f"{path}-given", mapped, limit)}
    ways["mapped tensor, hot first, 10 %"] = Way(f"{path}-hot", mapped, limit)
    for share in _SHARES:
        ways[f"loader, {share} %"] = loader_way(path, size * share // 100, own_memory)
    return ways


def window_ways(path: str, size: int, own_memory: int) -> dict[str, Way]:
    return {
        f"loader, 10 %, window {window}": loader_way(
            path, size // 10, own_memory, "--window", str(window)
        )
        for window in _WINDOWS
    }


def training_ways(path: str, size: int, own_memory: int) -> dict[str, Way]:
    own_memory += _TRAINING_MEMORY
    return {
        f"trained on, {share} %": loader_way(path, size * share // 100, own_memory, "--train")
        for share in (25, 100)
    }


def run_ways(
    report: Report, family: str, ways: dict[str, Way], options: argparse.Namespace
) -> dict[str, Played]:
    """All of them in turns, from cold files; what of it is wrong fails the report."""
    players = {}
    for name, way in ways.items():
        for file in Path(way.folder).rglob("*.g[ld]"):
            evict(str(file))
        command = [sys.executable, "-m", f"{__package__}.load_once", way.folder, *way.arguments]
        topology = (Path(way.folder) / "graph.gl").stat().st_size
        players[name] = Player(command, way.limit + topology)
    results = play(
        players, rounds=options.rounds, warm_seconds=options.warm_seconds, seconds=options.seconds
    )
    for name, played in results.items():
        run, what = played.run, f"{family}, {name}"
        fine = run is not None and run.status == 0 and not run.oom_kills
        detail = "" if run is None else f"status {run.status}, {run.oom_kills} OOM kills"
        report.check(f"{what}: no kill", fine, detail)
        wrong = played.goodbye.get("wrong_rows")
        report.check(f"{what}: all rows right", wrong == 0, f"{wrong} wrong")
        memory = ways[name].memory
        if fine and memory is not None:
            most = memory if memory >= _SMALL_MEMORY else memory + _LEAST_READING
            used = played.goodbye["cache_bytes"]
            report.check(f"{what}: caches within memory=", used <= most, f"{used} of {memory}")
    return {name: played for name, played in results.items() if played.turns and played.goodbye}


def batch_memory(num_rows: float, num_edges: float) -> float:
    """What docs/loading.md says of batches of this size: all that are under way together."""
    row_bytes = num_rows * COLUMNS * 4
    sample_bytes = num_rows * 20 + num_edges * 24
    return 1.3 * ((_PREFETCH + 3) * row_bytes + (_WINDOW + _PREFETCH + 2) * sample_bytes)


def try_batch(path: str) -> tuple[int, int, int]:
    """Rows and edges of a batch, and the size of the table."""
    ds = gm.Dataset(path)
    sample = ds.graph.sample_neighbors(ds.splits["train"][:BATCH_SIZE], FANOUTS, seed=0)
    return sample.num_nodes, sample.num_edges, ds.features["x"].file_bytes


def check_peak(
    report: Report, family: str, ways: dict[str, Way], results: dict[str, Played]
) -> None:
    """Compares anonymous memory with what docs/loading.md promises."""
    for share in _SHARES:
        name = f"loader, {share} %"
        if name not in results:
            continue
        end, run = results[name].goodbye, results[name].run
        in_flight = batch_memory(end["rows_per_batch"], end["edges_per_batch"])
        most = (ways[name].memory or 0) + end["anonymous_before"] + in_flight + _CALL_MEMORY
        peak = 0 if run is None else run.anonymous_peak_bytes or 0
        detail = f"{peak / 2**20:.0f} of {most / 2**20:.0f} MiB"
        report.check(f"{family}, {name}: peak within the promise", peak <= most, detail)


def show(
    report: Report, title: str, ways: dict[str, Way], results: dict[str, Played], base: str
) -> None:
    """A table of ways, each compared with `base` turn by turn."""
    rows: list[dict[str, Cell]] = []
    for name, played in results.items():
        end, run = played.goodbye, played.run
        read = None if "read_share" not in end else end["rows_per_batch"] * end["read_share"]
        rows.append(
            {
                "way": name,
                "batches/s": spread_of([turn["batches_per_second"] for turn in played.turns]),
                "times": speed_ratio(results, name, base),
                "rows read": read,
                "disk read, MiB": spread_of([turn["read_per_batch"] for turn in played.turns]),
                "processor, ms": spread_of([turn["processor_per_batch"] for turn in played.turns]),
                "start-up, s": end["start_up_seconds"],
                "peak, MiB": None if run is None else run.anonymous_peak_bytes,
                "limit, MiB": ways[name].limit,
                "turns": len(played.turns),
            }
        )
    report.table(
        f"{title}; times {base!r}; rows, disk and processor for each batch", _COLUMNS, rows
    )


def speed_ratio(results: dict[str, Played], name: str, base: str) -> Spread:
    """How many times as fast as `base` a way was, in each round."""
    pairs = zip(results[name].turns, results[base].turns, strict=False)
    return spread_of([one["batches_per_second"] / two["batches_per_second"] for one, two in pairs])


def shown(spread: Spread) -> str:
    return f"{spread.median:.2f} ({spread.low:.2f} - {spread.high:.2f})"


def bench_family(report: Report, family: str, path: str, options: argparse.Namespace) -> None:
    num_rows, num_edges, size = try_batch(f"{path}-hot")
    title = f"{family}: {1 << options.scale:,} nodes, {size >> 20:,} MiB, {num_rows:,} rows a batch"
    # The last part is for what is no memory of the process: pages that it maps.
    own_memory = int(batch_memory(num_rows, num_edges)) + 3 * _CALL_MEMORY
    ways = speed_ways(path, size, own_memory, num_rows)
    results = run_ways(report, family, ways, options)
    check_peak(report, family, ways, results)
    show(report, f"{title} (limits without topology)", ways, results, MAPPED)
    times = speed_ratio(results, "loader, 10 %", MAPPED)
    report.goal(f"{family}: 20 times the mapped loop at 10 %", times.median >= 20, shown(times))
    part = speed_ratio(results, "loader, 25 %", "loader, 100 %")
    report.goal(f"{family}: half of the speed in memory at 25 %", part.median >= 0.5, shown(part))

    ways = window_ways(path, size, 2 * own_memory)
    results = run_ways(report, family, ways, options)
    show(report, f"{family}: windows", ways, results, next(iter(ways)))

    if importlib.util.find_spec("torch_geometric") is None:
        return report.skip(f"{family}, training", "torch_geometric is not installed")
    ways = training_ways(path, size, own_memory + _TRAINING_BATCHES * num_rows * COLUMNS * 4)
    results = run_ways(report, family, ways, options)
    first, second = ways
    show(report, f"{family}: three layers of GraphSAGE train", ways, results, second)
    part = speed_ratio(results, first, second)
    report.goal(f"{family}: 95 % of it when a model trains", part.median >= 0.95, shown(part))
    return None


def main() -> int:
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--scale", type=int, help="2^scale nodes (22)")
    parser.add_argument("--rounds", type=int, help="turns of each way")
    parser.add_argument("--seconds", type=float, help="of each turn")
    parser.add_argument("--warm-seconds", type=float, help="of each turn before the clock runs")
    parser.add_argument("--family", choices=["R-MAT", "communities"], help="only this one")
    options = parser.parse_args()
    defaults(options, scale=(22, 16), rounds=(7, 2), seconds=(3.0, 0.5), warm_seconds=(1.5, 0.2))
    num_nodes = 1 << options.scale
    require_memory(_DEGREE * 48 * num_nodes, "making the graph")
    with scratch_folder(options.folder, num_nodes * (24 * _DEGREE + 16 * COLUMNS)) as folder:
        report = Report("loader", options, folder)
        families = {"R-MAT": rmat_blocks, "communities": community_blocks}
        for family, blocks in families.items():
            if options.family in (None, family):
                path = f"{folder}/{family}"
                make_datasets(path, blocks, num_nodes)
                try:
                    bench_family(report, family, path, options)
                except UnavailableError as error:
                    report.skip(family, str(error))
        return report.finish(options.json)


if __name__ == "__main__":
    sys.exit(main())
