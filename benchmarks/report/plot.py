"""A plot as a benchmark describes it; `svg_chart` draws it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from .units import Cell, Spread, cell_of

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
        log_y: Whether y does. Not for stacks.
        leads: Whether a report begins with it.
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


def bars(
    title: str,
    rows: Sequence[Mapping[str, Cell]],
    *,
    of: str,
    y: str,
    factor: float = 1,
    log: bool = False,
    leads: bool = False,
) -> Plot:
    """Bars of a column of a table, named by its first column; rows without a figure have none.

    Nothing has no place among factors (`log`).

    Examples:
        >>> bars("t", [{"way": "a", "s": 2.0}, {"way": "b", "s": None}], of="s", y="seconds").series
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
    )


def plot_of(facts: dict[str, Any]) -> Plot:
    """A plot as it was before it became JSON.

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
    return Plot(**{**facts, "series": series})
