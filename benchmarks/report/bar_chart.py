"""Bars, and dots where the scale is logarithmic: one below the other, names on the left.

On a narrow canvas, names are above their bars.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from .canvas import (
    LINE,
    MARGIN,
    NARROW,
    color_of,
    log_limits,
    number_axis,
    text_width,
    wrapped,
)
from .plot import ends_of, median_of, said, short_number
from .svg_theme import GRID, OURS, TEXT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .canvas import Canvas
    from .plot import Plot
    from .units import Cell

_BAR, _GROUP_GAP = 26, 8
_AXIS = 30  # for the numbers below an axis
_MOST_LABEL = 330  # pixels for the names of bars
_OPACITIES = (1.0, 0.55, 0.25)  # of what is stacked


def add_bars(canvas: Canvas, plot: Plot) -> None:
    """Bars of all series below each other, or one after the other if they are stacked."""
    is_stacked = plot.kind == "stacks"
    found = {name: dict(points) for name, points in plot.series.items()}
    names = list(dict.fromkeys(str(x) for points in plot.series.values() for x, _ in points))
    if len(found) > 1:
        canvas.legend(
            [
                (name, _series_color(plot, name), "s", _opacity(plot, place))
                for place, name in enumerate(found)
            ]
        )
    is_narrow = canvas.width <= NARROW
    room = canvas.width - 2 * MARGIN if is_narrow else _MOST_LABEL
    labels = {name: wrapped(name, room) for name in names}
    rows: list[tuple[str, str, float]] = []  # place, series, and the middle of its bar
    y = 0.0
    for name in names:
        y += LINE * len(labels[name]) if is_narrow else 0
        inside = [series for series in found if name in found[series]]
        first = y
        for series in inside[:1] if is_stacked else inside:
            rows.append((name, series, y + _BAR / 2))
            y += _BAR
        if not is_narrow:  # a name may be higher than its bars
            y = max(y, first + LINE * (len(labels[name]) - 1) + _BAR)
        y += _GROUP_GAP
    widest = max(text_width(line) for lines in labels.values() for line in lines)
    numbers = {name: _number(plot, found, name, series) for name, series, _ in rows}
    right = max(text_width(words) for words in numbers.values()) + 3 * MARGIN
    left = MARGIN if is_narrow else widest + 2 * MARGIN
    draw = partial(_draw_bars, canvas=canvas, plot=plot, rows=rows, labels=labels, height=y)
    canvas.axes(left, right, y, draw)
    canvas.top += _AXIS


def _series_color(plot: Plot, name: str) -> str:
    return OURS if plot.kind == "stacks" else color_of(name, is_ours=plot.is_ours(name))


def _opacity(plot: Plot, place: int) -> float:
    return _OPACITIES[place % len(_OPACITIES)] if plot.kind == "stacks" else 1.0


def _number(plot: Plot, found: dict[str, dict[Any, Cell]], name: str, series: str) -> str:
    if plot.kind == "stacks":
        parts = (plot.factor * median_of(cells[name]) for cells in found.values() if name in cells)
        return " + ".join(short_number(part) for part in parts)
    return short_number(plot.factor * median_of(found[series][name]))


def _draw_bars(
    axes: Axes,
    *,
    canvas: Canvas,
    plot: Plot,
    rows: list[tuple[str, str, float]],
    labels: dict[str, list[str]],
    height: float,
) -> None:
    found = {name: dict(points) for name, points in plot.series.items()}
    axes.set_ylim(height, 0)
    axes.set_yticks([])
    is_stacked, is_narrow = plot.kind == "stacks", canvas.width <= NARROW
    cells = [cell for values in found.values() for cell in values.values()]
    ends = [plot.factor * end for cell in cells for end in (*ends_of(cell), median_of(cell))]
    ends = [end for end in ends if end > 0]
    if plot.log_y:
        axes.set_xscale("log")
        axes.set_xlim(log_limits(min(ends), max(ends)))
    elif is_stacked:
        sums = [
            sum(median_of(values[name]) for values in found.values() if name in values)
            for name in labels
        ]
        axes.set_xlim(0, plot.factor * max(sums) or 1)
    else:
        axes.set_xlim(0, max(ends, default=1))
    number_axis(axes.xaxis, is_log=plot.log_y)
    for name, lines in labels.items():
        middles = [y for other, _, y in rows if other == name]
        if is_narrow:
            _label_above(axes, lines, middles[0] - _BAR / 2)
        else:
            _label_left(axes, lines, sum(middles) / len(middles))
    for name, series, middle in rows:
        if is_stacked:
            end = _draw_stack(axes, canvas, plot, name, middle)
        else:
            end = _draw_one(axes, canvas, plot, (name, series), middle)
        axes.annotate(
            _number(plot, found, name, series),
            (end, middle),
            xytext=(10, 0),
            textcoords="offset points",
            va="center_baseline",
            annotation_clip=False,
        )


def _label_left(axes: Axes, lines: list[str], middle: float) -> None:
    first = middle - LINE * (len(lines) - 1) / 2
    for place, line in enumerate(lines):
        axes.annotate(
            line,
            (0, first + LINE * place),
            xycoords=("axes fraction", "data"),
            xytext=(-MARGIN, 0),
            textcoords="offset points",
            ha="right",
            va="center_baseline",
            annotation_clip=False,
        )


def _label_above(axes: Axes, lines: list[str], bottom: float) -> None:
    for place, line in enumerate(lines):
        y = bottom - LINE * (len(lines) - place) + LINE / 2 + 3
        axes.annotate(
            line,
            (0, y),
            xycoords=("axes fraction", "data"),
            va="center_baseline",
            annotation_clip=False,
        )


def _draw_one(
    axes: Axes,
    canvas: Canvas,
    plot: Plot,
    key: tuple[str, str],
    middle: float,
) -> float:
    """A bar, or a dot on a log scale. Returns where it ends."""
    name, series = key
    cell = dict(plot.series[series])[name]
    value = plot.factor * median_of(cell)
    low, high = (plot.factor * end for end in ends_of(cell))
    color = color_of(name, is_ours=plot.is_ours(name, series))
    mark = canvas.mark(said(plot, series if len(plot.series) > 1 else "", name, cell))
    if plot.log_y:
        axes.axhline(middle, color=GRID, linestyle=(0, (1, 3)), linewidth=1, zorder=1)
        if high > low:
            ends = [max(low, axes.get_xlim()[0]), high]  # zero has no place on a log scale
            axes.plot(ends, [middle] * 2, color=color, linewidth=2.5, alpha=0.5)
        axes.plot([value], [middle], "o", color=color, markersize=11, markeredgewidth=0, gid=mark)
    else:
        bar = axes.barh(middle, value, height=_BAR - 8, color=color)
        bar[0].set_gid(mark)
        if high > low:
            axes.plot([low, high], [middle] * 2, color=TEXT, linewidth=1.2)
    return max(value, high)


def _draw_stack(
    axes: Axes,
    canvas: Canvas,
    plot: Plot,
    name: str,
    middle: float,
) -> float:
    """The parts of a bar one after the other. Returns where the last ends."""
    start = 0.0
    for place, (series, points) in enumerate(plot.series.items()):
        cell = dict(points).get(name)
        if cell is None:
            continue
        value = plot.factor * median_of(cell)
        bar = axes.barh(
            middle, value, left=start, height=_BAR - 8, color=OURS, alpha=_opacity(plot, place)
        )
        bar[0].set_gid(canvas.mark(said(plot, series, name, cell)))
        start += value
    return start
