"""Charts of degrees and features, drawn by matplotlib as SVG that goes into a page as it is.

They are drawn in marker colors, which become CSS variables of the page, so that one drawing serves
light and dark pages. The same numbers give the same SVG.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import re
import warnings
from html import escape
from typing import TYPE_CHECKING, Any

from graphmount.cli.info.terminal import degree_range

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from graphmount.cli.info.columns import Column

_TEXT, _GRID, _BAR = "#010101", "#020202", "#030303"
_THEME = {_TEXT: "currentColor", _GRID: "var(--grid)", _BAR: "var(--bar)"}
_STYLE = {
    "svg.fonttype": "none",  # text stays text, which can be selected and read aloud
    "text.parse_math": False,
    "font.size": 11,
    "text.color": _TEXT,
    "axes.labelcolor": _TEXT,
    "axes.edgecolor": _GRID,
    "xtick.color": _GRID,
    "ytick.color": _GRID,
    "xtick.labelcolor": _TEXT,
    "ytick.labelcolor": _TEXT,
    "grid.color": _GRID,
}
_BINS = 30
_IN_A_ROW = 4
_LONGEST_LABEL = 40


def require_matplotlib() -> None:
    """Does nothing where charts can be drawn.

    Raises:
        ModuleNotFoundError: matplotlib is not installed; the message says what to do.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise ModuleNotFoundError(
            "--html draws with matplotlib, which is not installed; `pip install matplotlib`, or "
            "leave out --html for the same counts as text"
        )


def degree_chart(name: str, histogram: Sequence[tuple[int, int, int]]) -> str:
    """Bars of how many nodes have how many neighbors, with their numbers.

    Args:
        name: What to call the chart.
        histogram: The least and the most neighbors of each range, and how many nodes it has.
    """
    bars = [(degree_range(low, high), count) for low, high, count in histogram]
    return _bars(name, "Nodes by number of neighbors", "neighbors", bars)


def class_chart(name: str, bars: Sequence[tuple[str, int]]) -> str:
    """Bars of how many nodes each class has, with their numbers.

    Args:
        name: What to call the chart.
        bars: Classes, and how many nodes they have.
    """
    short = [
        (label if len(label) <= _LONGEST_LABEL else f"{label[:_LONGEST_LABEL]}…", count)
        for label, count in bars
    ]
    return _bars(name, "Nodes by class", "class", short)


def _bars(name: str, words: str, axis: str, bars: Sequence[tuple[str, int]]) -> str:
    labels = [label for label, _ in bars]
    counts = [count for _, count in bars]

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        _plain(axes)
        drawn = axes.barh(range(len(counts)), counts, color=_BAR)
        axes.bar_label(drawn, [f"{count:,}" for count in counts], padding=4)
        axes.set_yticks(range(len(counts)), labels)
        axes.invert_yaxis()
        axes.set_xticks([])
        axes.margins(x=0.16)
        axes.set_ylabel(axis)
        axes.set_title("nodes", loc="left", fontsize=11)

    figures = "; ".join(f"{label}: {count:,}" for label, count in bars)
    return _svg(name, f"{words}. {figures}", (7.2, 0.8 + 0.26 * len(counts)), draw)


def value_charts(name: str, columns: Sequence[Column]) -> str:
    """A small histogram of each column.

    Args:
        name: What to call the charts.
        columns: What to draw, each with at least one finite value.
    """
    num_lines = -(-len(columns) // _IN_A_ROW)

    def draw(figure: Figure) -> None:
        for place, column in enumerate(columns):
            axes = figure.add_subplot(num_lines, _IN_A_ROW, place + 1)
            _plain(axes)
            axes.set_title(column.name, fontsize=11)
            axes.set_yticks([])
            axes.tick_params(axis="x", labelsize=9)
            axes.hist(column.values, bins=_BINS, color=_BAR)
            axes.locator_params(axis="x", nbins=3)

    words = f"Histograms of {', '.join(column.name for column in columns)}."
    return _svg(name, words, (9.0, 1.7 * num_lines), draw)


def _plain(axes: Axes) -> None:
    axes.set_facecolor("none")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(length=0)


def _svg(name: str, words: str, inches: tuple[float, float], draw: Callable[[Any], None]) -> str:
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    # Ids within the SVG are hashes; of two charts in a page they must differ.
    salt = hashlib.blake2b(f"{name} {words}".encode(), digest_size=8).hexdigest()
    with mpl.rc_context({**_STYLE, "svg.hashsalt": salt}), warnings.catch_warnings():
        # Text is drawn by the browser, which has fonts for all scripts.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = Figure(figsize=inches, layout="constrained", facecolor="none")
        FigureCanvasSVG(figure)
        draw(figure)
        file = io.StringIO()
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(file, format="svg", transparent=True, metadata=nothing)
    svg = file.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r' id="([^"]+)"', lambda found: f' id="{salt}-{found[1]}"', svg)
    svg = re.sub(r'((?:xlink:)?href="|url\()#', rf"\g<1>#{salt}-", svg)
    svg = re.sub(r"(font: [^;]*?px) [^;\"]*", r"\1 system-ui, sans-serif", svg)
    for color, variable in _THEME.items():
        svg = svg.replace(color, variable)
    label = f'<svg role="img" aria-label="{escape(f"{name}. {words}")}" '
    return svg.replace("<svg ", label, 1)
