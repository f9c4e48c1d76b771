"""Names of columns, text and single tables where something else is expected: what to write."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import graphmount as gm


@pytest.fixture
def tables(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("follows.csv").write_text("from,to\nann,bob\nann,cay\nbob,cay\n")
    Path("people.csv").write_text(
        "name,age,height,team\ncay,31,1.75,red\nann,47,1.5,\nbob,25,2,x\n"
    )
    return {"edges": gm.EdgeTable(source="follows.csv", header=True), "ids": "map"}


X = {"source": "people.csv", "key": "name", "columns": ["age", "height"]}


@pytest.mark.parametrize(
    ("given", "advice"),
    [
        ({"labels": "team"}, "pass gm.Table(source=…, key=…, columns=['team'])"),
        ({"labels": gm.Table(source="team")}, "pass gm.Table(source=…, key=…, columns=['team'])"),
        ({"splits": {"train": "team"}}, "write splits=gm.Table(source=…, key=…, columns=['team'])"),
        ({"features": {"x": "age"}}, "pass gm.Table(source=…, key=…, columns=['age'])"),
        (
            {"features": {"x": ["age", "height"]}},
            "pass gm.Table(source=…, key=…, columns=['age', 'height'])",
        ),
    ],
)
def test_a_column_where_a_file_is_expected(tables, given, advice):
    with pytest.raises(FileNotFoundError, match="there is no such file") as caught:
        gm.compile_dataset("d", **tables, **given)
    assert advice in str(caught.value)
    assert caught.value.filename in ("team", "age")
    assert not Path("d").exists()


def test_the_advice_about_columns_works(tables):
    team = gm.Table(source="people.csv", key="name", columns=["team"], missing=-1)
    x = gm.Table(source="people.csv", key="name", columns=["age", "height"])
    gm.compile_dataset("d", **tables, features={"x": x}, labels=team, splits=team)
    ds = gm.Dataset("d")
    assert ds.classes == ["red", "x"]
    ds.set_labels(team)
    ds.add_features("age", gm.Table(source="people.csv", key="name", columns=["age"]))
    with pytest.raises(FileNotFoundError, match=r"pass gm\.Table.*columns=\['age'\]"):
        ds.add_features("again", "age")
    with pytest.raises(FileNotFoundError, match="No such file or directory: 'team'"):
        ds.set_split("new", "team")  # which takes no table


@pytest.mark.parametrize("path", ["nosuch.csv", "folder/team", Path("team")])
def test_a_path_stays_a_path(tables, path):
    with pytest.raises(FileNotFoundError, match="No such file or directory"):
        gm.compile_dataset("d", **tables, labels=path)


def test_features_of_text(tables):
    """The message names the column, and says what may be text."""
    text = "; only labels and splits of a dataset may be text: choose others with columns="
    for columns in (["team"], ["age", "team"], None):
        table = gm.Table(source="people.csv", key="name", columns=columns)
        with pytest.raises(gm.errors.SourceError) as caught:
            gm.compile_dataset("d", **tables, features={"x": table})
        where = "people.csv, line 2, column 4 ('team'): 'red' is not a number"
        assert f"{where}{text}" in str(caught.value)
        assert caught.value.path == "people.csv"
    Path("plain.csv").write_text("1,2\n3,x\n")
    with pytest.raises(gm.errors.SourceError) as caught:
        gm.compile_features("plain.csv", "x.gd", dtype="float32")
    assert str(caught.value).startswith(f"plain.csv, line 2, column 2: 'x' is not a number{text}")
    with pytest.raises(gm.errors.SourceError, match=r"column 1 \('name'\).*name it with key= if"):
        gm.compile_features("people.csv", "x.gd")
    with pytest.raises(TypeError, match=r"must be numbers, not text \(<U1\); only labels and spl"):
        gm.compile_features(np.array([["a"], ["b"]]), "x.gd")


def test_features_of_text_in_a_frame(tables):
    polars = pytest.importorskip("polars", reason="polars is not installed")
    table = gm.Table(source=polars.read_csv("people.csv"), key="name")
    with pytest.raises(gm.errors.SourceError, match=r"column .team. .* only labels and splits of"):
        gm.compile_dataset("d", **tables, features={"x": table})


def test_labels_that_become_text_later(tables):
    rows = "".join(f"{number},{number / 2}\n" for number in range(40_000))
    Path("late.csv").write_text(f"id,team\n{rows}40000,red\n")
    table = gm.Table(source="late.csv", key="id", columns=["team"])
    with pytest.raises(gm.errors.SourceError, match=r"column 2 \('team'\).*dtype='str'\)"):
        gm.compile_dataset("d", edges=([0], [40_000]), labels=table)
    del tables


@pytest.mark.parametrize("kind", ["features", "edge_features"])
@pytest.mark.parametrize(
    ("given", "what"),
    [
        (gm.Table(**X), "one Table"),
        (np.ones((3, 2)), "one ndarray"),
        ("people.csv", "'people.csv'"),
        (["age", "height"], "['age', 'height']"),
        (Path("people.csv"), "one PosixPath"),
    ],
)
def test_one_table_without_a_name(tables, kind, given, what):
    with pytest.raises(TypeError) as caught:
        gm.compile_dataset("d", **tables, **{kind: given})
    message = f"{kind}= is {what}, and tables have names; pass a dict: {kind}={{'x': …}}"
    assert message in str(caught.value)
    gm.compile_dataset("d", **tables, features={"x": gm.Table(**X)})  # as it says


def test_names_where_numbers_of_nodes_are_expected(tables):
    gm.compile_dataset("d", **tables, features={"x": gm.Table(**X)})
    ds = gm.Dataset("d")
    graph = ds.graph
    calls = [
        graph.degree,
        graph.prefetch,
        lambda nodes: graph.has_edge(nodes, nodes),
        lambda nodes: graph.sample_neighbors(nodes, [1]),
        lambda nodes: graph.batch_random_fanout(nodes, 1),
        lambda nodes: graph.random_walk(nodes, 1),
    ]
    for call in calls:
        for nodes in (["ann"], np.array(["ann"]), np.array(["ann"], object), ("ann",)):
            with pytest.raises(TypeError, match=r"to_internal\(\['ann'\]\) of the graph, or of it"):
                call(nodes)
        call(ds.to_internal(["ann"]))
        call(graph.to_internal(["ann"]))
    with pytest.raises(TypeError, match=r"id must be one integer.*to_internal\(\['ann'\]\)\[0\]"):
        graph.neighbors("ann")
    assert len(graph.neighbors(graph.to_internal(["cay"])[0])) == 2
    assert len(graph.neighbors(ds.to_internal(["cay"])[0])) == 2
    with pytest.raises(TypeError, match=r"to_internal\(\['ann'\]\) of the dataset gives"):
        ds.features["x"].gather(["ann"])
    assert ds.features["x"].gather(ds.to_internal(["ann"])).tolist() == [[47.0, 1.5]]
    gm.compile_graph(([0], [1]), "plain.gl")
    with pytest.raises(TypeError, match="the nodes of this graph have numbers, and no names"):
        gm.Graph("plain.gl").neighbors("ann")
    with pytest.raises(TypeError, match=r"id must be one integer, not 0\.5$"):
        graph.neighbors(0.5)
