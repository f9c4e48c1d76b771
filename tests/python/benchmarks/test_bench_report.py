"""The report of benchmarks: what it says, that it is well formed, and how a browser lays it out."""

import importlib
import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET

import pytest
from bench_results import make_results, plots
from graphmount.benchmarks.report.axis import Axis, axis_for, label
from graphmount.benchmarks.report.page import to_html
from graphmount.benchmarks.report.plot import Plot, bars
from graphmount.benchmarks.report.plot_files import write_plots
from graphmount.benchmarks.report.svg_chart import to_svg
from graphmount.benchmarks.report.units import Spread, Unit, spread_of

SVG = "{http://www.w3.org/2000/svg}"
#: Says in the page what a script can see of its layout.
LOOK = """<script>
const outside = [...document.querySelectorAll('svg')].flatMap(svg => {
  const box = svg.getBoundingClientRect();
  return [...svg.querySelectorAll('text')].filter(text => {
    const its = text.getBoundingClientRect();
    return its.left < box.left - 1 || its.right > box.right + 1
      || its.top < box.top - 1 || its.bottom > box.bottom + 1;
  }).map(text => text.textContent);
});
document.title = JSON.stringify({
  outside, wide: document.documentElement.scrollWidth - innerWidth,
  svgs: document.querySelectorAll('svg').length, rows: document.querySelectorAll('tr').length,
  bars: [...document.querySelectorAll('svg rect')].filter(r => r.getBBox().width >= 0.5).length,
  external: performance.getEntriesByType('resource').length,
});
</script>"""


def browser() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("there is no chromium here (Debian: apt-get install chromium)")
    return found


def parsed(plot: Plot) -> ET.Element:
    return ET.fromstring(to_svg(plot))  # noqa: S314  (our own)


@pytest.mark.parametrize(
    "name", ["catalog", "report.axis", "report.compare", "report.plot", "report.units"]
)
def test_examples_in_docstrings(name):
    import doctest

    module = importlib.import_module(f"graphmount.benchmarks.{name}")
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("plot", plots(), ids=lambda plot: plot.title)
def test_plots_are_well_formed(plot):
    root = parsed(plot)
    assert root.find(f"{SVG}title").text == plot.title
    count = sum(len(points) for points in plot.series.values())
    if plot.kind == "lines":
        assert len(root.findall(f".//{SVG}circle")) == count
        assert len(root.findall(f"{SVG}polyline")) == len(plot.series)
    else:
        with_titles = [
            rect for rect in root.iter(f"{SVG}rect") if rect.find(f"{SVG}title") is not None
        ]
        assert len(with_titles) == count


def test_marks_lie_where_their_values_are():
    plot = Plot(
        title="t", kind="lines", x="x", y="y", series={"a": [(1.0, 0.0), (2.0, 5.0), (3.0, 10.0)]}
    )
    circles = parsed(plot).findall(f".//{SVG}circle")
    xs, ys = ([float(circle.get(name)) for circle in circles] for name in ("cx", "cy"))
    assert xs[1] - xs[0] == pytest.approx(xs[2] - xs[1], abs=0.2)
    assert ys[0] - ys[1] == pytest.approx(ys[1] - ys[2], abs=0.2)
    assert ys[0] > ys[2]


def test_bars_are_as_long_as_their_values():
    rows = [{"way": "a", "s": 2.0}, {"way": "b", "s": Spread(8.0, 7.0, 9.0, 3)}]
    root = parsed(bars("t", rows, of="s", y="seconds"))
    wide = [float(rect.get("width")) for rect in root.iter(f"{SVG}rect")]
    assert wide[1] == pytest.approx(4 * wide[0], rel=0.01)
    assert "8.00 (7.00 - 9.00)" in to_svg(bars("t", rows, of="s", y="seconds"))


def test_bars_by_factors_may_begin_at_nothing():
    rows = [{"way": "a", "s": Spread(1.0, 0.0, 2.0, 3)}, {"way": "b", "s": 0.0}]
    plot = bars("t", rows, of="s", y="seconds", log=True)
    assert [name for name, _ in plot.series["s"]] == ["a"]
    assert parsed(plot) is not None
    assert "nan" not in to_svg(plot)


def test_nothing_to_draw_is_said():
    with pytest.raises(ValueError, match="'empty' has no points"):
        to_svg(Plot(title="empty", kind="lines", x="x", y="y", series={"a": []}))


@pytest.mark.parametrize("is_log", [False, True])
@pytest.mark.parametrize("values", [[1, 2], [3e-7, 9e8], [5, 5], [0.04, 0.05], [999, 1001]])
def test_ticks_are_few_and_within(values, is_log):
    axis = axis_for(values, 0, 100, is_log=is_log)
    ticks = axis.ticks()
    assert 2 <= len(ticks) <= 18
    assert ticks == sorted(ticks)
    assert all(-0.01 <= axis.place(tick) <= 100.01 for tick in ticks)
    assert len({label(tick) for tick in ticks}) == len(ticks)


def test_no_place_for_zero_among_factors():
    with pytest.raises(ValueError, match="0 has no place"):
        axis_for([0, 1], 0, 1, is_log=True)
    assert axis_for([0, 0], 0, 1, is_log=False).ticks()
    assert Axis(0, 1, 100, 0).place(1) == 0


def test_units():
    assert Unit(1e3, 1)(None) == "-"
    assert Unit()("text") == "text"
    assert Unit(digits=1)(spread_of([1.0])) == "1.0"
    assert spread_of([1.0, 3.0]).times(2) == Spread(4.0, 2.0, 6.0, 2)
    ten = spread_of([float(value) for value in range(11)])
    assert (ten.low, ten.median, ten.high) == (1.0, 5.0, 9.0)


def test_the_page_says_it_all():
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
    ):
        assert words in page
    assert "A quick run" not in page
    assert not re.search(r'(src|href)="?http', page)
    quick = to_html(make_results(quick=True))
    assert "A quick run" in quick
    assert "no, in a quick run" in quick


def test_plots_as_files(tmp_path):
    assert write_plots(make_results(), str(tmp_path / "plots")) == len(plots())
    files = sorted(path.name for path in (tmp_path / "plots").iterdir())
    assert "walk-by-memory-share.svg" in files
    for path in (tmp_path / "plots").iterdir():
        assert 'fill="white"' in path.read_text()


@pytest.mark.parametrize("width", [1200, 500])
def test_in_a_browser(tmp_path, width):
    page = tmp_path / "report.html"
    page.write_text(to_html(make_results()).replace("</body>", f"{LOOK}</body>"))
    command = [browser(), "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    command += [f"--window-size={width},2000", f"--user-data-dir={tmp_path / 'profile'}"]
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
    assert seen["wide"] <= 0
    assert seen["svgs"] == len(plots())
    assert seen["rows"] == 3 + 3 + 4
    assert seen["bars"] >= 6 + 2 + 3
    assert seen["external"] == 0
