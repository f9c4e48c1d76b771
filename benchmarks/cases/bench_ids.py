"""How fast external ids are translated on the mounted file, next to an index in memory.

The peers are what one writes with NumPy and Python: for integers, `searchsorted` on sorted ids one
way and an array the other; for strings, a dict and a list. Ids and nodes are random; the file is in
the page cache; all take turns. Memory is what making an index, or asking the mounted file, adds to
the process for good (answers not counted).
"""

from __future__ import annotations

import gc
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np

import graphmount as gm

from ..harness.page_cache import warm_up
from ..harness.process_counters import process_memory
from ..harness.scratch import require_memory, scratch_folder
from ..report.report import Report, argument_parser, defaults
from ..report.units import Cell, Unit, mebibytes, plain, ratio, spread_of, text

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from numpy.typing import NDArray

_MOUNTED = "the mounted file"
_COLUMNS = {
    "way": text,
    "ns each": Unit(1e9, 1, "less"),
    "M a second": Unit(1e-6, 2),
    "times the peer": ratio,
    "memory added, MiB": mebibytes,
    "runs": plain,
}


def _anonymous() -> int:
    gc.collect()
    return process_memory()["anonymous"]


class Ways:
    """The mounted graph and its peer, each with what it adds to the memory of the process."""

    def __init__(self, path: str, name: str, make_peer: Callable[[], dict[str, Any]]) -> None:
        before = _anonymous()
        self.peer_name = name
        self.peer = make_peer()
        self.peer_memory = _anonymous() - before
        before = _anonymous()
        self.graph = gm.Graph(path)
        warm_up(path)
        everything = np.arange(self.graph.num_nodes)
        self.graph.to_internal(self.graph.to_external(everything))  # maps every page
        del everything
        self.memory = _anonymous() - before

    def compare(self, report: Report, way: str, query: Any, *, rounds: int) -> Any:  # noqa: ANN401
        """Times both with the same query, in turns; returns the answer of the mounted file."""
        jobs: dict[str, Callable[[Any], Any]] = {
            _MOUNTED: getattr(self.graph, way),
            self.peer_name: self.peer[way],
        }
        times: dict[str, list[float]] = {name: [] for name in jobs}
        answers: dict[str, Any] = {}
        for _ in range(rounds):
            for name, job in jobs.items():
                answers.pop(name, None)
                start = time.perf_counter()
                answers[name] = job(query)
                times[name].append((time.perf_counter() - start) / len(query))
        best = spread_of(times[self.peer_name]).median
        rows: list[dict[str, Cell]] = [
            {
                "way": name,
                "ns each": spread_of(spent),
                "M a second": spread_of([1 / value for value in spent]),
                "times the peer": best / spread_of(spent).median,
                "memory added, MiB": self.memory if name == _MOUNTED else self.peer_memory,
                "runs": rounds,
            }
            for name, spent in times.items()
        ]
        kind = "strings" if self.graph.node_id_type is str else "integers"
        nodes = self.graph.num_nodes
        title = f"{way}: {len(query):,} of {nodes:,} nodes, ids are {kind}"
        report.table(title, _COLUMNS, rows)
        is_same = bool(np.all(np.asarray(answers[_MOUNTED]) == np.asarray(answers[self.peer_name])))
        report.check(f"{title}: both ways agree", is_same)
        return answers[_MOUNTED]


def random_numbers(count: int) -> NDArray[np.int64]:
    """Different integers of all sizes, in no order."""
    # An odd factor makes a permutation of all int64.
    return np.arange(count, dtype=np.int64) * np.int64(-7046029254386353131)


def sorted_index(keys: NDArray[np.int64]) -> dict[str, Any]:
    order = np.argsort(keys)
    ordered = keys[order]
    return {
        "to_internal": lambda query: order[np.searchsorted(ordered, query)],
        "to_external": keys.__getitem__,
    }


def dictionary(names: list[str]) -> dict[str, Any]:
    # Strings of its own: those of `names` are the source's.
    ways = {name.encode().decode(): node for node, name in enumerate(names)}
    back = list(ways)
    return {
        "to_internal": lambda query: np.array([ways[name] for name in query]),
        "to_external": lambda query: [back[node] for node in query.tolist()],
    }


def bench_numbers(report: Report, path: str, options: argparse.Namespace) -> None:
    keys = random_numbers(options.nodes)
    gm.compile_graph(([0], [1]), path, node_ids=keys)
    ways = Ways(path, "np.searchsorted, array", lambda: sorted_index(keys))
    bench(report, ways, [options.asked // 10, options.asked], options.rounds)
    report.check("the file with integers verifies", gm.verify(path).ok)


def bench_names(report: Report, path: str, options: argparse.Namespace) -> None:
    names = [f"user-{number}" for number in random_numbers(options.names).tolist()]
    gm.compile_graph(([0], [1]), path, node_ids=names)
    ways = Ways(path, "dict, list", lambda: dictionary(names))
    bench(report, ways, [options.names], options.rounds)
    report.check("the file with strings verifies", gm.verify(path).ok)


def bench(report: Report, ways: Ways, counts: list[int], rounds: int) -> None:
    generator = np.random.default_rng(2)
    for count in counts:
        nodes = generator.integers(0, ways.graph.num_nodes, count)
        keys = ways.compare(report, "to_external", nodes, rounds=rounds)
        ways.compare(report, "to_internal", keys, rounds=rounds)


def main() -> int:
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--nodes", type=int, help="nodes with integer ids (10 million)")
    parser.add_argument("--names", type=int, help="nodes with strings for ids (1 million)")
    parser.add_argument("--asked", type=int, help="the most ids asked for at a time (10 million)")
    parser.add_argument("--rounds", type=int, help="runs of each way")
    options = parser.parse_args()
    defaults(
        options,
        nodes=(10_000_000, 1_000_000),
        names=(1_000_000, 100_000),
        asked=(10_000_000, 1_000_000),
        rounds=(5, 3),
    )
    needed = 32 * options.nodes + 64 * options.names
    require_memory(4 * needed + 64 * options.asked, "translating as many ids")
    with scratch_folder(options.folder, needed) as folder:
        report = Report("ids", options, folder)
        bench_numbers(report, f"{folder}/numbers.gl", options)
        bench_names(report, f"{folder}/names.gl", options)
        return report.finish(options.json)


if __name__ == "__main__":
    sys.exit(main())
