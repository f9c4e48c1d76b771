"""How fast edges are looked up and negatives drawn on the mounted file, next to peers in memory.

Lookup: `np.searchsorted` over all edges, sorted, as one number each. Strict negatives: PyG's
`structured_negative_sampling` (one destination for each edge) and `negative_sampling` (pairs), on
edges in memory. The graph is R-MAT; the file is in the page cache; all take turns. Before anything
is timed, the results of both sides are checked against the edges.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np

import graphmount as gm

from ..data.edge_streams import node_count, rmat_blocks
from ..harness.page_cache import warm_up
from ..harness.scratch import require_memory, scratch_folder
from ..report.plot import bars
from ..report.report import Report, argument_parser, defaults
from ..report.units import Cell, Unit, plain, ratio, spread_of, text

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from numpy.typing import NDArray

_MOUNTED = "the mounted file"
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
    """Times the ways in turn; the peer is the last of them."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            times[name].append((time.perf_counter() - start) / count)
    peer = spread_of(list(times.values())[-1]).median
    rows: list[dict[str, Cell]] = [
        {
            "way": name,
            "ns each": spread_of(spent),
            "M a second": spread_of([1 / value for value in spent]),
            "times the peer": peer / spread_of(spent).median,
            "runs": rounds,
        }
        for name, spent in times.items()
    ]
    report.table(title, _COLUMNS, rows)
    report.plot(bars(title, rows, of="ns each", y="ns each", factor=1e9, log=True))


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
    peers = _peers(report)
    if peers is None:
        return
    torch, pyg = peers
    num_nodes = graph.num_nodes
    # Both ways get the same edges, each in its own form.
    tensor = torch.from_numpy(edges)
    sources = np.ascontiguousarray(edges[0])
    count = len(sources)

    def structured() -> Any:  # noqa: ANN401
        return pyg.structured_negative_sampling(tensor, num_nodes, contains_neg_self_loops=False)

    def pairs() -> Any:  # noqa: ANN401
        return pyg.negative_sampling(tensor, num_nodes, num_neg_samples=count, method="sparse")

    ours = graph.sample_negatives(sources, strict=True, seed=1)[:, 0]
    theirs = structured()
    for name, kept, drawn in (
        (_MOUNTED, sources, ours),
        ("PyG", theirs[0].numpy(), theirs[2].numpy()),
        ("mounted, by degree", sources, _by_degree(graph, sources)),
    ):
        fine = not index.has_edge(kept, drawn).any() and bool((kept != drawn).all())
        report.check(f"one for each edge, {name}: no edge, no loop, as many as asked for", fine)
    compare(
        report,
        f"a strict negative for each of {count:,} edges, of {num_nodes:,} nodes",
        {
            _MOUNTED: lambda: graph.sample_negatives(sources, strict=True),
            "the mounted file, by degree": lambda: _by_degree(graph, sources),
            "PyG structured_negative_sampling": structured,
        },
        count,
        rounds=rounds,
    )
    for name, drawn in ((_MOUNTED, graph.sample_negative_pairs(count)), ("PyG", pairs().numpy())):
        fine = not index.has_edge(drawn[0], drawn[1]).any() and bool((drawn[0] != drawn[1]).all())
        got = f"{drawn.shape[1] / count:.1%} of what was asked for"
        report.check(f"pairs, {name}: no edge, no loop", fine, got)
    compare(
        report,
        f"{count:,} strict pairs, of {num_nodes:,} nodes",
        {_MOUNTED: lambda: graph.sample_negative_pairs(count), "PyG negative_sampling": pairs},
        count,
        rounds=rounds,
    )


def _by_degree(graph: gm.Graph, sources: NDArray[np.int64]) -> NDArray[np.int64]:
    return graph.sample_negatives(sources, weighting="degree", strict=True)[:, 0]


def _peers(report: Report) -> tuple[Any, Any] | None:
    for name in ("torch", "torch_geometric"):
        if importlib.util.find_spec(name) is None:
            report.skip("negatives", f"{name} is not installed")
            return None
    return importlib.import_module("torch"), importlib.import_module("torch_geometric.utils")


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
