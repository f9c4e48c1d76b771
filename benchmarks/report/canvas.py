"""The figure that charts are drawn on: sizes in pixels, a title, a legend, and the SVG at the end.

Needs matplotlib, which only the report needs: see `why_no_charts`.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import textwrap
from typing import TYPE_CHECKING, Any

from .plot import short_number
from .svg_theme import GRID, OURS, PEERS, TEXT, themed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

#: The widths that charts are drawn in: for a window, and for a phone.
WIDE, NARROW = 1100, 400
FONT, TITLE_FONT = 13, 16
MARGIN = 8
LINE = 20  # from one line of text to the next
_DPI = 72  # so that a point is a pixel
_STYLE = {
    "svg.fonttype": "none",  # text stays text, which can be selected and read aloud
    "text.parse_math": False,
    "font.size": FONT,
    "text.color": TEXT,
    "axes.labelcolor": TEXT,
    "xtick.labelcolor": TEXT,
    "ytick.labelcolor": TEXT,
    "xtick.color": GRID,
    "ytick.color": GRID,
    "axes.edgecolor": GRID,
    "grid.color": GRID,
}
#: Which color others have, by what their names contain; the same in every chart of a page.
_LIBRARIES = {
    "graphzero": "peer-1",
    "graphbolt": "peer-2",
    "pyg": "peer-3",
    "in memory": "peer-3",
    "torch": "peer-4",
    "tensor": "peer-4",
    "np.": "peer-5",
    "numpy": "peer-5",
}


def why_no_charts() -> str | None:
    """What to tell the user where charts cannot be drawn; None where they can."""
    if importlib.util.find_spec("matplotlib") is not None:
        return None
    return "no charts: matplotlib is not installed; `pip install matplotlib`, and make it again"


def color_of(name: str, *, is_ours: bool) -> str:
    """The color of a bar or a line."""
    if is_ours:
        return OURS
    found = (peer for part, peer in _LIBRARIES.items() if part in name.lower())
    return PEERS[next(found, "other")]


def text_width(words: str, size: float = FONT, weight: str = "normal") -> float:
    """How wide matplotlib's font sets these words: wider than most fonts of browsers do."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    font = FontProperties(size=size, weight=weight)
    width: float = TextToPath().get_text_width_height_descent(words, font, ismath=False)[0]
    return width


def wrapped(words: str, width: float, size: float = FONT, weight: str = "normal") -> list[str]:
    """The words in lines of at most so many pixels."""
    each = text_width(words, size, weight) / max(1, len(words))
    # Some letters are wider than others.
    return textwrap.wrap(words, max(8, int(width / (1.05 * each)))) or [""]


def log_limits(low: float, high: float) -> tuple[float, float]:
    """The ends of a log axis: some room beyond the values, and at least a decade in all."""
    low, high = low / 1.6, high * 1.6
    spare = max(1.0, (10 * low / high) ** 0.5)
    return low / spare, high * spare


def number_axis(axis: Axis, *, is_log: bool) -> None:
    """Gives an axis of matplotlib few round numbers, with a line across at each."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    if is_log:
        low, high = sorted(axis.get_view_interval())
        # Less than two decades: more than the powers of ten.
        steps = (1.0,) if high / low > 100 else (1.0, 2.0, 5.0)
        axis.set_major_locator(LogLocator(subs=steps, numticks=8))
        axis.set_minor_locator(NullLocator())
    else:
        axis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: short_number(value)))
    axis.grid(visible=True)


class Canvas:
    """A figure of a given width that grows downwards as things are put on it.

    Attributes:
        width: In pixels.
        top: Where the next thing goes, in pixels from the top.
    """

    def __init__(self, title: str, subtitle: str, width: int) -> None:
        self.width, self.top = width, float(MARGIN)
        self._title = title
        self._texts: list[tuple[float, float, str, dict[str, Any]]] = []
        self._dots: list[tuple[float, float, str, str, float]] = []
        self._axes: list[tuple[float, float, float, float, Callable[[Axes], None]]] = []
        self._marks: dict[str, str] = {}
        room = width - 2 * MARGIN
        for line in wrapped(title, room, TITLE_FONT, "bold"):
            self.top += 1.25 * TITLE_FONT
            self.text(MARGIN, self.top, line, fontsize=TITLE_FONT, fontweight="bold")
        for line in wrapped(subtitle, room):
            self.top += LINE
            self.text(MARGIN, self.top, line)
        self.top += 1.5 * MARGIN

    def text(self, x: float, baseline: float, words: str, **how: Any) -> None:  # noqa: ANN401
        """Writes words at a place in pixels from the upper left corner, as matplotlib's `text`."""
        self._texts.append((x, baseline, words, how))

    def legend(self, entries: Sequence[tuple[str, str, str, float]]) -> None:
        """A line, or more, of names, each with its color, marker and opacity."""
        x = float(MARGIN)
        self.top += LINE
        for name, color, marker, opacity in entries:
            wide = text_width(name) + 36
            if x + wide > self.width and x > MARGIN:
                x, self.top = float(MARGIN), self.top + LINE
            self._dots.append((x + 6, self.top - 4.5, color, marker, opacity))
            self.text(x + 18, self.top, name)
            x += wide
        self.top += 2 * MARGIN

    def axes(self, left: float, right: float, height: float, draw: Callable[[Axes], None]) -> None:
        """Leaves room for axes, which `draw` fills when the height of the figure is known.

        Args:
            left: Pixels to the left of them.
            right: Pixels to the right of them.
            height: In pixels.
            draw: Called with the axes of matplotlib.
        """
        self._axes.append((left, right, self.top, height, draw))
        self.top += height

    def mark(self, words: str) -> str:
        """An id for what is drawn; a pointer that rests on it shows the words."""
        name = f"mark-{len(self._marks)}"
        self._marks[name] = words
        return name

    def to_svg(self, description: str, background: str | None) -> str:
        """The figure as SVG, the same for the same content."""
        import matplotlib as mpl
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
        from matplotlib.lines import Line2D

        width, height = self.width, self.top + MARGIN
        # Ids within the SVG are hashes; of two charts in a page they must differ.
        content = f"{self._title} {width} {description}"
        salt = hashlib.blake2b(content.encode(), digest_size=8).hexdigest()
        with mpl.rc_context({**_STYLE, "svg.hashsalt": salt}):
            figure = Figure(figsize=(width / _DPI, height / _DPI), dpi=_DPI, facecolor="none")
            FigureCanvasSVG(figure)
            for left, right, top, high, draw in self._axes:
                axes = figure.add_axes(
                    (
                        left / width,
                        1 - (top + high) / height,
                        1 - (left + right) / width,
                        high / height,
                    ),
                    facecolor="none",
                )
                axes.set_axisbelow(True)
                axes.spines[:].set_visible(False)
                axes.tick_params(length=0, pad=6)
                draw(axes)
            for x, baseline, words, how in self._texts:
                figure.text(x / width, 1 - baseline / height, words, **how)
            for x, y, color, marker, opacity in self._dots:
                dot = Line2D(
                    [x / width],
                    [1 - y / height],
                    color=color,
                    marker=marker,
                    alpha=opacity,
                    markersize=9,
                    markeredgewidth=0,
                    transform=figure.transFigure,
                )
                figure.add_artist(dot)
            file = io.StringIO()
            nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
            figure.savefig(file, format="svg", transparent=True, metadata=nothing)
        return themed(
            file.getvalue(),
            title=self._title,
            description=description,
            marks=self._marks,
            background=background,
        )
