"""What a benchmark prints and keeps: tables, medians with their spread, and checks.

A check is about correctness, and fails the run. A goal is a figure we promise; missing one is shown
and kept, but a busy machine is no error.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .environment import environment
from .memcap import parse_size

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_FILE_WIDTH = 180


@dataclass(frozen=True)
class Spread:
    """Median, 10th and 90th percentile of several measurements (of few: the extremes)."""

    median: float
    low: float
    high: float
    count: int


def spread_of(values: Sequence[float]) -> Spread:
    if len(values) < 2:
        return Spread(values[0], values[0], values[0], 1)
    tenths = statistics.quantiles(values, n=10, method="inclusive")
    low, high = (min(values), max(values)) if len(values) < 10 else (tenths[0], tenths[-1])
    return Spread(statistics.median(values), low, high, len(values))


Cell = Spread | float | int | str | None


def in_unit(factor: float, digits: int) -> Callable[[Cell], str]:
    """Shows numbers multiplied by `factor`, a spread as "median (low - high)"."""

    def show(cell: Cell) -> str:
        if cell is None:
            return "-"
        if isinstance(cell, str):
            return cell
        if not isinstance(cell, Spread):
            return f"{cell * factor:,.{digits}f}"
        low, median, high = (
            f"{value * factor:,.{digits}f}" for value in (cell.low, cell.median, cell.high)
        )
        return median if low == high else f"{median} ({low} - {high})"

    return show


text = plain = in_unit(1, 0)
ratio = in_unit(1, 2)
seconds = in_unit(1, 2)
microseconds = in_unit(1e6, 1)
mebibytes = in_unit(1 / 2**20, 1)
gibibytes = in_unit(1 / 2**30, 2)


class Report:
    """Collects the results of one benchmark, prints each as it comes, and keeps them as JSON."""

    def __init__(self, name: str, options: argparse.Namespace, folder: str) -> None:
        self._console = Console()
        if not self._console.is_terminal:
            self._console.width = _FILE_WIDTH
        facts = environment(folder)
        self._results: dict[str, object] = {
            "benchmark": name,
            "options": vars(options),
            "environment": facts,
        }
        self._tables: dict[str, list[Mapping[str, Cell]]] = {}
        self._checks: list[dict[str, object]] = []
        self._skipped: list[dict[str, str]] = []
        for fact, value in facts.items():
            self._console.print(f"[dim]{fact:>18}[/dim]  {value}", highlight=False)

    def table(
        self,
        title: str,
        columns: Mapping[str, Callable[[Cell], str]],
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
        mark = "[green]pass[/green]" if passed else "[red]FAIL[/red]"
        line = escape(f"({kind}) {what}: {detail}" if detail else f"({kind}) {what}")
        self._console.print(f"{mark} {line}", highlight=False)
        self._checks.append({"kind": kind, "what": what, "passed": passed, "detail": detail})

    def finish(self, path: str | None) -> int:
        """Writes the JSON if a path is given. Returns the exit status: 1 if a check failed."""
        if path is not None:
            with open(path, "w") as file:
                json.dump(
                    {
                        **self._results,
                        "tables": self._tables,
                        "checks": self._checks,
                        "skipped": self._skipped,
                    },
                    file,
                    indent=2,
                    default=_as_json,
                )
                file.write("\n")
        return int(any(not c["passed"] for c in self._checks if c["kind"] == "check"))


def _as_json(value: object) -> object:
    if isinstance(value, Spread):
        return dataclasses.asdict(value)
    raise TypeError(f"{value!r} has no place in a report")


def argument_parser(description: str) -> argparse.ArgumentParser:
    """The options that every benchmark has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="small files, few rounds")
    parser.add_argument("--json", metavar="FILE", help="write the results there as well")
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
