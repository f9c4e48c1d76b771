"""Loading with a tenth of the features in memory next to GraphBolt's and PyG's own loaders.

They have the same graph, features and seeds as plain arrays, and a memory limit: what each of them
needs to start and to hold its topology, two batches, and a tenth of the features. They are slow:
a batch may take minutes. A turn ends all the same, and the batch goes on in the next one; where
none was finished in all turns, the table says what the speed is less than.
"""

from __future__ import annotations

import math
import os
import sys
from typing import TYPE_CHECKING

import numpy as np

import graphmount as gm

from ..data.synthetic_dataset import COLUMNS, DEGREE, features_of
from ..harness.interleaved import Outcome, Participant, add_turn_options, run_interleaved
from ..harness.memcap import UnavailableError
from ..harness.page_cache import evict
from ..harness.scratch import require_memory, scratch_folder
from ..jobs.load_once import BATCH_SIZE, FANOUTS
from ..peers import RECIPES, find, why_missing, why_not_here
from ..peers.trial import CannotError, Trial, script_command, try_script
from ..report.plot import bars
from ..report.report import Report, argument_parser, defaults
from ..report.units import Cell, Unit, mebibytes, plain, spread_of, text
from .parts.loader_ways import (
    FAMILIES,
    MAPPED,
    cold_participants,
    make_datasets,
    speed_ways,
    try_batch,
)

if TYPE_CHECKING:
    import argparse

#: Name, and the script.
_PEERS = {
    "graphbolt": "load_graphbolt",
    "pyg": "load_pyg",
    "pyg-lib": "load_pyg",
}
_OURS = "loader, 10 %"
_PATIENCE = 2  # times the length of a turn: what a peer may use of it if no batch gets done
_COLUMNS = {
    "way": text,
    "batches/s": Unit(1, 3, "more"),
    "loader / this": Unit(1, 1),
    "disk read, MiB": mebibytes,
    "processor, ms": Unit(1e3, 0),
    "start-up, s": Unit(1, 1),
    "peak, MiB": mebibytes,
    "limit, MiB": mebibytes,
    "batches": plain,
    "turns": plain,
}


def write_inputs(path: str, source: str) -> str:
    """The dataset as plain arrays in a folder, the features moved there. Returns the folder."""
    folder = f"{path}-plain"
    os.mkdir(folder)
    ds = gm.Dataset(f"{path}-given")
    lists = ds.graph.neighbor_lists("in")
    np.save(f"{folder}/indptr.npy", lists.indptr)
    np.save(f"{folder}/indices.npy", lists.indices)
    np.save(f"{folder}/train.npy", ds.splits["train"])
    np.save(f"{folder}/fanouts.npy", np.array(FANOUTS))
    os.rename(source, f"{folder}/features.npy")
    return folder


def count_wrong(trial: Trial) -> int:
    """Rows of a batch that are not those of its nodes; all if there are more or fewer."""
    nodes, rows = trial.shown["nodes"].astype(np.int64), trial.shown["rows"]
    if rows.shape != (len(nodes), COLUMNS):
        return len(nodes)
    return int((rows != features_of(nodes)).any(axis=1).sum())


def checked_participants(
    report: Report, family: str, folder: str, *, size: int, patience: float
) -> dict[str, Participant]:
    """Loaders that are there, with rows that are right."""
    participants = {}
    for name, script in _PEERS.items():
        peer = find(name)
        if peer is None:
            report.skip(f"{family}, {name}", why_missing(name))
            continue
        command = script_command(peer, script, folder, "--batch", str(BATCH_SIZE))
        command += ["--patience", str(patience)]
        try:
            trial = try_script(command)
        except CannotError as error:
            report.skip(f"{family}, {name}", str(error))
            continue
        except RuntimeError as error:
            report.check(f"{family}, {name}: loads", False, str(error))
            continue
        wrong = count_wrong(trial)
        detail = f"{wrong:,} of {len(trial.shown['nodes']):,} wrong"
        report.check(f"{family}, {name}: all rows right", wrong == 0, detail)
        report.note(RECIPES[name].differs[-1])
        if wrong == 0:
            limit = trial.peak + size // 10 + 2 * trial.shown["rows"].nbytes
            participants[f"{name}, 10 %"] = Participant(command, limit)
    return participants


def speed_of(outcome: Outcome) -> Cell:
    """Batches a second: in each turn if each had some, else over all, or what it is less than."""
    if outcome.turns and all(turn["batches_per_second"] for turn in outcome.turns):
        return spread_of([turn["batches_per_second"] for turn in outcome.turns])
    steps, seconds = outcome.summary["steps"], outcome.summary["all_seconds"]
    return steps / seconds if steps else f"< {math.ceil(1000 / seconds) / 1000:.3f}"


def times_of(ours: Outcome, outcome: Outcome) -> Cell:
    """How many times as fast our loader is, in the same way."""
    pairs = list(zip(ours.turns, outcome.turns, strict=False))
    if pairs and all(turn["batches_per_second"] for _, turn in pairs):
        return spread_of(
            [one["batches_per_second"] / two["batches_per_second"] for one, two in pairs]
        )
    middle = spread_of([turn["batches_per_second"] for turn in ours.turns]).median
    steps, seconds = outcome.summary["steps"], outcome.summary["all_seconds"]
    return middle * seconds / steps if steps else f"> {math.floor(middle * seconds):,}"


def table_rows(
    participants: dict[str, Participant], results: dict[str, Outcome]
) -> list[dict[str, Cell]]:
    rows: list[dict[str, Cell]] = []
    for name, outcome in results.items():
        done = [turn for turn in outcome.turns if turn["batches_per_second"]]
        run, limit = outcome.run, participants[name].limit
        rows.append(
            {
                "way": name,
                "batches/s": speed_of(outcome),
                "loader / this": times_of(results[_OURS], outcome),
                "disk read, MiB": _each(done, "read_per_batch"),
                "processor, ms": _each(done, "processor_per_batch"),
                "start-up, s": outcome.summary["start_up_seconds"],
                "peak, MiB": None if run is None else run.anonymous_peak_bytes,
                "limit, MiB": limit,
                "batches": outcome.summary.get("steps"),
                "turns": len(outcome.turns),
            }
        )
    return rows


def _each(turns: list[dict[str, float]], name: str) -> Cell:
    return spread_of([turn[name] for turn in turns]) if turns else None


def bench_family(report: Report, family: str, path: str, options: argparse.Namespace) -> None:
    """All loaders in turns, from cold files.

    Raises:
        UnavailableError: There is no way to limit memory here.
    """
    source = make_datasets(path, family, 1 << options.scale)
    folder = write_inputs(path, source)
    num_rows, num_edges, size = try_batch(f"{path}-hot")
    patience = _PATIENCE * options.seconds
    participants = checked_participants(report, family, folder, size=size, patience=patience)
    evict(f"{folder}/features.npy")
    ways = speed_ways(path, size, num_rows, num_edges)
    if why := why_not_here("torch"):
        report.skip(f"{family}, mapped tensor", why)
    wanted = {name: ways[name] for name in (MAPPED, _OURS) if name in ways}
    participants |= cold_participants(wanted)
    results = run_interleaved(
        participants,
        rounds=options.rounds,
        warm_seconds=options.warm_seconds,
        seconds=options.seconds,
    )
    for name, outcome in results.items():
        run = outcome.run
        fine = run is not None and run.status == 0 and not run.oom_kills
        detail = "" if run is None else f"status {run.status}, {run.oom_kills} OOM kills"
        report.check(f"{family}, {name}: no kill", fine and bool(outcome.summary), detail)
    results = {name: outcome for name, outcome in results.items() if outcome.summary}
    if _OURS in results:
        title = f"{family}: {1 << options.scale:,} nodes, {size >> 20:,} MiB, {num_rows:,} rows"
        rows = table_rows(participants, results)
        report.table(f"{title} a batch by ours; limits with topology", _COLUMNS, rows)
        title = "Batches with memory for 10 % of the features, next to other loaders"
        report.plot(
            bars(
                title,
                rows,
                of="batches/s",
                y="batches a second",
                log=True,
                leads=True,
                ours=[_OURS],
                better="more",
            )
        )


def main() -> int:
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--scale", type=int, help="2^scale nodes (22)")
    add_turn_options(parser)
    parser.add_argument("--family", choices=list(FAMILIES), default="R-MAT")
    options = parser.parse_args()
    defaults(options, scale=(22, 16), rounds=(5, 2), seconds=(4.0, 0.5), warm_seconds=(2.0, 0.2))
    num_nodes = 1 << options.scale
    require_memory(DEGREE * 48 * num_nodes, "making the graph")
    with scratch_folder(options.folder, num_nodes * (32 * DEGREE + 16 * COLUMNS)) as folder:
        report = Report("loader_peers", options, folder)
        try:
            bench_family(report, options.family, f"{folder}/data", options)
        except UnavailableError as error:
            report.skip(options.family, str(error))
        return report.finish(options.json)


if __name__ == "__main__":
    sys.exit(main())
