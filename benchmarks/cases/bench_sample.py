"""How fast neighbors are sampled: from memory next to GraphZero, from disk next to page faults.

In memory, on R-MAT: `batch_random_fanout` against GraphZero's call of that name, and the sample of
three hops that a training step wants against that same call. All are checked first (every entry a
true neighbor, no edge twice), and take turns. Next to GraphBolt and PyG, where they are installed:
see `sample_peers`. From disk: a graph four times as large as the memory limit of the process,
with reads asked for in batches and one by one.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np

import graphmount as gm

from ..data.edge_streams import community_blocks, node_count, rmat_blocks, write_edges_csv
from ..harness.cold_runs import run_cold
from ..harness.memcap import UnavailableError
from ..harness.page_cache import warm_up
from ..harness.scratch import require_memory, scratch_folder
from ..jobs import job_command
from ..peers import why_not_here
from ..report.plot import bars
from ..report.report import Report, argument_parser, defaults
from ..report.units import Cell, Unit, faster, mebibytes, plain, ratio, spread_of, text
from .parts.sample_peers import bench_peers

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from numpy.typing import NDArray

FANOUTS = (15, 10, 5)
_FANOUT = "graphmount batch_random_fanout, k = 15"
_THEIRS = "graphzero batch_random_fanout, k = 15"
_SAMPLE = "graphmount sample_neighbors, [15, 10, 5]"
_COLUMNS = {
    "call": text,
    "ms": Unit(1e3, 2, "less"),
    "M picks/s": Unit(1e-6, 1, "more"),
    "graphzero / this": ratio,
    "runs": plain,
}
_THREAD_COLUMNS = {
    "threads": plain,
    "ms a sample": Unit(1e3, 2, "less"),
    "times one": ratio,
    "runs": plain,
}
_MOST_SECONDS = 0.008  # for a sample, by two threads
_DISK_COLUMNS = {
    "reads": text,
    "samples/s": faster,
    "edges/s": plain,
    "disk read per sample, MiB": mebibytes,
    "times faults": ratio,
    "runs": plain,
}


def mounted(folder: str, edges: int) -> tuple[gm.Graph, Any]:
    """The same R-MAT graph mounted by us and by GraphZero, if that is installed."""
    num_nodes = node_count(edges, 16)
    source, ours, theirs = f"{folder}/edges.csv", f"{folder}/ours.gl", f"{folder}/theirs.gl"
    write_edges_csv(rmat_blocks(edges, num_nodes), source)
    gm.compile_graph(source, ours, neighbors="out")
    warm_up(ours)
    if why_not_here("graphzero"):
        return gm.Graph(ours), None
    graphzero = importlib.import_module("graphzero")
    graphzero.convert_csv_to_gl(source, theirs, True)
    return gm.Graph(ours), graphzero.Graph(theirs)


def are_neighbors(
    graph: gm.Graph, nodes: NDArray[np.int64], picks: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether each pick is in the list of its node, by a search in NumPy."""
    lists = graph.neighbor_lists("out")
    found = np.zeros(len(nodes), bool)
    for at, (node, pick) in enumerate(zip(nodes.tolist(), picks.tolist(), strict=True)):
        neighbors = lists.indices[lists.indptr[node] : lists.indptr[node + 1]]
        place = np.searchsorted(neighbors, pick)
        found[at] = place < len(neighbors) and neighbors[place] == pick
    return found


def check_calls(report: Report, graph: gm.Graph, theirs: Any, nodes: NDArray[np.int64]) -> None:  # noqa: ANN401
    some = nodes[:2000]
    degrees = graph.degree(some, direction="out")
    rows = graph.batch_random_fanout(some, 15, direction="out", seed=1)
    flat = np.repeat(some, 15), rows.ravel()
    is_right = are_neighbors(graph, *flat) | (np.repeat(degrees, 15) == 0)
    report.check(f"{_FANOUT}: every entry is a neighbor", bool(is_right.all()))
    if theirs is not None:
        rows = np.asarray(theirs.batch_random_fanout(some.tolist(), 15))
        full = np.repeat(degrees >= 15, 15)
        is_right = are_neighbors(graph, np.repeat(some, 15)[full], rows.ravel()[full])
        report.check(f"{_THEIRS}: entries of full rows are neighbors", bool(is_right.all()))
        short = np.asarray(rows)[(degrees < 15) & (degrees > 0)]
        padded = f"{(short == 0).mean():.0%} of the entries of short rows are node 0"
        report.check(f"{_THEIRS}: shape", rows.shape == (len(some), 15), padded)
    sample = graph.sample_neighbors(nodes[:1024], FANOUTS, direction="out", seed=1)
    ends = sample.nodes[sample.row[:20_000]], sample.nodes[sample.col[:20_000]]
    report.check(f"{_SAMPLE}: edges are edges", bool(are_neighbors(graph, *ends).all()))
    report.check(
        f"{_SAMPLE}: no edge twice, no node twice",
        len(np.unique(sample.edge_ids)) == sample.num_edges
        and len(np.unique(sample.nodes)) == sample.num_nodes,
        f"{sample.num_edges:,} edges, {sample.num_nodes:,} nodes",
    )


def bench_memory(report: Report, folder: str, options: argparse.Namespace) -> None:
    graph, theirs = mounted(folder, options.edges)
    generator = np.random.default_rng(1)
    nodes = generator.permutation(graph.num_nodes)[: options.nodes]
    check_calls(report, graph, theirs, nodes)
    as_list = nodes.tolist()  # which GraphZero wants; making it is not its time
    state = {"round": 0}

    def sample() -> int:
        state["round"] += 1
        seeds = generator.permutation(nodes)[:1024]
        start = time.perf_counter()
        result = graph.sample_neighbors(seeds, FANOUTS, direction="out", seed=state["round"])
        spent["sample"].append(time.perf_counter() - start)
        return result.num_edges

    spent: dict[str, list[float]] = {"sample": []}
    jobs: dict[str, Callable[[], int]] = {
        _FANOUT: lambda: graph.batch_random_fanout(nodes, 15, direction="out", seed=1).size,
        _SAMPLE: sample,
    }
    if theirs is None:
        report.skip(_THEIRS, why_not_here("graphzero") or "")
    else:
        jobs[_THEIRS] = lambda: np.asarray(theirs.batch_random_fanout(as_list, 15)).size
    times: dict[str, list[float]] = {name: [] for name in jobs}
    picks = dict.fromkeys(jobs, 0)
    for _ in range(options.rounds):
        for name, job in jobs.items():
            for _ in range(1 if name == _THEIRS else 5):
                start = time.perf_counter()
                picks[name] = job()
                times[name].append(time.perf_counter() - start)
    times[_SAMPLE] = spent["sample"]
    peer = spread_of(times[_THEIRS]).median if theirs is not None else None
    rows: list[dict[str, Cell]] = [
        {
            "call": name,
            "ms": spread_of(values),
            "M picks/s": spread_of([picks[name] / value for value in values]),
            "graphzero / this": peer and peer / spread_of(values).median,
            "runs": len(values),
        }
        for name, values in times.items()
    ]
    title = f"{len(nodes):,} of {graph.num_nodes:,} nodes, {graph.num_edges:,} edges, in memory"
    report.table(title, _COLUMNS, rows)
    report.plot(
        bars(
            "Neighbors in memory",
            rows,
            of="M picks/s",
            y="million picks a second",
            factor=1e-6,
            ours=[_FANOUT, _SAMPLE],
            better="more",
        )
    )
    if peer is not None:
        for name, goal in ((_FANOUT, 2.5), (_SAMPLE, 3.0)):
            reached = peer / spread_of(times[name]).median
            report.goal(f"{name}: {goal} times as fast", reached >= goal, f"{reached:.2f}")
    bench_threads(report, graph, options.rounds)


def bench_threads(report: Report, graph: gm.Graph, rounds: int) -> None:
    """64 samples, one after the other, by one thread and by two, in turns."""
    before = gm.num_threads()
    size = min(1024, graph.num_nodes // 64)
    seeds = np.random.default_rng(2).permutation(graph.num_nodes)[: 64 * size].reshape(64, size)
    times: dict[int, list[float]] = {1: [], 2: []}
    try:
        for number in range(rounds):
            for threads, values in times.items():
                gm.set_num_threads(threads)
                start = time.perf_counter()
                for at, some in enumerate(seeds):
                    graph.sample_neighbors(some, FANOUTS, direction="out", seed=(number, at))
                values.append((time.perf_counter() - start) / len(seeds))
    finally:
        gm.set_num_threads(before)
    gains = [one / two for one, two in zip(times[1], times[2], strict=True)]
    rows: list[dict[str, Cell]] = [
        {
            "threads": threads,
            "ms a sample": spread_of(values),
            "times one": spread_of(gains) if threads == 2 else 1,
            "runs": len(values),
        }
        for threads, values in times.items()
    ]
    title = f"64 samples of {size:,} seeds, {graph.num_edges:,} edges"
    report.table(title, _THREAD_COLUMNS, rows)
    spent, gain = spread_of(times[2]).median, spread_of(gains).median
    report.goal("two threads: a sample in 8 ms", spent <= _MOST_SECONDS, f"{spent * 1e3:.2f} ms")
    report.goal("two threads: 1.7 times the samples of one", gain >= 1.7, f"{gain:.2f}")


def bench_disk(report: Report, folder: str, options: argparse.Namespace) -> None:
    path = f"{folder}/large.gl"
    num_nodes = node_count(options.disk_edges, 16)
    for family, blocks in (("R-MAT", rmat_blocks), ("communities", community_blocks)):
        edges = np.concatenate(list(blocks(options.disk_edges, num_nodes)))
        gm.compile_graph(edges.T, path, neighbors="in", num_nodes=num_nodes, memory="8GiB")
        del edges
        with gm.Graph(path) as graph:
            cap = graph.file_bytes // 4 + options.own_memory
        runs: dict[str, list[dict[str, float]]] = {"fault": [], "batch": [], "auto": []}
        for seed in range(options.disk_rounds):
            for reads, results in runs.items():
                command = job_command("sample_once", path)
                command += ["--reads", reads, "--seed", str(seed)]
                command += ["--seconds", str(options.disk_seconds)]
                try:
                    run = run_cold(command, cap, path)
                except UnavailableError as error:
                    return report.skip("sampling from disk", str(error))
                fine = run.status == 0 and run.oom_kills == 0
                report.check(f"{family}, reads={reads!r}, run {seed + 1}", fine)
                if fine:
                    results.append(json.loads(run.stdout))
        base = spread_of([run["samples_per_second"] for run in runs["fault"]]).median
        rows: list[dict[str, Cell]] = [
            {
                "reads": reads,
                "samples/s": spread_of([run["samples_per_second"] for run in results]),
                "edges/s": spread_of([run["edges_per_second"] for run in results]),
                "disk read per sample, MiB": spread_of([run["read_per_sample"] for run in results]),
                "times faults": spread_of([run["samples_per_second"] / base for run in results]),
                "runs": len(results),
            }
            for reads, results in runs.items()
        ]
        title = f"{family}, {options.disk_edges:,} edges, memory for a quarter of the file"
        report.table(title, _DISK_COLUMNS, rows)
        reached = spread_of([run["samples_per_second"] for run in runs["auto"]]).median / base
        report.goal(f"{family}: from disk 4 times the samples", reached >= 4, f"{reached:.2f}")
    return None


def main() -> int:
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--edges", type=int, help="edges of the graph in memory (67 million)")
    parser.add_argument("--nodes", type=int, help="nodes that a fanout call asks for (100,000)")
    parser.add_argument("--rounds", type=int, help="rounds of the calls in memory")
    parser.add_argument("--disk-edges", type=int, help="edges of the graph on disk")
    parser.add_argument("--disk-rounds", type=int, help="runs of each way to read from disk")
    parser.add_argument("--disk-seconds", type=int, help="how long each of them samples")
    parser.add_argument("--own-memory", type=int, help="bytes for the process itself")
    parser.add_argument("--turn", type=float, help="seconds of a peer's turn")
    parser.add_argument("--part", choices=["memory", "peers", "disk"], help="only this part")
    options = parser.parse_args()
    defaults(
        options,
        edges=(1 << 26, 1 << 22),
        nodes=(100_000, 20_000),
        rounds=(11, 3),
        disk_edges=(1 << 28, 1 << 21),
        disk_rounds=(3, 1),
        disk_seconds=(15, 2),
        own_memory=(128 << 20, 128 << 20),
        turn=(2.0, 0.3),
    )
    require_memory(32 * options.disk_edges, "making the graph")
    with scratch_folder(options.folder, 40 * options.edges + 16 * options.disk_edges) as folder:
        report = Report("sample", options, folder)
        parts = {"memory": bench_memory, "peers": bench_peers, "disk": bench_disk}
        for name, bench in parts.items():
            if options.part in (None, name):
                bench(report, folder, options)
        return report.finish(options.json)


if __name__ == "__main__":
    sys.exit(main())
