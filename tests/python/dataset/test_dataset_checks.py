"""What a look shows is told before the edges are read: hours later is too late."""

from __future__ import annotations

import os

import numpy as np
import pytest

import graphmount as gm
from graphmount._compile.edges.intake import EdgeIntake
from graphmount.errors import OrderError, SourceError

EDGES = ([2, 2, 0], [0, 1, 1])
X = np.arange(3.0)
NAMES = ["ann", "bob", "cay"]


@pytest.fixture(autouse=True)
def nobody_reads_edges(monkeypatch):
    def read(*_, **__):
        pytest.fail("the edges were read")

    monkeypatch.setattr(EdgeIntake, "read", read)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        # Names and notes.
        ({"splits": {"a/b": [0]}}, ValueError, "splits: 'a/b' cannot be the name of a file"),
        ({"splits": {5: [0]}}, ValueError, "splits: 5 cannot be the name of a file"),
        ({"features": {"x" * 253: X}}, ValueError, "be the name of a file: it is too long"),
        ({"features": {"é" * 127: X}}, ValueError, "be the name of a file: it is too long"),
        ({"notes": "A sentence."}, TypeError, "notes"),
        ({"notes": [1]}, TypeError, "notes must be a list of sentences, not of 1"),
        ({"notes": ["\ud800"]}, ValueError, r"notes\[0\], .* is no text that can be written"),
        ({"notes": ["x" * 2**23]}, ValueError, "give fewer or shorter notes="),
        ({"overwrite": "yes"}, ValueError, "overwrite='yes'"),
        # Options of tables.
        ({"features": {"x": gm.Table(source=X, dtype="float8")}}, ValueError, "float8"),
        ({"features": {"x": gm.Table(source=X, nan="zero")}}, ValueError, "nan='zero'"),
        ({"labels": gm.Table(source=X, repeated="all")}, ValueError, "repeated='all'"),
        ({"labels": gm.Table(source=X, quantize="row")}, ValueError, "quantize='row'"),
        (
            {"labels": gm.Table(source=X, quantize="column", dtype="float16")},
            ValueError,
            "stores int8",
        ),
        (
            {"labels": gm.Table(source=X, key=[0, 1, 2], missing="none")},
            ValueError,
            "missing='none'",
        ),
        (
            {"labels": gm.Table(source=X, key=[0, 1, 2], missing=300, dtype="int8")},
            ValueError,
            "missing=300 cannot be stored as int8",
        ),
        ({"edge_features": {"w": gm.Table(source=X, dtype="f")}}, ValueError, "'f'"),
        # Kinds of ids.
        (
            {"features": {"x": gm.Table(source=X, key=NAMES)}, "num_nodes": 3},
            ValueError,
            "the keys of .* are text, but the ids of nodes are numbers",
        ),
        (
            {"features": {"x": gm.Table(source=X, key=[0, 1, 2])}, "node_ids": NAMES},
            ValueError,
            "the keys of .* are numbers, but the ids of nodes are text",
        ),
        (
            {"features": {"x": gm.Table(source=X, key=NAMES)}, "ids": "map"},
            ValueError,
            "the keys of .* are text, but the ids of nodes are numbers",
        ),
        (
            {"edge_features": {"w": gm.Table(source=X, key=[0, 1, 2])}},
            ValueError,
            "a table of edges has no keys",
        ),
        ({"edge_features": {"w": X[:2]}}, OrderError, "has 2 rows, but edges in memory has 3"),
        # Splits.
        ({"splits": [0, 1]}, TypeError, "splits=.*; pass a dict"),
        ({"splits": {"a": [0.5]}}, TypeError, "split 'a' must be ids or a mask .* not float64"),
        ({"splits": {"a": X}}, TypeError, "split 'a' must be ids or a mask of bools, not float64"),
        ({"splits": {"a": [[0], [1]]}}, ValueError, r"split 'a' must be one-dim.*\(2, 1\)"),
        ({"splits": {"a": 5}}, ValueError, "split 'a' must be one-dim"),
        ({"splits": {"a": [-1]}}, SourceError, r"split 'a': node -1 \(at position 0\) does not ex"),
        ({"splits": {"a": [0, 3]}, "num_nodes": 3}, SourceError, "node 3 .* from 0 to 2"),
        ({"splits": {"a": [2**63]}, "num_nodes": 3}, SourceError, "9223372036854775808"),
        ({"splits": {"a": ["ann"]}}, TypeError, "split 'a' must be integers, as the ids are"),
        ({"splits": {"a": [0]}, "node_ids": NAMES}, TypeError, "split 'a' must be strings, as"),
        ({"splits": {"a": np.ones(2, bool)}, "num_nodes": 3}, SourceError, r"\(3,\), not \(2,\)"),
        ({"splits": {"a": np.ones((3, 1), bool)}}, ValueError, r"not of shape \(3, 1\)"),
        ({"splits": {"a": np.ones(3, bool)}, "ids": "map"}, SourceError, "'a' is a mask, and with"),
        ({"splits": {"a": "no.csv"}}, FileNotFoundError, r"no\.csv"),
        ({"splits": {"a": "floats.npy"}}, SourceError, "a split has integers, not float64"),
        ({"splits": {"a": "two.npy"}}, SourceError, "a split is one column of ids, not 2"),
        ({"splits": {"a": "ids.npy"}, "num_nodes": 3}, SourceError, "split 'a': node 7"),
        # Orders.
        ({"order": [1.0, 2.0], "num_nodes": 3}, ValueError, "one number for each of the 3 nodes"),
        ({"order": [[1.0], [2.0], [3.0]]}, ValueError, "one number for each node"),
        ({"order": ["a", "b", "c"]}, ValueError, "one number for each node"),
        ({"order": [1.0, np.nan, 2.0]}, ValueError, "order= has NaN for node 1"),
    ],
)
def test_before_the_edges_are_read(options, error, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("floats.npy", X)
    np.save("two.npy", np.zeros((3, 2), int))
    np.save("ids.npy", [0, 7])
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(error, match=message):
        gm.compile_dataset(tmp_path / "ds", edges=EDGES, **options)
    assert sorted(os.listdir(tmp_path)) == before


def test_what_is_in_the_way_is_told_first(tmp_path):
    (tmp_path / "ds").mkdir()
    (tmp_path / "ds" / "letter").write_text("x")
    with pytest.raises(FileExistsError):
        gm.compile_dataset(tmp_path / "ds", edges=EDGES)


@pytest.mark.parametrize(
    "options",
    [
        {"splits": {"a": [0, 2], "b": [], "c": np.array([True, False, True])}},
        {"splits": {"a": NAMES}, "node_ids": NAMES},
        {"splits": {"a": [70, 50]}, "node_ids": [50, 60, 70]},
        {"splits": {"a": [0, 1]}, "ids": "map"},
        {"splits": None, "notes": ("One.", "Two.")},
        {"order": np.array([3, 1, 2], np.uint8)},
    ],
)
def test_what_is_right_gets_as_far_as_the_edges(options, tmp_path):
    with pytest.raises(pytest.fail.Exception, match="the edges were read"):
        gm.compile_dataset(tmp_path / "ds", edges=EDGES, **options)
