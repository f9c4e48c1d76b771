"""What changed between two runs: figures that got better or worse by more than their spread.

Figures go together if benchmark, table, row and column are the same. One has changed if its medians
differ by more than a share of 10 % and the spreads do not meet: machines are noisy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .results import read_results
from .units import Spread, Unit, cell_of, unit_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: Of the environment: where these differ, so may figures.
_SAME = ("processor", "cores", "memory", "disk_model", "file_system", "kernel", "python", "torch")


@dataclass(frozen=True)
class Figure:
    """One measured cell: where it stands, its unit, and its spread."""

    where: tuple[str, str, str, str]
    unit: Unit
    spread: Spread


@dataclass(frozen=True)
class Change:
    """A figure in two runs. `gain` is how many times as good it is now."""

    before: Figure
    after: Figure

    @property
    def gain(self) -> float:
        """More than 1 is better.

        Examples:
            >>> was = Figure(("b", "t", "r", "s"), Unit(better="less"), Spread(4, 4, 4, 1))
            >>> now = Figure(was.where, was.unit, Spread(2, 2, 2, 1))
            >>> Change(was, now).gain
            2.0
        """
        old, new = self.before.spread.median, self.after.spread.median
        return old / new if self.before.unit.better == "less" else new / old

    def is_clear(self, share: float) -> bool:
        """Whether it changed by more than `share`, and more than the runs of each differ."""
        old, new = self.before.spread, self.after.spread
        apart = old.high < new.low or new.high < old.low
        return apart and abs(self.gain - 1) > share


def figures_of(results: Mapping[str, Any]) -> Iterator[Figure]:
    """All figures of which more, or less, is better."""
    for result in results["benchmarks"]:
        for title, rows in result["tables"].items():
            units = {name: unit_of(unit) for name, unit in result["units"][title].items()}
            label = next(iter(units))
            for row in rows:
                for column, unit in units.items():
                    cell = cell_of(row.get(column))
                    if unit.better and isinstance(cell, Spread) and cell.median > 0:
                        where = (result["benchmark"], title, str(row[label]), column)
                        yield Figure(where, unit, cell)


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """All figures that both runs have, the worst first."""
    old = {figure.where: figure for figure in figures_of(before)}
    both = [Change(old[new.where], new) for new in figures_of(after) if new.where in old]
    return sorted(both, key=lambda change: change.gain)


def compare(before_path: str, after_path: str, *, share: float) -> int:
    """Prints what got worse or better. Returns 1 if something got worse."""
    before, after = read_results(before_path), read_results(after_path)
    console = Console()
    for name in _SAME:
        old, new = (run["environment"].get(name) for run in (before, after))
        if old != new:
            console.print(f"[yellow]note[/yellow] {name}: {old} before, {new} now", highlight=False)
    if before["quick"] != after["quick"]:
        console.print("[yellow]note[/yellow] one of these was a quick run, with other sizes")
    found = changes(before, after)
    clear = [change for change in found if change.is_clear(share)]
    if clear:
        table = Table(title="Figures that changed", title_justify="left")
        for name in ("figure", "before", "now", "times as good"):
            table.add_column(name, justify="left" if name == "figure" else "right")
        for change in clear:
            table.add_row(
                escape(", ".join(change.before.where)),
                change.before.unit(change.before.spread),
                change.after.unit(change.after.spread),
                f"{change.gain:.2f}",
                style="red" if change.gain < 1 else "green",
            )
        console.print(table)
    worse = sum(change.gain < 1 for change in clear)
    alone = {figure.where for figure in (*figures_of(before), *figures_of(after))}
    alone -= {change.before.where for change in found}
    console.print(
        f"{len(found)} figures in both runs: {worse} worse, {len(clear) - worse} better, "
        f"{len(found) - len(clear)} as before (within {share:.0%} or their spread); "
        f"{len(alone)} in one run only",
        highlight=False,
    )
    return int(worse > 0)
