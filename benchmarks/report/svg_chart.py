"""Draws a `Plot` as SVG, which needs no library, scales, and goes into a page as it is.

Bars lie, since their names are long. Whiskers are the spread of what was measured. Each mark says
its figures when the pointer rests on it.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from .axis import Axis, axis_for, label
from .units import Cell, Spread, Unit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .plot import Plot

#: Told apart by most people who see colors otherwise (Okabe and Ito, 2008).
COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#999999")
_WIDTH = 720
_TOP, _BOTTOM, _RIGHT = 44, 52, 28
_LINES_HEIGHT, _LINES_LEFT = 380, 74
_BARS_LEFT, _BAR = 300, 22
_LEGEND_ROW = 20
_MOST_PLACES = 8  # that an x axis names each
_FILL = 'fill="currentColor"'


def to_svg(plot: Plot, *, background: str | None = None) -> str:
    """The plot as an `<svg>` element, on a background if it has to stand alone.

    Raises:
        ValueError: There is nothing to draw.
    """
    if not any(points for points in plot.series.values()):
        raise ValueError(f"the plot {plot.title!r} has no points")
    draw = _lines if plot.kind == "lines" else _bars
    height, marks = draw(plot)
    legend_rows = list(_legend(plot, height)) if len(plot.series) > 1 else []
    height += _LEGEND_ROW * len({row for row, _ in legend_rows}) + 8 * bool(legend_rows)
    filled = "" if background is None else f'<rect width="100%" height="100%" fill="{background}"/>'
    size = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
    font = 'font-family="system-ui, sans-serif" font-size="13"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size} {font} {_FILL}>',
            f"<title>{escape(plot.title)}</title>",
            filled,
            _text(16, 22, plot.title, size=15, weight=600),
            *marks,
            *(mark for _, mark in legend_rows),
            "</svg>",
        ]
    )


def _text(
    x: float, y: float, words: str, *, anchor: str = "start", size: int = 13, weight: int = 400
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
        f'font-weight="{weight}">{escape(words)}</text>'
    )


def _legend(plot: Plot, top: float) -> Iterator[tuple[int, str]]:
    row, x = 0, 16.0
    for place, name in enumerate(plot.series):
        wide = 26 + 7.2 * len(name)
        if x + wide > _WIDTH and x > 16:
            row, x = row + 1, 16.0
        y = top + _LEGEND_ROW * row
        yield row, f'<rect x="{x:.1f}" y="{y:.1f}" width="12" height="12" fill="{_color(place)}"/>'
        yield row, _text(x + 18, y + 11, name)
        x += wide


def _color(place: int) -> str:
    return COLORS[place % len(COLORS)]


def _median(cell: Cell) -> float:
    if isinstance(cell, Spread):
        return cell.median
    if cell is None or isinstance(cell, str):
        raise ValueError(f"{cell!r} cannot be drawn")
    return cell


def _ends(cell: Cell) -> tuple[float, float]:
    return (cell.low, cell.high) if isinstance(cell, Spread) else (_median(cell), _median(cell))


def _said(plot: Plot, name: str, where: object, cell: Cell) -> str:
    """What a mark says of itself."""
    value = plot.factor * abs(_median(cell))
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    words = f"{name}, {where}: " if name else f"{where}: "
    return f"<title>{escape(words + Unit(plot.factor, digits)(cell))}</title>"


def _grid(
    axis: Axis, other: tuple[float, float], *, is_x: bool, at: Sequence[float] | None = None
) -> Iterator[str]:
    """Lines across the axis with their values: at round ones, or at those given."""
    for tick in axis.ticks() if at is None else at:
        place = axis.place(tick)
        ends = (
            f'x1="{place:.1f}" x2="{place:.1f}" y1="{other[0]}" y2="{other[1]}"'
            if is_x
            else f'y1="{place:.1f}" y2="{place:.1f}" x1="{other[0]}" x2="{other[1]}"'
        )
        yield f'<line {ends} stroke="currentColor" stroke-opacity="0.15"/>'
        if is_x:
            yield _text(place, other[1] + 18, label(tick), anchor="middle")
        else:
            yield _text(other[0] - 8, place + 4, label(tick), anchor="end")


def _lines(plot: Plot) -> tuple[int, list[str]]:
    bottom = _LINES_HEIGHT - _BOTTOM
    right = _WIDTH - _RIGHT
    cells = [cell for points in plot.series.values() for _, cell in points]
    heights = [plot.factor * end for cell in cells for end in _ends(cell)]
    places = [float(x) for points in plot.series.values() for x, _ in points]
    x_axis = axis_for(places, _LINES_LEFT, right, is_log=plot.log_x)
    y_axis = axis_for(heights, bottom, _TOP + 22, is_log=plot.log_y)
    marks = [*_grid(y_axis, (_LINES_LEFT, right), is_x=False)]
    spots = sorted(set(places))
    marks += _grid(
        x_axis, (_TOP + 22, bottom), is_x=True, at=spots if len(spots) <= _MOST_PLACES else None
    )
    unit = f"{plot.y}, log scale" if plot.log_y else plot.y
    marks += [_text(16, _TOP + 6, unit), _text(right, bottom + 38, plot.x, anchor="end")]
    for number, (name, points) in enumerate(plot.series.items()):
        color = _color(number)
        dots = [
            (x_axis.place(float(x)), y_axis.place(plot.factor * _median(cell)))
            for x, cell in points
        ]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in dots)
        marks.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        for (x, y), (where, cell) in zip(dots, points, strict=True):
            low, high = (y_axis.place(plot.factor * end) for end in _ends(cell))
            marks.append(
                f'<g stroke="{color}" fill="{color}">{_said(plot, name, where, cell)}'
                f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" y2="{high:.1f}"/>'
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" stroke="none"/></g>'
            )
    return _LINES_HEIGHT, marks


def _bars(plot: Plot) -> tuple[int, list[str]]:
    """Bars of all series side by side, or one after the other if they are stacked."""
    is_stacked = plot.kind == "stacks"
    names = list(dict.fromkeys(x for points in plot.series.values() for x, _ in points))
    found = {name: dict(points) for name, points in plot.series.items()}
    rows = [
        (place, number, name)
        for place in names
        for number, name in enumerate(found)
        if place in found[name]
    ]
    if is_stacked:
        ends = [
            sum(
                plot.factor * _median(values[place]) for values in found.values() if place in values
            )
            for place in names
        ]
    else:
        ends = [plot.factor * _ends(found[name][place])[1] for place, _, name in rows]
    right = _WIDTH - _RIGHT - 60
    lows = [plot.factor * _ends(found[name][place])[0] for place, _, name in rows]
    lengths = [end for end in ends + lows if end > 0] if plot.log_y else ends
    axis = axis_for(lengths, _BARS_LEFT, right, is_log=plot.log_y)
    marks: list[str] = []
    y = float(_TOP)
    for place in names:
        left, first_y = axis.place(axis.low), y
        for number, name in enumerate(found):
            cell = found[name].get(place)
            if cell is None:
                continue
            value = plot.factor * _median(cell)
            wide = axis.place(value) - axis.start
            marks.append(
                f'<rect x="{left:.1f}" y="{y + 3:.1f}" width="{max(wide, 0.5):.1f}" '
                f'height="{_BAR - 6}" fill="{_color(number)}">'
                f"{_said(plot, name if len(found) > 1 else '', place, cell)}</rect>"
            )
            if is_stacked:
                left += wide
                continue
            low, high = (axis.place(plot.factor * end) for end in _ends(cell))
            if high > low + 1:
                marks.append(
                    f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{y + _BAR / 2}" '
                    f'y2="{y + _BAR / 2}" stroke="currentColor"/>'
                )
            marks.append(_text(max(left + wide, high) + 6, y + _BAR / 2 + 5, label(value)))
            y += _BAR
        if is_stacked:
            y += _BAR
        middle = (first_y + y) / 2 + 4
        marks.append(_text(_BARS_LEFT - 8, middle, _short(str(place)), anchor="end"))
        y += 6
    grid = list(_grid(axis, (_TOP, y), is_x=True))
    unit = f"{plot.y}, log scale" if plot.log_y else plot.y
    marks.append(_text(right, y + 38, unit, anchor="end"))
    return int(y + _BOTTOM), grid + marks


def _short(name: str) -> str:
    return name if len(name) <= 38 else f"{name[:37]}…"
