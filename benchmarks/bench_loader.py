"""How fast a loader feeds batches from tables larger than memory, next to loops over mmap.

A hot-first dataset; the features are 2 GiB in the full run, seeds a tenth of the nodes, three hops.
Every figure comes from a fresh process, cold, under a memory limit: what the way may use for rows,
and on top the topology, the interpreter and the batches under way. The ways take turns, and rows
are checked in all of them. At first nobody trains on the batches, so this is what the loader can do
at most; then a model does.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import graphmount as gm
from benchmarks.cold_runs import run_cold
from benchmarks.edge_streams import rmat_blocks, skewed_blocks
from benchmarks.load_once import COLUMNS, features_of
from benchmarks.memcap import UnavailableError
from benchmarks.report import (
    Cell,
    Report,
    argument_parser,
    defaults,
    in_unit,
    mebibytes,
    plain,
    ratio,
    spread_of,
    text,
)
from benchmarks.scratch import require_memory, scratch_folder

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

_DEGREE = 16
_PIECE_ROWS = 1 << 18
_MAPPED_MEMORY = 300 << 20  # for the interpreter, torch and a batch
_TRAINING_MEMORY = 1200 << 20  # for torch, the model and what it keeps for the way back
_SMALL_MEMORY = 32 << 20  # less than this does not include reads in flight,
_LEAST_READING = 2 << 20  # which need this then
_CALL_MEMORY = 64 << 20  # for threads, and what calls keep for the next ones
_WINDOW, _PREFETCH = 16, 2  # of the loader
MAPPED = "mapped tensor, 10 %"
TRAINED = "trained on"
_COLUMNS = {
    "way": text,
    "batches/s": in_unit(1, 2),
    "times mapped": ratio,
    "rows read a batch": plain,
    "disk read a batch, MiB": mebibytes,
    "start-up, s": in_unit(1, 1),
    "anonymous peak, MiB": mebibytes,
    "limit, MiB": mebibytes,
    "runs": plain,
}


def make_dataset(
    path: str, blocks: Callable[[int, int], Iterator[NDArray[np.int64]]], num_nodes: int
) -> None:
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
    gm.compile_dataset(
        path,
        edges=edges.T,
        num_nodes=num_nodes,
        neighbors="in",
        features={"x": source},
        splits={"train": train},
        memory="8GiB",
    )
    os.unlink(source)


@dataclass(frozen=True)
class Way:
    """How batches are taken: what the process is told, and its memory limit without topology."""

    arguments: list[str]
    limit: int


def make_ways(size: int, own_memory: int) -> dict[str, Way]:
    tenth = size // 10
    ways = {MAPPED: Way(["--way", "mapped tensor"], tenth + _MAPPED_MEMORY)}
    for share in (5, 10, 25, 100):
        memory = size * share // 100
        ways[f"loader, {share} %"] = Way(["--memory", str(memory)], memory + own_memory)
    for window in (1, 4, 32):
        arguments = ["--memory", str(tenth), "--window", str(window)]
        ways[f"loader, 10 %, window {window}"] = Way(arguments, tenth + own_memory)
    for share in (25, 100):
        memory = size * share // 100
        arguments = ["--train", "--memory", str(memory)]
        ways[f"{TRAINED}, {share} %"] = Way(arguments, memory + own_memory + _TRAINING_MEMORY)
    return ways


def run_ways(
    report: Report, family: str, path: str, ways: dict[str, Way], options: argparse.Namespace
) -> dict[str, list[dict[str, float]]]:
    """Each way in turn, cold; what of it is wrong fails the report."""
    with gm.Dataset(path).graph as graph:
        topology = graph.file_bytes
    files = [str(file) for file in Path(path).rglob("*") if file.suffix in (".gl", ".gd")]
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in ways}
    for seed in range(options.rounds):
        for name, way in ways.items():
            command = [sys.executable, "-m", "benchmarks.load_once", path, *way.arguments]
            command += ["--seconds", str(options.seconds), "--seed", str(seed)]
            run = run_cold(command, way.limit + topology, *files)
            fine = run.status == 0 and run.oom_kills == 0
            result: dict[str, float] = json.loads(run.stdout) if fine else {}
            passed = result.get("wrong_rows") == 0
            what = f"{family}, {name}, run {seed + 1}"
            report.check(f"{what}: no wrong row, no kill", passed)
            if not fine:
                continue
            runs[name].append(result | {"peak": run.anonymous_peak_bytes or 0})
            if "cache_bytes" in result:
                memory = int(way.arguments[way.arguments.index("--memory") + 1])
                most = memory if memory >= _SMALL_MEMORY else memory + _LEAST_READING
                report.check(f"{what}: memory is kept", result["cache_bytes"] <= most)
    return runs


def promised_peak(memory: int, run: dict[str, float]) -> float:
    """The most anonymous memory that the documentation promises: see docs/loading.md."""
    row_bytes = run["rows_per_batch"] * COLUMNS * 4
    sample_bytes = run["rows_per_batch"] * 20 + run["edges_per_batch"] * 24
    in_flight = 1.3 * ((_PREFETCH + 3) * row_bytes + (_WINDOW + _PREFETCH + 2) * sample_bytes)
    return memory + run["anonymous_before"] + in_flight + _CALL_MEMORY


def check_memory(
    report: Report, family: str, size: int, runs: dict[str, list[dict[str, float]]]
) -> None:
    for share in (5, 10, 25, 100):
        for number, run in enumerate(runs[f"loader, {share} %"]):
            most = promised_peak(size * share // 100, run)
            detail = f"{run['peak'] / 2**20:.0f} of {most / 2**20:.0f} MiB"
            what = f"{family}, {share} %, run {number + 1}: peak within the promise"
            report.check(what, run["peak"] <= most, detail)


def show(
    report: Report, title: str, ways: dict[str, Way], runs: dict[str, list[dict[str, float]]]
) -> dict[str, float]:
    """The table of all ways. Returns their batches a second."""
    base = spread_of([run["batches_per_second"] for run in runs[MAPPED]]).median
    rows: list[dict[str, Cell]] = []
    medians = {}
    for name, results in runs.items():
        if not results:
            continue
        speeds = spread_of([run["batches_per_second"] for run in results])
        medians[name] = speeds.median
        read = [run["rows_per_batch"] * run.get("read_share", 1) for run in results]
        rows.append(
            {
                "way": name,
                "batches/s": speeds,
                "times mapped": spread_of([run["batches_per_second"] / base for run in results]),
                "rows read a batch": spread_of(read),
                "disk read a batch, MiB": spread_of([run["read_per_batch"] for run in results]),
                "start-up, s": spread_of([run["start_up_seconds"] for run in results]),
                "anonymous peak, MiB": max(run["peak"] for run in results),
                "limit, MiB": ways[name].limit,
                "runs": len(results),
            }
        )
    report.table(title, _COLUMNS, rows)
    return medians


def bench_family(report: Report, family: str, path: str, options: argparse.Namespace) -> None:
    with gm.Dataset(path).features["x"] as store:
        num_nodes, size = len(store), store.file_bytes
    ways = make_ways(size, options.own_memory)
    if importlib.util.find_spec("torch_geometric") is None:
        report.skip(f"{family}, training", "torch_geometric is not installed")
        ways = {name: way for name, way in ways.items() if not name.startswith(TRAINED)}
    try:
        runs = run_ways(report, family, path, ways, options)
    except UnavailableError as error:
        return report.skip("loading", str(error))
    check_memory(report, family, size, runs)
    title = f"{family}: {num_nodes:,} nodes, {size >> 20:,} MiB (limits without topology)"
    speed = show(report, title, ways, runs)
    reached = speed["loader, 10 %"] / speed[MAPPED]
    report.goal(f"{family}: 20 times the mapped loop at 10 %", reached >= 20, f"{reached:.1f}")
    part = speed["loader, 25 %"] / speed["loader, 100 %"]
    report.goal(f"{family}: half of the speed in memory at 25 %", part >= 0.5, f"{part:.0%}")
    if f"{TRAINED}, 25 %" in speed:
        part = speed[f"{TRAINED}, 25 %"] / speed[f"{TRAINED}, 100 %"]
        report.goal(f"{family}: 95 % of it when a model trains", part >= 0.95, f"{part:.1%}")
    return None


def main() -> int:
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--scale", type=int, help="2^scale nodes (22)")
    parser.add_argument("--rounds", type=int, help="runs of each way")
    parser.add_argument("--seconds", type=int, help="how long each of them takes batches")
    parser.add_argument("--own-memory", type=int, help="bytes for interpreter and batches")
    parser.add_argument("--family", choices=["R-MAT", "moderate skew"], help="only this one")
    options = parser.parse_args()
    defaults(
        options, scale=(22, 16), rounds=(3, 1), seconds=(10, 1), own_memory=(640 << 20, 640 << 20)
    )
    num_nodes = 1 << options.scale
    require_memory(_DEGREE * 48 * num_nodes, "making the graph")
    with scratch_folder(options.folder, num_nodes * (12 * _DEGREE + 8 * COLUMNS)) as folder:
        report = Report("loader", options, folder)
        families = {"R-MAT": rmat_blocks, "moderate skew": skewed_blocks}
        for family, blocks in families.items():
            if options.family in (None, family):
                path = f"{folder}/{family.replace(' ', '-')}"
                make_dataset(path, blocks, num_nodes)
                bench_family(report, family, path, options)
        return report.finish(options.json)


if __name__ == "__main__":
    sys.exit(main())
