"""Runs `compile_job` in processes of their own, in turns, and watches their memory."""

from __future__ import annotations

import json
import os
import random
import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from ...harness.memcap import run_capped
from ...jobs import job_command
from ...jobs.compile_job import TOOLS
from ...peers import why_not_here
from ...report.units import Cell, Unit, mebibytes, plain, ratio, seconds, spread_of, text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ...report.report import Report


#: What one run of a job was: "seconds", "anonymous", "disk_read" and more.
Run = dict[str, float]

_SAMPLE_SECONDS = 0.01


def installed(report: Report, tools: Sequence[str]) -> list[str]:
    """Those of the tools that are here; the report says which are not."""
    found = []
    for tool in tools:
        if why := why_not_here(TOOLS[tool][1]):
            report.skip(tool, why)
        else:
            found.append(tool)
    return found


def run_job(tool: str, source: str, *arguments: str) -> Run:
    """One run, with the most anonymous memory that the process was seen to have.

    Raises:
        RuntimeError: It failed; with the end of what it said.
    """
    command = job_command("compile_job", tool, source, *arguments)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    peak = _AnonymousPeak(process.pid)
    stdout, stderr = process.communicate()
    anonymous = peak.stop()
    if process.returncode != 0:
        raise RuntimeError(f"{tool} ended with status {process.returncode}: {stderr[-1000:]}")
    return {**json.loads(stdout), "anonymous": anonymous}


def run_capped_job(cap: int, tool: str, source: str, *arguments: str) -> Run:
    """One run within a memory limit, from a cold page cache.

    Raises:
        RuntimeError: It failed, or was killed for want of memory.
        memcap.UnavailableError: There is no way to limit memory here.
    """
    command = job_command("compile_job", tool, source, *arguments)
    run = run_capped(command, cap, keep_stdout=True)
    if run.status != 0 or run.oom_kills:
        raise RuntimeError(f"{tool} ended with status {run.status}, {run.oom_kills} OOM kills")
    return {
        **json.loads(run.stdout),
        "anonymous": run.anonymous_peak_bytes or 0,
        "limit_hits": run.limit_hits or 0,
    }


class _AnonymousPeak:
    """Looks at a process every 10 ms: the peak that the kernel keeps counts file pages as well."""

    def __init__(self, process: int) -> None:
        self._status = Path(f"/proc/{process}/status")
        self._peak = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._done.wait(_SAMPLE_SECONDS):
            try:
                lines = self._status.read_text().splitlines()
            except OSError:
                return
            kibibytes = sum(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))
            self._peak = max(self._peak, 1024 * kibibytes)

    def stop(self) -> int:
        self._done.set()
        self._thread.join()
        return self._peak


def take_turns(
    jobs: Mapping[str, Callable[[], Run]], rounds: int, *, before: Callable[[], None], out: str
) -> dict[str, list[Run]]:
    """Runs of all jobs, in a new order in each round; what they write to `out` is removed."""
    runs: dict[str, list[Run]] = {name: [] for name in jobs}
    order = list(jobs)
    shuffler = random.Random(0)
    for _ in range(rounds):
        shuffler.shuffle(order)
        for name in order:
            before()
            runs[name].append(jobs[name]())
            if os.path.exists(out):
                os.unlink(out)
            os.sync()  # nobody pays for another's writing
    return runs


#: Of the cells that `cells_of` makes.
COLUMNS: dict[str, Unit] = {
    "way": text,
    "seconds": seconds,
    "MB/s": Unit(1e-6, 0, "more"),
    "times ours": ratio,
    "processor s": seconds,
    "anonymous MiB": mebibytes,
    "disk read MiB": mebibytes,
    "written MiB": mebibytes,
    "runs": plain,
}


def cells_of(way: str, runs: Sequence[Run], ours: Sequence[Run], size: int) -> dict[str, Cell]:
    """A line of a table: `size` bytes of source, and times as multiples of ours, round by round.

    Anonymous memory is the most of all runs.
    """
    return {
        "way": way,
        "seconds": spread_of([run["seconds"] for run in runs]),
        "MB/s": spread_of([size / run["seconds"] for run in runs]),
        "times ours": spread_of(
            [run["seconds"] / our["seconds"] for run, our in zip(runs, ours, strict=True)]
        ),
        "processor s": spread_of([run["processor"] for run in runs]),
        "anonymous MiB": max(run["anonymous"] for run in runs),
        "disk read MiB": spread_of([run["disk_read"] for run in runs]),
        "written MiB": spread_of([run["disk_written"] for run in runs]).median,
        "runs": len(runs),
    }
