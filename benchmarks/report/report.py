"""What a benchmark prints and keeps: tables, plots, checks and goals.

A check is about correctness, and fails the run. A goal is a figure we promise; missing one is shown
and kept, but a busy machine is no error, and small files (`--quick`) cannot reach them all.
"""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import json
import os
import sys
from typing import TYPE_CHECKING, Literal

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from graphmount._support.files.text_output import write_text

from ..harness.environment import environment
from ..harness.memcap import parse_size

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .plot import Plot
    from .units import Cell, Unit

_FILE_WIDTH = 180


class Report:
    """Collects the results of one benchmark, prints each as it comes, and keeps them as JSON."""

    def __init__(self, name: str, options: argparse.Namespace, folder: str) -> None:
        self._console = Console()
        if not self._console.is_terminal:
            self._console.width = _FILE_WIDTH
        if options.json is not None:  # now, rather than after an hour of work
            os.makedirs(os.path.dirname(os.path.abspath(options.json)), exist_ok=True)
        facts = environment(folder)
        self._results: dict[str, object] = {
            "benchmark": name,
            "about": inspect.getdoc(sys.modules["__main__"]),
            "options": vars(options),
            "environment": facts,
        }
        self._tables: dict[str, list[Mapping[str, Cell]]] = {}
        self._units: dict[str, Mapping[str, Unit]] = {}
        self._plots: list[Plot] = []
        self._checks: list[dict[str, object]] = []
        self._skipped: list[dict[str, str]] = []
        self._notes: list[str] = []
        if not options.no_facts:
            for fact, value in facts.items():
                self._console.print(f"[dim]{fact:>18}[/dim]  {value}", highlight=False)

    def table(
        self,
        title: str,
        columns: Mapping[str, Unit],
        rows: Sequence[Mapping[str, Cell]],
    ) -> None:
        """Prints `rows` under `title`, the cells of a column in its unit; JSON keeps SI units."""
        shown = Table(title=escape(title), title_justify="left")
        for place, name in enumerate(columns):
            shown.add_column(name, justify="right" if place else "left", no_wrap=True)
        for row in rows:
            shown.add_row(*(escape(show(row.get(name))) for name, show in columns.items()))
        self._console.print(shown)
        self._tables[title] = list(rows)
        self._units[title] = columns

    def plot(self, plot: Plot) -> None:
        """Keeps a plot for the report that a browser shows."""
        self._plots.append(plot)

    def note(self, what: str) -> None:
        """Says what a reader must know to read the figures right, such as what a peer does else."""
        self._console.print(f"[cyan]note[/cyan] {escape(what)}", highlight=False)
        self._notes.append(what)

    def check(self, what: str, passed: bool, detail: str = "") -> None:
        """Notes whether a result is right."""
        self._judge("check", what, passed=passed, detail=detail)

    def goal(self, what: str, reached: bool, detail: str) -> None:
        """Notes whether a figure is what we promise."""
        self._judge("goal", what, passed=reached, detail=detail)

    def skip(self, what: str, why: str) -> None:
        """Notes what could not be measured here."""
        self._console.print(
            f"[yellow]skipped[/yellow] {escape(what)}: {escape(why)}", highlight=False
        )
        self._skipped.append({"what": what, "why": why})

    def _judge(
        self, kind: Literal["check", "goal"], what: str, *, passed: bool, detail: str
    ) -> None:
        # What is right is counted at the end: hundreds of lines that say so hide what is not.
        if kind == "goal" or not passed:
            missed = "[yellow]missed[/yellow]" if kind == "goal" else "[red]FAIL[/red]"
            mark = "[green]reached[/green]" if passed else missed
            line = escape(f"({kind}) {what}: {detail}" if detail else f"({kind}) {what}")
            self._console.print(f"{mark} {line}", highlight=False)
        self._checks.append({"kind": kind, "what": what, "passed": passed, "detail": detail})

    def finish(self, path: str | None) -> int:
        """Writes the JSON if a path is given. Returns the exit status: 1 if a check failed."""
        checks = [bool(check["passed"]) for check in self._checks if check["kind"] == "check"]
        self._console.print(f"{sum(checks)} of {len(checks)} checks passed", highlight=False)
        if path is not None:
            whole = {
                **self._results,
                "tables": self._tables,
                "units": self._units,
                "plots": self._plots,
                "notes": self._notes,
                "checks": self._checks,
                "skipped": self._skipped,
            }
            write_text(path, json.dumps(whole, indent=2, default=_as_json) + "\n")
        return int(not all(checks))


def _as_json(value: object) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    raise TypeError(f"{value!r} has no place in a report")


def argument_parser(description: str) -> argparse.ArgumentParser:
    """The options that every benchmark has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="small files, few rounds")
    parser.add_argument("--json", metavar="FILE", help="write the results there as well")
    parser.add_argument("--no-facts", action="store_true", help="do not print the machine's facts")
    parser.add_argument("--folder", help="where to make files (default: a temporary folder)")
    return parser


def add_size(parser: argparse.ArgumentParser, name: str, meaning: str) -> None:
    """A size that `defaults` fills in, by --quick or not, if the user does not."""
    parser.add_argument(name, type=parse_size, metavar="SIZE", help=meaning)


def defaults(options: argparse.Namespace, **values: tuple[float, float]) -> None:
    """Sets what the user left open to the first value, or with --quick to the second."""
    for name, (full, quick) in values.items():
        if getattr(options, name) is None:
            setattr(options, name, quick if options.quick else full)
