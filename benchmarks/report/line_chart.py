"""Lines over numbers, with a dot and its number at each place that was measured."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from .canvas import FONT, LINE, MARGIN, color_of, number_axis
from .plot import ends_of, median_of, said, short_number

if TYPE_CHECKING:
    from .canvas import Canvas
    from .plot import Plot

_HEIGHT = 300
_AXIS = 30  # for the numbers below an axis
_LEFT = 46  # for the numbers beside it
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
    canvas.axes(_LEFT, 3 * MARGIN, _HEIGHT, partial(_draw_lines, canvas=canvas, plot=plot))
    canvas.top += _AXIS + LINE
    canvas.text(canvas.width - 3 * MARGIN, canvas.top, plot.x, ha="right")


def _marker(place: int) -> str:
    return _MARKERS[place % len(_MARKERS)]


def _draw_lines(axes: Any, *, canvas: Canvas, plot: Plot) -> None:  # noqa: ANN401
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    places = sorted({float(x) for points in plot.series.values() for x, _ in points})
    cells = [cell for points in plot.series.values() for _, cell in points]
    ends = [plot.factor * end for cell in cells for end in (*ends_of(cell), median_of(cell))]
    for is_log, set_scale in ((plot.log_x, axes.set_xscale), (plot.log_y, axes.set_yscale)):
        if is_log:
            set_scale("log")
    positive = [end for end in ends if end > 0]
    if plot.log_y:
        axes.set_ylim(min(positive) / 1.6, max(positive) * 1.8)
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
                axes.plot([x, x], [low, high], color=color, linewidth=2.5, alpha=0.5)
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


def _number_dots(axes: Any, plot: Plot) -> None:  # noqa: ANN401
    """The number of each dot above it; of dots that are close, below and above all of them."""
    by_place: dict[float, list[float]] = {}
    for points in plot.series.values():
        for x, cell in points:
            by_place.setdefault(float(x), []).append(plot.factor * median_of(cell))
    for x, values in by_place.items():
        pixels = {value: float(axes.transData.transform((x, value))[1]) for value in values}
        group: list[float] = []
        for value in sorted(pixels):
            if group and pixels[value] - pixels[group[-1]] > _CLOSE:
                _number_group(axes, x, group, pixels)
                group = []
            group.append(value)
        _number_group(axes, x, group, pixels)


def _number_group(axes: Any, x: float, group: list[float], pixels: dict[float, float]) -> None:  # noqa: ANN401
    below, above = (group[:1], group[1:]) if len(group) > 1 else ([], group)
    for value in below:
        _annotate(axes, x, value, -10, "top")
    for place, value in enumerate(above):
        up = pixels[group[-1]] - pixels[value] + 10 + place * (FONT + 2)
        _annotate(axes, x, value, up, "bottom")


def _annotate(axes: Any, x: float, value: float, up: float, va: str) -> None:  # noqa: ANN401
    axes.annotate(
        short_number(value),
        (x, value),
        xytext=(0, up),
        textcoords="offset points",
        ha="center",
        va=va,
        annotation_clip=False,
    )
