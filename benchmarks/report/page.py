"""The report of a run as one HTML file: no scripts, nothing from elsewhere, light and dark.

It begins with the headline figures, the leading charts and the goals. Then each benchmark has a
section: what it does, charts, tables, what a reader must know, and the command that repeats it. The
machine is at the end. Everything in it comes from results.json. Each chart is there twice, for a
wide window and for a narrow one; the style sheet shows one of them.
"""

from __future__ import annotations

import re
from html import escape
from importlib import resources
from typing import TYPE_CHECKING, Any

from graphmount._support.files.text_output import write_text

from .canvas import NARROW, WIDE, why_no_charts
from .chart import to_svg
from .headlines import headline_of
from .plot import plot_of
from .units import Unit, cell_of, unit_of
from .words import WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .plot import Plot
    from .results import Result

_MACHINE = ("processor", "cores", "memory", "disk_model", "file_system", "kernel")
_SPREAD_HELP = (
    "Figures are medians. In brackets, and as thin lines in charts, are the 10th and 90th "
    "percentile, or the lowest and highest of fewer than ten runs. What is compared ran in the "
    "same minutes, taking turns, with the same inputs, and its answers were checked before it was "
    "timed. A ratio in a table is the median over pairs of runs next to each other, so it may "
    "differ from the ratio of two medians."
)


def write_report(results: Mapping[str, Any], path: str) -> None:
    """Writes the page."""
    write_text(path, to_html(results))


def to_html(results: Mapping[str, Any]) -> str:
    """The page as text."""
    style = resources.files(__package__).joinpath("page.css").read_text("utf-8")
    body = "\n".join(
        [
            *_head(results),
            *_in_short(results),
            *_goals(results),
            *_how_to_read(),
            *(line for result in results["benchmarks"] for line in _section(result)),
            *_words(),
            *_environment(results["environment"]),
        ]
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>graphmount benchmarks</title>\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def _head(results: Mapping[str, Any]) -> Iterator[str]:
    facts = results["environment"]
    machine = ", ".join(
        f"{facts[name]} {name}" if name == "cores" else str(facts[name])
        for name in _MACHINE
        if facts.get(name) is not None
    )
    yield "<header><h1>graphmount benchmarks</h1>"
    yield (
        "<p>graphmount trains graph neural networks on graphs that are larger than memory: the "
        "graph and its features stay on disk, in files that are mounted rather than loaded. This "
        "page shows how fast that is on one machine, next to other ways to do the same.</p>"
    )
    yield f"<p class=facts>{escape(results['date'])} · {escape(machine)}</p>"
    load, cores = facts.get("load_average"), facts.get("cores")
    if load is not None and cores is not None and load > cores / 2:
        yield (
            f"<p class=banner><b>The machine was busy</b> when this began: a load average of "
            f"{load:.1f} on {cores} cores. Ratios within a table are fairer than speeds.</p>"
        )
    if results["quick"]:
        yield (
            "<p class=banner><b>A quick run.</b> Files are small and rounds are few: this shows "
            "that everything works, and roughly how fast. Small files fit into caches, and "
            "start-up takes a larger share of the time, so some goals cannot be reached here. Run "
            "without <code>--quick</code> to judge them.</p>"
        )
    yield "</header>"
    links = " · ".join(
        f'<a href="#{result["benchmark"]}">{escape(result["benchmark"])}</a>'
        for result in results["benchmarks"]
    )
    yield f"<nav>{links} · <a href='#words'>words</a> · <a href='#machine'>machine</a></nav>"


def _in_short(results: Mapping[str, Any]) -> Iterator[str]:
    """The headline figures, and the charts that say most."""
    leading = [
        (result["benchmark"], plot_of(plot))
        for result in results["benchmarks"]
        for plot in result["plots"]
        if plot["leads"]
    ]
    yield "<section id=short><h2>In short</h2>"
    if headlines := [(name, found) for name, plot in leading if (found := headline_of(plot))]:
        yield "<p>How many times as good as the best of the others graphmount is.</p>"
        yield "<ul class=headlines>"
        for name, found in headlines:
            yield (
                f'<li><a href="#{name}"><b>{escape(found.figure)}</b> {escape(found.title)}'
                f"<small>{escape(found.words)}</small></a>"
            )
        yield "</ul>"
    if why := why_no_charts():
        yield f"<p class=note>{_prose(f'There are {why}.')}</p>"
    for _, plot in leading:
        yield from _figure(plot)
    yield "</section>"


def _figure(plot: Plot) -> Iterator[str]:
    """A chart in both widths; nothing where charts cannot be drawn."""
    if why_no_charts() is None:
        wide, narrow = (to_svg(plot, width=width) for width in (WIDE, NARROW))
        yield f"<figure><div class=wide>{wide}</div><div class=narrow>{narrow}</div></figure>"


def _goals(results: Mapping[str, Any]) -> Iterator[str]:
    """The goals of all benchmarks, and how many checks passed."""
    judged = [
        (result["benchmark"], check)
        for result in results["benchmarks"]
        for check in result["checks"]
    ]
    goals = [(name, check) for name, check in judged if check["kind"] == "goal"]
    checks = [check["passed"] for _, check in judged if check["kind"] == "check"]
    yield "<section id=goals><h2>Goals</h2>"
    wrong = len(checks) - sum(checks)
    words = f"{len(checks):,} answers were checked; "
    words += "all are right." if wrong == 0 else f"{wrong} are wrong: see below."
    yield f"<p>{words}</p>"
    if goals:
        yield "<div class=scroll><table><tr><th>goal<th>measured<th>reached<th>benchmark</tr>"
        for name, goal in goals:
            mark = _mark(reached=goal["passed"], quick=results["quick"])
            yield (
                f"<tr><td>{escape(goal['what'])}<td>{escape(goal['detail'])}<td>{mark}"
                f'<td><a href="#{name}">{escape(name)}</a></tr>'
            )
        yield "</table></div>"
    yield "</section>"


def _how_to_read() -> Iterator[str]:
    yield "<section id=reading><h2>How to read this page</h2>"
    yield f"<p>{escape(_SPREAD_HELP)}</p>"
    yield (
        "<p>In charts, <span class=ours>this color is graphmount</span>; other libraries have "
        "other colors. Bars start at zero. Where figures are far apart, there are dots on a log "
        "scale instead. The numbers k, M and G are thousands, millions and billions.</p></section>"
    )


def _mark(*, reached: bool, quick: bool) -> str:
    if reached:
        return "<span class=yes>yes</span>"
    return "<span class=small>no, in a quick run</span>" if quick else "<span class=no>no</span>"


def _section(result: Result) -> Iterator[str]:
    yield f'<section id="{result["benchmark"]}"><h2>{escape(_heading(result))}</h2>'
    for paragraph in (result.get("about") or "").split("\n\n"):
        yield f"<p>{_prose(paragraph)}</p>"
    if result["status"] != 0:
        yield f"<p class=banner><b>It failed</b> (status {result['status']}).</p>"
    for note in result["notes"]:
        yield f"<p class=note>{_prose(note)}</p>"
    for plot in result["plots"]:
        if not plot["leads"]:
            yield from _figure(plot_of(plot))
    for title, rows in result["tables"].items():
        yield from _table(title, result["units"][title], rows)
    yield from _judged(result)
    if "command" in result:
        yield f"<p>To repeat it: <code>{escape(result['command'])}</code></p>"
    yield "</section>"


def _heading(result: Result) -> str:
    name = result["benchmark"].replace("_", " ").capitalize()
    return f"{name}: {result['shows']}"


def _prose(paragraph: str) -> str:
    """Text with `code` in it."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(paragraph))


def _table(title: str, units: Mapping[str, Any], rows: list[Mapping[str, Any]]) -> Iterator[str]:
    shown = {name: unit_of(unit) for name, unit in units.items()}
    yield f"<div class=scroll><table><caption>{escape(title)}</caption><tr>"
    yield "".join(f"<th>{escape(name)}" for name in shown) + "</tr>"
    for row in rows:
        cells = (_cell(unit, row.get(name)) for name, unit in shown.items())
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</table></div>"


def _cell(unit: Unit, value: Any) -> str:  # noqa: ANN401  (whatever JSON has)
    words = unit(cell_of(value))
    number, bracket, rest = words.partition(" (")
    if isinstance(value, dict) and bracket:
        return f"<td>{escape(number)}<small>({escape(rest)}</small>"
    return f"<td>{escape(words)}"


def _judged(result: Result) -> Iterator[str]:
    checks = [check for check in result["checks"] if check["kind"] == "check"]
    wrong = [check for check in checks if not check["passed"]]
    for check in wrong:
        words = escape(f"{check['what']}: {check['detail']}")
        yield f"<p class=banner><b>Wrong:</b> {words}</p>"
    if checks:
        yield f"<details><summary>{len(checks)} checks, {len(wrong)} failed</summary><ul>"
        for check in checks:
            detail = f": {check['detail']}" if check["detail"] else ""
            yield f"<li>{escape(check['what'] + detail)}"
        yield "</ul></details>"
    for skipped in result["skipped"]:
        yield (
            f"<p class=note>Not measured here: {escape(skipped['what'])} "
            f"({escape(skipped['why'])}).</p>"
        )


def _words() -> Iterator[str]:
    yield '<section id="words"><h2>Words</h2><dl>'
    for word, meaning in WORDS.items():
        yield f"<dt>{escape(word)}<dd>{_prose(meaning)}"
    yield "</dl></section>"


def _environment(facts: Mapping[str, Any]) -> Iterator[str]:
    yield '<section id="machine"><h2>The machine</h2><div class=scroll><table>'
    for name, value in facts.items():
        shown = "unknown" if value is None else str(value)
        yield f"<tr><th>{escape(name.replace('_', ' '))}<td class=left>{escape(shown)}</tr>"
    yield "</table></div></section>"
