"""How fast a loader feeds batches from tables larger than memory, next to loops over mmap.

A hot-first dataset; the features are 2 GiB in the full run, seeds a tenth of the nodes, three hops.
Every figure comes from a fresh process, cold, under a memory limit: what the way may use for rows,
and on top the topology, the interpreter and the batches under way. The ways take turns, and rows
are checked in all of them. Nobody trains on the batches, so this is what the loader can do at most.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

import numpy as np

import graphmount as gm
from benchmarks.edge_streams import rmat_blocks, skewed_blocks
from benchmarks.load_once import COLUMNS, features_of
from benchmarks.memcap import UnavailableError, run_capped
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
_COLUMNS = {
    "way": text,
    "batches/s": in_unit(1, 2),
    "times mapped": ratio,
    "rows read a batch": plain,
    "disk read a batch, MiB": mebibytes,
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


def bench_family(report: Report, family: str, path: str, options: argparse.Namespace) -> None:
    dataset = gm.Dataset(path)
    topology = dataset.graph.file_bytes
    size = dataset.features["x"].file_bytes
    ways: dict[str, tuple[list[str], int]] = {}

    def add(name: str, arguments: list[str], limit: int) -> None:
        ways[name] = (arguments, limit + topology)

    tenth = size // 10
    add("mapped tensor, 10 %", ["--way", "mapped tensor"], tenth + _MAPPED_MEMORY)
    for share in (5, 10, 25, 100):
        memory = size * share // 100
        limit = memory + options.own_memory
        add(f"loader, {share} %", ["--memory", str(memory)], limit)
    for window in (1, 4, 32):
        arguments = ["--memory", str(tenth), "--window", str(window)]
        add(f"loader, 10 %, window {window}", arguments, tenth + options.own_memory)
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in ways}
    for seed in range(options.rounds):
        for name, (arguments, limit) in ways.items():
            command = [sys.executable, "-m", "benchmarks.load_once", path, *arguments]
            command += ["--seconds", str(options.seconds), "--seed", str(seed)]
            try:
                run = run_capped(command, limit, keep_stdout=True)
            except UnavailableError as error:
                return report.skip("loading", str(error))
            fine = run.status == 0 and run.oom_kills == 0
            result: dict[str, float] = json.loads(run.stdout) if fine else {}
            passed = result.get("wrong_rows") == 0
            report.check(f"{family}, {name}, run {seed + 1}: no wrong row, no kill", passed)
            if fine:
                runs[name].append(result | {"peak": run.anonymous_peak_bytes or 0})
    base = spread_of([run["batches_per_second"] for run in runs["mapped tensor, 10 %"]]).median
    rows: list[dict[str, Cell]] = []
    for name, results in runs.items():
        if not results:
            continue
        speeds = [run["batches_per_second"] for run in results]
        rows.append(
            {
                "way": name,
                "batches/s": spread_of(speeds),
                "times mapped": spread_of([speed / base for speed in speeds]),
                "rows read a batch": spread_of(
                    [run.get("read_rows", run["rows_per_batch"]) for run in results]
                ),
                "disk read a batch, MiB": spread_of([run["read_per_batch"] for run in results]),
                "anonymous peak, MiB": max(run["peak"] for run in results),
                "limit, MiB": ways[name][1],
                "runs": len(results),
            }
        )
    report.table(f"{family}: {dataset.num_nodes:,} nodes, {size >> 20:,} MiB", _COLUMNS, rows)
    speed = {row["way"]: row["batches/s"].median for row in rows}  # type: ignore[union-attr]
    reached = speed["loader, 10 %"] / base
    report.goal(f"{family}: 20 times the mapped loop at 10 %", reached >= 20, f"{reached:.1f}")
    part = speed["loader, 25 %"] / speed["loader, 100 %"]
    report.goal(f"{family}: half of the speed in memory at 25 %", part >= 0.5, f"{part:.0%}")
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
        options, scale=(22, 16), rounds=(3, 1), seconds=(15, 1), own_memory=(640 << 20, 640 << 20)
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
