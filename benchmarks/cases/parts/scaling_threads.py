"""Jobs of the core with 1, 2, 4, … threads, all in turn, on a graph in memory."""

from __future__ import annotations

import os
import time
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

import graphmount as gm

from ...data.synthetic_dataset import make_dataset
from ...harness.page_cache import warm_up
from ...report.plot import Plot, Point
from ...report.units import Cell, Spread, Unit, faster, spread_of, text

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from ...report.report import Report

_FANOUTS = (15, 10, 5)
_million = Unit(1e-6, 2, "more")


def thread_counts() -> list[int]:
    """1, 2, 4, … and as many as there are cores."""
    cores = len(os.sched_getaffinity(0))
    powers = [1 << place for place in range(cores.bit_length())]
    return sorted({*powers, cores})


def jobs_of(ds: gm.Dataset, folder: str, num_edges: int) -> dict[str, Callable[[], int]]:
    """Work that threads share; each returns how much it was."""
    generator = np.random.default_rng(1)
    graph, store = ds.graph, ds.features["x"]
    num_nodes = max(2, num_edges // 16)
    edges = generator.integers(0, num_nodes, (2, num_edges))
    ids = ds.as_internal(generator.integers(0, len(store), 1 << 16))
    starts = ds.as_internal(generator.integers(0, graph.num_nodes, 50_000))
    numbers = count()

    def sample() -> int:
        seeds = np.unique(generator.integers(0, graph.num_nodes, 1024))
        sample = graph.sample_neighbors(ds.as_internal(seeds), _FANOUTS, seed=next(numbers))
        return sample.num_edges

    def walk() -> int:
        return graph.random_walk(starts, 20, direction="in", seed=next(numbers)).size

    def compile_edges() -> int:
        gm.compile_graph(edges, f"{folder}/again.gl", num_nodes=num_nodes, neighbors="in")
        return num_edges

    return {
        "sampling, M edges/s": sample,
        "walks, M steps/s": walk,
        "gather from memory, M rows/s": lambda: len(store.gather(ids)),
        "compiling, M edges/s": compile_edges,
    }


def _speed(job: Callable[[], int], seconds: float) -> float:
    start, done = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        done += job()
    return done / (time.perf_counter() - start)


def bench_threads(report: Report, folder: str, options: argparse.Namespace) -> None:
    path, counts = f"{folder}/threads", thread_counts()
    make_dataset(path, 1 << options.thread_scale)
    ds = gm.Dataset(path)
    warm_up(ds.graph.path)
    warm_up(ds.features["x"].path)
    jobs = jobs_of(ds, folder, options.thread_edges)
    speeds: dict[str, dict[int, list[float]]] = {
        name: {threads: [] for threads in counts} for name in jobs
    }
    before = gm.num_threads()
    for round_number in range(options.rounds + 1):
        for threads in counts:
            gm.set_num_threads(threads)
            for name, job in jobs.items():
                speed = _speed(job, options.seconds / 5)
                if round_number > 0:  # the first one warms up
                    speeds[name][threads].append(speed)
    gm.set_num_threads(before)
    gains = {name: _gains(found) for name, found in speeds.items()}
    rows: list[dict[str, Cell]] = [
        {
            "job": name,
            **{_title(threads): spread_of(values) for threads, values in found.items()},
            "gain": gains[name][counts[-1]],
        }
        for name, found in speeds.items()
    ]
    columns = {"job": text} | {_title(threads): _million for threads in counts} | {"gain": faster}
    report.table(f"By threads; {ds.num_nodes:,} nodes, {ds.num_edges:,} edges", columns, rows)
    series: dict[str, list[Point]] = {
        name.split(",")[0]: list(found.items()) for name, found in gains.items()
    }
    title = "More threads: times the speed of one"
    report.plot(
        Plot(
            title=title,
            kind="lines",
            x="threads",
            y="times the speed of one thread",
            series=series,
            ours=tuple(series),
            better="more",
        )
    )


def _title(threads: int) -> str:
    return "1 thread" if threads == 1 else f"{threads} threads"


def _gains(speeds: dict[int, list[float]]) -> dict[int, Spread]:
    """How many times as fast as one thread, round by round."""
    return {
        threads: spread_of([many / one for many, one in zip(values, speeds[1], strict=True)])
        for threads, values in speeds.items()
    }
