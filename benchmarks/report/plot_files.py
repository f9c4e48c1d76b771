"""Charts of a run as files, for pages that are not the report."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from graphmount._support.files.text_output import write_text

from .canvas import why_no_charts
from .chart import to_svg
from .plot import plot_of

if TYPE_CHECKING:
    from collections.abc import Mapping


def write_plots(results: Mapping[str, Any], folder: str) -> int:
    """Writes each plot to an SVG file named after its benchmark and title; returns how many.

    There are none where charts cannot be drawn: see `why_no_charts`.
    """
    if why_no_charts():
        return 0
    os.makedirs(folder, exist_ok=True)
    count = 0
    for result in results["benchmarks"]:
        for facts in result["plots"]:
            plot = plot_of(facts)
            name = re.sub(r"[^a-z0-9]+", "-", f"{result['benchmark']} {plot.title}".lower())
            target = os.path.join(folder, f"{name.strip('-')}.svg")
            write_text(target, to_svg(plot, background="white"))
            count += 1
    return count
