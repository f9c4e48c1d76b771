"""Training on a dataset of the shape of MAG240M with little memory: GraphSAGE and R-GAT of PyG.

A part of MAG240M (`--fraction`; benchmarks/data/mag_data.py) is compiled, or one that is there is
taken (`--dataset`). Each model trains on some batches of 256 seeds, fanouts 10 and 5, in a control
group that is limited, page cache included, to a fifth of the dataset, and what torch and the
batches under way take. Both are found out and said before. The loader has `memory=` for a tenth of
the rows.

Then the loader and loops that index a mapped tensor take the same batches, without a model, each
limited to a tenth of the rows, and what the topology, the process and its batches take. The loops
have the rows in the order of the source, as one has them without graphmount. One leaves it to the
system what to read around a row, as is usual; the other says that reads are random. A batch of the
first may take many seconds, so it has fewer of them (`--plain`).

Last, a dataset of one type and one relation is loaded next to the same data as a dataset of one
kind, in turns.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import graphmount as gm

from ...data.mag_data import COLUMNS, TOPICS, Shape, rows_of
from ...harness.cold_runs import run_cold
from ...harness.memcap import UnavailableError
from ...harness.page_cache import evict
from ...harness.scratch import require_memory, scratch_folder
from ...jobs import job_command
from ...jobs.kinds_train_once import BATCH_SIZE, FANOUTS, WAYS
from ...peers import why_not_here
from ...report.report import Report, argument_parser, defaults
from ...report.units import Cell, Unit, faster, mebibytes, plain, spread_of, text
from .batch_memory import BatchMemory
from .one_kind import bench_one_kind, one_kind_bytes

if TYPE_CHECKING:
    import argparse

    from ...harness.memcap import CappedRun

_MODELS = ("GraphSAGE", "R-GAT")
_SHARE, _ROWS_SHARE = 5, 10  # of the dataset for the limit, and of the rows for `memory=`
_COMPILE_MEMORY, _COMPILE_LIMIT = 2 << 30, 3 << 30
_TRAINING = {
    "model": text,
    "ended": text,
    "batches": plain,
    "batches/s": Unit(1, 2, "more"),
    "rows a batch": plain,
    "read a batch, MiB": mebibytes,
    "from cache, %": Unit(100, 1),
    "loss at first": Unit(1, 2),
    "loss at last": Unit(1, 2),
    "anonymous peak, MiB": mebibytes,
    "promised, MiB": mebibytes,
    "limit, MiB": mebibytes,
}
_SPEED = {
    "way": text,
    "batches": plain,
    "batches/s": Unit(1, 2, "more"),
    "times the mapped tensor": faster,
    "read a batch, MiB": mebibytes,
    "anonymous peak, MiB": mebibytes,
    "limit, MiB": mebibytes,
    "runs": plain,
}


def run_job(report: Report, name: str, path: str, limit: int, *told: str) -> tuple[Any, CappedRun]:
    """What a process within a limit, from cold files, found; nothing if it failed."""
    files = [str(file) for file in Path(path).rglob("*.g[ld]")]
    run = run_cold(job_command("kinds_train_once", path, *told), limit, *files)
    fine = run.status == 0 and not run.oom_kills
    report.check(f"{name}: ends", fine, f"status {run.status}, {run.oom_kills} OOM kills")
    return (json.loads(run.stdout) if fine else {}), run


def bench_training(report: Report, path: str, needs: BatchMemory, batches: int) -> None:
    """Each model, in a fifth of the memory."""
    memory = needs.row_file // _ROWS_SHARE
    limit = needs.dataset // _SHARE + needs.training
    promised = memory + needs.training
    report.note(
        f"The dataset has {needs.dataset / 2**20:,.0f} MiB, of which a {_SHARE}th is "
        f"{needs.dataset / _SHARE / 2**20:,.0f}. {needs.explained} Together the limit is "
        f"{limit / 2**20:,.0f} MiB. With memory= of {memory / 2**20:,.0f} MiB, anonymous memory is "
        f"promised to stay within {promised / 2**20:,.0f} MiB."
    )
    rows: list[dict[str, Cell]] = []
    for model in _MODELS:
        told = ("--model", model, "--batches", str(batches), "--memory", str(memory))
        found, run = run_job(report, model, path, limit, *told)
        peak = run.anonymous_peak_bytes or 0
        rows.append(
            {
                "model": model,
                "ended": "fine" if found else f"{run.oom_kills} OOM kills, status {run.status}",
                "batches": found.get("batches"),
                "batches/s": found.get("batches_per_second"),
                "rows a batch": found.get("rows_per_batch"),
                "read a batch, MiB": found.get("read_per_batch"),
                "from cache, %": found.get("hit_rate"),
                "loss at first": found.get("first_loss"),
                "loss at last": found.get("last_loss"),
                "anonymous peak, MiB": peak,
                "promised, MiB": promised,
                "limit, MiB": limit,
            }
        )
        if found:
            learned = found["last_loss"] < found["first_loss"]
            report.check(f"{model}: the loss falls", learned or batches < 100)
            report.check(
                f"{model}: anonymous memory is within the promise",
                peak <= promised,
                f"{peak / 2**20:,.0f} of {promised / 2**20:,.0f} MiB",
            )
    report.table("Training in a fifth of the memory", _TRAINING, rows)


def write_rows(path: str, num_papers: int) -> None:
    """The rows of the source as an `.npy`, piece by piece."""
    rows = np.lib.format.open_memmap(path, "w+", np.float16, (num_papers, COLUMNS))
    first = 0
    for piece in rows_of(np.resize(np.arange(TOPICS, dtype=np.int16), num_papers)):
        rows[first : first + len(piece)] = piece
        first += len(piece)
    rows.flush()


def bench_speed(
    report: Report, path: str, folder: str, needs: BatchMemory, options: argparse.Namespace
) -> None:
    """The loader and the mapped tensors, in turns; each run begins with files that are cold."""
    memory = needs.row_file // _ROWS_SHARE
    source = os.path.join(folder, "rows.npy")
    ds: Any = gm.Dataset(path)
    # Past the page cache where that can be had, so that memory= is all that there is for rows.
    reader = "uring" if "uring" in ds.nodes["paper"].features["x"].readers else "auto"
    write_rows(source, ds.nodes["paper"].num_nodes)
    del ds  # files that are mapped cannot be evicted
    by_hand = memory + needs.topology + needs.by_hand
    ways: dict[str, tuple[int, tuple[str, ...]]] = dict(
        zip(
            WAYS,
            (
                (
                    memory + needs.topology + needs.loader,
                    ("--memory", str(memory), "--reader", reader),
                ),
                (by_hand, ("--source", source)),
                (by_hand, ("--source", source)),
            ),
            strict=True,
        )
    )
    plain_warm = min(options.warm, options.plain)
    counts = dict.fromkeys(ways, (options.warm, options.timed))
    counts[WAYS[1]] = (plain_warm, options.plain)
    found: dict[str, list[Any]] = {way: [] for way in ways}
    runs: dict[str, list[CappedRun]] = {way: [] for way in ways}
    for number in range(options.rounds):
        for way in WAYS if number % 2 else WAYS[::-1]:
            limit, told = ways[way]
            evict(source)
            warm, timed = counts[way]
            count = ("--batches", str(warm + timed), "--warm", str(warm))
            result, run = run_job(report, way, path, limit, "--way", way, *told, *count)
            if not result:
                return
            found[way].append(result)
            runs[way].append(run)
    for what in ("nodes_digest", "rows_digest"):
        digests = {result[what] for way in ways for result in found[way]}
        report.check(f"all take the same batches: {what[:5]}", len(digests) == 1)
    speeds = {way: [result["batches_per_second"] for result in found[way]] for way in ways}
    times = {
        way: spread_of([a / b for a, b in zip(speeds[way], speeds[WAYS[1]], strict=True)])
        for way in ways
    }
    report.table(
        f"Batches of {BATCH_SIZE} seeds, fanouts {FANOUTS}, with memory for "
        f"{100 // _ROWS_SHARE} % of the rows",
        _SPEED,
        [
            {
                "way": way,
                "batches": counts[way][1],
                "batches/s": spread_of(speeds[way]),
                "times the mapped tensor": times[way],
                "read a batch, MiB": spread_of([one["read_per_batch"] for one in found[way]]),
                "anonymous peak, MiB": max(run.anonymous_peak_bytes or 0 for run in runs[way]),
                "limit, MiB": ways[way][0],
                "runs": options.rounds,
            }
            for way in ways
        ],
    )
    report.goal(
        "the loader is at least 10 times as fast as the mapped tensor",
        times[WAYS[0]].median >= 10,
        f"{times[WAYS[0]].median:.1f} times",
    )


def compiled(report: Report, folder: str, options: argparse.Namespace) -> str | None:
    """The path of the dataset, compiled within a limit unless there is one."""
    if options.dataset is not None:
        return str(options.dataset)
    path = os.path.join(folder, "mag")
    told = ["--nodes", str(options.fraction), "--edges", str(options.fraction), "--rows"]
    command = job_command("kinds_once", path, *told, "--memory", str(_COMPILE_MEMORY))
    run = run_cold(command, _COMPILE_LIMIT)
    report.check("the dataset is compiled", run.status == 0, f"status {run.status}")
    return path if run.status == 0 else None


def main() -> int:
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--fraction", type=float, help="of nodes and edges (0.05: 8.7 GiB of rows)")
    parser.add_argument("--dataset", metavar="DIR", help="what kinds_compile --keep has left")
    parser.add_argument("--batches", type=int, help="to train on (200)")
    parser.add_argument("--warm", type=int, help="batches before those that are timed (10)")
    parser.add_argument("--timed", type=int, help="batches that are timed, without a model (20)")
    parser.add_argument("--plain", type=int, help="the same, of the mapped tensor as it is (3)")
    parser.add_argument("--rounds", type=int, help="runs of the loader and the mapped tensor (3)")
    parser.add_argument("--nodes", type=int, help="of the dataset of one kind (1 million)")
    parser.add_argument("--turns", type=int, help="of loading it, each way (21)")
    options = parser.parse_args()
    defaults(options, fraction=(0.05, 0.0005), batches=(200, 3), warm=(10, 1), timed=(20, 2))
    defaults(options, plain=(3, 2), rounds=(3, 1), nodes=(1_000_000, 20_000), turns=(21, 2))
    shape = Shape(options.fraction, options.fraction, has_rows=True)
    needed = one_kind_bytes(options.nodes) + shape.row_bytes
    needed += 0 if options.dataset else shape.disk_bytes
    require_memory(one_kind_bytes(options.nodes), "making the dataset of one kind")
    with scratch_folder(options.folder, needed) as folder:
        report = Report("kinds_train", options, folder)
        bench_one_kind(report, folder, options)
        if why := why_not_here("torch", "torch_geometric", "pyarrow"):
            report.skip("the shape of MAG240M", why)
            return report.finish(options.json)
        try:
            path = compiled(report, folder, options)
            if path is not None:
                needs = BatchMemory.of(path, COLUMNS)
                bench_training(report, path, needs, options.batches)
                bench_speed(report, path, folder, needs, options)
        except UnavailableError as error:
            report.skip("the shape of MAG240M", str(error))
        return report.finish(options.json)


if __name__ == "__main__":
    sys.exit(main())
