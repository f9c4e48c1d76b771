"""`graphmount info --html`: a page that stands alone, with what the files hold."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import pytest

import graphmount as gm
from graphmount.cli import main

pytest.importorskip("matplotlib")

NAME = "<script>alert('x')</script>&"
OPEN_ENDED = {"meta"}


class Page(HTMLParser):
    """Reads a page, and remembers its tags, its text and what is not closed."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.words = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in OPEN_ENDED:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


@pytest.fixture
def dataset(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    x = np.column_stack([np.arange(40), np.zeros(40), np.full(40, np.nan)]).astype(np.float32)
    x[0, 1] = np.inf
    gm.compile_dataset(
        NAME.replace("/", "|"),
        edges=([0, 1, 2, 3, 3], [5, 5, 5, 5, 6]),
        num_nodes=40,
        features={"x": x},
        labels=np.arange(40) % 3,
        splits={"train": [0, 1]},
    )
    return NAME.replace("/", "|")


def test_page_of_a_dataset(dataset, tmp_path, capsys):
    assert main(["info", dataset, "--html", "page.html"]) == 0
    assert capsys.readouterr().out == f"page.html: what is in {dataset}\n"
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.open == []
    tags = {tag for tag, _ in page.tags}
    assert tags.isdisjoint({"script", "link", "img", "iframe", "object", "b"})
    # Nothing is fetched: addresses are those of parts of the page, and names of XML.
    addresses = {
        value
        for tag, attributes in page.tags
        for name, value in attributes.items()
        if name in ("src", "href", "xlink:href", "action", "data")
    }
    assert all(address.startswith("#") for address in addresses)
    assert "url(http" not in text
    assert "@import" not in text
    assert dataset in page.text
    assert "nodes 40, in the order 'hot'" in page.text
    assert "edges 5" in page.text
    assert "In-degrees Mean 0.12, median 0, 90 % up to 0" in page.text
    assert "largest 4, 38 isolated nodes" in page.text
    assert "Of all 40 rows." in page.text
    assert "column 0 19.5 11.54 0 0.39 19.5 38.61 39 2.5% 0 0" in page.text
    assert "column 1 0 0 0 0 0 0 0 97.5% 0 1" in page.text
    assert "column 2 - - - - - - - 0.0% 40 0" in page.text
    labels = [attributes["aria-label"] for tag, attributes in page.tags if tag == "svg"]
    assert any("0: 38; 1: 1; 2 - 3: 0; 4 - 7: 1" in label for label in labels)
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {address[1:] for address in addresses} <= set(ids)


def test_same_files_give_the_same_page(dataset, tmp_path):
    pages = []
    for name in ("one.html", "two.html"):
        assert main(["info", dataset, "--html", name]) == 0
        text = (tmp_path / name).read_text(encoding="utf-8")
        # What the system keeps in memory is its own business.
        pages.append(re.sub(r", [\d.]+ \w+ of it in the page cache", "", text))
    assert pages[0] == pages[1]


def test_large_table_is_summed_up_from_some_rows(tmp_path, monkeypatch):
    from graphmount.cli.info import columns

    monkeypatch.setattr(columns, "_MOST_ROWS", 500)
    path = tmp_path / "wide.gd"
    x = np.random.default_rng(0).standard_normal((5_000, 40)).astype(np.float16)
    gm.compile_features(x, path)
    summary = columns.summary_of(str(path))
    assert 400 < summary.num_read <= 500
    assert summary.num_rows == 5_000
    assert [column.name for column in summary.columns[:2]] == ["all columns", "column 0"]
    assert len(summary.columns) == columns.MOST_COLUMNS + 1
    assert abs(summary.columns[0].values.mean()) < 0.05
    page = tmp_path / "page.html"
    assert main(["info", str(path), "--html", str(page)]) == 0
    words = Page(page.read_text(encoding="utf-8")).text
    assert f"random rows out of 5,000. The first {columns.MOST_COLUMNS} of 40 columns." in words


@pytest.mark.parametrize(
    ("table", "dtype", "words"),
    [
        ([[1, 2]], "bfloat16", "column 1 2 0 2 2 2 2 2"),
        ([5, 5, 5], "int64", "values 5 0 5 5 5 5 5"),
        (np.empty((0, 3), np.float32), None, "There are none."),
    ],
)
def test_tables_of_other_kinds(tmp_path, table, dtype, words):
    gm.compile_features(table, tmp_path / "x.gd", dtype=dtype)
    page = tmp_path / "page.html"
    assert main(["info", str(tmp_path / "x.gd"), "--html", str(page)]) == 0
    assert words in Page(page.read_text(encoding="utf-8")).text


def test_quantized_values_are_those_that_were_stored(tmp_path):
    gm.compile_features([[0.0], [1.0], [127.0]], tmp_path / "x.gd", quantize="column")
    page = tmp_path / "page.html"
    assert main(["info", str(tmp_path / "x.gd"), "--html", str(page)]) == 0
    assert "values 42.67 59.63 0 " in Page(page.read_text(encoding="utf-8")).text


def test_graph_without_edges(tmp_path):
    gm.compile_graph(np.empty((2, 0), np.int64), tmp_path / "g.gl", num_nodes=3)
    page = tmp_path / "page.html"
    assert main(["info", str(tmp_path / "g.gl"), "--html", str(page)]) == 0
    assert "3 isolated nodes" in Page(page.read_text(encoding="utf-8")).text


def test_a_page_never_replaces_data(dataset, capsys):
    graph = os.path.join(dataset, "graph.gl")
    before = os.stat(graph)
    assert main(["info", dataset, "--html", graph]) == 2
    assert "must end in .html" in capsys.readouterr().err
    assert os.stat(graph) == before


def test_a_file_that_cannot_be_read_is_named_and_the_others_are_shown(dataset, tmp_path, capsys):
    assert main(["info", "nosuch.gl", dataset, "--html", "page.html"]) == 2
    assert "nosuch.gl" in capsys.readouterr().err
    assert dataset in Page((tmp_path / "page.html").read_text(encoding="utf-8")).text
    assert main(["info", "nosuch.gl", "--html", "none.html"]) == 2
    assert not (tmp_path / "none.html").exists()


def test_without_matplotlib_it_says_what_to_install(dataset, tmp_path, capsys, monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "matplotlib" else found(name)
    )
    assert main(["info", dataset, "--html", "page.html"]) == 2
    assert "pip install matplotlib" in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()


def test_html_and_json_exclude_each_other(dataset, capsys):
    with pytest.raises(SystemExit):
        main(["info", dataset, "--html", "page.html", "--json"])
    assert "not allowed with" in capsys.readouterr().err


def test_a_browser_draws_it(dataset, tmp_path):
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("there is no browser: chromium or google-chrome")
    assert main(["info", dataset, "--html", "page.html"]) == 0
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--dump-dom"]
    flags += ["--disable-background-networking", f"--user-data-dir={tmp_path / 'browser'}"]
    result = subprocess.run(
        [browser, *flags, (tmp_path / "page.html").as_uri()],
        env={name: value for name, value in os.environ.items() if name != "LD_PRELOAD"},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    # What the browser made of it has the same text, and charts that are not empty.
    assert result.stdout.count("<svg") == (tmp_path / "page.html").read_text().count("<svg")
    assert "In-degrees" in result.stdout
