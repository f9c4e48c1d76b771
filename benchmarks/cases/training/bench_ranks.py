"""What several processes that train together send in a step, and what memory their caches take.

The processes are on one machine and average gradients with DDP over gloo. What each sends is what
the kernel counts for its connections; next to it is the least that is possible: to average what n
have, each must send 2 (n - 1) / n of it. Memory is proportional (PSS): what n processes share
counts one nth for each. It is measured with hot rows that are shared, and with rows of each
process's own; `memory=` is enough for the whole table.

Where Ray is installed, the same training runs under Ray Train, in turns with processes that are
started as torchrun does, and the medians are compared.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from statistics import median
from typing import TYPE_CHECKING, Any

import graphmount as gm

from ...data.synthetic_dataset import COLUMNS, DEGREE, make_dataset
from ...harness.scratch import require_memory, scratch_folder
from ...jobs import job_command
from ...peers import why_not_here
from ...report.report import Report, argument_parser, defaults
from ...report.units import Cell, Unit, mebibytes, plain, ratio

if TYPE_CHECKING:
    import argparse

_RANKS = (1, 2, 4)
_ROUNDS = 3  # with and without Ray in turns
_KIB = Unit(1 / 1024, 1, "less")
_MS = Unit(1e3, 1, "less")
_SENT = {
    "ranks": plain,
    "gradient, KiB": _KIB,
    "sent by a rank, KiB": _KIB,
    "least possible, KiB": _KIB,
    "times the least": ratio,
    "ms a step": _MS,
}
_RAY = {
    "ranks": plain,
    "alone, ms a step": _MS,
    "under Ray Train, ms a step": _MS,
    "steps a second, of those alone": ratio,
}
_MEMORY = {
    "ranks": plain,
    "table, MiB": mebibytes,
    "all ranks, each its own rows, MiB": mebibytes,
    "all ranks, shared rows, MiB": mebibytes,
    "saved, MiB": mebibytes,
    "saved, tables": ratio,
}


def job(
    name: str, path: str, num_ranks: int, options: argparse.Namespace, *, shares: bool
) -> list[str]:
    """The command of a process."""
    memory = gm.Dataset(path).features["x"].file_bytes * (num_ranks if shares else 1) * 2
    return job_command(
        name,
        path,
        *("--memory", f"{memory >> 20}MiB", "--global-batch", str(options.global_batch)),
        *("--steps", str(options.steps), "--width", str(options.width)),
    )


def run_ray(path: str, num_ranks: int, options: argparse.Namespace) -> dict[str, Any]:
    """What the ranks of one training found, under Ray Train."""
    found = subprocess.run(
        job("ray_once", path, num_ranks, options, shares=True),
        env={**os.environ, "WORLD_SIZE": str(num_ranks)},
        capture_output=True,
        check=True,
        text=True,
    )
    result: dict[str, Any] = json.loads(found.stdout.splitlines()[-1])
    return result


def seconds_of(found: dict[str, Any]) -> float:
    """Of a step, on the rank that took longest."""
    return max(float(rank["seconds"]) for rank in found["ranks"])


def bench_ray(report: Report, path: str, options: argparse.Namespace) -> None:
    alone, under_ray = [], []
    for _ in range(_ROUNDS):
        alone.append(seconds_of(run(path, 2, options, shares=True)))
        under_ray.append(seconds_of(run_ray(path, 2, options)))
    one, other = median(alone), median(under_ray)
    row: dict[str, Cell] = {
        "ranks": 2,
        "alone, ms a step": one,
        "under Ray Train, ms a step": other,
        "steps a second, of those alone": one / other,
    }
    report.table("The same training under Ray Train", _RAY, [row])


def run(path: str, num_ranks: int, options: argparse.Namespace, *, shares: bool) -> dict[str, Any]:
    """What the ranks of one training found."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    command = job("rank_once", path, num_ranks, options, shares=shares)
    processes = []
    for rank in range(num_ranks):
        variables = {
            "RANK": str(rank),
            "WORLD_SIZE": str(num_ranks),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port),
            **({"LOCAL_WORLD_SIZE": str(num_ranks)} if shares else {}),
        }
        processes.append(
            subprocess.Popen(
                command,
                env={**os.environ, **variables},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
    said = [process.communicate() for process in processes]
    for process, (_, stderr) in zip(processes, said, strict=True):
        if process.returncode != 0:
            raise RuntimeError(f"a rank ended with {process.returncode}: {stderr[-1000:]}")
    result: dict[str, Any] = json.loads(said[0][0])
    return result


def bench(report: Report, path: str, options: argparse.Namespace) -> None:
    table = gm.Dataset(path).features["x"].file_bytes
    sent: list[dict[str, Cell]] = []
    memory: list[dict[str, Cell]] = []
    least_ok = True
    for num_ranks in _RANKS:
        found = run(path, num_ranks, options, shares=False)
        least = 2 * (num_ranks - 1) / num_ranks * found["gradient"]
        each = max(rank["sent"] for rank in found["ranks"])
        least_ok &= each >= least
        sent.append(
            {
                "ranks": num_ranks,
                "gradient, KiB": found["gradient"],
                "sent by a rank, KiB": each,
                "least possible, KiB": least,
                "times the least": each / least if least else None,
                "ms a step": seconds_of(found),
            }
        )
        if num_ranks == 1:
            continue
        own = sum(rank["memory"]["Pss"] for rank in found["ranks"])
        together = run(path, num_ranks, options, shares=True)["ranks"]
        shared = sum(rank["memory"]["Pss"] for rank in together)
        rows = sum(rank["memory"]["Pss_Shmem"] for rank in together)
        report.check(
            f"{num_ranks} ranks have one cache in shared memory",
            all(rank["shared"] > 0 for rank in together) and rows < 1.1 * table,
        )
        memory.append(
            {
                "ranks": num_ranks,
                "table, MiB": table,
                "all ranks, each its own rows, MiB": own,
                "all ranks, shared rows, MiB": shared,
                "saved, MiB": own - shared,
                "saved, tables": (own - shared) / table,
            }
        )
    report.check("no rank sends less than is possible", least_ok)
    report.table("Sent in a step, by the rank that sends most", _SENT, sent)
    report.table("Memory of all ranks together (PSS)", _MEMORY, memory)


def main() -> int:
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--scale", type=int, help="2^scale nodes (18)")
    parser.add_argument("--steps", type=int, help="steps of a run")
    parser.add_argument("--global-batch", type=int, help="seeds of all ranks (1,024)")
    parser.add_argument("--width", type=int, help="of the layer between, for its gradient")
    options = parser.parse_args()
    defaults(options, scale=(18, 14), steps=(200, 5), global_batch=(1024, 256), width=(512, 512))
    num_nodes = 1 << options.scale
    require_memory(num_nodes * DEGREE * 48, "making the graph")
    with scratch_folder(options.folder, num_nodes * (12 * DEGREE + 8 * COLUMNS)) as folder:
        report = Report("ranks", options, folder)
        if why := why_not_here("torch"):
            report.skip("training", why)
            return report.finish(options.json)
        made = make_dataset(f"{folder}/data", num_nodes, train=1 / 4)
        bench(report, made.path, options)
        if why := why_not_here("ray"):
            report.skip("Ray Train", why)
        else:
            bench_ray(report, made.path, options)
        return report.finish(options.json)


if __name__ == "__main__":
    sys.exit(main())
