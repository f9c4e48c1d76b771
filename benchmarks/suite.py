"""Runs benchmarks one after the other, each in a process of its own, and keeps what they find.

The results are written after each, so that a run that is interrupted has lost nothing. A benchmark
that fails is noted, and the others go on.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .harness.environment import environment
from .report.canvas import why_no_charts
from .report.page import write_report
from .report.results import Result, write_results

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .catalog import Entry

_SUMMARY = ("benchmark", "what it shows", "seconds", "checks", "goals", "skipped")


def run_suite(
    entries: Sequence[Entry], out: str, *, quick: bool, folder: str | None, command: str
) -> int:
    """Runs all of them; results.json and report.html are in `out` then.

    Both folders are made if they are missing: `out`, and `folder` for the files to work on.

    Returns 1 if a benchmark failed or a check in it did, else 0.
    """
    for needed in (out, folder):
        if needed is not None:
            os.makedirs(needed, exist_ok=True)
    console = Console()
    if not console.is_terminal:
        console.width = 120
    start = time.perf_counter()
    path = os.path.join(out, "results.json")
    facts: dict[str, Any] = {
        "date": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "command": command,
        "quick": quick,
        "environment": environment(folder or tempfile.gettempdir()),
    }
    results: list[Result] = []
    for number, entry in enumerate(entries, 1):
        title = f"{number} of {len(entries)}: {entry.name}, {entry.shows}"
        console.rule(f"[bold]{escape(title)}", align="left")
        results.append(run_entry(entry, quick=quick, folder=folder))
        facts["seconds"] = time.perf_counter() - start
        write_results(path, facts, results)
    report = os.path.join(out, "report.html")
    write_report({**facts, "benchmarks": results}, report)
    if why := why_no_charts():
        console.print(f"[yellow]note[/yellow] the report has {why}", highlight=False)
    show_summary(console, results)
    minutes, rest = divmod(round(facts["seconds"]), 60)
    console.print(f"{minutes} min {rest} s. Figures: {path}\nReport:  {report}", highlight=False)
    return int(any(result["status"] != 0 for result in results))


def run_entry(entry: Entry, *, quick: bool, folder: str | None) -> Result:
    """One benchmark, which prints what it finds; its results and how it ended."""
    missing = entry.missing()
    nothing: Result = {"benchmark": entry.name, "shows": entry.shows, "seconds": 0.0, "status": 0}
    nothing |= {"tables": {}, "units": {}, "plots": [], "notes": [], "checks": [], "skipped": []}
    if missing:
        why = f"{', '.join(missing)} is not installed: pip install {' '.join(missing)}"
        print(f"skipped: {why}")
        return {**nothing, "skipped": [{"what": f"all of {entry.name}", "why": why}]}
    with tempfile.TemporaryDirectory(prefix="graphmount-bench-") as place:
        path = os.path.join(place, "result.json")
        command = [sys.executable, "-m", f"{__package__}.cases.{entry.module}", "--no-facts"]
        command += ["--json", path]
        command += ["--quick"] if quick else []
        command += [] if folder is None else ["--folder", folder]
        start = time.perf_counter()
        status = subprocess.run(command, check=False).returncode
        spent = time.perf_counter() - start
        found = dict(nothing)
        if os.path.exists(path):
            with open(path) as file:
                found |= json.load(file)
    run = {"status": status, "seconds": spent, "command": _shown(command)}
    return {**found, **run, "benchmark": entry.name, "shows": entry.shows}


def _shown(command: Sequence[str]) -> str:
    """The command as a user would type it."""
    at = command.index("--no-facts")
    return " ".join(["python", *command[1:at], *command[at + 3 :]])


def show_summary(console: Console, results: Sequence[Result]) -> None:
    """How each benchmark did, in a table."""
    table = Table(title="All benchmarks", title_justify="left")
    for place, name in enumerate(_SUMMARY):
        table.add_column(name, justify="left" if place < 2 else "right")
    for result in results:
        table.add_row(
            result["benchmark"],
            result["shows"],
            f"{result['seconds']:.0f}",
            _passed(result, "check"),
            _passed(result, "goal"),
            str(len(result["skipped"])),
            style="red" if result["status"] else None,
        )
    console.print(table)
    for result in results:
        for check in result["checks"]:
            if check["kind"] == "check" and not check["passed"]:
                words = f"{result['benchmark']}: {check['what']}: {check['detail']}"
                console.print(f"[red]FAIL[/red] {escape(words)}", highlight=False)
        if result["status"] and not result["tables"]:
            console.print(
                f"[red]FAIL[/red] {result['benchmark']} ended with status {result['status']}; "
                "what it said is above",
                highlight=False,
            )


def _passed(result: Result, kind: str) -> str:
    judged = [check["passed"] for check in result["checks"] if check["kind"] == kind]
    return f"{sum(judged)} of {len(judged)}" if judged else "-"
