"""What several types of nodes cost a sampler: edges a second, next to a graph of one kind.

One dataset has three types and five relations, the other one type and as many nodes and edges, all
drawn by the same law: few nodes have many neighbors. All files are in the page cache. Both are
sampled from the same number of seeds with the same fanouts, in turns. Then the graph of one kind is
sampled as a dataset of one type and one relation, which must give the same samples.

Last, the graph of one kind is sampled in time: by the times of edges, which its lists are sorted
by, and by the times of nodes, which they are not. The times are drawn evenly, and the seeds come
after half of them. What is compared is processor time, of all threads together, for an edge of a
sample.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np

import graphmount as gm
from graphmount._dataset.typed.sampling import TypedSampling

from ...harness.scratch import require_memory, scratch_folder
from ...report.report import Report, argument_parser, defaults
from ...report.units import Unit, plain, ratio, spread_of, text

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from graphmount._mount.sampling_rule import TemporalStrategy

_SHARES = {"paper": 0.5, "author": 0.45, "place": 0.05}
_RELATIONS = {
    ("author", "writes", "paper"): 0.3,
    ("paper", "cites", "paper"): 0.35,
    ("paper", "rev_writes", "author"): 0.3,
    ("author", "at", "place"): 0.025,
    ("place", "rev_at", "author"): 0.025,
}
_COLUMNS = {
    "sampler": text,
    "edges/s, millions": Unit(1e-6, 2),
    "ms a sample": Unit(1e3, 2),
    "times one kind": ratio,
    "runs": plain,
}
_TIME_COLUMNS = {
    "times of": text,
    "strategy": text,
    "ns an edge": Unit(1e9, 0),
    "times those of edges": ratio,
    "runs": plain,
}
_ONE, _AS_TYPED, _MANY = "one kind", "one type and one relation", "three types, five relations"


def draw_edges(count: int, sources: int, destinations: int, seed: int) -> Any:  # noqa: ANN401
    ends = np.random.default_rng(seed).random((2, count)) ** 3
    return (ends * np.array([[sources], [destinations]])).astype(np.int64)


def make(folder: str, options: argparse.Namespace) -> tuple[gm.Graph, gm.TypedDataset]:
    edges = draw_edges(options.edges, options.nodes, options.nodes, 1)
    gm.compile_graph(edges, f"{folder}/one.gl", num_nodes=options.nodes, neighbors="in")
    counts = {name: int(share * options.nodes) for name, share in _SHARES.items()}
    gm.compile_dataset(
        f"{folder}/many",
        nodes={name: gm.Nodes(num_nodes=count) for name, count in counts.items()},
        edges={
            relation: draw_edges(
                int(share * options.edges), counts[relation[0]], counts[relation[2]], number
            )
            for number, (relation, share) in enumerate(_RELATIONS.items())
        },
        order="given",
        progress=False,
    )
    many = gm.Dataset(f"{folder}/many")
    assert isinstance(many, gm.TypedDataset)
    return gm.Graph(f"{folder}/one.gl"), many


def bench(report: Report, folder: str, options: argparse.Namespace) -> None:
    one, many = make(folder, options)
    relation = ("node", "to", "node")
    alone = TypedSampling({"node": one.num_nodes}, {relation: one})
    fanouts = options.fanouts
    rng = np.random.default_rng(3)
    seeds = rng.integers(0, int(_SHARES["paper"] * options.nodes), options.batch_size)
    ways: dict[str, Callable[[int], Any]] = {
        _ONE: lambda key: one.sample_neighbors(seeds, fanouts, seed=key),
        _AS_TYPED: lambda key: alone.sample_neighbors(("node", seeds), fanouts, seed=key),
        _MANY: lambda key: many.sample_neighbors(("paper", seeds), fanouts, seed=key),
    }
    is_same = all(
        np.array_equal(ways[_ONE](key).edge_index, ways[_AS_TYPED](key).edge_index[relation])
        for key in range(4)
    )
    report.check("one type and one relation gives the samples of one kind", is_same)
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    speeds: dict[str, list[float]] = {way: [] for way in ways}
    for number in range(options.rounds):
        names = list(ways) if number % 2 else list(ways)[::-1]
        for way in names:
            start, edges = time.perf_counter(), 0
            for key in range(options.samples):
                edges += ways[way](number * options.samples + key).num_edges
            taken = time.perf_counter() - start
            seconds[way].append(taken / options.samples)
            speeds[way].append(edges / taken)
    report.table(
        f"{options.nodes:,} nodes, {options.edges:,} edges, fanouts {fanouts}",
        _COLUMNS,
        [
            {
                "sampler": way,
                "edges/s, millions": spread_of(speeds[way]),
                "ms a sample": spread_of(seconds[way]),
                "times one kind": spread_of(
                    [a / b for a, b in zip(speeds[way], speeds[_ONE], strict=True)]
                ),
                "runs": options.rounds,
            }
            for way in ways
        ],
    )
    for what, way, least in (
        ("one type and one relation takes at most 1.1 times as long", _AS_TYPED, 1 / 1.1),
        ("five relations give at least half of the edges a second", _MANY, 0.5),
    ):
        times = spread_of([a / b for a, b in zip(speeds[way], speeds[_ONE], strict=True)]).median
        report.goal(what, times >= least, f"{times:.2f} of the edges a second of one kind")


def bench_times(report: Report, folder: str, options: argparse.Namespace) -> None:
    edges = draw_edges(options.edges, options.nodes, options.nodes, 1)
    rng = np.random.default_rng(4)
    gm.compile_graph(
        edges,
        f"{folder}/timed.gl",
        num_nodes=options.nodes,
        neighbors="in",
        timestamps=rng.integers(0, 1000, options.edges),
    )
    gm.compile_features(rng.integers(0, 1000, (options.nodes, 1)), f"{folder}/times.gd")
    relation = ("node", "to", "node")
    counts = {"node": options.nodes}
    samplings = {
        "edges": TypedSampling(counts, {relation: gm.Graph(f"{folder}/timed.gl")}),
        "nodes": TypedSampling(
            counts,
            {relation: gm.Graph(f"{folder}/one.gl")},
            {"node": gm.FeatureStore(f"{folder}/times.gd")},
        ),
    }
    seeds = rng.integers(0, options.nodes // 2, options.batch_size)
    strategies: tuple[TemporalStrategy, ...] = ("uniform", "last")
    costs: dict[tuple[str, str], list[float]] = {}
    for number in range(options.rounds):
        for strategy in strategies:
            for of in samplings if number % 2 else list(samplings)[::-1]:
                start, drawn = time.process_time(), 0
                for key in range(options.samples):
                    sample = samplings[of].sample_neighbors(
                        ("node", seeds),
                        options.fanouts,
                        time=np.full(len(seeds), 500),
                        temporal_strategy=strategy,
                        seed=number * options.samples + key,
                    )
                    drawn += sample.num_edges
                taken = time.process_time() - start
                costs.setdefault((of, strategy), []).append(taken / drawn)
    report.table(
        f"In time: {options.nodes:,} nodes, {options.edges:,} edges, fanouts {options.fanouts}",
        _TIME_COLUMNS,
        [
            {
                "times of": of,
                "strategy": strategy,
                "ns an edge": spread_of(own),
                "times those of edges": spread_of(
                    [a / b for a, b in zip(own, costs["edges", strategy], strict=True)]
                ),
                "runs": options.rounds,
            }
            for (of, strategy), own in sorted(costs.items(), key=lambda item: item[0][::-1])
        ],
    )


def main() -> int:
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--nodes", type=int, help="nodes of all types (4 million)")
    parser.add_argument("--edges", type=int, help="edges of all relations (64 million)")
    parser.add_argument("--batch-size", type=int, help="seeds of a sample (1,024)")
    parser.add_argument("--fanouts", type=int, nargs="+", help="of each hop (15 10 5)")
    parser.add_argument("--samples", type=int, help="samples of a round")
    parser.add_argument("--rounds", type=int, help="rounds of each sampler")
    options = parser.parse_args()
    defaults(
        options,
        nodes=(4_000_000, 100_000),
        edges=(64_000_000, 1_000_000),
        batch_size=(1024, 256),
        samples=(20, 5),
        rounds=(11, 3),
    )
    options.fanouts = options.fanouts or [15, 10, 5]
    require_memory(options.edges * 64, "making the graphs")
    with scratch_folder(options.folder, options.edges * 32 + options.nodes * 64) as folder:
        report = Report("kinds", options, folder)
        bench(report, folder, options)
        bench_times(report, folder, options)
        return report.finish(options.json)


if __name__ == "__main__":
    sys.exit(main())
