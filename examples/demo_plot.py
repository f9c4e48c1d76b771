"""The picture of `make demo`: the three ways side by side, one column each.

Above is how many batches each had trained on, below where memory was, over time and on the same
scales, so that columns can be compared. Each way has its color, and memory that is its own too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl

mpl.use("Agg")  # a file, not a window
from matplotlib import pyplot as plt

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from demo_outcome import Outcome

_COLORS = {"memory": "#b26a00", "mapped": "#5c6bc0", "graphmount": "#00796b"}
_CACHE, _LIMIT, _TEXT = "#c9d4d8", "#c62828", "#37474f"


def draw(outcomes: Sequence[Outcome], path: Path, *, heading: str, limit: int | None) -> None:
    """Draws the outcomes into a PNG.

    Args:
        outcomes: One for each column, from left to right.
        path: Where to put the picture.
        heading: What stands above all of it.
        limit: What memory was limited to, in MiB; None if by nothing.
    """
    figure, rows = plt.subplots(
        2, len(outcomes), sharex=True, sharey="row", squeeze=False, figsize=(12, 6.4)
    )
    for column, outcome in enumerate(outcomes):
        batches, memory = rows[0][column], rows[1][column]
        color = _COLORS[outcome.way]
        seconds = [moment.seconds for moment in outcome.moments]
        _draw_batches(batches, outcome, color)
        own = [moment.process_bytes / 2**20 for moment in outcome.moments]
        cached = [moment.cached_bytes / 2**20 for moment in outcome.moments]
        labels = ("its own memory", "page cache of the dataset")
        memory.stackplot(seconds, own, cached, labels=labels, colors=(color, _CACHE))
        if limit is not None:
            memory.axhline(limit, color=_LIMIT, linestyle="--", linewidth=1.2)
            memory.text(
                0.98, limit, f"limit {limit:,} MiB", color=_LIMIT, ha="right", va="bottom",
                transform=memory.get_yaxis_transform(), fontsize=9,
            )  # fmt: skip
        memory.set(xlabel="seconds, imports aside")
        memory.legend(loc="upper left", fontsize=8, framealpha=0.9)
        for axes in (batches, memory):
            axes.spines[["top", "right"]].set_visible(False)
            axes.grid(axis="y", color="#eceff1")
            axes.set_axisbelow(True)
    longest = max([1.0, *(moment.seconds for way in outcomes for moment in way.moments)])
    rows[0][0].set(ylabel="batches trained on", ylim=(0, None), xlim=(0, longest * 1.02))
    rows[1][0].set(ylabel="memory, MiB", ylim=(0, None if limit is None else limit * 1.45))
    figure.suptitle(heading, fontsize=14, color=_TEXT)
    figure.tight_layout(w_pad=2.5)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def _draw_batches(axes: Any, outcome: Outcome, color: str) -> None:  # noqa: ANN401
    """How far a way came, and in large letters what became of it."""
    axes.set_title(outcome.title, color=color, fontweight="bold", fontsize=12)
    seconds = [moment.seconds for moment in outcome.moments]
    counts = [moment.batches for moment in outcome.moments]
    axes.plot(seconds, counts, color=color, linewidth=2.5)
    if outcome.was_killed:
        axes.plot(outcome.seconds, 0, marker="X", markersize=14, color=_LIMIT, clip_on=False)
    axes.text(
        0.04, 0.94, outcome.headline, transform=axes.transAxes, va="top", fontsize=11, color=_TEXT
    )
