"""`graphmount info` of a dataset: names of columns and classes, counts of classes, splits."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import graphmount as gm
from graphmount._dataset.label_classes import class_counts
from graphmount.cli import main


@pytest.fixture(autouse=True)
def club(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "cay,31,1.75,red\nann,47,1.5,blue\nbob,25,2,red\n"
    Path("people.csv").write_text(f"name,age,height,team\n{rows}")
    Path("follows.csv").write_text("from,to\nann,bob\nbob,cay\n")
    people = {"source": "people.csv", "key": "name"}
    gm.compile_dataset(
        "club",
        edges=gm.EdgeTable(source="follows.csv", header=True),
        ids="map",
        features={
            "x": gm.Table(**people, columns=["age", "height"]),
            "h": gm.Table(**people, columns=["height"]),
        },
        labels=gm.Table(**people, columns=["team"]),
        splits={"train": ["ann", "cay"]},
    )


def info(capsys, *options):
    assert main(["info", *options]) == 0
    return capsys.readouterr().out


def test_terminal(capsys):
    text = re.sub(r" +", " ", info(capsys, "club"))
    assert "labels 2 classes: blue, red \n" in text
    assert "features 'x' matrix of 3 x 2, float32 \ncolumns age, height \n" in text
    assert "labels vector of 3, int64 \ncolumns team \nclasses 2 \n" in text
    assert "class nodes \nred 2 \nblue 1 \n" in text
    split = text[text.index("splits/train.gd") :]
    assert "split 'train' 2 nodes, by internal ids of the dataset (int64) \n" in split
    assert "order" not in split
    assert "that of the source" not in text


def test_json(capsys):
    facts = json.loads(info(capsys, "--json", "club"))
    by_role = {(file.get("role"), file.get("name")): file for file in facts}
    assert facts[0]["classes"] == ["blue", "red"]
    assert by_role["features", "x"]["column_names"] == ["age", "height"]
    assert by_role["labels", None]["class_counts"] == [
        {"label": 1, "name": "red", "nodes": 2},
        {"label": 0, "name": "blue", "nodes": 1},
    ]
    assert by_role["splits", "train"]["shape"] == [2]


def test_page(capsys):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    info(capsys, "club", "--html", "page.html")
    page = Path("page.html").read_text(encoding="utf-8")
    words = re.sub(r"<[^>]+>", " ", page)
    words = " ".join(words.split())
    assert "age 34.33 9.286 25" in words
    assert "height 1.75" in words
    assert "column 0" not in words
    assert "class nodes red 2 blue 1" in words
    assert "Nodes by class. red: 2; blue: 1" in page
    labels = words[words.index("club/labels.gd") : words.index("club/splits/train.gd")]
    assert "standard deviation" not in labels
    assert "standard deviation" not in words[words.index("club/splits/train.gd") :]


def test_page_of_names_in_other_scripts(capsys):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    Path("wide.csv").write_text("年齢,<b>\n1,2\n3,4\n", encoding="utf-8")
    x = gm.Table(source="wide.csv", header=True)
    gm.compile_dataset("far", edges=([0], [1]), features={"x": x}, labels=["赤", "<i>"])
    info(capsys, "far", "--html", "page.html")  # a warning would be an error here
    page = Path("page.html").read_text(encoding="utf-8")
    assert "年齢" in page
    assert "赤" in page
    assert "<b>" not in page
    assert "<i>" not in page


def test_names_follow_changes():
    ds = gm.Dataset("club")
    assert ds.description["columns"] == {
        "features/x.gd": ["age", "height"],
        "features/h.gd": ["height"],
        "labels.gd": ["team"],
    }
    ds = ds.set_labels(gm.Table(source="people.csv", key="name", columns=["age"]))
    assert ds.description["columns"][ds.description["labels"]] == ["age"]
    ds = ds.remove("h")
    assert sorted(ds.description["columns"]) == sorted([ds.description["labels"], "features/x.gd"])
    ds = ds.add_features("h", gm.Table(source=np.ones((3, 1)), key=["ann", "bob", "cay"]))
    assert ds.description["features"]["h"] not in ds.description["columns"]
    ds = ds.remove("x").remove("labels")
    assert "columns" not in ds.description
    assert gm.verify("club").ok


def test_names_of_frames():
    polars = pytest.importorskip("polars", reason="polars is not installed")
    frame = polars.read_csv("people.csv")
    ds = gm.Dataset("club")
    ds = ds.add_features("f", gm.Table(source=frame, key="name", columns=["height", "age"]))
    assert ds.description["columns"]["features/f.gd"] == ["height", "age"]
    frame.write_parquet("people.parquet")
    ds = ds.add_features("p", gm.Table(source="people.parquet", key="name", columns=["age"]))
    assert ds.description["columns"]["features/p.gd"] == ["age"]


def test_too_many_names_are_left_out():
    names = [f"a rather long name of column {number}" for number in range(3_000)]
    Path("wide.csv").write_text(",".join(names) + "\n" + ",".join(["1"] * 3_000) + "\n")
    gm.compile_dataset(
        "wide", edges=([0], [0]), features={"x": gm.Table(source="wide.csv", header=True)}
    )
    assert "columns" not in gm.Dataset("wide").description


def test_names_that_are_no_words(capsys):
    """Nothing in a file moves the cursor of the terminal."""
    labels = ["\x1b[31mred", "x" * 300]
    gm.compile_dataset("odd", edges=([0], [1]), labels=labels)
    text = info(capsys, "odd")
    assert "\x1b[31mred" not in text
    assert "'\\x1b[31mred'" in text
    assert "x" * 60 + "…" in text
    assert "x" * 61 not in text


@pytest.mark.parametrize(
    ("labels", "counts"),
    [
        ([0, 2, 2, -1], {0: 1, 2: 2, -1: 1}),
        (np.array([0.0, np.nan, 1.0, 1.0]), {0: 1, 1: 2}),
        ([0.5, 1.0, 1.0, 1.0], None),
        (np.ones((4, 2)), None),
        (np.arange(4)[:, None], {0: 1, 1: 1, 2: 1, 3: 1}),
    ],
)
def test_counts_of_numbers(labels, counts, capsys, monkeypatch):
    monkeypatch.setattr("graphmount._dataset.label_classes._ROWS", 3)
    gm.compile_dataset("n", edges=([0], [1]), labels=labels, num_nodes=4)
    assert class_counts(gm.FeatureStore("n/labels.gd")) == counts
    text = info(capsys, "n")
    assert ("class " in text) == (counts is not None)
    assert ("-1 (none)" in text) == (counts is not None and -1 in counts)


def test_many_classes(capsys):
    gm.compile_dataset("m", edges=([0], [1]), labels=np.arange(100), num_nodes=100)
    text = re.sub(r" +", " ", info(capsys, "m"))
    assert "80 others 80" in text
