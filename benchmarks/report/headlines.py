"""The figures that a report begins with: graphmount next to the best of the others.

One for each leading chart. The best of the others is taken, so that a headline never flatters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .plot import median_of, short_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .plot import Plot


@dataclass(frozen=True)
class Headline:
    """What a leading chart says in one figure.

    Attributes:
        figure: How many times as good as the best of the others graphmount is.
        title: The title of the chart.
        words: Both figures, with their unit.
    """

    figure: str
    title: str
    words: str


def headline_of(plot: Plot) -> Headline | None:
    """The headline of a chart; None if there is nothing to compare in it.

    Examples:
        >>> from .plot import bars
        >>> rows = [{"way": "ours", "s": 2.0}, {"way": "a", "s": 9.0}, {"way": "b", "s": 5.0}]
        >>> found = headline_of(bars("t", rows, of="s", y="seconds", ours=["ours"], better="less"))
        >>> found.figure, found.words
        ('2.5 times', 'seconds: 2 by graphmount, 5 by b')
    """
    if plot.better is None:
        return None
    best = min if plot.better == "less" else max
    for ours, others in _side_by_side(plot):
        name = best(others, key=others.__getitem__)
        our, their = best(ours.values()), others[name]
        if our <= 0 or their <= 0:
            continue
        gain = their / our if plot.better == "less" else our / their
        figures = [short_number(plot.factor * value) for value in (our, their)]
        return Headline(
            f"{gain:.0f} times" if gain >= 10 else f"{gain:.1f} times",
            plot.title,
            f"{plot.y}: {figures[0]} by graphmount, {figures[1]} by {name}",
        )
    return None


def _side_by_side(plot: Plot) -> Iterator[tuple[dict[str, float], dict[str, float]]]:
    """Figures of ours and of others that may be compared: all bars, or lines at the same place."""
    found: dict[float, dict[str, float]] = {}
    for series, points in plot.series.items():
        for x, cell in points:
            place, name = (0.0, str(x)) if plot.kind == "bars" else (float(x), series)
            found.setdefault(place, {})[name] = median_of(cell)
    for figures in found.values():
        ours = {name: value for name, value in figures.items() if name in plot.ours}
        others = {
            name: value
            for name, value in figures.items()
            if name not in plot.ours and (plot.rivals is None or name in plot.rivals)
        }
        if ours and others:
            yield ours, others
