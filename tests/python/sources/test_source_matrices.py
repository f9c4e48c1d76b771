"""Matrices as sources of edges: SciPy's, in memory and in .npz files, and Matrix Market files."""

from __future__ import annotations

import gzip
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from draining import drain_edges
from hypothesis import given
from hypothesis import strategies as st
from open_sources import open_edges
from run_mode import IS_SANITIZED
from scipy import io, sparse

import graphmount as gm
from graphmount._sources.arrays.array_stream import MemoryStream
from graphmount._sources.arrays.list_edges import ListEdges
from graphmount.errors import SourceError


def triples(edges):
    weights = edges.weights or [None] * len(edges.src)
    return sorted(zip(edges.src, edges.dst, weights, strict=True))


@st.composite
def matrices(draw):
    num_nodes = draw(st.integers(1, 12))
    num_edges = draw(st.integers(0, 40))
    ids = st.lists(st.integers(0, num_nodes - 1), min_size=num_edges, max_size=num_edges)
    src, dst = draw(ids), draw(ids)
    data = np.arange(num_edges, dtype=draw(st.sampled_from(["f4", "f8", "i8"])))
    return sparse.coo_array((data, (src, dst)), shape=(num_nodes, num_nodes))


@given(
    matrix=matrices(),
    kind=st.sampled_from(["coo", "csr", "csc"]),
    where=st.sampled_from(["memory", "stored", "compressed"]),
    memory=st.integers(1, 2000),
    weights=st.sampled_from([None, True, "data"]),
)
def test_scipy(*, matrix, kind, where, memory, weights, tmp_path):
    converted = matrix.asformat(kind)  # CSR and CSC add up duplicates
    expected = converted.tocoo()
    values = expected.data.astype(np.float32).tolist() if weights else [None] * expected.nnz
    expected = sorted(zip(expected.row.tolist(), expected.col.tolist(), values, strict=True))
    origin = converted
    if where != "memory":
        origin = tmp_path / "matrix.npz"
        sparse.save_npz(origin, converted, compressed=where == "compressed")
    source = open_edges(origin, weights=weights)
    assert source.num_nodes == matrix.shape[0]
    assert not source.is_symmetric
    assert triples(drain_edges(source, memory=memory)) == expected


def test_scipy_refusals(tmp_path):
    square = sparse.eye_array(4, format="csr")
    sparse.save_npz(tmp_path / "bsr.npz", square.tobsr())
    with pytest.raises(SourceError, match="SciPy matrix of format 'bsr'; save it as CSR"):
        open_edges(tmp_path / "bsr.npz")
    with pytest.raises(SourceError, match=r"a SciPy BSR matrix is not supported; .*tocsr\(\)"):
        open_edges(square.tobsr())
    wide = sparse.csr_array((3, 5))
    sparse.save_npz(tmp_path / "wide.npz", wide)
    for source in (wide, tmp_path / "wide.npz"):
        with pytest.raises(SourceError, match=r"3 nodes of one type to 5 of another; pass num_sou"):
            gm.compile_graph(source, tmp_path / "wide.gl")
    with pytest.raises(ValueError, match="delimiter=',' means nothing for a SciPy matrix"):
        open_edges(square, delimiter=",")
    with pytest.raises(ValueError, match="'weight' is not a column of a SciPy matrix; pass True"):
        open_edges(square, weights="weight")
    with pytest.raises(ValueError, match="key_type='str', but the ids"):
        open_edges(square, keys="text")


def lists(indptr, indices, **options):
    return ListEdges(
        name="lists",
        indptr=MemoryStream(array=np.array(indptr), name="indptr"),
        indices=MemoryStream(array=np.array(indices), name="indices"),
        owners="src",
        **options,
    )


@pytest.mark.parametrize("memory", [1, 100, 1 << 20])
def test_offsets_are_checked(memory):
    for indptr in ([0, 3, 2, 4], [0, 1, 2, 3], [0, 1, 2, 9], [1, 2, 3, 4], [0], [0, 4, 4, 5]):
        with pytest.raises(SourceError, match=r"lists|list"):
            drain_edges(lists(indptr, [0, 1, 2, 0]), memory=memory)
    with pytest.raises(SourceError, match="is empty"):
        lists(np.empty(0, int), np.empty(0, int))
    assert drain_edges(lists([0, 0, 0], np.empty(0, int)), memory=memory).pairs == []
    edges = drain_edges(lists([0, 0, 3, 3, 4, 4], [9, 8, 7, 6]), memory=memory)
    assert edges.pairs == [(1, 9), (1, 8), (1, 7), (3, 6)]


def test_undirected_lists_give_each_edge_once():
    # 0 - 1, 0 - 1 again, 1 - 2, and a loop at 2, which has one entry.
    source = lists([0, 2, 5, 7], [1, 1, 0, 0, 2, 1, 2], is_undirected=True)
    assert source.is_symmetric
    assert sorted(drain_edges(source, memory=1).pairs) == [(1, 0), (1, 0), (2, 1), (2, 2)]


@given(
    matrix=matrices(),
    memory=st.integers(1, 3000),
    field=st.sampled_from(["pattern", "real", "integer"]),
    is_symmetric=st.booleans(),
    is_compressed=st.booleans(),
)
def test_matrix_market(*, matrix, memory, field, is_symmetric, is_compressed, tmp_path):
    matrix = matrix.tocsr()
    if is_symmetric:
        matrix = (matrix + matrix.T).tocsr()
    path = tmp_path / "m.mtx"
    io.mmwrite(path, matrix, field=field, symmetry="symmetric" if is_symmetric else "general")
    if is_compressed:
        data = path.read_bytes()
        path = tmp_path / "m.mtx.gz"
        path.write_bytes(gzip.compress(data))
    source = open_edges(path, weights=field != "pattern")
    assert source.is_symmetric == is_symmetric
    assert source.num_nodes == matrix.shape[0]
    stored = (sparse.tril(matrix) if is_symmetric else matrix).tocoo()
    values = [None] * stored.nnz if field == "pattern" else stored.data.astype("f4").tolist()
    expected = sorted(zip(stored.row.tolist(), stored.col.tolist(), values, strict=True))
    assert triples(drain_edges(source, memory=memory)) == expected


BANNER = "%%MatrixMarket matrix coordinate"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("%%MatrixMarket matrix array real general\n2 2\n", r"is a dense matrix \(array\)"),
        (f"{BANNER} complex general\n2 2 0\n", "holds complex values"),
        (f"{BANNER} real skew-symmetric\n2 2 0\n", "is skew-symmetric: half of its values"),
        (f"{BANNER} complex hermitian\n2 2 0\n", "holds complex values"),
        ("%%MatrixMarket matrix\n", "line 1: a Matrix Market file begins with"),
        (f"{BANNER} real general\n% no more\n", "ends at line 3, before its entries"),
        (f"{BANNER} real general\n%\n2 x 1\n", "line 3: expected rows, columns and entries"),
        (
            f"{BANNER} real general\n{'9' * 5000} 1 1\n",
            "line 2: expected rows, columns and entries",
        ),
        (
            f"{BANNER} real general\n{10**16} {10**16} 1\n",
            "line 2: a graph of 10000000000000000 nodes",
        ),
        (f"{BANNER} real general\n%{'x' * 70_000}\n2 2 0\n", "line 2: longer than 64 KiB"),
        (f"{BANNER} real general{' ' * 70_000}\n2 2 0\n", "line 1: longer than 64 KiB"),
        (f"{BANNER} real symmetric\n2 3 0\n", "is symmetric, and 2 by 3"),
    ],
)
def test_matrix_market_headers(text, message, tmp_path):
    (tmp_path / "m.mtx").write_text(text)
    with pytest.raises(SourceError, match=message):
        open_edges(tmp_path / "m.mtx")


@pytest.mark.parametrize("memory", [1, 1 << 20])
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 2", r"line 5: expected 3 numbers, found '1 2'"),
        ("1 2 3 4", "line 5: expected 3 numbers"),
        ("0 2 1.0", "line 5: ids are from 1 to 3, found '0 2 1.0'"),
        ("1 4 1.0", "line 5: ids are from 1 to 3"),
        ("1 x 1.0", "line 5: expected 3 numbers"),
        ("1 2_0 1.0", "line 5: expected 3 numbers"),
        ("99999999999999999999 1 1.0", "line 5: ids are from 1 to 3"),
        ("1 2 1.0 \x12", "line 5: expected 3 numbers"),
    ],
)
def test_matrix_market_lines(line, message, memory, tmp_path):
    path = tmp_path / "m.mtx"
    path.write_text(f"{BANNER} real general\n% made by hand\n3 3 3\n1 2 0.5\n{line}\n3 1 2e-1")
    with pytest.raises(SourceError, match=message):
        drain_edges(open_edges(path), memory=memory)
    source = open_edges(path, weights=True, on_error="skip")
    edges = drain_edges(source, memory=memory)
    assert edges.pairs == [(0, 1), (2, 0)]
    assert edges.weights == pytest.approx([0.5, 0.2])
    assert source.skipped.count == 1
    assert "line 5" in source.skipped.examples[0]


@pytest.mark.parametrize(
    ("is_compressed", "on_error", "word"),
    [(False, "raise", b"1 "), (True, "skip", b" "), (False, "skip", b"99 "), (True, "raise", b"1")],
)
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_matrix_market_line_that_does_not_end(is_compressed, on_error, word, tmp_path, campaign):
    """A line of many megabytes is refused in a few: it was put together, split and parsed."""
    if IS_SANITIZED:
        pytest.skip("sanitizers have memory of their own")
    data = f"{BANNER} pattern general\n3 3 2\n1 2\n".encode()
    data += word * (campaign(40 << 20, 640 << 20) // len(word))
    path = tmp_path / "m.mtx"
    path.write_bytes(gzip.compress(data, 1) if is_compressed else data)
    code = """
import sys
import graphmount as gm
def peak():
    status = open("/proc/self/status").read()
    return int(status.split("VmHWM:")[1].split()[0]) << 10
gm.compile_graph(([0], [1]), sys.argv[1] + ".gl")
before = peak()
try:
    gm.compile_graph(sys.argv[1], sys.argv[1] + ".gl", memory="64MiB", on_error=sys.argv[2])
except gm.errors.SourceError as error:
    print(error)
print(peak() - before)
"""
    result = subprocess.run(
        [sys.executable, "-c", code, path, on_error], capture_output=True, text=True, check=True
    )
    message, grown = result.stdout.splitlines()
    assert "line 4: longer than 64 KiB" in message
    assert int(grown) < 64 << 20


def test_matrix_market_corpus_is_read(tmp_path):
    """The files that the fuzzer begins with, and a second of it."""
    fuzzer = pathlib.Path(__file__).parents[3] / "fuzz" / "fuzz_matrix_market.py"
    result = subprocess.run(
        [sys.executable, fuzzer, "--seconds", "1"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "nothing else" in result.stdout


def test_matrix_market_counts_its_entries(tmp_path):
    path = tmp_path / "m.mtx"
    path.write_text(f"{BANNER} pattern general\n3 3 3\n1 2\n\n2 1\n")
    with pytest.raises(SourceError, match="says that it has 3 entries, but has 2"):
        drain_edges(open_edges(path))
    with pytest.raises(SourceError, match="is a pattern without values"):
        open_edges(path, weights=True)
    data = gzip.compress(path.read_bytes() + b"1 2\n" * 10_000)
    path.write_bytes(data[:-20])
    with pytest.raises(SourceError, match="is damaged"):
        drain_edges(open_edges(path), memory=100)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("kind", ["npz", "mtx"])
def test_memory_is_bounded(kind, tmp_path):
    """More than 64 MiB of lists, or 16 MiB of text, are read within 4 MiB; at most 16 are used."""
    if IS_SANITIZED:
        pytest.skip("sanitizers have memory of their own")
    path = tmp_path / f"m.{kind}"
    if kind == "npz":
        # As many empty lists as edges: offsets are not kept either.
        num_nodes = num_edges = 1 << 22
        indptr = np.minimum(np.arange(num_nodes + 1) * 2, num_edges)
        indices = np.arange(num_edges)
        np.savez(path, format=b"csr", shape=[num_nodes] * 2, indptr=indptr, indices=indices, data=0)
    else:
        num_edges = 1 << 20
        lines = b"".join(b"%d %d\n" % (i, 9_999_999) for i in range(1_000_001, 1_004_097))
        header = f"{BANNER} pattern general\n10000000 10000000 {num_edges}\n".encode()
        path.write_bytes(header + lines * (num_edges // 4096))
    code = """
import sys
from graphmount._sources.contract.tables import EdgeRequest
from graphmount._sources.opening import open_edges
def peak():
    status = open("/proc/self/status").read()
    return int(status.split("VmHWM:")[1].split()[0]) << 10
source = open_edges(EdgeRequest(source=sys.argv[1]))
before = peak()
print(sum(len(batch.src) for batch in source.batches(memory=4 << 20)), peak() - before)
"""
    result = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, check=True
    )
    total, grown = map(int, result.stdout.split())
    assert total == num_edges
    assert grown < 16 << 20


RECTANGLE = ([0, 2, 2, 1], [3, 0, 3, 1])


@pytest.mark.parametrize("kind", ["coo", "csr", "csc"])
@pytest.mark.parametrize("form", ["object", "npz", "mtx"])
def test_matrices_between_two_node_types(kind, form, tmp_path):
    """Rows are sources, columns destinations; the shape says how many of each there are."""
    matrix = sparse.coo_array(([1.0, 2.0, 3.0, 4.0], RECTANGLE), shape=(3, 5)).asformat(kind)
    source = matrix
    if form == "npz":
        source = tmp_path / "m.npz"
        sparse.save_npz(source, matrix)
    elif form == "mtx":
        source = tmp_path / "m.mtx"
        io.mmwrite(source, matrix)
    gm.compile_dataset(
        tmp_path / "ds",
        nodes={"user": gm.Nodes(), "item": gm.Nodes()},
        edges={("user", "buys", "item"): gm.EdgeTable(source=source, weights=True)},
        order="given",
    )
    graph = gm.Dataset(tmp_path / "ds").edges["user", "buys", "item"].graph
    assert (graph.num_sources, graph.num_destinations) == (3, 5)
    assert graph.neighbors(3).tolist() == [0, 2]
    assert sorted(graph.weights.tolist()) == [1, 2, 3, 4]
    other = gm.compile_graph(source, tmp_path / "m.gl", num_sources=3, num_destinations=5)
    assert other.num_edges == 4
    with pytest.raises(SourceError, match="says that it has 3 sources and 5 destinations"):
        gm.compile_graph(source, tmp_path / "n.gl", num_sources=4, num_destinations=5)
    within = {"nodes": {"user": gm.Nodes()}, "edges": {("user", "likes", "user"): source}}
    with pytest.raises(SourceError, match="from one node type to another, and this relation is"):
        gm.compile_dataset(tmp_path / "one", **within)


def test_entries_outside_of_a_rectangle(tmp_path):
    (tmp_path / "m.mtx").write_text(f"{BANNER} pattern general\n2 3 2\n1 3\n3 1\n")
    with pytest.raises(SourceError, match="line 4: rows are from 1 to 2, columns from 1 to 3"):
        gm.compile_graph(tmp_path / "m.mtx", tmp_path / "m.gl", num_sources=2, num_destinations=3)
