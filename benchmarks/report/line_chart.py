"""Lines over numbers, with a dot and its number at each place that was measured."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from .canvas import FONT, LINE, MARGIN, color_of, log_limits, number_axis, text_width
from .plot import ends_of, median_of, said, short_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .canvas import Canvas
    from .plot import Plot

_HEIGHT = 300
_AXIS = 30  # for the numbers below an axis
_LEFT = 46  # at least, for the numbers beside it
_MOST_PLACES = 8  # that an x axis names each
_CLOSE = 28  # pixels between dots whose numbers would meet
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_DASHES = ((None, None), (6, 2), (2, 2), (8, 2, 2, 2))


def add_lines(canvas: Canvas, plot: Plot) -> None:
    """Lines of all series, with their names above them if they are several."""
    if len(plot.series) > 1:
        canvas.legend(
            [
                (name, color_of(name, is_ours=plot.is_ours(name)), _marker(place), 1.0)
                for place, name in enumerate(plot.series)
            ]
        )
    canvas.axes(_left(plot), 3 * MARGIN, _HEIGHT, partial(_draw_lines, canvas=canvas, plot=plot))
    canvas.top += _AXIS + LINE
    canvas.text(canvas.width - 3 * MARGIN, canvas.top, plot.x, ha="right")


def _left(plot: Plot) -> float:
    """Room for the numbers beside the y axis: powers of ten below the lowest may be the widest."""
    cells = [cell for points in plot.series.values() for _, cell in points]
    ends = [plot.factor * abs(end) for cell in cells for end in ends_of(cell) if end]
    low = 10.0 ** math.floor(math.log10(min(ends, default=1)))
    widest = max(text_width(short_number(value)) for value in (low, max(ends, default=1)))
    return max(_LEFT, widest + 2 * MARGIN)


def _marker(place: int) -> str:
    return _MARKERS[place % len(_MARKERS)]


def _draw_lines(axes: Axes, *, canvas: Canvas, plot: Plot) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    places = sorted({float(x) for points in plot.series.values() for x, _ in points})
    cells = [cell for points in plot.series.values() for _, cell in points]
    ends = [plot.factor * end for cell in cells for end in (*ends_of(cell), median_of(cell))]
    for is_log, set_scale in ((plot.log_x, axes.set_xscale), (plot.log_y, axes.set_yscale)):
        if is_log:
            set_scale("log")
    positive = [end for end in ends if end > 0]
    if plot.log_y:
        axes.set_ylim(log_limits(min(positive), max(positive)))
    else:
        axes.set_ylim(min(0, *ends), (max(ends) or 1) * 1.12)
    axes.margins(x=0.06)
    for place, (name, points) in enumerate(plot.series.items()):
        color = color_of(name, is_ours=plot.is_ours(name))
        xs = [float(x) for x, _ in points]
        ys = [plot.factor * median_of(cell) for _, cell in points]
        axes.plot(xs, ys, color=color, linewidth=2, dashes=_DASHES[place % len(_DASHES)])
        for x, y, (where, cell) in zip(xs, ys, points, strict=True):
            low, high = (plot.factor * end for end in ends_of(cell))
            if high > low:
                bottom = max(low, axes.get_ylim()[0])  # zero has no place on a log scale
                axes.plot([x, x], [bottom, high], color=color, linewidth=2.5, alpha=0.5)
            axes.plot(
                [x],
                [y],
                _marker(place),
                color=color,
                markersize=9,
                markeredgewidth=0,
                gid=canvas.mark(said(plot, name, where, cell)),
            )
    number_axis(axes.yaxis, is_log=plot.log_y)
    number_axis(axes.xaxis, is_log=plot.log_x)
    axes.xaxis.grid(visible=False)
    if len(places) <= _MOST_PLACES:
        axes.xaxis.set_major_locator(FixedLocator(places))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short_number(value)))
    _number_dots(axes, plot)


def _number_dots(axes: Axes, plot: Plot) -> None:
    """The number of each dot above it; of dots that are close, below and above all of them."""
    by_place: dict[float, list[_Dot]] = {}
    for points in plot.series.values():
        for x, cell in points:
            value, *ends = (plot.factor * end for end in (median_of(cell), *ends_of(cell)))
            y, low, high = (float(axes.transData.transform((x, end))[1]) for end in (value, *ends))
            # A number beside a whisker, rather than across it.
            aside = 10.0 if high - low > FONT else 0.0
            by_place.setdefault(float(x), []).append(_Dot(float(x), value, y, aside))
    for dots in by_place.values():
        group: list[_Dot] = []
        # What reads the same is written once.
        unlike = {short_number(dot.value): dot for dot in dots}.values()
        for dot in sorted(unlike, key=lambda dot: dot.y):
            if group and dot.y - group[-1].y > _CLOSE:
                _number_group(axes, group)
                group = []
            group.append(dot)
        _number_group(axes, group)


@dataclass(frozen=True)
class _Dot:
    """A dot by its values, its height in pixels, and how far aside its number is to be."""

    x: float
    value: float
    y: float
    aside: float


def _number_group(axes: Axes, group: list[_Dot]) -> None:
    below, above = (group[:1], group[1:]) if len(group) > 1 else ([], group)
    ups = [(dot, -10.0) for dot in below]
    for place, dot in enumerate(above):
        ups.append((dot, group[-1].y - dot.y + 10 + place * (FONT + 2)))
    for dot, up in ups:
        axes.annotate(
            short_number(dot.value),
            (dot.x, dot.value),
            xytext=(dot.aside, up),
            textcoords="offset points",
            ha="left" if dot.aside else "center",
            va="bottom" if up > 0 else "top",
            annotation_clip=False,
        )
