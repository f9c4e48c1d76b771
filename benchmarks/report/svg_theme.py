"""Turns the SVG that matplotlib writes into one that follows the page's colors, light or dark.

Charts are drawn in marker colors. Here each becomes a CSS variable of the page, with a fallback for
SVG files that stand alone; text becomes the color of the text around it. What would differ from one
run to the next, or clash with another chart in the same page, is removed.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_SVG = "http://www.w3.org/2000/svg"
_XLINK = "{http://www.w3.org/1999/xlink}href"
_FONT = "system-ui, sans-serif"

#: What a chart draws text in, and the lines behind the data.
TEXT, GRID = "#010101", "#020202"
#: What it draws graphmount in, and others, by the names of the page's CSS variables. The fallbacks
#: are those of page.css for a light page.
OURS = "#0b62c4"
PEERS = {
    "peer-1": "#c2550a",
    "peer-2": "#7a3fb4",
    "peer-3": "#18794a",
    "peer-4": "#b02468",
    "peer-5": "#7d6608",
    "other": "#667080",
}
_THEME = {
    TEXT: "currentColor",
    GRID: "var(--grid, #d9dce1)",
    OURS: f"var(--ours, {OURS})",
    **{color: f"var(--{name}, {color})" for name, color in PEERS.items()},
}


def themed(
    svg: str, *, title: str, description: str, marks: Mapping[str, str], background: str | None
) -> str:
    """The SVG as an element for a page, or for a file if it has a background.

    Args:
        svg: What matplotlib wrote.
        title: The name of the chart, for screen readers.
        description: What the chart shows, in words and numbers, for screen readers.
        marks: For each group id that the chart gave, the words shown when the pointer rests on it.
        background: A color to draw on, for a chart that stands alone.
    """
    ET.register_namespace("", _SVG)
    root = ET.fromstring(svg)  # noqa: S314  (our own)
    used = set(re.findall(r"#([\w-]+)[\")]", svg))
    for element in root.iter():
        name = element.attrib.get("id")
        if name is not None and name in marks:
            ET.SubElement(element, f"{{{_SVG}}}title").text = marks[name]
            element.set("class", "mark")
        if name is not None and name not in used:
            del element.attrib["id"]
        if _XLINK in element.attrib:
            element.set("href", element.attrib.pop(_XLINK))
        if "style" in element.attrib:
            element.set("style", _themed_style(element.attrib["style"]))
    for metadata in root.findall(f"{{{_SVG}}}metadata"):
        root.remove(metadata)
    root.set("role", "img")
    if background is None:
        for side in ("width", "height"):  # the page decides; viewBox has the shape
            del root.attrib[side]
    else:
        filled = ET.Element(f"{{{_SVG}}}rect", width="100%", height="100%", fill=background)
        root.insert(0, filled)
        root.set("style", "color: #1b1f24")
    for tag, words in (("desc", description), ("title", title)):
        element = ET.Element(f"{{{_SVG}}}{tag}")
        element.text = words
        root.insert(0, element)
    return ET.tostring(root, encoding="unicode")


def _themed_style(style: str) -> str:
    for color, variable in _THEME.items():
        style = style.replace(color, variable)
    return re.sub(r"(font: [^;]*?px) [^;]*", rf"\1 {_FONT}", style)
