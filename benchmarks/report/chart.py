"""Draws a `Plot` with matplotlib, as SVG that goes into a page as it is.

Bars are horizontal because their names are long, and begin at zero; on a log scale, which has no
zero, there are dots instead. Every bar and dot has its number beside it and a whisker from the
lowest to the highest measurement, and shows its figures when the pointer rests on it. graphmount
always has the same color; others have theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .bar_chart import add_bars
from .canvas import WIDE, Canvas
from .line_chart import add_lines
from .plot import said

if TYPE_CHECKING:
    from .plot import Plot


def to_svg(plot: Plot, *, width: int = WIDE, background: str | None = None) -> str:
    """The plot as an `<svg>` element, on a background if it has to stand alone.

    Raises:
        ValueError: There is nothing to draw.
        ModuleNotFoundError: matplotlib is not installed.
    """
    if not any(points for points in plot.series.values()):
        raise ValueError(f"the plot {plot.title!r} has no points")
    better = f"{plot.better} is better" if plot.better else ""
    scale = "log scale" if plot.log_y else ""
    subtitle = "; ".join(part for part in (plot.y, better, scale) if part)
    canvas = Canvas(plot.title, subtitle, width)
    add = add_lines if plot.kind == "lines" else add_bars
    add(canvas, plot)
    return canvas.to_svg(_described(plot), background)


def _described(plot: Plot) -> str:
    """All figures of the plot in words."""
    with_names = len(plot.series) > 1 or plot.kind == "lines"
    found = [
        said(plot, name if with_names else "", where, cell)
        for name, points in plot.series.items()
        for where, cell in points
    ]
    return f"{plot.y}. {'; '.join(found)}."
