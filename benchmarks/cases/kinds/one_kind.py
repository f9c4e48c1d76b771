"""One type and one relation, loaded next to the same data as a dataset of one kind.

Both have all rows in memory, so that nothing but the pipeline is compared. They take turns in one
process, and must give the same batches.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

import graphmount as gm

from ...data.synthetic_dataset import features_of
from ...report.units import Unit, plain, ratio, spread_of, text

if TYPE_CHECKING:
    import argparse

    from ...report.report import Report

_DEGREE, _WIDTH = 16, 64
_BATCH_SIZE, _FANOUTS, _BATCHES = 1024, [10, 5], 40
_RELATION = ("node", "to", "node")
_ONE, _TYPED = "one kind", "one type and one relation"
_COLUMNS = {
    "dataset of": text,
    "batches/s": Unit(1, 1, "more"),
    "processor ms a batch": Unit(1e3, 2, "less"),
    "times as long": ratio,
    "times the processor": ratio,
    "turns": plain,
}


def one_kind_bytes(num_nodes: int) -> int:
    """What the files take, and arrays while they are made."""
    return num_nodes * (_DEGREE * 64 + 4 * 4 * _WIDTH)


def make(folder: str, num_nodes: int) -> tuple[gm.Dataset, gm.TypedDataset]:
    """The same data in both forms."""
    generator = np.random.default_rng(1)
    edges = (num_nodes * generator.random((2, _DEGREE * num_nodes)) ** 3).astype(np.int64)
    rows = features_of(np.arange(num_nodes), _WIDTH)
    gm.compile_dataset(
        f"{folder}/one",
        edges=edges,
        num_nodes=num_nodes,
        features={"x": rows},
        neighbors="in",
        progress=False,
    )
    gm.compile_dataset(
        f"{folder}/typed",
        nodes={"node": gm.Nodes(num_nodes=num_nodes, features={"x": rows})},
        edges={_RELATION: edges},
        neighbors="in",
        progress=False,
    )
    typed = gm.Dataset(f"{folder}/typed")
    assert isinstance(typed, gm.TypedDataset)
    return gm.Dataset(f"{folder}/one"), typed


def same(batch: Any, typed: Any) -> bool:  # noqa: ANN401
    """Whether two batches have the same nodes, edges and rows."""
    pairs = (
        (batch.nodes, typed.nodes["node"]),
        (batch.edge_index, typed.edge_index[_RELATION]),
        (batch.features["x"], typed.features["node"]["x"]),
    )
    return all(np.array_equal(np.asarray(one), np.asarray(other)) for one, other in pairs)


def bench_one_kind(report: Report, folder: str, options: argparse.Namespace) -> None:
    one, typed = make(folder, options.nodes)
    how: Any = {"batch_size": _BATCH_SIZE, "shuffle": True, "memory": "1GiB", "seed": 1}
    loaders: dict[str, Any] = {
        _ONE: gm.NeighborLoader(one, _FANOUTS, **how),
        _TYPED: gm.NeighborLoader(typed, _FANOUTS, input_nodes="node", **how),
    }
    pairs = zip(loaders[_ONE], loaders[_TYPED], strict=True)
    is_same = all(same(*pair) for pair, _ in zip(pairs, range(8), strict=False))
    report.check("one type and one relation gives the batches of one kind", is_same)
    spent: dict[str, list[float]] = {way: [] for way in loaders}
    used: dict[str, list[float]] = {way: [] for way in loaders}
    for number in range(options.turns):
        for way in loaders if number % 2 else list(loaders)[::-1]:
            start, processor, count = time.perf_counter(), time.process_time(), 0
            for _, _ in zip(range(_BATCHES), loaders[way], strict=False):
                count += 1
            used[way].append((time.process_time() - processor) / count)
            spent[way].append((time.perf_counter() - start) / count)
    times, processor_times = (
        {
            way: spread_of([a / b for a, b in zip(taken[way], taken[_ONE], strict=True)])
            for way in taken
        }
        for taken in (spent, used)
    )
    report.table(
        f"Loading {options.nodes:,} nodes, {_DEGREE * options.nodes:,} edges, all in memory: "
        f"{_BATCH_SIZE:,} seeds, fanouts {_FANOUTS}",
        _COLUMNS,
        [
            {
                "dataset of": way,
                "batches/s": spread_of([1 / one for one in spent[way]]),
                "processor ms a batch": spread_of(used[way]),
                "times as long": times[way],
                "times the processor": processor_times[way],
                "turns": options.turns,
            }
            for way in loaders
        ],
    )
    found = times[_TYPED].median
    report.goal(
        "one type and one relation takes at most 1.05 times as long",
        found <= 1.05,
        f"{found:.3f} times, {processor_times[_TYPED].median:.3f} of the processor",
    )
