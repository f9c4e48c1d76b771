"""How fast random walks are on the mounted file, next to GraphZero's on the same edges.

An R-MAT graph, in the page cache; starts are random nodes that have neighbors. Ways take turns, and
a ratio is of two runs next to each other. Steps are counted where a walker has a neighbor to go to:
both stay at dead ends, which is no work. On a busy machine a clock says much about who gets the
processors, so the time that these spent is shown as well.

GraphZero's uniform walks take a step less than they are asked for and leave the last column empty,
so they are asked for one more. Its node2vec is slow, so it walks fewer walks.
"""

from __future__ import annotations

import importlib
import sys
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import graphmount as gm

from ..data.edge_streams import rmat_blocks, write_edges_csv, write_edges_npy
from ..harness.page_cache import warm_up
from ..harness.scratch import require_memory, scratch_folder
from ..peers import why_not_here
from ..report.plot import bars
from ..report.report import Report, argument_parser, defaults
from ..report.units import Cell, Spread, Unit, faster, plain, ratio, spread_of, text

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from numpy.typing import NDArray

    Walks = NDArray[np.int64]

_OURS = "graphmount"
_THEIRS = "graphzero"
_BIASES = ((1, 0.5), (0.25, 4))
_COLUMNS = {
    "way": text,
    "M steps a second": Unit(1e-6, 3, "more"),
    "ns a step": Unit(1e9, 1),
    "processor ns a step": Unit(1e9, 1),
    "times graphzero": faster,
    "times, by processor": ratio,
    "walks": plain,
    "runs": plain,
}


@dataclass(frozen=True)
class Way:
    """Somebody's walks from some starts."""

    name: str
    walk: Callable[[], Walks]
    rounds: int


class TrueSteps:
    """Knows all edges of a graph, and so which steps walks may take."""

    def __init__(self, graph: gm.Graph) -> None:
        self._lists = graph.neighbor_lists("out")

    def count(self, walks: Walks) -> int:
        """Steps along edges; raises if a step is none, and does not stay at a dead end."""
        nodes, afters = walks[:, :-1].ravel(), walks[:, 1:].ravel()
        low, end = self._lists.indptr[nodes], self._lists.indptr[nodes + 1]
        moved = low < end
        if not np.array_equal(nodes[~moved], afters[~moved]):
            raise ValueError("a walk has left a dead end")
        low, last, afters = low[moved], end[moved] - 1, afters[moved]
        high = last.copy()
        while (low < high).any():  # all lists are bisected at once: the first entry not below
            middle = (low + high) // 2
            is_below = self._lists.indices[middle] < afters
            low, high = (
                np.where(is_below, np.minimum(middle + 1, high), low),
                np.where(is_below, high, middle),
            )
        if not np.array_equal(self._lists.indices[np.minimum(low, last)], afters):
            raise ValueError("a step is no edge")
        return len(afters)


def compare(report: Report, title: str, ways: list[Way], steps: TrueSteps) -> Spread | None:
    """Checks the walks of all ways, then times them in turn. Returns how the first does.

    That is in times the last, or None if there is no peer.
    """
    counts, sizes = [], []
    for way in ways:
        walks = way.walk()
        counts.append(steps.count(walks))
        sizes.append(len(walks))
        report.check(f"{title}: each step of {way.name} is an edge", counts[-1] > 0)
    times: list[list[float]] = [[] for _ in ways]
    processor: list[list[float]] = [[] for _ in ways]
    for _ in range(ways[0].rounds):
        for place, (way, count) in enumerate(zip(ways, counts, strict=True)):
            start, used = time.perf_counter(), time.process_time()
            way.walk()
            times[place].append((time.perf_counter() - start) / count)
            processor[place].append((time.process_time() - used) / count)
    ratios = _ratios(times)
    rows: list[dict[str, Cell]] = [
        {
            "way": way.name,
            "M steps a second": spread_of([1 / value for value in spent]),
            "ns a step": spread_of(spent),
            "processor ns a step": spread_of(used),
            "times graphzero": ratios if way is ways[0] else None,
            "times, by processor": _ratios(processor) if way is ways[0] else None,
            "walks": size,
            "runs": len(spent),
        }
        for way, spent, used, size in zip(ways, times, processor, sizes, strict=True)
    ]
    report.table(title, _COLUMNS, rows)
    report.plot(
        bars(
            title,
            rows,
            of="M steps a second",
            y="million steps a second",
            factor=1e-6,
            log=True,
            ours=[way.name for way in ways if way.name.startswith(_OURS)],
            better="more",
        )
    )
    return ratios


def _ratios(spent: list[list[float]]) -> Spread | None:
    """How many times as long the last way took as the first, run by run; None if it is alone."""
    if len(spent) == 1:
        return None
    return spread_of([last / first for first, last in zip(spent[0], spent[-1], strict=True)])


def bench(report: Report, graph: gm.Graph, peer: Any, options: argparse.Namespace) -> None:  # noqa: ANN401
    steps = TrueSteps(graph)
    generator = np.random.default_rng(3)
    starts = generator.choice(np.flatnonzero(graph.degree(direction="out")), options.walks)
    length, rounds = options.length, options.rounds

    def ours(p: float, q: float) -> Way:
        walk = partial(graph.random_walk, starts, length, p=p, q=q, seed=1)
        return Way(f"{_OURS}, {_name(p, q)}", walk, rounds)

    uniform = ours(1, 1)
    ways = [uniform]
    if peer is not None:
        everything = starts.tolist()

        def walk_uniform() -> Walks:
            found: Walks = peer.batch_random_walk_uniform(everything, length + 1)
            return found[:, : length + 1]

        ways.append(Way(f"{_THEIRS}, {_name(1, 1)}", walk_uniform, rounds))
    found = compare(report, "uniform walks", ways, steps)
    if found is not None:
        report.goal("uniform walks: 6 times graphzero", found.median >= 6, f"{found.median:.1f}")
    for p, q in _BIASES:
        ways = [ours(p, q)]
        if peer is not None:
            some = starts[: options.slow_walks].tolist()
            walk = partial(peer.batch_random_walk, some, length, float(p), float(q))
            ways.append(Way(f"{_THEIRS}, {_name(p, q)}", walk, rounds))
        title = f"node2vec, {_name(p, q)}"
        found = compare(report, title, ways, steps)
        if found is not None:
            report.goal(f"{title}: 40 times graphzero", found.median >= 40, f"{found.median:.1f}")
    share = compare_ours(report, [uniform, ours(*_BIASES[0])], steps)
    report.goal("node2vec: a fifth of the uniform speed", share >= 0.2, f"{share:.2f}")


def _name(p: float, q: float) -> str:
    return "uniform" if p == q == 1 else f"p={p}, q={q}"


def compare_ours(report: Report, ways: list[Way], steps: TrueSteps) -> float:
    """What share of the speed of the first way the second has, in turns with it."""
    counts = [steps.count(way.walk()) for way in ways]
    shares = []
    for _ in range(ways[0].rounds):
        speeds = []
        for way, count in zip(ways, counts, strict=True):
            start = time.perf_counter()
            way.walk()
            speeds.append(count / (time.perf_counter() - start))
        shares.append(speeds[1] / speeds[0])
    share = spread_of(shares)
    report.table(
        "node2vec, next to uniform walks",
        {"way": text, "share of the speed": ratio},
        [{"way": ways[1].name, "share of the speed": share}],
    )
    return share.median


def open_peer(report: Report, options: argparse.Namespace, folder: str) -> Any:  # noqa: ANN401
    """GraphZero's graph of the same edges; None if it is not to be had."""
    if why := why_not_here(_THEIRS):
        report.skip(f"{_THEIRS}'s walks", why)
        return None
    source, path = f"{folder}/edges.csv", f"{folder}/theirs.gl"
    write_edges_csv(rmat_blocks(options.edges, options.nodes), source)
    library = importlib.import_module(_THEIRS)
    library.convert_csv_to_gl(source, path, directed=True)
    warm_up(path)
    return library.Graph(path)


def main() -> int:
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--nodes", type=int, help="nodes, a power of two (2 million)")
    parser.add_argument("--edges", type=int, help="edges (33 million)")
    parser.add_argument("--walks", type=int, help="walks of a run (100,000)")
    parser.add_argument("--slow-walks", type=int, help="walks of a run of GraphZero's node2vec")
    parser.add_argument("--length", type=int, help="steps of a walk (20)")
    parser.add_argument("--rounds", type=int, help="runs of each way")
    options = parser.parse_args()
    defaults(
        options,
        nodes=(1 << 21, 1 << 18),
        edges=(33_000_000, 4_000_000),
        walks=(100_000, 20_000),
        slow_walks=(2_000, 500),
        length=(20, 20),
        rounds=(7, 3),
    )
    require_memory(48 * options.edges + 64 * options.walks * options.length, "such a graph")
    with scratch_folder(options.folder, 48 * options.edges) as folder:
        report = Report("walk", options, folder)
        peer = open_peer(report, options, folder)
        source, path = f"{folder}/edges.npy", f"{folder}/ours.gl"
        blocks = rmat_blocks(options.edges, options.nodes)
        write_edges_npy(blocks, options.edges, source)
        gm.compile_graph(source, path, num_nodes=options.nodes, neighbors="out")
        warm_up(path)
        with gm.Graph(path) as graph:
            bench(report, graph, peer, options)
        return report.finish(options.json)


if __name__ == "__main__":
    sys.exit(main())
