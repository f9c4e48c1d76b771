"""Numbers of benchmarks: medians with their spread, and the units that they are shown in.

Results keep SI units, with the unit that each column is shown in next to them, so that a terminal
and a report show the same.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True)
class Spread:
    """Median, 10th and 90th percentile of several measurements (of few: the extremes)."""

    median: float
    low: float
    high: float
    count: int

    def times(self, factor: float) -> Spread:
        """The spread of all measurements multiplied by `factor`."""
        return Spread(factor * self.median, factor * self.low, factor * self.high, self.count)


Cell = Spread | float | int | str | None


def spread_of(values: Sequence[float]) -> Spread:
    """The spread of what was measured.

    Examples:
        >>> spread_of([3.0, 1.0, 2.0])
        Spread(median=2.0, low=1.0, high=3.0, count=3)
    """
    if len(values) < 2:
        return Spread(values[0], values[0], values[0], 1)
    tenths = statistics.quantiles(values, n=10, method="inclusive")
    low, high = (min(values), max(values)) if len(values) < 10 else (tenths[0], tenths[-1])
    return Spread(statistics.median(values), low, high, len(values))


def cell_of(value: Any) -> Cell:  # noqa: ANN401  (whatever JSON has)
    """A cell as it was before it became JSON."""
    return Spread(**value) if isinstance(value, dict) else value


@dataclass(frozen=True)
class Unit:
    """How the numbers of a column are shown, and which of them are better, if any are."""

    factor: float = 1
    digits: int = 0
    better: Literal["more", "less"] | None = None

    def __call__(self, cell: Cell) -> str:
        """The cell as text, a spread as "median (low - high)".

        Examples:
            >>> Unit(1e3, 1)(Spread(0.002, 0.001, 0.003, 3))
            '2.0 (1.0 - 3.0)'
        """
        if cell is None:
            return "-"
        if isinstance(cell, str):
            return cell
        if not isinstance(cell, Spread):
            return f"{cell * self.factor:,.{self.digits}f}"
        low, median, high = (
            f"{value * self.factor:,.{self.digits}f}"
            for value in (cell.low, cell.median, cell.high)
        )
        return median if low == high else f"{median} ({low} - {high})"


def unit_of(facts: Mapping[str, Any]) -> Unit:
    """A unit as it was before it became JSON."""
    return Unit(**facts)


text = plain = Unit()
ratio = Unit(digits=2)
faster = Unit(digits=2, better="more")
per_second = Unit(better="more")
seconds = Unit(digits=2, better="less")
microseconds = Unit(1e6, 1, "less")
mebibytes = Unit(1 / 2**20, 1)
