"""Graph and feature files as sources: graphmount's own, and those of GraphZero 0.2."""

from __future__ import annotations

import struct
import subprocess
import sys

import numpy as np
import pytest
from draining import drain_edges, drain_rows
from hypothesis import given
from hypothesis import strategies as st
from open_sources import open_edges, open_rows

import graphmount as gm
from graphmount.errors import SourceError

EDGES = [(0, 3, 2.0), (0, 1, 3.0), (2, 0, 1.0), (0, 1, 5.0), (1, 1, 6.0)]


def run_graphzero(code, *arguments):
    """In a process of its own: its converter crashes on input that it does not expect."""
    pytest.importorskip("graphzero")
    subprocess.run(
        [sys.executable, "-c", f"import sys\nimport graphzero as gz\n{code}", *arguments],
        check=True,
        capture_output=True,
    )


def graphzero_graph(folder, *, is_weighted, is_directed):
    lines = [f"{a},{b},{w}" if is_weighted else f"{a},{b}" for a, b, w in EDGES]
    (folder / "edges.csv").write_text("\n".join(lines) + "\n")
    code = "gz.convert_csv_to_gl(sys.argv[1], sys.argv[2], sys.argv[3] == 'True')"
    path = folder / "theirs.gl"
    run_graphzero(code, folder / "edges.csv", path, str(is_directed))
    return path


@pytest.mark.parametrize("memory", [1, 1 << 20])
@pytest.mark.parametrize("is_weighted", [True, False])
@pytest.mark.parametrize("is_directed", [True, False])
def test_graphzero_graph(is_weighted, is_directed, memory, tmp_path):
    path = graphzero_graph(tmp_path, is_weighted=is_weighted, is_directed=is_directed)
    source = open_edges(path)
    assert (source.num_nodes, source.has_weights) == (4, is_weighted)
    assert not source.is_symmetric
    edges = drain_edges(source, memory=memory)
    weights = edges.weights or [w for *_, w in sorted(EDGES)]
    expected = EDGES if is_directed else EDGES + [(b, a, w) for a, b, w in EDGES]
    if not is_weighted:
        assert sorted(edges.pairs) == sorted((a, b) for a, b, _ in expected)
        with pytest.raises(SourceError, match="is a GraphZero graph without weights"):
            open_edges(path, weights=True)
        return
    assert sorted(zip(edges.src, edges.dst, weights, strict=True)) == sorted(expected)
    assert not open_edges(path, weights=False).has_weights


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_graphzero_features(dtype, tmp_path):
    (tmp_path / "x.csv").write_text("0,1,2,3\n2,4,5,6\n1,7,8,9\n")
    code = "gz.convert_csv_to_gd(sys.argv[1], sys.argv[2], getattr(gz.DataType, sys.argv[3]))"
    run_graphzero(code, tmp_path / "x.csv", tmp_path / "theirs.gd", dtype.upper())
    source = open_rows(tmp_path / "theirs.gd")
    rows, _ = drain_rows(source, memory=20)
    assert rows.tolist() == [[1, 2, 3], [7, 8, 9], [4, 5, 6]]
    assert source.dtype == dtype
    with pytest.raises(SourceError, match=r"holds features \(\.gd\), not edges"):
        open_edges(tmp_path / "theirs.gd")


def forged_graph(*, num_nodes=2, num_edges=1, neighbors=128, weighted=0):
    """A GraphZero graph by the layout in graphzero.py, without their library."""
    fields = (b"graphlit", 24, 8, 64, neighbors, num_nodes, num_edges, weighted)
    body = struct.pack("<8s6QB7x", *fields) + struct.pack("<3Q", 0, 1, 1)
    return body.ljust(128, b"\0") + struct.pack("<Q", 1)


def test_damaged_graphzero_files(tmp_path):
    path = tmp_path / "x.gl"
    path.write_bytes(forged_graph())
    assert drain_edges(open_edges(path)).pairs == [(0, 1)]
    for damage in (
        {"num_nodes": 3},
        {"num_edges": 2},
        {"neighbors": 64},
        {"neighbors": 2**63},
        {"weighted": 1},
    ):
        path.write_bytes(forged_graph(**damage))
        with pytest.raises(SourceError, match=r"is damaged, or of another version than 0.2"):
            open_edges(path)
    path.write_bytes(b"graphlit" + bytes(20))
    with pytest.raises(SourceError, match="cut off within its GraphZero header"):
        open_edges(path)
    path.write_bytes(b"GZDATA26" + struct.pack("<IiQQ", 0, 2, 3, 2) + bytes(20))
    with pytest.raises(SourceError, match="3 x 2 values by its header, which take 56 bytes, but"):
        open_rows(path)
    path.write_bytes(b"GZDATA26" + struct.pack("<IiQQ", 0, 9, 3, 2) + bytes(20))
    with pytest.raises(SourceError, match=r"of an unknown dtype \(9\)"):
        open_rows(path)
    path.write_bytes(forged_graph())
    with pytest.raises(SourceError, match=r"holds edges .*not rows"):
        open_rows(path)


@given(
    edges=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(0, 5)), max_size=30),
    directed=st.booleans(),
    neighbors=st.sampled_from(["both", "in", "out"]),
    has_values=st.booleans(),
    memory=st.integers(1, 2000),
)
def test_own_graph(*, edges, directed, neighbors, has_values, memory, tmp_path):
    values = [number for *_, number in edges]
    gm.compile_graph(
        ([a for a, *_ in edges], [b for _, b, _ in edges]),
        tmp_path / "g.gl",
        directed=directed,
        neighbors=neighbors,
        num_nodes=10,
        weights=values if has_values else None,
        timestamps=values if has_values else None,
    )
    for source in (open_edges(tmp_path / "g.gl"), open_edges(gm.Graph(tmp_path / "g.gl"))):
        assert (source.num_nodes, source.is_symmetric) == (10, not directed)
        found = drain_edges(source, memory=memory)
        assert (found.weights == found.timestamps) if has_values else found.weights is None
        numbers = found.weights or [0] * len(found.src)
        expected = [(*(e[:2] if directed else (max(e[:2]), min(e[:2]))), e[2]) for e in edges]
        if not has_values:
            expected = [(a, b, 0) for a, b, _ in expected]
        pairs = [pair if directed else (max(pair), min(pair)) for pair in found.pairs]
        assert sorted((*p, n) for p, n in zip(pairs, numbers, strict=True)) == sorted(expected)


def test_own_graph_options(graph_path):
    source = open_edges(graph_path, weights=False, timestamps=False)
    assert (source.has_weights, source.has_timestamps) == (False, False)
    gm.compile_graph(([0], [1]), graph_path)
    with pytest.raises(SourceError, match="has no timestamps"):
        open_edges(graph_path, timestamps=True)
    with pytest.raises(ValueError, match="'time' is not a column of"):
        open_edges(graph_path, timestamps="time")
    with pytest.raises(SourceError, match="holds edges"):
        open_rows(graph_path)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int8", "bool"])
def test_own_features(dtype, tmp_path):
    x = (np.arange(30).reshape(10, 3) % 2).astype(np.float32)
    gm.compile_features(x, tmp_path / "x.gd", dtype=dtype)
    store = gm.FeatureStore(tmp_path / "x.gd")
    for source in (open_rows(tmp_path / "x.gd"), open_rows(store)):
        assert source.dtype == dtype
        assert (drain_rows(source, memory=16)[0] == store.numpy()).all()
    gm.compile_features(x[:, 0], tmp_path / "y.gd")
    source = open_rows(tmp_path / "y.gd")
    assert source.is_vector
    assert drain_rows(source)[0].tolist() == x[:, 0].tolist()
