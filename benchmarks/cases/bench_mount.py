"""Opening files of any size, and reading one that is larger than memory.

Shows that opening takes the same time and no memory whatever the size, next to what NumPy and torch
do with the same matrix, and that a tensor over a file of four times the memory limit reads right.
"""

from __future__ import annotations

import gc
import json
import os
import random
import subprocess
import sys
import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import graphmount as gm

from ..data.patterns import compile_rich_graph, matrix, write_npy
from ..harness.cold_runs import run_cold
from ..harness.memcap import UnavailableError
from ..harness.page_cache import evict, resident_bytes
from ..harness.scratch import scratch_folder
from ..jobs import job_command
from ..peers import why_not_here
from ..report.plot import bars
from ..report.report import Report, add_size, argument_parser, defaults
from ..report.units import (
    Cell,
    Unit,
    mebibytes,
    microseconds,
    plain,
    ratio,
    seconds,
    spread_of,
    text,
)

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

_SIZES = ("small", "large")
_MEMORY_ROUNDS = 5
_SAME_TIME = 1.2  # what noise makes of equal times on a machine that is not quiet


def make_files(folder: str, options: argparse.Namespace) -> None:
    for size_name in _SIZES:
        size = getattr(options, size_name)
        gm.compile_features(matrix(size), f"{folder}/{size_name}.gd")
        write_npy(matrix(size), f"{folder}/{size_name}.npy")
        compile_rich_graph(size, f"{folder}/{size_name}.gl")


def _ways_to_open(folder: str, size_name: str) -> dict[str, tuple[str, Callable[[], object]]]:
    """For each way: the file it opens, and how."""
    gd, gl, npy = (f"{folder}/{size_name}.{kind}" for kind in ("gd", "gl", "npy"))
    ways: dict[str, tuple[str, Callable[[], object]]] = {
        "Graph(path)": (gl, partial(gm.Graph, gl)),
        "FeatureStore(path)": (gd, partial(gm.FeatureStore, gd)),
        "FeatureStore(path).numpy()": (gd, lambda: gm.FeatureStore(gd).numpy()),
        "numpy.load(mmap_mode='r')": (npy, partial(np.load, npy, mmap_mode="r")),
    }
    if why_not_here("torch"):
        return ways
    import torch

    opened = partial(torch.from_file, npy, shared=False, dtype=torch.float32)
    return ways | {
        "FeatureStore(path).tensor()": (gd, lambda: gm.FeatureStore(gd).tensor()),
        "torch.from_file": (npy, partial(opened, size=os.path.getsize(npy) // 4)),
    }


def time_opens(folder: str, rounds: int, *, cold: bool) -> dict[tuple[str, str], list[float]]:
    """Seconds of each open, all ways and sizes in a new random order in each round."""
    ways = {
        (name, size_name): way
        for size_name in _SIZES
        for name, way in _ways_to_open(folder, size_name).items()
    }
    times: dict[tuple[str, str], list[float]] = {key: [] for key in ways}
    order = list(ways)
    shuffler = random.Random(0)
    for _, open_file in ways.values():
        open_file()  # imports and first-use work of the libraries are not the file's
    gc.collect()  # a cycle that holds a mapping would keep its pages in memory
    gc.disable()
    for _ in range(rounds):
        shuffler.shuffle(order)
        for key in order:
            path, open_file = ways[key]
            if cold:
                evict(path)
            start = time.perf_counter()
            opened = open_file()
            times[key].append(time.perf_counter() - start)
            del opened  # closing is not timed
    gc.enable()
    return times


def bench_opening(report: Report, folder: str, rounds: int, cold_rounds: int) -> None:
    for state, cold in (("warm", False), ("cold", True)):
        times = time_opens(folder, cold_rounds if cold else rounds, cold=cold)
        rows: list[dict[str, Cell]] = []
        for way in dict.fromkeys(name for name, _ in times):
            small, large = (spread_of(times[way, size_name]) for size_name in _SIZES)
            rows.append(
                {
                    "way": way,
                    "small": small,
                    "large": large,
                    "large / small": large.median / small.median,
                    "opens": small.count,
                }
            )
            if way in ("Graph(path)", "FeatureStore(path)"):
                detail = f"large {large.median * 1e6:.0f} us, small {small.median * 1e6:.0f} us"
                report.goal(f"{way} under 1 ms, {state}", large.median < 1e-3, detail)
                factor = large.median / small.median
                report.goal(
                    f"{way} takes the same time, {state}",
                    factor < _SAME_TIME,
                    f"{factor:.2f} times",
                )
        title = f"Opening, {state} ({'header not in' if cold else 'header in'} the page cache), us"
        report.table(
            title,
            {"way": text, "small": microseconds, "large": microseconds}
            | {"large / small": ratio, "opens": plain},
            rows,
        )
        if not cold:
            report.plot(
                bars(
                    "Opening the large file",
                    rows,
                    of="large",
                    y="microseconds",
                    factor=1e6,
                    ours=[str(row["way"]) for row in rows if "(path)" in str(row["way"])],
                    better="less",
                )
            )


def bench_memory(report: Report, folder: str) -> None:
    rows: list[dict[str, Cell]] = []
    for kind in ("gd", "gl"):
        for size_name in _SIZES:
            path = f"{folder}/{size_name}.{kind}"
            runs = []
            for _ in range(_MEMORY_ROUNDS):
                evict(path)
                command = job_command("open_once", path)
                run = subprocess.run(command, check=True, stdout=subprocess.PIPE)
                runs.append({**json.loads(run.stdout), "cached": resident_bytes(path)})
            worst = {name: max(run[name] or 0 for run in runs) for name in runs[0]}
            rows.append({"file": f"{size_name}.{kind}", "bytes": os.path.getsize(path), **worst})
            report.goal(
                f"opening {size_name}.{kind} adds under 1 MiB",
                worst["resident"] < 1 << 20,
                f"anonymous {worst['anonymous'] / 1024:.0f} KiB, "
                f"resident {worst['resident'] / 1024:.0f} KiB",
            )
    title = f"Memory added by one open, cold, the most of {_MEMORY_ROUNDS} fresh processes, MiB"
    in_mib = Unit(1 / 2**20, 3)
    columns = {"file": text, "bytes": mebibytes, "anonymous": in_mib, "resident": in_mib}
    report.table(title, columns | {"cached": in_mib, "disk_read": in_mib}, rows)


def bench_capped(report: Report, folder: str, cap: int, num_rows: int, rounds: int) -> None:
    """Random rows of the large file within `cap`, all ways in turn."""
    ways = {
        "x.tensor(), advice='random'": ("graphmount.tensor", "gd", "random"),
        "x.tensor(), advice='normal'": ("graphmount.tensor", "gd", "normal"),
        "torch.from_numpy(np.load(mmap_mode='c'))": ("torch.from_numpy", "npy", "normal"),
    }
    if why_not_here("torch"):
        ways = {
            "x.numpy(), advice='random'": ("graphmount.numpy", "gd", "random"),
            "x.numpy(), advice='normal'": ("graphmount.numpy", "gd", "normal"),
            "np.load(mmap_mode='r')": ("numpy.load", "npy", "normal"),
        }
    what = f"{num_rows:,} random rows of a file {os.path.getsize(f'{folder}/large.gd') / cap:.1f} "
    what += f"times the limit of {cap / 2**20:.0f} MiB"
    results: dict[str, list[dict[str, float]]] = {way: [] for way in ways}
    for seed in range(rounds):
        for way, (reader, kind, advice) in ways.items():
            command = job_command("read_rows", f"{folder}/large.{kind}")
            command += ["--reader", reader, "--advice", advice]
            command += ["--rows", str(num_rows), "--seed", str(seed)]
            try:
                run = run_cold(command, cap, f"{folder}/large.{kind}")
            except UnavailableError as error:
                return report.skip(what, str(error))
            fine = run.status == 0 and run.oom_kills == 0
            result = json.loads(run.stdout) if fine else {}
            wrong = result.get("wrong_rows", num_rows)
            report.check(
                f"{way}, run {seed + 1}",
                fine and wrong == 0 and result["rows"] == num_rows,
                f"{wrong} wrong rows, {run.oom_kills} OOM kills, status {run.status}",
            )
            if fine:
                peaks = {"peak": run.peak_bytes or 0, "anonymous": run.anonymous_peak_bytes or 0}
                kept = {"oom_kills": run.oom_kills or 0, "limit_hits": run.limit_hits or 0}
                results[way].append({**result, **peaks, **kept})
    rows: list[dict[str, Cell]] = [
        {"way": way, **{name: spread_of([run[name] for run in runs]) for name in runs[0]}}
        for way, runs in results.items()
        if runs
    ]
    columns = {"way": text, "read_seconds": seconds, "disk_read": mebibytes, "peak": mebibytes}
    columns |= {"anonymous": mebibytes, "anonymous_added": mebibytes, "oom_kills": plain}
    report.table(f"{what}; cold; MiB and s", columns | {"major_faults": plain}, rows)
    return None


def main() -> int:
    parser = argument_parser(__doc__ or "")
    add_size(parser, "--small", "the small files (1 MiB)")
    add_size(parser, "--large", "the large files (4 GiB)")
    add_size(parser, "--cap", "the memory limit for reading the large file (a quarter of it)")
    parser.add_argument("--rounds", type=int, help="opens of each kind")
    parser.add_argument("--rows", type=int, default=1000, help="random rows to read")
    options = parser.parse_args()
    defaults(options, small=(1 << 20, 1 << 20), large=(4 << 30, 3 << 28), rounds=(1000, 100))
    defaults(options, cap=(options.large // 4, options.large // 4))
    with scratch_folder(options.folder, 3 * (options.small + options.large)) as folder:
        report = Report("mount", options, folder)
        if why := why_not_here("torch"):
            report.skip("tensors", why)
        make_files(folder, options)
        bench_opening(report, folder, options.rounds, max(10, options.rounds // 20))
        bench_memory(report, folder)
        bench_capped(report, folder, options.cap, options.rows, 1 if options.quick else 3)
        return report.finish(options.json)


if __name__ == "__main__":
    sys.exit(main())
