"""How fast edges are looked up and negatives drawn on the mounted file, next to peers in memory.

Lookup: `np.searchsorted` over all edges, sorted, as one number each. Strict negatives: PyG's
`structured_negative_sampling` (one destination for each edge) and `negative_sampling` (pairs), on
edges in memory. The graph is R-MAT; the file is in the page cache; all take turns. Before anything
is timed, the results of both sides are checked against the edges.
"""

from __future__ import annotations

import importlib
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np

import graphmount as gm

from ..data.edge_streams import node_count, rmat_blocks
from ..harness.page_cache import warm_up
from ..harness.scratch import require_memory, scratch_folder
from ..peers import why_not_here
from ..report.plot import bars
from ..report.report import Report, argument_parser, defaults
from ..report.units import Cell, Unit, plain, ratio, spread_of, text

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from numpy.typing import NDArray

_MOUNTED, _BY_DEGREE = "the mounted file", "the mounted file, by degree"
_OURS = (_MOUNTED, _BY_DEGREE)
_DEGREE = 16
_COLUMNS = {
    "way": text,
    "ns each": Unit(1e9, 1, "less"),
    "M a second": Unit(1e-6, 2),
    "times the peer": ratio,
    "runs": plain,
}


class EdgeIndex:
    """All edges in memory, each as one number, in order."""

    def __init__(self, edges: NDArray[np.int64], num_nodes: int) -> None:
        self._num_nodes = num_nodes
        self._keys = np.unique(edges[0] * num_nodes + edges[1])

    def has_edge(
        self, sources: NDArray[np.int64], destinations: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """As `Graph.has_edge`."""
        wanted = sources * self._num_nodes + destinations
        places = np.searchsorted(self._keys, wanted)
        found: NDArray[np.bool_] = self._keys[np.minimum(places, len(self._keys) - 1)] == wanted
        return found


def compare(
    report: Report, title: str, ways: dict[str, Callable[[], object]], count: int, *, rounds: int
) -> None:
    """Times the ways in turn; the peer is the one that is not ours, if it is here."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            times[name].append((time.perf_counter() - start) / count)
    theirs = [spread_of(spent).median for name, spent in times.items() if name not in _OURS]
    rows: list[dict[str, Cell]] = [
        {
            "way": name,
            "ns each": spread_of(spent),
            "M a second": spread_of([1 / value for value in spent]),
            "times the peer": theirs[0] / spread_of(spent).median if theirs else None,
            "runs": rounds,
        }
        for name, spent in times.items()
    ]
    report.table(title, _COLUMNS, rows)
    report.plot(
        bars(
            title,
            rows,
            of="ns each",
            y="nanoseconds each",
            factor=1e9,
            log=True,
            ours=_OURS,
            better="less",
        )
    )


def bench_lookup(
    report: Report, graph: gm.Graph, edges: NDArray[np.int64], index: EdgeIndex, rounds: int
) -> None:
    """Half of the pairs are edges, the others random."""
    generator = np.random.default_rng(3)
    count = edges.shape[1] // 4
    chosen = edges[:, generator.integers(0, edges.shape[1], count)]
    pairs = np.concatenate([chosen, generator.integers(0, graph.num_nodes, (2, count))], axis=1)
    sources, destinations = np.ascontiguousarray(pairs[:, generator.permutation(2 * count)])
    agree = np.array_equal(
        graph.has_edge(sources, destinations), index.has_edge(sources, destinations)
    )
    report.check("has_edge: both ways agree", agree)
    report.check("has_edge: every edge is found", bool(graph.has_edge(*chosen).all()))
    ways: dict[str, Callable[[], object]] = {
        _MOUNTED: lambda: graph.has_edge(sources, destinations),
        "np.searchsorted": lambda: index.has_edge(sources, destinations),
    }
    compare(report, f"has_edge: {len(sources):,} pairs", ways, len(sources), rounds=rounds)


def bench_negatives(
    report: Report, graph: gm.Graph, edges: NDArray[np.int64], index: EdgeIndex, rounds: int
) -> None:
    num_nodes = graph.num_nodes
    sources = np.ascontiguousarray(edges[0])
    count = len(sources)
    structured: dict[str, Callable[[], Any]] = {}
    pairs: dict[str, Callable[[], Any]] = {}
    if why := why_not_here("torch", "torch_geometric"):
        report.skip("PyG's negatives", why)
    else:
        # Both libraries get the same edges, each in its own form.
        tensor = importlib.import_module("torch").from_numpy(edges)
        pyg = importlib.import_module("torch_geometric.utils")
        structured["PyG structured_negative_sampling"] = lambda: pyg.structured_negative_sampling(
            tensor, num_nodes, contains_neg_self_loops=False
        )
        pairs["PyG negative_sampling"] = lambda: pyg.negative_sampling(
            tensor, num_nodes, num_neg_samples=count, method="sparse"
        )
    drawn_for = {
        _MOUNTED: (sources, graph.sample_negatives(sources, strict=True, seed=1)[:, 0]),
        _BY_DEGREE: (sources, _by_degree(graph, sources)),
    }
    for name, draw in structured.items():
        kept, _, drawn = draw()
        drawn_for[name] = kept.numpy(), drawn.numpy()
    for name, (kept, drawn) in drawn_for.items():
        fine = not index.has_edge(kept, drawn).any() and bool((kept != drawn).all())
        report.check(f"one for each edge, {name}: no edge, no loop, as many as asked for", fine)
    compare(
        report,
        f"a strict negative for each of {count:,} edges, of {num_nodes:,} nodes",
        {
            _MOUNTED: lambda: graph.sample_negatives(sources, strict=True),
            _BY_DEGREE: lambda: _by_degree(graph, sources),
            **structured,
        },
        count,
        rounds=rounds,
    )
    drawn_pairs = {_MOUNTED: graph.sample_negative_pairs(count)}
    drawn_pairs |= {name: draw().numpy() for name, draw in pairs.items()}
    for name, drawn in drawn_pairs.items():
        fine = not index.has_edge(drawn[0], drawn[1]).any() and bool((drawn[0] != drawn[1]).all())
        got = f"{drawn.shape[1] / count:.1%} of what was asked for"
        report.check(f"pairs, {name}: no edge, no loop", fine, got)
    compare(
        report,
        f"{count:,} strict pairs, of {num_nodes:,} nodes",
        {_MOUNTED: lambda: graph.sample_negative_pairs(count), **pairs},
        count,
        rounds=rounds,
    )


def _by_degree(graph: gm.Graph, sources: NDArray[np.int64]) -> NDArray[np.int64]:
    return graph.sample_negatives(sources, weighting="degree", strict=True)[:, 0]


def bench(report: Report, path: str, options: argparse.Namespace) -> None:
    num_nodes = node_count(options.edges, _DEGREE)
    edges = np.concatenate(list(rmat_blocks(options.edges, num_nodes))).T.copy()
    edges = edges[:, edges[0] != edges[1]]  # PyG's numbering of pairs has no loops
    gm.compile_graph(edges, path, num_nodes=num_nodes)
    warm_up(path)
    graph = gm.Graph(path)
    index = EdgeIndex(edges, num_nodes)
    bench_lookup(report, graph, edges, index, options.rounds)
    bench_negatives(report, graph, edges, index, options.rounds)
    report.check("the file verifies", gm.verify(path).ok)


def main() -> int:
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--edges", type=int, help="edges of the graph (4 million)")
    parser.add_argument("--rounds", type=int, help="runs of each way")
    options = parser.parse_args()
    defaults(options, edges=(4_000_000, 400_000), rounds=(3, 2))
    require_memory(300 * options.edges, "drawing as many negatives")
    with scratch_folder(options.folder, 40 * options.edges) as folder:
        report = Report("negatives", options, folder)
        bench(report, f"{folder}/graph.gl", options)
        return report.finish(options.json)


if __name__ == "__main__":
    sys.exit(main())
