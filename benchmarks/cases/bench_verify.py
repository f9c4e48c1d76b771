"""How fast `verify` checks a whole file, next to what merely reading it takes.

Cold, the measure is the disk: `cat`, and plain reads in one thread and in as many as verify has.
Warm, it is the processor. All ways take turns, in a new order in each round.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from functools import partial
from typing import TYPE_CHECKING

import graphmount as gm

from ..data.patterns import compile_plain_graph, compile_rich_graph, matrix
from ..harness.page_cache import evict, warm_up
from ..harness.scratch import scratch_folder
from ..report.report import Report, add_size, argument_parser, defaults
from ..report.units import Cell, Spread, Unit, plain, ratio, seconds, spread_of, text

if TYPE_CHECKING:
    from collections.abc import Callable

_READ_BYTES = 1 << 20


def verify(path: str, threads: int) -> None:
    gm.set_num_threads(threads)
    found = gm.verify(path)
    if not found.ok:
        raise RuntimeError(f"{path}: {found.problems[0]}")


def cat(path: str) -> None:
    # To a pipe's end would cost a copy; to /dev/null it costs the read alone.
    subprocess.run(["/bin/cat", path], check=True, stdout=subprocess.DEVNULL)


def read_plainly(path: str, threads: int) -> None:
    """Reads of 1 MiB, the threads taking turns as verify's do."""
    descriptor = os.open(path, os.O_RDONLY)
    size = os.fstat(descriptor).st_size
    pieces = iter(range(0, size, _READ_BYTES))
    lock = threading.Lock()

    def work() -> None:
        buffer = bytearray(_READ_BYTES)
        while True:
            with lock:
                at = next(pieces, None)
            if at is None:
                return
            os.preadv(descriptor, [buffer], at)

    helpers = [threading.Thread(target=work) for _ in range(threads - 1)]
    for helper in helpers:
        helper.start()
    work()
    for helper in helpers:
        helper.join()
    os.close(descriptor)


def _ways(path: str, cores: int) -> dict[str, Callable[[], None]]:
    ways: dict[str, Callable[[], None]] = {"cat > /dev/null": partial(cat, path)}
    for threads in sorted({1, cores}):
        ways[f"pread, 1 MiB, threads: {threads}"] = partial(read_plainly, path, threads)
        ways[f"graphmount verify, threads: {threads}"] = partial(verify, path, threads)
    return ways


def processor_seconds() -> float:
    """What this process and its children have computed, which a busy machine does not change."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def measure(path: str, rounds: int, *, cold: bool) -> dict[str, tuple[Spread, Spread]]:
    """Bytes per second, and processor seconds, of each way."""
    ways = _ways(path, len(os.sched_getaffinity(0)))
    speeds: dict[str, list[float]] = {way: [] for way in ways}
    efforts: dict[str, list[float]] = {way: [] for way in ways}
    order = list(ways)
    shuffler = random.Random(0)
    make_ready = evict if cold else warm_up
    for _ in range(rounds):
        shuffler.shuffle(order)
        for way in order:
            make_ready(path)
            start, effort = time.perf_counter(), processor_seconds()
            ways[way]()
            speeds[way].append(os.path.getsize(path) / (time.perf_counter() - start))
            efforts[way].append(processor_seconds() - effort)
    return {way: (spread_of(speeds[way]), spread_of(efforts[way])) for way in ways}


def bench_verify(report: Report, path: str, what: str, rounds: int) -> None:
    for state, cold in (("cold", True), ("warm", False)):
        results = measure(path, rounds, cold=cold)
        speeds = {way: speed for way, (speed, _) in results.items()}
        best = max(s.median for way, s in speeds.items() if not way.startswith("graphmount"))
        rows: list[dict[str, Cell]] = [
            {
                "way": way,
                "GiB/s": speed,
                "of the fastest read": speed.median / best,
                "processor s": effort,
                "runs": speed.count,
            }
            for way, (speed, effort) in results.items()
        ]
        size = f"{os.path.getsize(path) / 2**30:.2f} GiB"
        columns = {"way": text, "GiB/s": Unit(1 / 2**30, 2, "more"), "of the fastest read": ratio}
        columns |= {"processor s": seconds, "runs": plain}
        report.table(f"Verifying {what}, {size}, {state}", columns, rows)
        if cold:
            share = max(s.median for way, s in speeds.items() if way.startswith("graphmount"))
            detail = f"{share / 2**30:.2f} GiB/s, the disk {best / 2**30:.2f} GiB/s"
            report.goal(f"verify {what} at 80 % of disk speed", share > 0.8 * best, detail)
    report.check(f"verify {what}", gm.verify(path).ok)


def main() -> int:
    parser = argument_parser(__doc__ or "")
    add_size(parser, "--size", "the .gd file (4 GiB)")
    add_size(parser, "--graph-size", "the .gl files (1 GiB)")
    parser.add_argument("--rounds", type=int, help="runs of each way")
    options = parser.parse_args()
    defaults(options, size=(4 << 30, 1 << 28), graph_size=(1 << 30, 1 << 26), rounds=(5, 3))
    largest = max(options.size, options.graph_size)
    with scratch_folder(options.folder, largest) as folder:
        report = Report("verify", options, folder)
        path = f"{folder}/features.gd"
        gm.compile_features(matrix(options.size), path)
        bench_verify(report, path, "features", options.rounds)
        os.unlink(path)
        path = f"{folder}/graph.gl"
        compile_plain_graph(options.graph_size, path)
        bench_verify(report, path, "a graph (in and out lists)", options.rounds)
        os.unlink(path)
        compile_rich_graph(options.graph_size, path)
        bench_verify(report, path, "a graph (weights, times, rows, int64)", options.rounds)
        return report.finish(options.json)


if __name__ == "__main__":
    sys.exit(main())
