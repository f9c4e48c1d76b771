"""Any graph and any matrix, written and mounted, against the plain-Python twins."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import reference
from feature_data import DTYPES
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import graphmount as gm


@st.composite
def graphs(draw):
    """Edges with all the options of compile_graph."""
    num_nodes = draw(st.integers(1, 12))
    num_edges = draw(st.integers(0, 40))
    ids = st.lists(st.integers(0, num_nodes - 1), min_size=num_edges, max_size=num_edges)
    numbers = st.lists(st.floats(0, 2**40, width=32), min_size=num_edges, max_size=num_edges)
    times = st.lists(st.integers(-5, 5), min_size=num_edges, max_size=num_edges)
    weights = draw(st.none() | numbers)
    return {
        "src": draw(ids),
        "dst": draw(ids),
        "num_nodes": num_nodes,
        "weights": weights,
        "timestamps": draw(st.none() | times),
        "directed": draw(st.booleans()),
        "neighbors": draw(st.sampled_from(["both", "in", "out"])),
        "dedup": draw(st.sampled_from([False, True, "first"] + (["sum"] if weights else []))),
        "self_loops": draw(st.sampled_from(["keep", "drop"])),
        "index_dtype": draw(st.sampled_from([None, "int32", "int64"])),
        "source_rows": draw(st.booleans()),
        "node_ids": draw(
            st.none()
            | st.permutations(range(-3, num_nodes - 3))
            | st.lists(st.text(), min_size=num_nodes, max_size=num_nodes, unique=True)
        ),
    }


def expected_lists(case, direction):
    return reference.neighbor_lists(
        case["src"],
        case["dst"],
        direction=direction,
        weights=case["weights"],
        times=case["timestamps"],
        directed=case["directed"],
        dedup=case["dedup"],
        self_loops=case["self_loops"],
    )


def check_lists(graph, case, direction):
    lists = graph.neighbor_lists(direction)
    expected = expected_lists(case, direction)
    assert lists.indptr[0] == 0
    assert lists.indptr[-1] == graph.num_edges
    for node in range(case["num_nodes"]):
        entries = expected[node]
        part = slice(int(lists.indptr[node]), int(lists.indptr[node + 1]))
        assert lists.indices[part].tolist() == [entry[0] for entry in entries]
        assert graph.neighbors(node, direction=direction).tolist() == [e[0] for e in entries]
        if case["weights"] is not None:
            assert lists.weights[part].tolist() == [entry[1] for entry in entries]
        if case["timestamps"] is not None:
            assert lists.timestamps[part].tolist() == [entry[2] for entry in entries]
        if lists.source_rows is not None:
            assert lists.source_rows[part].tolist() == [entry[3] for entry in entries]
    degrees = [len(expected[node]) for node in range(case["num_nodes"])]
    assert graph.degree(direction=direction).tolist() == degrees
    every = np.arange(case["num_nodes"])
    assert graph.degree(every[::-1], direction=direction).tolist() == degrees[::-1]


def check_edge_ids(graph):
    """Every outgoing edge's id must be that same edge's place in the incoming lists."""
    incoming, outgoing = graph.neighbor_lists("in"), graph.neighbor_lists("out")
    targets = np.repeat(np.arange(graph.num_nodes), graph.degree(direction="in"))
    sources = np.repeat(np.arange(graph.num_nodes), graph.degree(direction="out"))
    ids = outgoing.edge_ids
    assert sorted(ids.tolist()) == list(range(graph.num_edges))
    assert np.array_equal(incoming.indices[ids], sources)
    assert np.array_equal(targets[ids], outgoing.indices)


@given(case=graphs())
def test_any_graph(case, tmp_path):
    path = tmp_path / "any.gl"
    options = {name: value for name, value in case.items() if name not in ("src", "dst")}
    report = gm.compile_graph((case["src"], case["dst"]), path, **options)
    graph = gm.Graph(path)
    assert (report.num_nodes, report.num_edges) == (graph.num_nodes, graph.num_edges)
    assert graph.num_nodes == case["num_nodes"]
    assert graph.directed == case["directed"]
    assert graph.has_weights == (case["weights"] is not None)
    assert graph.has_timestamps == (case["timestamps"] is not None)
    wanted = ("in", "out") if case["neighbors"] == "both" or not case["directed"] else None
    assert graph.directions == (wanted or (case["neighbors"],))
    for direction in graph.directions:
        check_lists(graph, case, direction)
        lists = graph.neighbor_lists(direction)
        assert lists.indices.dtype == (case["index_dtype"] or "int32")
        owns_ids = not case["directed"] or direction == graph.directions[0]
        assert (lists.edge_ids is None) == owns_ids
        assert (lists.source_rows is not None) == (case["source_rows"] and owns_ids)
    if case["directed"] and case["neighbors"] == "both":
        check_edge_ids(graph)
    if case["node_ids"] is not None:
        every = list(range(case["num_nodes"]))
        assert list(graph.to_external(every)) == list(case["node_ids"])
        assert graph.to_internal(case["node_ids"]).tolist() == every
        table = reference.parse(path).sections["id_table", 0].ravel()
        assert table.tolist() == reference.id_table(case["node_ids"], len(table))
    found = gm.verify(path)
    assert found.problems == ()
    parsed = reference.parse(path)
    assert parsed.magic == b"\x89GMGL\r\n\x1a"
    assert (parsed.num_rows, parsed.num_columns) == (graph.num_nodes, graph.num_edges)
    first = graph.directions[0]
    stored = parsed.sections["indices", {"in": 1, "out": 2}[first]]
    assert np.array_equal(stored[:, 0], graph.neighbor_lists(first).indices)


def matrices(dtype):
    shapes = st.tuples(st.integers(0, 30)) | st.tuples(st.integers(0, 30), st.integers(0, 9))
    if dtype == "bfloat16":
        bits = npst.arrays(np.uint16, shapes)
        return bits.map(lambda array: array.view(ml_dtypes.bfloat16))
    return npst.arrays(np.dtype(dtype), shapes)


@pytest.mark.parametrize("dtype", DTYPES)
@given(data=st.data())
def test_any_matrix(dtype, data, tmp_path):
    matrix = data.draw(matrices(dtype))
    path = tmp_path / "any.gd"
    report = gm.compile_features(matrix, path)
    store = gm.FeatureStore(path)
    assert report.shape == store.shape == matrix.shape
    assert store.dtype == dtype
    assert len(store) == len(matrix)
    assert store.numpy().tobytes() == matrix.tobytes()
    assert store.numpy().shape == matrix.shape
    assert not store.numpy().flags.writeable
    if dtype != "bfloat16":
        assert store.numpy().dtype == matrix.dtype
    assert gm.verify(path).problems == ()
    parsed = reference.parse(path)
    assert parsed.magic == b"\x89GMGD\r\n\x1a"
    assert parsed.sections["matrix", 0].tobytes() == matrix.tobytes()
    assert parsed.flags == (4 if matrix.ndim == 1 else 0)


def test_matrix_of_many_chunks_and_odd_rows(tmp_path):
    # Rows that do not divide a chunk, pieces that do not divide the matrix.
    matrix = np.arange(3 * 400_001, dtype=np.float32).reshape(-1, 3)
    gm.compile_features(matrix, tmp_path / "x.gd", memory="1MiB")
    assert np.array_equal(gm.FeatureStore(tmp_path / "x.gd").numpy(), matrix)
    reference.parse(tmp_path / "x.gd")
    assert gm.verify(tmp_path / "x.gd").ok


def test_graph_of_many_chunks(tmp_path):
    generator = np.random.default_rng(1)
    src, dst = generator.integers(0, 5000, (2, 700_000))
    # A hub whose list spans several chunks, and whose weights are all the same but one.
    src[:400_000] = 17
    gm.compile_graph((src, dst), tmp_path / "g.gl", weights=np.where(src == 17, 1.0, 0.0))
    graph = gm.Graph(tmp_path / "g.gl")
    assert graph.degree([17], direction="out")[0] >= 400_000
    assert np.array_equal(graph.degree(direction="in"), np.bincount(dst, minlength=5000))
    assert np.array_equal(graph.degree(direction="out"), np.bincount(src, minlength=5000))
    check_edge_ids(graph)
    reference.parse(tmp_path / "g.gl")
    assert gm.verify(tmp_path / "g.gl").ok


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_same_file_whatever_the_threads(threads, tmp_path):
    generator = np.random.default_rng(2)
    src, dst = generator.integers(0, 3000, (2, 200_000))
    options = {"weights": generator.random(200_000), "dedup": "sum", "directed": False}
    before = gm.num_threads()
    try:
        gm.set_num_threads(1)
        gm.compile_graph((src, dst), tmp_path / "one.gl", **options)
        gm.set_num_threads(threads)
        gm.compile_graph((src, dst), tmp_path / "many.gl", **options)
    finally:
        gm.set_num_threads(before)
    assert (tmp_path / "one.gl").read_bytes() == (tmp_path / "many.gl").read_bytes()
