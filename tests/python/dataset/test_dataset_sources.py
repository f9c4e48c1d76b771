"""What compile_dataset refuses, skips and counts: tables, splits and edges that do not match."""

from __future__ import annotations

import os

import numpy as np
import pytest

import graphmount as gm
from graphmount.errors import OrderError, SourceError

EDGES = ([2, 2, 0], [0, 1, 1])
X = np.arange(3.0)
MASK = np.array([True, False, True])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"features": {"x": X, "y": np.arange(4.0)}},
            OrderError,
            r"features 'x' \(.*\) has 3 rows, and features 'y' \(.*\) has 4",
        ),
        (
            {"features": {"x": X}, "labels": [1, 2]},
            OrderError,
            r"features 'x' \(.*\) has 3 rows, and labels \(the list\) has 2",
        ),
        ({"features": {"x": X}, "num_nodes": 5}, OrderError, "have 3 rows, but there are 5 nodes"),
        ({"labels": X, "node_ids": [1, 2]}, OrderError, "have 3 rows, but there are 2 nodes"),
        ({"features": {"x": X[:2]}}, SourceError, "node id 2 is not below num_nodes=2"),
        ({"num_nodes": -1}, ValueError, "num_nodes must be at least 0"),
        ({"num_nodes": 3.0}, TypeError, "num_nodes must be one integer"),
        ({"edge_features": {"w": X[:2]}}, OrderError, "has 2 rows, but edges in memory has 3"),
        ({"edge_features": {"w": np.arange(4)}}, OrderError, "has 4 rows, but edges in memory"),
        (
            {"edge_features": {"w": X}, "on_error": "skip"},
            ValueError,
            "edge_features= does not go with on_error='skip'",
        ),
        ({"features": {"../x": X}}, ValueError, "'../x' cannot be the name of a file"),
        ({"features": {"": X}}, ValueError, "'' cannot be the name of a file"),
        ({"features": {5: X}}, ValueError, "5 cannot be the name of a file"),
        ({"splits": {".a": [0]}}, ValueError, "'.a' cannot be the name of a file"),
        ({"splits": {"a": [0, 3]}}, SourceError, r"split 'a': .*3"),
        ({"splits": {"a": [0, 3]}, "order": "given"}, SourceError, r"split 'a': node 3 \(at pos"),
        ({"splits": {"a": [-1]}, "order": "given"}, SourceError, "split 'a': node -1"),
        ({"splits": {"a": [0.5]}}, TypeError, "split 'a' must be ids or a mask of bools"),
        ({"splits": {"a": ["0"]}}, (TypeError, ValueError), "split 'a'"),
        ({"splits": {"a": MASK[:2]}}, SourceError, r"its shape is \(3,\), not \(2,\)"),
        ({"splits": {"a": MASK}, "ids": "map"}, SourceError, "'a' is a mask, and with ids='map'"),
        ({"splits": {"a": "no.csv"}}, FileNotFoundError, r"no\.csv"),
        ({"features": {"x": X}, "ids": "map"}, ValueError, "has no keys, and with ids='map' nodes"),
        ({"features": {"x": "no.npy"}}, FileNotFoundError, r"no\.npy"),
        ({"edge_features": {"x": "no.npy"}}, FileNotFoundError, r"no\.npy"),
        ({"ids": "names"}, ValueError, "ids='names'"),
        ({"on_error": "ignore"}, ValueError, "on_error='ignore'"),
        ({"neighbors": "all"}, ValueError, "neighbors='all'"),
        ({"memory": "1MiB"}, ValueError, "too little"),
    ],
)
def test_refusals(options, error, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=message):
        gm.compile_dataset("ds", edges=EDGES, **options)
    assert os.listdir(tmp_path) == []


def test_split_files_that_are_none(tmp_path):
    (tmp_path / "two.csv").write_text("1,2\n")
    (tmp_path / "half.csv").write_text("0.5\n")
    for name, message in (("two", "one column of ids, not 2"), ("half", "integers, not float")):
        with pytest.raises(SourceError, match=message):
            gm.compile_dataset(tmp_path / "ds", edges=EDGES, splits={"a": tmp_path / f"{name}.csv"})


@pytest.mark.parametrize("names", [[1, 0, 2], [70, 50, 60], ["b", "a", "c"]])
@pytest.mark.parametrize("order", ["hot", "given"])
def test_masks_go_by_position(names, order, tmp_path):
    """Not by id: with node_ids, position 0 need not be what the source calls 0."""
    gm.compile_dataset(
        tmp_path / "ds", edges=EDGES, node_ids=names, order=order, splits={"a": MASK}
    )
    ds = gm.Dataset(tmp_path / "ds")
    assert list(ds.to_external(ds.splits["a"])) == [names[0], names[2]]


def test_edge_rows_are_counted_where_nobody_knows(tmp_path):
    """Text does not say how many rows it has, and nobody would miss that of a dropped edge."""
    source = ([0, 1, 2], [1, 2, 2])
    for rows, message in ((2, "has 2 rows, but"), (4, "has more rows than the 3 edges")):
        (tmp_path / "w.csv").write_text("1.5\n" * rows)
        with pytest.raises(OrderError, match=message):
            gm.compile_dataset(
                tmp_path / "ds",
                edges=source,
                self_loops="drop",
                edge_features={"w": tmp_path / "w.csv"},
            )
    (tmp_path / "w.csv").write_text("1.5\n2.5\n3.5\n")
    gm.compile_dataset(
        tmp_path / "ds", edges=source, self_loops="drop", edge_features={"w": tmp_path / "w.csv"}
    )
    assert sorted(gm.Dataset(tmp_path / "ds").edge_features["w"].numpy()) == [1.5, 2.5]


@pytest.mark.parametrize("ids", ["dense", "map"])
def test_skipped_rows_are_counted_once(ids, tmp_path):
    """Of the edges, of tables that are read once, twice or three times, and of unknown keys."""
    (tmp_path / "e.csv").write_text("0,1\nx,1\n1,2\n2,-\n")
    (tmp_path / "x.csv").write_text("k,v\n0,1.5\n1,?\n2,2.5\n9,1.5\n")
    done = gm.compile_dataset(
        tmp_path / "ds",
        edges=tmp_path / "e.csv",
        ids=ids,
        key_type="int" if ids == "map" else None,
        num_nodes=None if ids == "map" else 3,
        features={
            "x": gm.Table(source=tmp_path / "x.csv", key="k", missing=0),
            "q": gm.Table(source=tmp_path / "x.csv", key="k", missing=0, quantize="column"),
        },
        on_error="skip",
    )
    # With ids="map", 9 is a node like any other.
    assert (done.num_nodes, done.num_edges) == ((4, 2) if ids == "map" else (3, 2))
    assert done.skipped == 2 + 2 * (1 if ids == "map" else 2)
    assert len(done.skipped_examples) == done.skipped
    assert "e.csv, line 2" in done.skipped_examples[0]
    ds = gm.Dataset(tmp_path / "ds")
    nodes = ds.to_internal([0, 1, 2])
    assert ds.features["x"].numpy()[nodes].ravel().tolist() == [1.5, 0, 2.5]


def test_nodes_of_tables_alone(tmp_path):
    """With ids="map", a node may have a row and no edge: the first one, or the last."""
    for keys in (["z", "a", "b"], ["a", "b", "z"], ["y", "a", "z"]):
        (tmp_path / "e.csv").write_text("a,b\nb,a\na,b\n")
        gm.compile_dataset(
            tmp_path / "ds",
            edges=tmp_path / "e.csv",
            ids="map",
            features={"x": gm.Table(source=X, key=keys, missing=-1)},
            edge_features={"w": [1, 2, 3]},
            overwrite=True,
        )
        ds = gm.Dataset(tmp_path / "ds")
        assert ds.to_external([0, 1]) == ["a", "b"]
        assert ds.features["x"].numpy()[ds.to_internal(keys)].tolist() == X.tolist()
        assert ds.num_edges == 3
        assert ds.edge_features["w"].numpy().tolist() == [2, 1, 3]


def test_symmetric_sources(tmp_path):
    """A NetworkX graph, which says itself that it is undirected and what its nodes are called."""
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph([("a", "b"), ("c", "b")])
    done = gm.compile_dataset(
        tmp_path / "ds",
        edges=graph,
        ids="map",
        splits={"all": ["c", "b", "a"]},
        labels=gm.Table(source=[1, 2, 3], key=["a", "b", "c"]),
    )
    ds = gm.Dataset(tmp_path / "ds")
    assert done.num_edges == 4
    assert not ds.graph.directed
    assert ds.to_external([0]) == ["b"]
    assert ds.labels[ds.splits["all"]].tolist() == [3, 2, 1]
