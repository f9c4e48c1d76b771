"""What is wrong with sources of edges is said, with its place, or left out and counted."""

from __future__ import annotations

import uuid

import numpy as np
import pytest
from source_samples import (
    DST,
    SRC,
    WEIGHTS,
    as_text,
    table,
    write,
    write_table,
)

import graphmount as gm

# What is wrong with sources, and where


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("0,1\nfoo,2\n", {}, ", line 2, column 1: 'foo' is not a node id"),
        ("0,1\n2,-3\n", {}, ", line 2, column 2: node id -3 is negative"),
        ("0,1\n9223372036854775808,2\n", {}, ", line 2, column 1: '9223372036854775808' does not"),
        ("0,1\n1,2,3\n", {}, ", line 2: 3 fields, where the first row has 2"),
        ("0,1\n1\n", {}, ", line 2: 1 field, where the first row has 2"),
        ("0,1\n1,\n", {}, ", line 2, column 2: the field is empty"),
        ("0,1,1\n1,2,x\n", {"weights": 2}, ", line 2, column 3: 'x' is not a number"),
        ("0,1,1\n1,2,-4\n", {"weights": 2}, ", edge 1: weight -4"),
        ("0,1,1\n1,2,nan\n", {"weights": 2}, ", edge 1: weight nan"),
        ("0,1\n1,7\n", {"num_nodes": 5}, ", edge 1: node id 7 is not below num_nodes=5"),
        ("0,1\n", {"weights": "w"}, ": no column is called 'w'"),
        ("0,1\n".encode("utf-16"), {}, ": this looks like UTF-16; save it as UTF-8"),
        ("0,1\n".encode("utf-16-le"), {}, ": there are null bytes in it: this is no text in"),
        ("zoë,ann\n".encode("latin-1"), {"ids": "map"}, ", line 1, column 1: 'zo\\xeb' is not va"),
        ("", {}, ": there are no edges in it; pass num_nodes= if that is right"),
        ("src,dst\n", {}, ": there are no edges in it"),
        ("# no\n\n", {"ids": "map"}, ": there are no edges in it"),
        ("x,y\n", {"on_error": "skip", "header": False}, "no edges in it (1 rows were skipped)"),
    ],
)
def test_bad_text(text, options, message, tmp_path):
    (tmp_path / "out").mkdir()
    path = write(tmp_path / "edges.csv", text)
    with pytest.raises(gm.errors.SourceError) as caught:
        gm.compile_graph(path, tmp_path / "out" / "g.gl", **options)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)
    assert list((tmp_path / "out").iterdir()) == []


def test_a_lone_huge_id(tmp_path):
    path = write(tmp_path / "edges.csv", "0,1\n1,123456789012345\n")
    with pytest.raises(gm.errors.SourceError, match=r"123456789012345 .*num_nodes=.* ids='map'"):
        gm.compile_graph(path, tmp_path / "g.gl")
    gm.compile_graph(path, tmp_path / "g.gl", ids="map")
    assert gm.Graph(tmp_path / "g.gl").to_external([1]).tolist() == [1]


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"a": [0, 1], "b": [1, -1]}, {}, "edge 1: node id -1 is negative"),
        (
            {"a": np.uint64([0, 2**63]), "b": [1, 1]},
            {},
            "row 1, column 'a': '9223372036854775808' is",
        ),
        ({"a": [0, None], "b": [1, 1]}, {}, "row 1, column 'a': is missing (null)"),
        ({"a": ["0", "x"], "b": ["1", "1"]}, {}, "row 1, column 'a': 'x' is not an integer"),
        ({"a": [0.5], "b": [1.5]}, {}, "column 'a' is of type double; node ids are integers or"),
        ({"a": [0], "b": ["x"]}, {"ids": "map"}, "are not both numbers or both text"),
        ({"a": [0]}, {}, "has one column only; edges have two ends"),
        ({"a": [0], "b": [1]}, {"weights": "w"}, "has no column 'w' (weights=); it has 'a', 'b'"),
        ({"a": [0], "b": [1], "w": ["x"]}, {"weights": "w"}, "weights are numbers"),
        ({"a": [], "b": []}, {}, "there are no edges in it"),
    ],
)
def test_bad_tables(columns, options, message, tmp_path):
    pa = pytest.importorskip("pyarrow")
    is_empty = len(columns["a"]) == 0
    rows = pa.table(
        {name: pa.array(v, pa.int64()) if is_empty else v for name, v in columns.items()}
    )
    path = tmp_path / "edges.parquet"
    write_table(path, rows)
    for source, name in ((path, str(path)), (rows, "a pyarrow Table")):
        with pytest.raises(gm.errors.SourceError) as caught:
            gm.compile_graph(source, tmp_path / "g.gl", **options)
        assert str(caught.value).startswith(name)
        assert message in str(caught.value)
    assert not (tmp_path / "g.gl").exists()


def test_text_for_ids_wants_a_map(tmp_path):
    nx, pa = pytest.importorskip("networkx"), pytest.importorskip("pyarrow")
    uuids = pa.array([uuid.uuid4().bytes], pa.binary(16))
    for source in (nx.Graph([("a", "b")]), pa.table({"a": uuids, "b": uuids})):
        with pytest.raises(gm.errors.SourceError, match="pass ids='map'"):
            gm.compile_graph(source, tmp_path / "g.gl")


@pytest.mark.parametrize("source", ["text", "npy", "parquet", "mtx", "graph"])
def test_empty_sources(source, tmp_path):
    """Without edges, nobody knows how many nodes there are, unless somebody says so."""
    path = tmp_path / "edges"
    knows = source in ("mtx", "graph")
    if source == "text":
        path.touch()
    elif source == "npy":
        np.save(tmp_path / "edges.npy", np.zeros((2, 0), int))
        path = tmp_path / "edges.npy"
    elif source == "parquet":
        path = tmp_path / "edges.parquet"
        pytest.importorskip("pyarrow")
        write_table(path, table().slice(0, 0).select(["from", "to"]))
    elif source == "mtx":
        write(path, "%%MatrixMarket matrix coordinate pattern general\n3 3 0\n")
    else:
        gm.compile_graph(([], []), path, num_nodes=3)
    if not knows:
        with pytest.raises(
            gm.errors.SourceError, match="there are no edges in it; pass num_nodes="
        ):
            gm.compile_graph(path, tmp_path / "g.gl")
    report = gm.compile_graph(path, tmp_path / "g.gl", **({} if knows else {"num_nodes": 3}))
    assert (report.num_nodes, report.num_edges) == (3, 0)
    assert gm.verify(tmp_path / "g.gl").ok


# Leaving out what cannot be used


def test_skip_in_text(check_graph, tmp_path):
    lines = as_text(SRC, DST, WEIGHTS).splitlines(keepends=True)
    bad = ["x,1,1\n", "1\n", "1,-2,1\n", "3,4,-1\n", "3,4,nan\n", "1,2,3,4\n", "1,2,\n"]
    for number, line in enumerate(bad):
        lines.insert(7 * number + 3, line)
    report = check_graph(
        write(tmp_path / "e.csv", "".join(lines)), sides=["weights"], weights=2, on_error="skip"
    )
    assert report.skipped == len(report.skipped_examples) == len(bad)
    shown = " ".join(report.skipped_examples)
    assert "line 4, column 1: 'x' is not a node id" in shown
    assert "3 to 4 of weight nan" in shown


def test_skip_in_several_files(check_graph, tmp_path):
    """What the compiler leaves out is not forgotten when the next file begins."""
    write(tmp_path / "a.csv", "1,1,-1\nx,1,1\n" + as_text(SRC[:30], DST[:30], WEIGHTS[:30]))
    write(tmp_path / "b.csv", as_text(SRC[30:], DST[30:], WEIGHTS[30:]) + "y,1,1\n1,1,inf\n")
    report = check_graph(f"{tmp_path}/*.csv", sides=["weights"], weights=2, on_error="skip")
    assert report.skipped == len(report.skipped_examples) == 4


def test_skip_in_tables_and_arrays(check_graph, tmp_path):
    pa = pytest.importorskip("pyarrow")
    src = [None, *SRC.tolist(), -1, 5]
    rows = pa.table({"a": src, "b": [1, *DST.tolist(), 1, 2], "w": [1, *WEIGHTS.tolist(), 1, -1]})
    write_table(tmp_path / "e.parquet", rows)
    report = check_graph(tmp_path / "e.parquet", sides=["weights"], weights="w", on_error="skip")
    assert report.skipped == 3
    assert "row 0, column 'a': is missing (null)" in report.skipped_examples[0]
    edges = np.stack([[-5, *SRC, 400], [1, *DST, 2]])
    np.save(tmp_path / "e.npy", edges)
    for source in (edges, tmp_path / "e.npy"):
        report = check_graph(source, expect={"num_nodes": 20}, num_nodes=20, on_error="skip")
        assert report.skipped == 2
        assert "-5 to 1" in report.skipped_examples[0]


def test_skip_in_matrix_market(tmp_path):
    """Entries that the compiler leaves out are entries of the file all the same."""
    head = "%%MatrixMarket matrix coordinate real general\n3 3 4\n"
    path = write(tmp_path / "e.mtx", head + "1 2 -1\n2 3 1\n4 1 1\n3 1 2\n")
    report = gm.compile_graph(path, tmp_path / "g.gl", weights=True, on_error="skip")
    assert (report.num_edges, report.skipped) == (2, 2)


def test_skip_with_a_map(tmp_path):
    path = write(tmp_path / "e.csv", "a,b,1\nc,d,-1\n")
    report = gm.compile_graph(path, tmp_path / "g.gl", ids="map", weights=2, on_error="skip")
    assert (report.num_edges, report.skipped) == (1, 1)
    assert gm.Graph(tmp_path / "g.gl").to_internal(["a", "b"]).tolist() == [0, 1]


def test_many_skips_are_counted_and_some_shown(tmp_path):
    path = write(tmp_path / "e.csv", "0,1\n" + "x,1\n" * 1000 + "1,2\n" * 2000)
    report = gm.compile_graph(path, tmp_path / "g.gl", on_error="skip")
    assert (report.num_edges, report.skipped, len(report.skipped_examples)) == (2001, 1000, 10)
