"""The page of `graphmount info --html`: one file, no scripts, nothing from elsewhere.

Everything that comes from a file, paths and names included, is escaped.
"""

from __future__ import annotations

import os
from html import escape
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

import graphmount as gm
from graphmount.cli.info.charts import class_chart, degree_chart, value_charts
from graphmount.cli.info.terminal import (
    SECTION_HEADER,
    class_name,
    class_rows,
    dataset_rows,
    degree_words,
    file_rows,
    section_rows,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from graphmount.cli.info.columns import Column, ColumnSummary

_MOST_CHARTS = 12
_MOST_CLASSES = 24
_QUANTILES = (0.01, 0.5, 0.99)


def to_html(facts: Sequence[dict[str, Any]]) -> str:
    """The page as text.

    Args:
        facts: What `facts` found of each file, and `columns` of feature files.
    """
    style = resources.files(__package__).joinpath("page.css").read_text("utf-8")
    title = _shown(os.path.basename(facts[0]["path"].rstrip(os.sep)) or facts[0]["path"])
    body = "\n".join(line for file in facts for line in _section(file))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title} - graphmount info</title>\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n<h1>{title}</h1>\n{body}\n"
        f"<footer>Written by <code>graphmount info --html</code>, graphmount {gm.__version__}."
        "</footer>\n</body>\n</html>\n"
    )


def _section(facts: dict[str, Any]) -> Iterator[str]:
    yield f"<section><h2>{_shown(facts['path'])}</h2>"
    rows = dataset_rows(facts) if facts["kind"] == "dataset" else file_rows(facts)
    yield from _table(rows)
    for note in facts.get("notes", []):
        yield f"<p>{_shown(str(note))}</p>"
    for direction, degrees in facts.get("degrees", {}).items():
        name = direction if facts["directed"] else None
        words = degree_words(name, degrees)
        yield f"<h3>{'Degrees' if name is None else f'{name.capitalize()}-degrees'}</h3>"
        yield f"<p>{_shown(words.partition(': ')[2].capitalize())}.</p>"
        if degrees["histogram"]:
            chart = degree_chart(f"{facts['path']} {direction}", degrees["histogram"])
            yield f"<figure>{chart}</figure>"
    if facts.get("class_counts"):
        yield from _classes(facts["path"], facts["class_counts"])
    if "columns" in facts:
        yield from _columns(facts["path"], facts["columns"])
    if "sections" in facts:
        yield "<details><summary>Sections of the file</summary>"
        yield from _table(section_rows(facts["sections"]), header=SECTION_HEADER)
        yield "</details>"
    yield "</section>"


def _classes(path: str, classes: list[dict[str, Any]]) -> Iterator[str]:
    rows = class_rows(classes, most=_MOST_CLASSES)
    yield "<h3>Classes</h3>"
    yield from _table(rows, header=("class", "nodes"))
    shown = classes[:_MOST_CLASSES]
    bars = [(class_name(each), each["nodes"]) for each in shown]
    yield f"<figure>{class_chart(path, bars)}</figure>"


def _columns(path: str, summary: ColumnSummary) -> Iterator[str]:
    yield "<h3>Values</h3>"
    if not summary.num_read or not summary.num_columns:
        yield "<p>There are none.</p>"
        return
    read = (
        f"Of all {summary.num_rows:,} rows."
        if summary.num_read == summary.num_rows
        else f"Of {summary.num_read:,} random rows out of {summary.num_rows:,}."
    )
    one_by_one = summary.columns[int(summary.num_columns > 1) :]
    if len(one_by_one) < summary.num_columns:
        read += f" The first {len(one_by_one)} of {summary.num_columns:,} columns."
    yield f"<p>{read}</p>"
    header = ("", "mean", "standard deviation", "least", "1 %", "median", "99 %", "most")
    rows = [_column_row(column) for column in summary.columns]
    yield from _table(rows, header=(*header, "zeros", "NaN", "infinite"))
    drawn = [column for column in summary.columns if len(column.values)][:_MOST_CHARTS]
    if drawn:
        yield f"<figure>{value_charts(path, drawn)}</figure>"


def _column_row(column: Column) -> tuple[str, ...]:
    others = (f"{column.zero_share:.1%}", f"{column.num_nan:,}", f"{column.num_infinite:,}")
    if not len(column.values):
        return (column.name, *["-"] * 7, *others)
    values = column.values
    low, middle, high = np.quantile(values, _QUANTILES)
    figures = (values.mean(), values.std(), values.min(), low, middle, high, values.max())
    return (column.name, *(f"{figure:.4g}" for figure in figures), *others)


def _table(rows: Sequence[Sequence[str]], header: Sequence[str] | None = None) -> Iterator[str]:
    kind = "figures" if header else "facts"
    yield f'<div class=scroll><table class="{kind}">'
    if header:
        yield f"<tr>{''.join(f'<th>{_shown(name)}</th>' for name in header)}</tr>"
    for name, *cells in rows:
        inner = "".join(f"<td>{_shown(cell)}</td>" for cell in cells)
        yield f"<tr><th>{_shown(name)}</th>{inner}</tr>"
    yield "</table></div>"


def _shown(words: str) -> str:
    """Text for the page. Paths need not be UTF-8: what is not becomes an escape."""
    return escape(words.encode("utf-8", "backslashreplace").decode())
