"""Sampling in memory next to GraphBolt and PyG: the same graph, the same seeds, in turns.

Every library is a process of its own, in the environment it has. One sample of each is checked
against the graph first. GraphBolt samples from more nodes than we and PyG do, so its edges a second
are the fair figure; of PyG, and of us, the number of edges must agree.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import graphmount as gm

from ...data.edge_streams import node_count, rmat_blocks
from ...harness.interleaved import Outcome, Participant, run_interleaved
from ...peers import RECIPES, Peer, find, why_missing
from ...peers.contract import Hop, Lists, problems_of
from ...peers.trial import CannotError, Trial, script_command, try_script
from ...report.plot import bars
from ...report.units import Cell, Unit, plain, ratio, spread_of, text

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from ...peers.contract import Expands
    from ...report.report import Report

FANOUTS = (15, 10, 5)
OURS = "graphmount"
_BATCH, _BATCHES = 1024, 64
_AGREE = 0.02


@dataclass(frozen=True)
class Way:
    """How samples are taken.

    Attributes:
        name: Of the peer.
        script: That runs it.
        expands: Which nodes it samples from at each hop.
        threads: How many, if not as many as it wants.
    """

    name: str
    script: str
    expands: Expands = "new"
    threads: int | None = None

    @property
    def title(self) -> str:
        """What the table calls it."""
        return self.name if self.threads is None else f"{self.name}, {self.threads} thread"


_WAYS = (
    Way(OURS, "sample_graphmount"),
    Way("graphbolt", "sample_graphbolt", "all"),
    # It may be the faster for it: its threads wait for each other.
    Way("graphbolt", "sample_graphbolt", "all", threads=1),
    Way("pyg", "sample_pyg"),
    Way("pyg-lib", "sample_pyg"),
)
_COLUMNS = {
    "library": text,
    "ms a sample": Unit(1e3, 2, "less"),
    "edges a sample": plain,
    "M edges/s": Unit(1e-6, 1, "more"),
    "ours / this, samples/s": ratio,
    "ours / this, edges/s": ratio,
    "processor, ms": Unit(1e3, 1),
    "turns": plain,
}


def write_inputs(folder: str, edges: int) -> Lists:
    """The graph as ours and as plain arrays, and the seeds, for all."""
    num_nodes = node_count(edges, 16)
    pairs = np.concatenate(list(rmat_blocks(edges, num_nodes)))
    gm.compile_graph(
        pairs.T, f"{folder}/graph.gl", neighbors="in", num_nodes=num_nodes, memory="8GiB"
    )
    del pairs
    with gm.Graph(f"{folder}/graph.gl") as graph:
        views = graph.neighbor_lists("in")
        lists = Lists(np.array(views.indptr), np.array(views.indices))
        del views
    np.save(f"{folder}/indptr.npy", lists.indptr)
    np.save(f"{folder}/indices.npy", lists.indices)
    generator = np.random.default_rng(1)
    batch = min(_BATCH, num_nodes)
    seeds = [generator.permutation(num_nodes)[:batch] for _ in range(_BATCHES)]
    np.save(f"{folder}/seeds.npy", np.stack(seeds))
    np.save(f"{folder}/fanouts.npy", np.array(FANOUTS))
    return lists


def hops_of(trial: Trial) -> list[Hop]:
    return [
        Hop(trial.shown[f"nodes{hop}"], trial.shown[f"neighbors{hop}"])
        for hop in range(len(FANOUTS))
    ]


def checked_participants(report: Report, folder: str, lists: Lists) -> dict[Way, Participant]:
    """All libraries that are there and keep the contract; the report says what of the others."""
    seeds = np.load(f"{folder}/seeds.npy")[0]
    participants: dict[Way, Participant] = {}
    for way in _WAYS:
        peer = Peer(OURS, sys.executable) if way.name == OURS else find(way.name)
        if peer is None:
            report.skip(way.title, why_missing(way.name))
            continue
        command = script_command(peer, way.script, folder)
        command += [] if way.threads is None else ["--threads", str(way.threads)]
        try:
            hops = hops_of(try_script(command))
        except CannotError as error:
            report.skip(way.title, str(error))
            continue
        except RuntimeError as error:
            report.check(f"{way.title}: samples", False, str(error))
            continue
        problems = problems_of(lists, seeds, FANOUTS, hops, way.expands)
        what = f"{way.title}: true edges, min(degree, fanout) of each node, none twice"
        detail = "; ".join(problems) or " + ".join(f"{len(hop.nodes):,}" for hop in hops)
        report.check(what, not problems, detail)
        if not problems:
            participants[way] = Participant(command, None)
    return participants


def check_counts(report: Report, ways: Iterable[Way], results: dict[str, Outcome]) -> None:
    """Where the contracts agree, so must the numbers of edges."""
    ours = results[OURS].summary["edges_per_batch"]
    for way in ways:
        if way.name == OURS or way.title not in results:
            continue
        theirs = results[way.title].summary["edges_per_batch"]
        detail = f"{theirs:,.0f} a sample, ours {ours:,.0f}"
        if way.expands == "new":
            agrees = abs(theirs / ours - 1) <= _AGREE
            report.check(f"{way.title}: as many edges as ours, within 2 %", agrees, detail)
        else:
            report.check(f"{way.title}: no fewer edges than ours", theirs >= ours, detail)


def table_rows(results: dict[str, Outcome]) -> list[dict[str, Cell]]:
    rows: list[dict[str, Cell]] = []
    ours = results[OURS]
    for name, outcome in results.items():
        pairs = list(zip(ours.turns, outcome.turns, strict=False))
        speeds = [turn["batches_per_second"] for turn in outcome.turns]
        edges = [turn["edges_per_batch"] for turn in outcome.turns]
        by_edges = [edges_per_second(one) / edges_per_second(two) for one, two in pairs]
        by_samples = [one["batches_per_second"] / two["batches_per_second"] for one, two in pairs]
        rows.append(
            {
                "library": name,
                "ms a sample": spread_of([1 / speed for speed in speeds]),
                "edges a sample": spread_of(edges).median,
                "M edges/s": spread_of([edges_per_second(turn) for turn in outcome.turns]),
                "ours / this, samples/s": spread_of(by_samples),
                "ours / this, edges/s": spread_of(by_edges),
                "processor, ms": spread_of([turn["processor_per_batch"] for turn in outcome.turns]),
                "turns": len(outcome.turns),
            }
        )
    return rows


def edges_per_second(turn: dict[str, float]) -> float:
    return turn["batches_per_second"] * turn["edges_per_batch"]


def bench_peers(report: Report, folder: str, options: argparse.Namespace) -> None:
    """Samples of 1,024 seeds by everybody."""
    lists = write_inputs(folder, options.edges)
    participants = checked_participants(report, folder, lists)
    if not any(way.name == OURS for way in participants):
        return
    for name in dict.fromkeys(way.name for way in participants if way.name != OURS):
        report.note(RECIPES[name].differs[0])
    num_nodes = len(lists.indptr) - 1
    del lists
    results = run_interleaved(
        {way.title: participant for way, participant in participants.items()},
        rounds=options.rounds,
        warm_seconds=options.turn / 2,
        seconds=options.turn,
    )
    for name, outcome in results.items():
        fine = outcome.run is not None and outcome.run.status == 0
        report.check(f"{name}: took its turns", fine and bool(outcome.turns))
    results = {name: outcome for name, outcome in results.items() if outcome.turns}
    check_counts(report, participants, results)
    title = f"1,024 seeds, fanouts [15, 10, 5], {num_nodes:,} nodes and {options.edges:,} edges"
    rows = table_rows(results)
    report.table(title, _COLUMNS, rows)
    title = "Three hops next to other libraries"
    report.plot(
        bars(
            title,
            rows,
            of="M edges/s",
            y="million edges a second",
            factor=1e-6,
            leads=True,
            ours=[OURS],
            better="more",
        )
    )
