"""A chart as a benchmark describes it; `chart` draws it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from .units import Cell, Spread, Unit, cell_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: A place on the x axis, or the name of a bar, and what was measured there.
Point = tuple[float | str, Cell]


@dataclass(frozen=True, kw_only=True)
class Plot:
    """What is drawn.

    Attributes:
        title: What the reader should see in it.
        kind: "lines" over numbers, "bars" with names, or "stacks" of what adds up.
        x: What the x axis is; for bars and stacks, the name of what is compared.
        y: What the y axis is, with its unit.
        series: For each name, its points. Of stacks, all have the same places.
        factor: What the numbers are multiplied by to be in the unit of `y`.
        log_x: Whether x grows by factors rather than steps.
        log_y: Whether y does. Not for stacks; bars become dots.
        leads: Whether a report begins with it.
        ours: What is graphmount's: names of bars, or of lines.
        better: Whether more or less of `y` is better, if either is.
        rivals: The others that do the same work, which a headline may compare with; None: all.
    """

    title: str
    kind: Literal["lines", "bars", "stacks"]
    x: str
    y: str
    series: dict[str, list[Point]] = field(default_factory=dict)
    factor: float = 1
    log_x: bool = False
    log_y: bool = False
    leads: bool = False
    ours: tuple[str, ...] = ()
    better: Literal["more", "less"] | None = None
    rivals: tuple[str, ...] | None = None

    def is_ours(self, *names: str) -> bool:
        """Whether one of these names is graphmount's."""
        return any(name in self.ours for name in names)


def bars(
    title: str,
    rows: Sequence[Mapping[str, Cell]],
    *,
    of: str,
    y: str,
    ours: Sequence[str],
    better: Literal["more", "less"],
    factor: float = 1,
    log: bool = False,
    leads: bool = False,
    rivals: Sequence[str] | None = None,
) -> Plot:
    """Bars of a column of a table, named by its first column; rows without a figure have none.

    Zero has no place on a log scale (`log`), and is left out there.

    Examples:
        >>> rows = [{"way": "a", "s": 2.0}, {"way": "b", "s": None}]
        >>> bars("t", rows, of="s", y="seconds", ours=["a"], better="less").series
        {'s': [('a', 2.0)]}
    """
    points: list[Point] = []
    for row in rows:
        name, cell = str(next(iter(row.values()))), row.get(of)
        if cell is None or isinstance(cell, str):
            continue
        median = cell.median if isinstance(cell, Spread) else cell
        if median > 0 or not log:
            points.append((name, cell))
    return Plot(
        title=title,
        kind="bars",
        x="way",
        y=y,
        series={of: points},
        factor=factor,
        log_y=log,
        leads=leads,
        ours=tuple(ours),
        better=better,
        rivals=None if rivals is None else tuple(rivals),
    )


def plot_of(facts: dict[str, Any]) -> Plot:
    """A plot as it was before it became JSON. Files of older versions lack the last fields.

    Examples:
        >>> import dataclasses, json
        >>> plot = Plot(title="t", kind="bars", x="way", y="s", series={"a": [("b", 1.5)]})
        >>> plot_of(json.loads(json.dumps(dataclasses.asdict(plot)))) == plot
        True
    """
    series = {
        name: [(place, cell_of(value)) for place, value in points]
        for name, points in facts["series"].items()
    }
    ours, rivals = facts.get("ours", ()), facts.get("rivals")
    names = {"ours": tuple(ours), "rivals": None if rivals is None else tuple(rivals)}
    return Plot(**{**facts, **names, "series": series})


def median_of(cell: Cell) -> float:
    """The number that is drawn for a cell.

    Raises:
        ValueError: It is text, or nothing.
    """
    if isinstance(cell, Spread):
        return cell.median
    if cell is None or isinstance(cell, str):
        raise ValueError(f"{cell!r} cannot be drawn")
    return cell


def ends_of(cell: Cell) -> tuple[float, float]:
    """The lowest and highest measurement of a cell: the ends of its whisker."""
    return (cell.low, cell.high) if isinstance(cell, Spread) else (median_of(cell),) * 2


def said(plot: Plot, name: str, where: float | str, cell: Cell) -> str:
    """What a bar or dot says of itself: its series, if that has a name, its place, its figures.

    Examples:
        >>> plot = Plot(title="t", kind="bars", x="way", y="ms", factor=1e3)
        >>> said(plot, "", "ours", Spread(0.25, 0.125, 0.5, 3))
        'ours: 250 (125 - 500)'
    """
    value = plot.factor * abs(median_of(cell))
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    place = where if isinstance(where, str) else short_number(where)
    words = f"{name}, {place}: " if name else f"{place}: "
    return words + Unit(plot.factor, digits)(cell)


def short_number(value: float) -> str:
    """A number of three digits, with a letter for thousands, millions and billions.

    Examples:
        >>> short_number(1500000), short_number(20), short_number(0.25)
        ('1.5M', '20', '0.25')
    """
    for factor, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        # 999,600 is a million with three digits, not "1e+03k".
        if abs(value) >= 0.9995 * factor:
            return f"{value / factor:.3g}{letter}"
    return f"{value:.3g}"
