"""Sampling and loading with more nodes and longer rows, up to what the disk holds.

Three hops of 15, 10 and 5 neighbors from 1,024 seeds. The topology is in memory. Rows come past the
page cache where the system allows it, so that the loader has no more than it is given.
"""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING

import numpy as np

import graphmount as gm

from ...data.synthetic_dataset import features_of, make_dataset
from ...report.plot import Plot, Point
from ...report.units import Cell, Spread, Unit, mebibytes, plain, spread_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Generator

    from ...report.report import Report

_FANOUTS = (15, 10, 5)
_SEEDS = 1024
_CHECKED_ROWS = 2000
_LITTLE, _MIDDLE, _ALL = 10, 25, 100  # percent of the features
_million = Unit(1e-6, 2, "more")


def sampling_speed(ds: gm.Dataset, options: argparse.Namespace) -> Spread:
    """Edges a second, in memory."""
    train = ds.splits["train"]
    generator = np.random.default_rng(3)
    speeds = []
    for number in range(options.rounds + 1):
        edges, spent = 0, 0.0
        while spent < options.seconds / 2:
            seeds = train[generator.permutation(len(train))[:_SEEDS]]
            start = time.perf_counter()
            edges += ds.graph.sample_neighbors(seeds, _FANOUTS, seed=number).num_edges
            spent += time.perf_counter() - start
        speeds.append(edges / spent)
    return spread_of(speeds[1:])


def _forever(loader: gm.NeighborLoader) -> Generator[gm.Batch, None, None]:
    while True:
        yield from loader


def loader_speed(
    report: Report, ds: gm.Dataset, share: int, options: argparse.Namespace
) -> tuple[Spread, int]:
    """Batches a second with memory for a share of the features, and the rows of a batch."""
    store = ds.features["x"]
    loader = gm.NeighborLoader(
        ds,
        _FANOUTS,
        input_nodes="train",
        batch_size=_SEEDS,
        shuffle=True,
        memory=store.file_bytes * share // 100,
        reader="uring" if "uring" in store.readers else "auto",
        seed=0,
    )
    batches = _forever(loader)
    speeds, wrong_rows, num_rows = [], 0, 0
    generator = np.random.default_rng(2)
    for _ in range(options.rounds + 1):
        taken, start = 0, time.perf_counter()
        while time.perf_counter() - start < options.seconds:
            batch = next(batches)
            taken += 1
        speeds.append(taken / (time.perf_counter() - start))
        num_rows = len(batch.nodes)
        some = generator.integers(0, num_rows, _CHECKED_ROWS)
        expected = features_of(np.asarray(ds.to_external(batch.nodes[some])), store.shape[1])
        wrong_rows += int((batch.features["x"][some] != expected).any(axis=1).sum())
    batches.close()
    what = f"{len(store):,} rows of {store.shape[1]} columns, memory for {share} %: rows are right"
    report.check(what, wrong_rows == 0, f"{wrong_rows} wrong")
    return spread_of(speeds[1:]), num_rows


def bench_nodes(report: Report, folder: str, options: argparse.Namespace) -> None:
    """Datasets from small to large."""
    rows: list[dict[str, Cell]] = []
    lines: dict[str, list[Point]] = {
        "sampling, edges": [],
        "loader in memory, rows": [],
        "loader, memory for 10 %, rows": [],
    }
    for scale in options.scales:
        path = f"{folder}/nodes"
        made = make_dataset(path, 1 << scale)
        ds = gm.Dataset(path)
        ds.graph.advise("populate")
        sampled = sampling_speed(ds, options)
        little, _ = loader_speed(report, ds, _LITTLE, options)
        everything, num_rows = loader_speed(report, ds, _ALL, options)
        speeds = (sampled, everything.times(num_rows), little.times(num_rows))
        for points, speed in zip(lines.values(), speeds, strict=True):
            points.append((float(ds.num_nodes), speed))
        rows.append(
            {
                "nodes": ds.num_nodes,
                "edges": ds.num_edges,
                "MiB on disk": ds.graph.file_bytes + ds.features["x"].file_bytes,
                "compiled in, s": made.seconds,
                "M sampled edges/s": sampled,
                "rows a batch": num_rows,
                "batches/s, 10 %": little,
                "batches/s, 100 %": everything,
            }
        )
        del ds
        shutil.rmtree(path)
    per_batch = Unit(1, 1, "more")
    columns = {"nodes": plain, "edges": plain, "MiB on disk": Unit(2**-20, 0)}
    columns |= {"compiled in, s": Unit(1, 1), "M sampled edges/s": _million, "rows a batch": plain}
    columns |= {"batches/s, 10 %": per_batch, "batches/s, 100 %": per_batch}
    report.table("By nodes; memory for 10 % and 100 % of the features", columns, rows)
    report.plot(
        Plot(
            title="Larger graphs",
            kind="lines",
            x="nodes, of degree 16",
            y="million a second",
            series=lines,
            factor=1e-6,
            log_x=True,
            log_y=True,
            ours=tuple(lines),
            better="more",
        )
    )


def bench_columns(report: Report, folder: str, options: argparse.Namespace) -> None:
    """Tables of the same size with rows of different length."""
    rows: list[dict[str, Cell]] = []
    points: list[Point] = []
    for columns in options.columns:
        num_nodes = 1 << ((options.table_bytes // (4 * columns)).bit_length() - 1)
        path = f"{folder}/columns"
        make_dataset(path, num_nodes, columns)
        speed, num_rows = loader_speed(report, gm.Dataset(path), _MIDDLE, options)
        useful = speed.times(num_rows * 4 * columns)
        points.append((float(columns), useful))
        rows.append(
            {
                "columns": columns,
                "nodes": num_nodes,
                "rows a batch": num_rows,
                "batches/s": speed,
                "MiB of rows/s": useful,
            }
        )
        shutil.rmtree(path)
    shown = {"columns": plain, "nodes": plain, "rows a batch": plain}
    shown |= {"batches/s": Unit(1, 1, "more"), "MiB of rows/s": mebibytes}
    size = options.table_bytes >> 20
    title = f"By columns of float32: a table of {size:,} MiB, memory for 25 % of it"
    report.table(title, shown, rows)
    report.plot(
        Plot(
            title="Longer rows, memory for 25 % of them",
            kind="lines",
            x="columns of float32",
            y="MiB of rows a second",
            series={"loader": points},
            factor=2**-20,
            log_x=True,
            ours=("loader",),
            better="more",
        )
    )
