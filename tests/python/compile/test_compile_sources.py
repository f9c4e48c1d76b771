"""Every kind of source, from a real file or object of its kind to the file that is made of it.

What is made of arrays is the measure: test_round_trip.py holds it to the slow twin.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import reference
from source_samples import (
    DST,
    OF_TABLE,
    PACKERS,
    SRC,
    TIMES,
    WEIGHTS,
    as_text,
    table,
    write,
    write_table,
    zstd,
)

import graphmount as gm

# Text


@pytest.mark.parametrize("packer", [*PACKERS, ".zst"])
@pytest.mark.parametrize(
    ("name", "delimiter"), [("e.csv", ","), ("e.tsv", "\t"), ("e.txt", " "), ("e.edges", " ")]
)
def test_text(name, delimiter, packer, check_graph, tmp_path):
    text = as_text(SRC, DST, WEIGHTS, TIMES, delimiter=delimiter).encode()
    path = write(tmp_path / (name + packer), PACKERS.get(packer, zstd)(text))
    check_graph(path)
    check_graph(str(path), sides=["weights", "timestamps"], weights=2, timestamps=3)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (as_text(SRC, DST, header=("src", "dst")), {}),
        (as_text(SRC, DST, header=("src", "dst")), {"header": True, "delimiter": ","}),
        (as_text(DST, SRC, header=("whom", "who")), {"columns": ("who", "whom")}),
        (as_text(DST, SRC), {"columns": (1, 0), "header": False}),
        (as_text(SRC, DST, line_end="\r\n"), {}),
        ("\ufeff" + as_text(SRC, DST), {}),
        ("# a comment\n% another\n\n" + as_text(SRC, DST, delimiter="\t"), {}),
        ("// a comment\n" + as_text(SRC, DST), {"comments": "/"}),
        (as_text(SRC, DST, delimiter="|"), {"delimiter": "|"}),
        (as_text([f'"{s}"' for s in SRC], [f' "{d}" ' for d in DST], delimiter=";"), {}),
        (as_text(SRC, DST).removesuffix("\n"), {}),
    ],
)
def test_forms_of_text(text, options, check_graph, tmp_path):
    check_graph(write(tmp_path / "edges.csv", text), **options)


def test_names_and_dates_in_text(check_graph, tmp_path):
    days = np.datetime64("2020-01-01") + np.arange(60)
    text = as_text(days, SRC, WEIGHTS, DST, header=("when", "a b", "w", "to"))
    seconds = days.astype("datetime64[s]").astype(np.int64)
    check_graph(
        write(tmp_path / "edges.csv", text),
        sides=["weights"],
        expect={"timestamps": seconds},
        columns=("a b", "to"),
        weights="w",
        timestamps="when",
    )


# Arrays and matrices


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", ">i4", "uint64"])
def test_npy(dtype, check_graph, tmp_path):
    edges = np.stack([SRC, DST]).astype(dtype)
    for array in (edges, np.asfortranarray(edges), edges.T, np.ascontiguousarray(edges.T)):
        np.save(tmp_path / "e.npy", array)
        check_graph(tmp_path / "e.npy")
    np.save(tmp_path / "w.npy", WEIGHTS)
    np.save(tmp_path / "t.npy", TIMES)
    sides = {"weights": tmp_path / "w.npy", "timestamps": str(tmp_path / "t.npy")}
    check_graph(tmp_path / "e.npy", sides=["weights", "timestamps"], **sides)


def test_a_pair_of_npy(check_graph, tmp_path):
    np.save(tmp_path / "src.npy", SRC)
    np.save(tmp_path / "dst.npy", DST.astype(np.int16))
    check_graph((tmp_path / "src.npy", tmp_path / "dst.npy"))


@pytest.mark.parametrize("shape", [(2, 60), (60, 2)])
def test_headerless(shape, check_graph, tmp_path):
    edges = np.stack([SRC, DST], axis=shape.index(2))
    edges.astype("<u2").tofile(tmp_path / "edges.bin")
    check_graph(tmp_path / "edges.bin", shape=shape, dtype="<u2")


@pytest.mark.parametrize("form", ["coo", "csr", "csc"])
@pytest.mark.parametrize("is_packed", [True, False])
def test_scipy_npz(form, is_packed, check_graph, tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    # Without repeats, which SciPy adds up, in the order that lists have.
    src, dst = np.unique(np.stack([SRC, DST]), axis=1)
    weights = WEIGHTS[: len(src)]
    matrix = sparse.coo_array((weights, (src, dst)), shape=(20, 20)).asformat(form)
    sparse.save_npz(tmp_path / "m.npz", matrix, compressed=is_packed)
    for source in (tmp_path / "m.npz", matrix):
        check_graph(source, expected=(src, dst))
        check_graph(source, expected=(src, dst), expect={"weights": weights}, weights=True)


def test_npz_of_ogb_and_others(check_graph, tmp_path):
    np.savez_compressed(tmp_path / "o.npz", edge_index=[SRC, DST], num_nodes_list=[25], w=WEIGHTS)
    check_graph(tmp_path / "o.npz", sides=["weights"], expect={"num_nodes": 25}, weights="w")
    np.savez(tmp_path / "p.npz", a=SRC, b=DST, t=TIMES)
    check_graph(tmp_path / "p.npz", sides=["timestamps"], columns=("a", "b"), timestamps="t")


@pytest.mark.parametrize("packer", ["", ".gz"])
def test_matrix_market(packer, check_graph, tmp_path):
    lines = as_text(SRC + 1, DST + 1, WEIGHTS, delimiter=" ")
    for symmetry, options in (("general", {}), ("symmetric", {"directed": False})):
        text = f"%%MatrixMarket matrix coordinate real {symmetry}\n% a note\n22 22 60\n{lines}"
        path = write(tmp_path / f"m.mtx{packer}", PACKERS[packer](text.encode()))
        check_graph(path, sides=["weights"], expect={"num_nodes": 22, **options}, weights=True)


# Tables


@pytest.mark.parametrize("kind", ["parquet", "feather", "orc"])
def test_table_files(kind, check_graph, tmp_path):
    rows = table()
    folder = tmp_path / "parts"
    folder.mkdir()
    write_table(tmp_path / f"one.{kind}", rows)
    for number, first in enumerate(range(0, 60, 25)):
        write_table(folder / f"part-{number}.{kind}", rows.slice(first, 25))
    (folder / "_SUCCESS").touch()
    paths = sorted(folder.glob("part-*"))
    for source in (tmp_path / f"one.{kind}", folder, f"{folder}/*.{kind}", paths):
        check_graph(source, sides=["weights", "timestamps"], **OF_TABLE)


@pytest.mark.parametrize("kind", ["polars", "duckdb", "pandas", "pyarrow", "batches"])
def test_table_objects(kind, check_graph):
    rows = table()
    if kind == "polars":
        rows = pytest.importorskip("polars").from_arrow(rows)
    elif kind == "duckdb":
        query = 'SELECT "from", "to", w, epoch(t)::BIGINT AS t FROM rows WHERE other = \'x\''
        rows = pytest.importorskip("duckdb").sql(query)
    elif kind == "pandas":
        pytest.importorskip("pandas")
        rows = rows.to_pandas()
    elif kind == "batches":
        rows = rows.to_reader(max_chunksize=17)
    check_graph(rows, sides=["weights", "timestamps"], **OF_TABLE)


# Graphs of other libraries


def test_torch(check_graph):
    torch = pytest.importorskip("torch")
    edge_index = torch.from_numpy(np.stack([SRC, DST]))
    check_graph(edge_index, sides=["weights"], weights=torch.from_numpy(WEIGHTS))
    check_graph((edge_index[0].int(), edge_index[1]))


def test_pyg(check_graph):
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data")
    graph = data.Data(
        edge_index=torch.from_numpy(np.stack([SRC, DST])),
        edge_weight=torch.from_numpy(WEIGHTS),
        edge_time=torch.from_numpy(TIMES),
        num_nodes=25,
    )
    check_graph(graph, expect={"num_nodes": 25})
    options = {"weights": "edge_weight", "timestamps": "edge_time"}
    check_graph(graph, sides=["weights", "timestamps"], expect={"num_nodes": 25}, **options)


@pytest.mark.parametrize("kind", ["Graph", "DiGraph", "MultiGraph", "MultiDiGraph"])
def test_networkx(kind, check_graph):
    graph = getattr(pytest.importorskip("networkx"), kind)()
    graph.add_nodes_from(range(25))
    for src, dst, weight, time in zip(SRC, DST, WEIGHTS, TIMES, strict=True):
        graph.add_edge(int(src), int(dst), weight=float(weight), when=int(time))
    edges = list(graph.edges(data=True))
    check_graph(
        graph,
        expected=tuple(zip(*((a, b) for a, b, _ in edges), strict=True)),
        expect={
            "weights": [values["weight"] for *_, values in edges],
            "timestamps": [values["when"] for *_, values in edges],
            "directed": "Di" in kind,
            "num_nodes": 25,
        },
        weights=True,
        timestamps="when",
    )


def test_graphzero(tmp_path):
    pytest.importorskip("graphzero")
    write(tmp_path / "e.csv", as_text(SRC, DST, WEIGHTS))
    write(tmp_path / "x.csv", as_text(range(20), range(20), np.arange(20) / 4))
    code = """
import sys
import graphzero as gz
gz.convert_csv_to_gl(sys.argv[1] + "/e.csv", sys.argv[1] + "/e.gl", True)
gz.convert_csv_to_gd(sys.argv[1] + "/x.csv", sys.argv[1] + "/x.gd", gz.DataType.FLOAT32)
"""
    subprocess.run([sys.executable, "-c", code, tmp_path], check=True, capture_output=True)
    # Repeats of an edge come in their order: lists are sorted by neighbor alone, there as here.
    order = np.argsort(SRC, kind="stable")
    gm.compile_graph(tmp_path / "e.gl", tmp_path / "made.gl")
    graph = gm.Graph(tmp_path / "made.gl")
    twin = reference.neighbor_lists(SRC[order], DST[order], direction="out", weights=WEIGHTS[order])
    for node in range(20):
        assert graph.neighbors(node, direction="out").tolist() == [e[0] for e in twin[node]]
    entries = sorted(zip(SRC, DST, WEIGHTS, strict=True))
    lists = graph.neighbor_lists("out")
    owners = np.repeat(np.arange(20), np.diff(lists.indptr))
    assert sorted(zip(owners, lists.indices, lists.weights, strict=True)) == entries
    report = gm.compile_features(tmp_path / "x.gd", tmp_path / "y.gd")
    assert (report.shape, report.dtype) == ((20, 2), "float32")
    rows = np.stack([np.arange(20), np.arange(20) / 4], axis=1)
    assert np.array_equal(gm.FeatureStore(tmp_path / "y.gd").numpy(), rows)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("neighbors", ["both", "in", "out"])
def test_own_files(directed, neighbors, check_graph, tmp_path):
    # In the order of its lists an edge has the same place again, if no two are alike.
    ends = np.stack([SRC, DST]) if directed else np.sort(np.stack([SRC, DST]), axis=0)
    (src, dst), first = np.unique(ends, axis=1, return_index=True)
    values = {"weights": WEIGHTS[first], "timestamps": TIMES[first], "num_nodes": 23}
    options = {"directed": directed, "neighbors": neighbors}
    gm.compile_graph((src, dst), tmp_path / "own.gl", **values, **options)
    for source in (tmp_path / "own.gl", gm.Graph(tmp_path / "own.gl")):
        check_graph(source, expected=(src, dst), expect=values | options, neighbors=neighbors)


# Options, whatever the source


@pytest.mark.parametrize("kind", ["csv", "npy", "parquet"])
@pytest.mark.parametrize(
    "options",
    [
        {"directed": False},
        {"neighbors": "in"},
        {"neighbors": "out"},
        {"dedup": "first"},
        {"dedup": "sum", "weights": WEIGHTS},
        {"dedup": True, "timestamps": TIMES, "directed": False},
        {"self_loops": "drop"},
        {"num_nodes": 1000, "index_dtype": "int64"},
        {"source_rows": True, "weights": WEIGHTS},
        {"node_ids": [f"n{i}" for i in range(20)]},
    ],
    ids="-".join,
)
def test_options(kind, options, check_graph, tmp_path):
    source = tmp_path / f"e.{kind}"
    if kind == "csv":
        write(source, as_text(SRC, DST))
    elif kind == "npy":
        np.save(source, [SRC, DST])
    else:
        write_table(source, table().select(["from", "to"]))
    check_graph(source, expect=options, **options)
