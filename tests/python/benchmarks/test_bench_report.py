"""The report of benchmarks: what it says, that it is well formed, and how a browser lays it out."""

import dataclasses
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest
from bench_results import make_results, plots
from graphmount.benchmarks.report.headlines import headline_of
from graphmount.benchmarks.report.page import to_html
from graphmount.benchmarks.report.plot import Plot, bars, plot_of
from graphmount.benchmarks.report.plot_files import write_plots
from graphmount.benchmarks.report.units import Spread, Unit, spread_of

from graphmount.cli import main

SVG = "{http://www.w3.org/2000/svg}"
#: Says in the page what a script can see of its layout.
LOOK = """<script>
const shown = [...document.querySelectorAll('svg')].filter(
  svg => svg.getBoundingClientRect().width);
const texts = svg => [...svg.querySelectorAll('text')].map(
  text => ({words: text.textContent, box: text.getBoundingClientRect()}));
const outside = shown.flatMap(svg => {
  const box = svg.getBoundingClientRect();
  return texts(svg).filter(({box: its}) => its.left < box.left - 1 || its.right > box.right + 1
      || its.top < box.top - 1 || its.bottom > box.bottom + 1).map(({words}) => words);
});
const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2
  && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 6;
const overlaps = shown.flatMap(svg => texts(svg).flatMap((one, at, all) =>
  all.slice(at + 1).filter(other => meet(one.box, other.box))
    .map(other => one.words + ' / ' + other.words)));
const small = shown.flatMap(svg => texts(svg).filter(({box}) => box.height < 10));
const ours = document.querySelector('.ours');
document.title = JSON.stringify({
  outside, overlaps, small: small.length,
  wide: document.documentElement.scrollWidth - innerWidth,
  fill: Math.min(...shown.map(svg => svg.getBoundingClientRect().width)) / innerWidth,
  svgs: shown.length, rows: document.querySelectorAll('tr').length,
  marks: shown.reduce((sum, svg) => sum + svg.querySelectorAll('.mark').length, 0),
  color: getComputedStyle(ours).color, text: getComputedStyle(document.body).color,
  drawn: [...new Set(shown.flatMap(svg => [...svg.querySelectorAll('text')].map(
    text => getComputedStyle(text).fill)))],
  external: performance.getEntriesByType('resource').length,
  ids: [...document.querySelectorAll('[id]')].map(element => element.id),
});
</script>"""


def browser() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("there is no chromium here (Debian: apt-get install chromium)")
    return found


def to_svg(plot, **options):
    pytest.importorskip("matplotlib")
    from graphmount.benchmarks.report import chart

    return chart.to_svg(plot, **options)


def parsed(plot: Plot, **options) -> ET.Element:
    return ET.fromstring(to_svg(plot, **options))  # noqa: S314  (our own)


def marks(root: ET.Element) -> list[ET.Element]:
    """The groups of bars and dots, in the order of the plot."""
    return [group for group in root.iter(f"{SVG}g") if group.get("class") == "mark"]


def dots(root: ET.Element) -> list[tuple[float, float]]:
    return [
        (float(use.get("x")), float(use.get("y")))
        for mark in marks(root)
        for use in mark.iter(f"{SVG}use")
    ]


def bar_widths(root: ET.Element) -> list[float]:
    found = []
    for mark in marks(root):
        xs = [
            float(x)
            for path in mark.iter(f"{SVG}path")
            for x in re.findall(r"[ML] (-?[\d.]+) ", path.get("d"))
        ]
        found.append(max(xs) - min(xs))
    return found


@pytest.mark.parametrize(
    "name",
    [
        "catalog",
        "peers.packages",
        "report.compare",
        "report.headlines",
        "report.plot",
        "report.units",
    ],
)
def test_examples_in_docstrings(name):
    import doctest

    module = importlib.import_module(f"graphmount.benchmarks.{name}")
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("width", [1100, 400])
@pytest.mark.parametrize("plot", plots(), ids=lambda plot: plot.title)
def test_charts_are_well_formed(plot, width):
    root = parsed(plot, width=width)
    assert root.get("role") == "img"
    assert root.find(f"{SVG}title").text == plot.title
    described = root.find(f"{SVG}desc").text
    count = sum(len(points) for points in plot.series.values())
    said = [mark.find(f"{SVG}title").text for mark in marks(root)]
    assert len(said) == count
    assert all(words in described for words in said)
    assert root.get("width") is None  # the page decides
    assert float(root.get("viewBox").split()[2]) == width


@pytest.mark.parametrize("plot", plots(), ids=lambda plot: plot.title)
def test_the_same_chart_is_the_same_text(plot):
    text = to_svg(plot)
    assert text == to_svg(plot)
    for told in ("<metadata", "matplotlib", "DOCTYPE", str(os.getcwd()), "xlink"):
        assert told not in text


def test_charts_of_a_page_share_no_ids():
    found = [re.findall(r'\bid="([^"]+)"', to_svg(plot)) for plot in plots()]
    flat = [name for names in found for name in names]
    assert len(flat) == len(set(flat))


def test_ours_has_its_color_and_all_follow_the_page():
    rows = [{"way": "ours", "s": 2.0}, {"way": "graphzero", "s": 8.0}, {"way": "cp", "s": 3.0}]
    for log in (False, True):
        plot = bars("t", rows, of="s", y="s", ours=["ours"], better="less", log=log)
        styles = [
            " ".join(element.get("style", "") for element in mark.iter())
            for mark in marks(parsed(plot))
        ]
        assert ["--ours" in style for style in styles] == [True, False, False]
        assert "--peer-1" in styles[1]
        assert "--other" in styles[2]
    text = to_svg(plot)
    assert "fill: currentColor" in text
    left = set(re.findall(r"(?<!, )#[0-9a-f]{6}\b", text)) - set(re.findall(r'"#[\w]+"', text))
    assert left <= {"#ffffff", "#000000"}


def test_marks_lie_where_their_values_are():
    plot = Plot(
        title="t", kind="lines", x="x", y="y", series={"a": [(1.0, 0.0), (2.0, 5.0), (3.0, 10.0)]}
    )
    xs, ys = zip(*dots(parsed(plot)), strict=True)
    assert xs[1] - xs[0] == pytest.approx(xs[2] - xs[1], abs=0.2)
    assert ys[0] - ys[1] == pytest.approx(ys[1] - ys[2], abs=0.2)
    assert ys[0] > ys[2]


def test_bars_are_as_long_as_their_values():
    rows = [{"way": "a", "s": 2.0}, {"way": "b", "s": Spread(8.0, 7.0, 9.0, 3)}]
    plot = bars("t", rows, of="s", y="seconds", ours=["a"], better="less")
    wide = bar_widths(parsed(plot))
    assert wide[1] == pytest.approx(4 * wide[0], rel=0.01)
    assert "8.00 (7.00 - 9.00)" in to_svg(plot)
    assert "less is better" in to_svg(plot)


def test_a_log_scale_has_dots_and_no_bars():
    rows = [{"way": "a", "s": 1.0}, {"way": "b", "s": 10.0}, {"way": "c", "s": 1000.0}]
    root = parsed(bars("t", rows, of="s", y="seconds", ours=["a"], better="less", log=True))
    xs = [x for x, _ in dots(root)]
    assert len(xs) == 3
    assert xs[2] - xs[1] == pytest.approx(2 * (xs[1] - xs[0]), rel=0.01)
    assert "log scale" in "".join(root.itertext())


def test_zero_has_no_place_on_a_log_scale():
    rows = [{"way": "a", "s": Spread(1.0, 0.0, 2.0, 3)}, {"way": "b", "s": 0.0}]
    plot = bars("t", rows, of="s", y="seconds", ours=["a"], better="less", log=True)
    assert [name for name, _ in plot.series["s"]] == ["a"]
    assert len(dots(parsed(plot))) == 1
    assert "nan" not in to_svg(plot)


@pytest.mark.parametrize("values", [[0.0], [0.0, 0.0], [5.0, 5.0], [3e-7, 9e8]])
@pytest.mark.parametrize("kind", ["bars", "lines", "stacks"])
def test_odd_values_are_drawn(values, kind):
    points = [
        (float(place + 1) if kind == "lines" else f"n{place}", v) for place, v in enumerate(values)
    ]
    root = parsed(Plot(title="t", kind=kind, x="x", y="y", series={"a": points}))
    assert len(marks(root)) == len(values)


def test_nothing_to_draw_is_said():
    with pytest.raises(ValueError, match="'empty' has no points"):
        to_svg(Plot(title="empty", kind="lines", x="x", y="y", series={"a": []}))


def test_plots_of_older_files_can_be_read():
    facts = json.loads(json.dumps(dataclasses.asdict(plots()[5])))
    for name in ("ours", "better", "rivals"):
        del facts[name]
    plot = plot_of(facts)
    assert plot.ours == ()
    assert plot.rivals is None
    assert headline_of(plot) is None
    assert parsed(plot) is not None


def test_headlines():
    rows = [{"way": "ours", "s": 10.0}, {"way": "a", "s": 2.0}, {"way": "b", "s": 40.0}]
    more = bars("t", rows, of="s", y="MB/s", ours=["ours"], better="more")
    assert headline_of(more).figure == "0.2 times"  # the best of the others, even where we lose
    assert headline_of(more).words == "MB/s: 10 by graphmount, 40 by b"
    same_work = bars("t", rows, of="s", y="MB/s", ours=["ours"], better="more", rivals=["a"])
    assert headline_of(same_work).figure == "5.0 times"
    assert headline_of(bars("t", rows[:1], of="s", y="s", ours=["ours"], better="less")) is None
    assert headline_of(dataclasses.replace(more, rivals=())) is None
    lines = {"ours": [(5.0, 3.0), (10.0, 8.0)], "theirs": [(10.0, 0.5)]}
    plot = Plot(title="t", kind="lines", x="x", y="y", series=lines, ours=("ours",), better="more")
    assert headline_of(plot).figure == "16 times"


def test_units():
    assert Unit(1e3, 1)(None) == "-"
    assert Unit()("text") == "text"
    assert Unit(digits=1)(spread_of([1.0])) == "1.0"
    assert spread_of([1.0, 3.0]).times(2) == Spread(4.0, 2.0, 6.0, 2)
    ten = spread_of([float(value) for value in range(11)])
    assert (ten.low, ten.median, ten.high) == (1.0, 5.0, 9.0)


def test_the_page_says_it_all():
    pytest.importorskip("matplotlib")
    page = to_html(make_results())
    for words in (
        "1 answers were checked; all are right",
        "60 times theirs",
        "<span class=no>no</span>",
        "ours &lt;fast&gt;",
        "1.00<small>(0.90 - 1.10)</small>",
        "Second paragraph with &lt;tags&gt;",
        "<code>walks</code>",
        "Not measured here: fio (it is not &lt;installed&gt;)",
        "python -m graphmount.benchmarks.cases.bench_walk",
        "It failed",
        "A &amp; B",
        "<td class=left>unknown",
        "<b>12 times</b> Ways",
        "seconds: 1 by graphmount, 12.5 by theirs &amp; slow",
    ):
        assert words in page
    assert page.index("<b>12 times</b>") < page.index("<svg") < page.index("60 times theirs")
    assert "A quick run" not in page
    assert not re.search(r'(src|href)="?http', page)
    quick = to_html(make_results(quick=True))
    assert "A quick run" in quick
    assert "no, in a quick run" in quick


def test_without_matplotlib(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    page = to_html(make_results())
    assert "<svg" not in page
    assert "There are no charts: matplotlib is not installed" in page
    assert "<b>12 times</b>" in page
    path = tmp_path / "results.json"
    path.write_text(json.dumps(make_results()))
    if sys.platform == "linux":
        assert main(["bench", "report", str(path)]) == 0
        assert "no charts: matplotlib is not installed; `pip install matplotlib`" in (
            capsys.readouterr().out
        )
        assert not (tmp_path / "plots").exists()


def test_plots_as_files(tmp_path):
    pytest.importorskip("matplotlib")
    assert write_plots(make_results(), str(tmp_path / "plots")) == len(plots())
    files = sorted(path.name for path in (tmp_path / "plots").iterdir())
    assert "walk-by-memory-share.svg" in files
    for path in (tmp_path / "plots").iterdir():
        root = ET.parse(path).getroot()  # noqa: S314  (our own)
        assert 'fill="white"' in path.read_text()
        assert root.get("width")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 500])
def test_in_a_browser(tmp_path, width, scheme):
    pytest.importorskip("matplotlib")
    page = tmp_path / "report.html"
    page.write_text(to_html(make_results()).replace("</body>", f"{LOOK}</body>"))
    command = [browser(), "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    command += [f"--window-size={width},2000", f"--user-data-dir={tmp_path / 'profile'}"]
    command += [f"--blink-settings=preferredColorScheme={int(scheme == 'light')}"]
    # A browser that is given a sanitizer with us does not start.
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    run = subprocess.run(
        [*command, page.as_uri()],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    seen = json.loads(re.search(r"<title>(\{.*\})</title>", run.stdout)[1])
    assert seen["outside"] == []
    assert seen["overlaps"] == []
    assert seen["small"] == 0
    assert seen["wide"] <= 0
    assert seen["fill"] > 0.85
    assert seen["svgs"] == len(plots())
    assert seen["rows"] == 3 + 3 + 4
    assert seen["marks"] == sum(len(points) for plot in plots() for points in plot.series.values())
    assert seen["external"] == 0
    assert len(seen["ids"]) == len(set(seen["ids"]))
    is_dark = scheme == "dark"
    assert seen["color"] == ("rgb(90, 169, 255)" if is_dark else "rgb(11, 98, 196)")
    assert seen["drawn"] == [seen["text"]]
    assert seen["text"] == ("rgb(255, 255, 255)" if is_dark else "rgb(0, 0, 0)")
