"""Which order of nodes lets a small cache serve most: what `compile_dataset(order=…)` is about.

Neighbor sampling is simulated for an epoch of training, and the rows that each batch needs are
counted, once in a batch. A cache of the first rows then serves the share of them that lies there.
Sampling reads lists of incoming neighbors, so the degree that counts is how often a node appears in
them: its out-degree, not its in-degree. In all graphs the two differ, in some of them much.

The oracle is a bound, not a rival: it is made of the very accesses that it is measured by, so where
most nodes are met once or never it knows what nobody can know before.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import graphmount as gm

from ..harness.scratch import require_memory, scratch_folder
from ..report.report import Report, argument_parser, defaults
from ..report.units import Cell, Unit, ratio, seconds, text

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Ids = NDArray[np.int64]

_FANOUTS = (15, 10, 5)
_SHARES = (5, 10, 25)
_COMMUNITIES = 10
_BYTES_PER_EDGE = 160  # of the source, of the compiler and of what is made on the way

percent = Unit(100, 1)


@dataclass(frozen=True)
class Case:
    """A graph, and the nodes that training starts from."""

    name: str
    src: Ids
    dst: Ids
    num_nodes: int
    seeds: dict[str, Ids]


@dataclass(frozen=True)
class Plan:
    """How training goes."""

    batch: int
    epochs: int


#: Shares of the quarters of the matrix. In the mild one, the same nodes are first in both degrees.
_QUARTERS = {"mildly": (0.57, 0.29, 0.09), "strongly": (0.45, 0.40, 0.10)}


def rmat(num_nodes: int, num_edges: int, *, skew: str, turned: bool = False) -> Case:
    """R-MAT whose sources are more skewed than its destinations, or turned round."""
    generator = np.random.default_rng(1)
    src, dst = np.zeros((2, num_edges), np.int64)
    first, second, third = np.cumsum(_QUARTERS[skew])
    for _ in range(num_nodes.bit_length() - 1):
        quarter = generator.random(num_edges, np.float32)
        src = src << 1 | (quarter >= second)
        dst = dst << 1 | ((quarter >= first) & (quarter < second)) | (quarter >= third)
    if turned:
        src, dst = dst, src
    shuffled = generator.permutation(num_nodes)
    spread = generator.permutation(num_nodes)[: num_nodes // 10]
    name = f"R-MAT, {skew} skewed {'destinations' if turned else 'sources'}"
    return Case(name, shuffled[src], shuffled[dst], num_nodes, {"spread": spread})


def communities(num_nodes: int, num_edges: int) -> Case:
    """Ten communities with four edges of five inside, some skew, and no node without edges."""
    generator = np.random.default_rng(2)
    size = num_nodes // _COMMUNITIES
    num_nodes = size * _COMMUNITIES

    def members(count: int, shuffled: Ids) -> Ids:
        # Square roots of ranks are even, so the first percent of nodes has a tenth of the edges.
        return shuffled[(size * generator.random(count) ** 2).astype(np.int64)]

    # Nodes that are popular as sources are others than those popular as destinations.
    out_ranks, in_ranks = generator.permutation(size), generator.permutation(size)
    dst_home = generator.integers(0, _COMMUNITIES, num_edges)
    elsewhere = generator.integers(0, _COMMUNITIES, num_edges)
    src_home = np.where(generator.random(num_edges) < 0.8, dst_home, elsewhere)
    src = src_home * size + members(num_edges, out_ranks)
    dst = dst_home * size + members(num_edges, in_ranks)
    # A ring through all nodes, so that every one is in a list and has one.
    src[:num_nodes] = np.arange(num_nodes)
    dst[:num_nodes] = np.roll(src[:num_nodes], 1)
    shuffled = generator.permutation(num_nodes)
    spread = generator.permutation(num_nodes)[: num_nodes // 10]
    seeds = {"spread": spread, "one community": shuffled[:size]}
    return Case("communities", shuffled[src], shuffled[dst], num_nodes, seeds)


def sample(graph: gm.Graph, nodes: Ids, fanout: int, generator: np.random.Generator) -> Ids:
    """Up to `fanout` neighbors of each node, none of them twice."""
    lists = graph.neighbor_lists("in")
    begins = lists.indptr[nodes]
    degrees = lists.indptr[nodes + 1] - begins
    is_small = degrees <= fanout
    counts = degrees[is_small]
    offsets = np.repeat(begins[is_small] - np.cumsum(counts) + counts, counts)
    few = offsets + np.arange(counts.sum())
    # Floyd's way to pick without repetition, for all long lists at once.
    begins, degrees = begins[~is_small], degrees[~is_small]
    picks = np.empty((len(begins), fanout), np.int64)
    for place in range(fanout):
        last = degrees - fanout + place
        pick = (generator.random(len(begins)) * (last + 1)).astype(np.int64)
        is_taken = (picks[:, :place] == pick[:, None]).any(axis=1)
        picks[:, place] = np.where(is_taken, last, pick)
    many = (picks + begins[:, None]).ravel()
    return np.asarray(lists.indices[np.concatenate([few, many])], np.int64)


def count_accesses(graph: gm.Graph, seeds: Ids, plan: Plan) -> Ids:
    """In how many batches each node is, as PyG's NeighborLoader would make them."""
    generator = np.random.default_rng(3)
    counts = np.zeros(graph.num_nodes, np.int64)
    for _ in range(plan.epochs):
        shuffled = generator.permutation(seeds)
        for first in range(0, len(shuffled), plan.batch):
            hop = shuffled[first : first + plan.batch]
            is_in_batch = np.zeros(graph.num_nodes, bool)
            is_in_batch[hop] = True
            for fanout in _FANOUTS:
                is_found = np.zeros(graph.num_nodes, bool)
                is_found[sample(graph, hop, fanout, generator)] = True
                hop = np.flatnonzero(is_found & ~is_in_batch)  # those that are new
                is_in_batch[hop] = True
            counts += is_in_batch
    return counts


def descending(scores: NDArray[np.int64] | NDArray[np.float64]) -> Ids:
    """Nodes by their scores, the highest first, others by their numbers."""
    return np.argsort(-scores, kind="stable")


def hot_order(case: Case, folder: str) -> Ids:
    """The order that `compile_dataset` chooses."""
    path = f"{folder}/dataset"
    edges = (case.src, case.dst)
    gm.compile_dataset(path, edges=edges, num_nodes=case.num_nodes, neighbors="in", overwrite=True)
    return np.asarray(gm.Dataset(path).to_external(np.arange(case.num_nodes)))


def bench_seeds(
    report: Report, case: Case, graph: gm.Graph, orders: dict[str, Ids], where: str, *, plan: Plan
) -> None:
    seeds = case.seeds[where]
    counts = count_accesses(graph, seeds, plan)
    start = time.perf_counter()
    probabilities = gm.expected_access(graph, seeds, _FANOUTS, batch_size=plan.batch)
    took = time.perf_counter() - start
    orders = orders | {
        "expected_access": descending(probabilities),
        "oracle (what was accessed)": descending(counts),
    }
    served = {
        name: [counts[order[: len(order) * share // 100]].sum() / counts.sum() for share in _SHARES]
        for name, order in orders.items()
    }
    best = served["oracle (what was accessed)"]
    rows: list[dict[str, Cell]] = [
        {
            "order": name,
            **{f"{share} %": float(value) for share, value in zip(_SHARES, found, strict=True)},
            "of the oracle, 10 %": float(found[1] / best[1]),
            "seconds": took if name == "expected_access" else None,
        }
        for name, found in served.items()
    ]
    columns = {"order": text} | {f"{share} %": percent for share in _SHARES}
    columns |= {"of the oracle, 10 %": ratio, "seconds": seconds}
    title = f"{case.name}, {case.num_nodes:,} nodes, {len(case.src):,} edges, seeds: {where}"
    batches = plan.epochs * -(-len(seeds) // plan.batch)
    title += f", batch {plan.batch} ({counts.sum() / batches:,.0f} rows)"
    report.table(title, columns, rows)
    what = f"{case.name}, {where}"
    is_best = all(np.less_equal(found, np.array(best) + 1e-12).all() for found in served.values())
    report.check(f"{what}: nothing serves more than the oracle", is_best)
    hot, by_in = served["hot (out-degree)"], served["in-degree"]
    detail = f"{hot[1]:.1%} and {by_in[1]:.1%} of rows from a cache of 10 %"
    report.goal(f"{what}: hot serves more than in-degree", bool(hot[1] > by_in[1]), detail)
    found = served["expected_access"]
    detail = f"{found[1]:.1%} of rows, hot {hot[1]:.1%}"
    as_much = bool(found[1] > hot[1] - 0.005)
    report.goal(f"{what}: expected_access serves as much as hot", as_much, detail)


def bench_case(report: Report, case: Case, folder: str, plan: Plan) -> None:
    path = f"{folder}/graph.gl"
    gm.compile_graph((case.src, case.dst), path, num_nodes=case.num_nodes, neighbors="in")
    graph = gm.Graph(path)
    hot = hot_order(case, folder)
    in_degrees = np.bincount(case.dst, minlength=case.num_nodes)
    out_degrees = np.bincount(case.src, minlength=case.num_nodes)
    is_hot = bool((hot == descending(out_degrees)).all())
    report.check(f"{case.name}: order='hot' is by out-degree", is_hot)
    orders = {
        "given": np.arange(case.num_nodes),
        "in-degree": descending(in_degrees),
        "hot (out-degree)": hot,
    }
    for where in case.seeds:
        bench_seeds(report, case, graph, orders, where, plan=plan)


def main() -> int:
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--scale", type=int, help="the graphs have about 2**SCALE nodes (20)")
    parser.add_argument("--degree", type=int, default=16, help="edges per node")
    parser.add_argument("--batch", type=int, help="seeds in a batch (1024)")
    parser.add_argument("--epochs", type=int, default=1, help="passes over the seeds")
    options = parser.parse_args()
    # A batch should not be most of the graph, or no order helps.
    defaults(options, scale=(20, 16), batch=(1024, 64))
    num_nodes = 1 << options.scale
    num_edges = num_nodes * options.degree
    require_memory(num_edges * _BYTES_PER_EDGE, f"a graph of {num_edges:,} edges")
    with scratch_folder(options.folder, 32 * num_edges) as folder:
        report = Report("order", options, folder)
        plan = Plan(options.batch, options.epochs)
        cases: list[Callable[[int, int], Case]] = [
            partial(rmat, skew="mildly"),
            partial(rmat, skew="strongly"),
            partial(rmat, skew="strongly", turned=True),
            communities,
        ]
        for make in cases:
            bench_case(report, make(num_nodes, num_edges), folder, plan)
        return report.finish(options.json)


if __name__ == "__main__":
    sys.exit(main())
