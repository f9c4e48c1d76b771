"""Every kind of source, from a real file or object of its kind to the file that is made of it.

What is made of arrays is the measure: test_round_trip.py holds it to the slow twin.
"""

from __future__ import annotations

import bz2
import gzip
import importlib
import lzma
import subprocess
import sys
import uuid

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

import graphmount as gm

# 60 edges among 20 nodes, of which the last has an edge: the largest id plus one is their number.
SRC, DST = np.random.default_rng(1).integers(0, 20, (2, 60))
SRC[7] = 19
WEIGHTS = np.random.default_rng(2).random(60).astype(np.float32)
TIMES = np.random.default_rng(3).integers(-50, 50, 60)
SIDES = {"weights": WEIGHTS, "timestamps": TIMES}


@pytest.fixture
def check(tmp_path):
    """Compiles a source and compares the file, byte by byte, with that made of the arrays."""

    def check_(source, *, sides=(), expected=(SRC, DST), expect=None, **options):
        made, wanted = tmp_path / "made.gl", tmp_path / "wanted.gl"
        report = gm.compile_graph(source, made, **options)
        of_arrays = {name: SIDES[name] for name in sides} | (expect or {})
        gm.compile_graph(expected, wanted, **of_arrays)
        assert made.read_bytes() == wanted.read_bytes()
        assert gm.verify(made).ok
        return report

    return check_


def as_text(*columns, delimiter=",", header=None, line_end="\n"):
    rows = [] if header is None else [header]
    rows += zip(*columns, strict=True)
    return "".join(delimiter.join(map(str, row)) + line_end for row in rows)


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def zstd(data):
    return pytest.importorskip("zstandard").compress(data)


# Text

PACKERS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@pytest.mark.parametrize("packer", [*PACKERS, ".zst"])
@pytest.mark.parametrize(
    ("name", "delimiter"), [("e.csv", ","), ("e.tsv", "\t"), ("e.txt", " "), ("e.edges", " ")]
)
def test_text(name, delimiter, packer, check, tmp_path):
    text = as_text(SRC, DST, WEIGHTS, TIMES, delimiter=delimiter).encode()
    path = write(tmp_path / (name + packer), PACKERS.get(packer, zstd)(text))
    check(path)
    check(str(path), sides=["weights", "timestamps"], weights=2, timestamps=3)


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
def test_forms_of_text(text, options, check, tmp_path):
    check(write(tmp_path / "edges.csv", text), **options)


def test_names_and_dates_in_text(check, tmp_path):
    days = np.datetime64("2020-01-01") + np.arange(60)
    text = as_text(days, SRC, WEIGHTS, DST, header=("when", "a b", "w", "to"))
    seconds = days.astype("datetime64[s]").astype(np.int64)
    check(
        write(tmp_path / "edges.csv", text),
        sides=["weights"],
        expect={"timestamps": seconds},
        columns=("a b", "to"),
        weights="w",
        timestamps="when",
    )


# Arrays and matrices


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", ">i4", "uint64"])
def test_npy(dtype, check, tmp_path):
    edges = np.stack([SRC, DST]).astype(dtype)
    for array in (edges, np.asfortranarray(edges), edges.T, np.ascontiguousarray(edges.T)):
        np.save(tmp_path / "e.npy", array)
        check(tmp_path / "e.npy")
    np.save(tmp_path / "w.npy", WEIGHTS)
    np.save(tmp_path / "t.npy", TIMES)
    sides = {"weights": tmp_path / "w.npy", "timestamps": str(tmp_path / "t.npy")}
    check(tmp_path / "e.npy", sides=["weights", "timestamps"], **sides)


def test_a_pair_of_npy(check, tmp_path):
    np.save(tmp_path / "src.npy", SRC)
    np.save(tmp_path / "dst.npy", DST.astype(np.int16))
    check((tmp_path / "src.npy", tmp_path / "dst.npy"))


@pytest.mark.parametrize("shape", [(2, 60), (60, 2)])
def test_headerless(shape, check, tmp_path):
    edges = np.stack([SRC, DST], axis=shape.index(2))
    edges.astype("<u2").tofile(tmp_path / "edges.bin")
    check(tmp_path / "edges.bin", shape=shape, dtype="<u2")


@pytest.mark.parametrize("form", ["coo", "csr", "csc"])
@pytest.mark.parametrize("is_packed", [True, False])
def test_scipy_npz(form, is_packed, check, tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    # Without repeats, which SciPy adds up, in the order that lists have.
    src, dst = np.unique(np.stack([SRC, DST]), axis=1)
    weights = WEIGHTS[: len(src)]
    matrix = sparse.coo_array((weights, (src, dst)), shape=(20, 20)).asformat(form)
    sparse.save_npz(tmp_path / "m.npz", matrix, compressed=is_packed)
    for source in (tmp_path / "m.npz", matrix):
        check(source, expected=(src, dst))
        check(source, expected=(src, dst), expect={"weights": weights}, weights=True)


def test_npz_of_ogb_and_others(check, tmp_path):
    np.savez_compressed(tmp_path / "o.npz", edge_index=[SRC, DST], num_nodes_list=[25], w=WEIGHTS)
    check(tmp_path / "o.npz", sides=["weights"], expect={"num_nodes": 25}, weights="w")
    np.savez(tmp_path / "p.npz", a=SRC, b=DST, t=TIMES)
    check(tmp_path / "p.npz", sides=["timestamps"], columns=("a", "b"), timestamps="t")


@pytest.mark.parametrize("packer", ["", ".gz"])
def test_matrix_market(packer, check, tmp_path):
    lines = as_text(SRC + 1, DST + 1, WEIGHTS, delimiter=" ")
    for symmetry, options in (("general", {}), ("symmetric", {"directed": False})):
        text = f"%%MatrixMarket matrix coordinate real {symmetry}\n% a note\n22 22 60\n{lines}"
        path = write(tmp_path / f"m.mtx{packer}", PACKERS[packer](text.encode()))
        check(path, sides=["weights"], expect={"num_nodes": 22, **options}, weights=True)


# Tables


def table():
    pa = pytest.importorskip("pyarrow")
    columns = {"other": ["x"] * 60, "to": DST, "from": SRC.astype(np.int32), "w": WEIGHTS}
    return pa.table(columns | {"t": pa.array(TIMES).cast(pa.timestamp("s"))})


OF_TABLE = {"columns": ("from", "to"), "weights": "w", "timestamps": "t"}


def write_table(path, rows):
    """A file of the kind that its name says."""
    if path.suffix == ".parquet":
        importlib.import_module("pyarrow.parquet").write_table(rows, path, row_group_size=17)
    elif path.suffix == ".feather":
        importlib.import_module("pyarrow.feather").write_feather(rows, path, chunksize=17)
    else:
        importlib.import_module("pyarrow.orc").write_table(rows, path)


@pytest.mark.parametrize("kind", ["parquet", "feather", "orc"])
def test_table_files(kind, check, tmp_path):
    rows = table()
    folder = tmp_path / "parts"
    folder.mkdir()
    write_table(tmp_path / f"one.{kind}", rows)
    for number, first in enumerate(range(0, 60, 25)):
        write_table(folder / f"part-{number}.{kind}", rows.slice(first, 25))
    (folder / "_SUCCESS").touch()
    paths = sorted(folder.glob("part-*"))
    for source in (tmp_path / f"one.{kind}", folder, f"{folder}/*.{kind}", paths):
        check(source, sides=["weights", "timestamps"], **OF_TABLE)


@pytest.mark.parametrize("kind", ["polars", "duckdb", "pandas", "pyarrow", "batches"])
def test_table_objects(kind, check):
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
    check(rows, sides=["weights", "timestamps"], **OF_TABLE)


# Graphs of other libraries


def test_torch(check):
    torch = pytest.importorskip("torch")
    edge_index = torch.from_numpy(np.stack([SRC, DST]))
    check(edge_index, sides=["weights"], weights=torch.from_numpy(WEIGHTS))
    check((edge_index[0].int(), edge_index[1]))


def test_pyg(check):
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data")
    graph = data.Data(
        edge_index=torch.from_numpy(np.stack([SRC, DST])),
        edge_weight=torch.from_numpy(WEIGHTS),
        edge_time=torch.from_numpy(TIMES),
        num_nodes=25,
    )
    check(graph, expect={"num_nodes": 25})
    options = {"weights": "edge_weight", "timestamps": "edge_time"}
    check(graph, sides=["weights", "timestamps"], expect={"num_nodes": 25}, **options)


@pytest.mark.parametrize("kind", ["Graph", "DiGraph", "MultiGraph", "MultiDiGraph"])
def test_networkx(kind, check):
    graph = getattr(pytest.importorskip("networkx"), kind)()
    graph.add_nodes_from(range(25))
    for src, dst, weight, time in zip(SRC, DST, WEIGHTS, TIMES, strict=True):
        graph.add_edge(int(src), int(dst), weight=float(weight), when=int(time))
    edges = list(graph.edges(data=True))
    check(
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
def test_own_files(directed, neighbors, check, tmp_path):
    # In the order of its lists an edge has the same place again, if no two are alike.
    ends = np.stack([SRC, DST]) if directed else np.sort(np.stack([SRC, DST]), axis=0)
    (src, dst), first = np.unique(ends, axis=1, return_index=True)
    values = {"weights": WEIGHTS[first], "timestamps": TIMES[first], "num_nodes": 23}
    options = {"directed": directed, "neighbors": neighbors}
    gm.compile_graph((src, dst), tmp_path / "own.gl", **values, **options)
    for source in (tmp_path / "own.gl", gm.Graph(tmp_path / "own.gl")):
        check(source, expected=(src, dst), expect=values | options, neighbors=neighbors)


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
def test_options(kind, options, check, tmp_path):
    source = tmp_path / f"e.{kind}"
    if kind == "csv":
        write(source, as_text(SRC, DST))
    elif kind == "npy":
        np.save(source, [SRC, DST])
    else:
        write_table(source, table().select(["from", "to"]))
    check(source, expect=options, **options)


# Ids of any kind


def keys_of(kind):
    """What 20 nodes are called, none in its place."""
    numbers = np.random.default_rng(5).permutation(20)
    if kind == "int":
        return (numbers * 10**12 - 7 * 10**12).tolist()
    if kind == "uuid":
        return [str(uuid.UUID(int=int(number) << 64)) for number in numbers]
    return [f"Zoë {number}" for number in numbers]


def as_they_appear(src, dst):
    """The ends of the edges, edge by edge, each once."""
    return list(dict.fromkeys(end for edge in zip(src, dst, strict=True) for end in edge))


@pytest.mark.parametrize("kind", ["int", "str", "uuid"])
@pytest.mark.parametrize("source", ["csv", "parquet", "polars", "networkx", "raw uuids", "arrays"])
def test_map(kind, source, tmp_path):
    keys = keys_of(kind)
    src, dst = [keys[i] for i in SRC], [keys[i] for i in DST]
    if source == "csv":
        edges = write(tmp_path / "e.csv", as_text(src, dst))
    elif source == "networkx":
        edges = pytest.importorskip("networkx").MultiDiGraph(list(zip(src, dst, strict=True)))
        pairs = list(edges.edges())
        src, dst = [a for a, _ in pairs], [b for _, b in pairs]
    elif source == "arrays":
        edges = (src, dst) if kind != "uuid" else (np.array(src), np.array(dst, object))
    else:
        pa = pytest.importorskip("pyarrow")
        ends = [pa.array(src), pa.array(dst)]
        if source == "raw uuids":
            if kind != "uuid":
                pytest.skip("UUIDs only")
            raw = [[uuid.UUID(key).bytes for key in column] for column in (src, dst)]
            ends = [pa.array(column, pa.binary(16)) for column in raw]
        edges = pa.table(ends, names=["src", "dst"])
        if source == "parquet":
            write_table(tmp_path / "e.parquet", edges)
            edges = tmp_path / "e.parquet"
        elif source == "polars":
            edges = pytest.importorskip("polars").from_arrow(edges)
    report = gm.compile_graph(edges, tmp_path / "g.gl", ids="map")
    graph = gm.Graph(tmp_path / "g.gl")
    assert (report.num_nodes, report.num_edges) == (len({*src, *dst}), 60)
    assert graph.node_id_type is (int if kind == "int" else str)
    nodes = np.arange(report.num_nodes)
    external = list(graph.to_external(nodes))
    assert sorted(external) == sorted({*src, *dst})
    assert graph.to_internal(external).tolist() == nodes.tolist()
    assert external == (list(edges) if source == "networkx" else as_they_appear(src, dst))
    # The graph is the one of the numbers.
    numbers = graph.to_internal(src), graph.to_internal(dst)
    gm.compile_graph(numbers, tmp_path / "twin.gl", node_ids=external)
    assert (tmp_path / "g.gl").read_bytes() == (tmp_path / "twin.gl").read_bytes()


@pytest.mark.parametrize("kind", ["int", "str"])
def test_map_of_a_closed_set(kind, check, tmp_path):
    keys = keys_of(kind)
    text = as_text([keys[i] for i in SRC], [keys[i] for i in DST], WEIGHTS)
    path = write(tmp_path / "e.csv", text)
    check(path, sides=["weights"], expect={"node_ids": keys}, ids="map", node_ids=keys, weights=2)
    others = [key for key in keys if key != keys[SRC[33]]]
    with pytest.raises(gm.errors.SourceError, match=r"e\.csv, edge \d+: .* is not among node_ids"):
        gm.compile_graph(path, tmp_path / "g.gl", ids="map", node_ids=others)
    report = gm.compile_graph(path, tmp_path / "g.gl", ids="map", node_ids=others, on_error="skip")
    bad = (SRC[33] == SRC) | (SRC[33] == DST)
    assert (report.skipped, report.num_edges) == (bad.sum(), (~bad).sum())
    assert repr(keys[SRC[33]]) in " ".join(report.skipped_examples)
    wrong = list(range(20)) if kind == "str" else ["a", "b"]
    with pytest.raises(gm.errors.SourceError, match=r"e\.csv has .* for ids, and node_ids"):
        gm.compile_graph(path, tmp_path / "g.gl", ids="map", node_ids=wrong)
    with pytest.raises(gm.errors.SourceError, match="nodes 0 and 2 have the same external id"):
        gm.compile_graph(path, tmp_path / "g.gl", ids="map", node_ids=[*keys[:2], *keys])


def test_key_type(tmp_path):
    path = write(tmp_path / "e.csv", "01,1\n1,2\n")
    gm.compile_graph(path, tmp_path / "g.gl", ids="map", key_type="str")
    assert gm.Graph(tmp_path / "g.gl").to_external([0, 1, 2]) == ["01", "1", "2"]
    gm.compile_graph(path, tmp_path / "g.gl", ids="map")
    assert gm.Graph(tmp_path / "g.gl").to_external([0, 1]).tolist() == [1, 2]
    write(path, "1,2\n" * 50_000 + "x,2\n")  # what the first lines do not show
    with pytest.raises(gm.errors.SourceError, match=r"line 50001, column 1: 'x' .*key_type='str'"):
        gm.compile_graph(path, tmp_path / "g.gl", ids="map", key_type="int")
    assert gm.compile_graph(path, tmp_path / "g.gl", ids="map", key_type="str").num_nodes == 3


@given(pairs=st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), st.integers(-9, 9)), min_size=1))
def test_any_integers_can_be_mapped(pairs, tmp_path):
    src, dst = map(list, zip(*pairs, strict=True))
    report = gm.compile_graph((src, dst), tmp_path / "g.gl", ids="map", source_rows=True)
    graph = gm.Graph(tmp_path / "g.gl")
    external = graph.to_external(np.arange(report.num_nodes))
    assert external.tolist() == as_they_appear(src, dst)
    lists = graph.neighbor_lists("in")
    owners = np.repeat(np.arange(report.num_nodes), np.diff(lists.indptr))
    for owner, neighbor, row in zip(owners, lists.indices, lists.source_rows, strict=True):
        assert graph.to_external([neighbor, owner]).tolist() == list(pairs[row])


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


def test_skip_in_text(check, tmp_path):
    lines = as_text(SRC, DST, WEIGHTS).splitlines(keepends=True)
    bad = ["x,1,1\n", "1\n", "1,-2,1\n", "3,4,-1\n", "3,4,nan\n", "1,2,3,4\n", "1,2,\n"]
    for number, line in enumerate(bad):
        lines.insert(7 * number + 3, line)
    report = check(
        write(tmp_path / "e.csv", "".join(lines)), sides=["weights"], weights=2, on_error="skip"
    )
    assert report.skipped == len(report.skipped_examples) == len(bad)
    shown = " ".join(report.skipped_examples)
    assert "line 4, column 1: 'x' is not a node id" in shown
    assert "3 to 4 of weight nan" in shown


def test_skip_in_several_files(check, tmp_path):
    """What the compiler leaves out is not forgotten when the next file begins."""
    write(tmp_path / "a.csv", "1,1,-1\nx,1,1\n" + as_text(SRC[:30], DST[:30], WEIGHTS[:30]))
    write(tmp_path / "b.csv", as_text(SRC[30:], DST[30:], WEIGHTS[30:]) + "y,1,1\n1,1,inf\n")
    report = check(f"{tmp_path}/*.csv", sides=["weights"], weights=2, on_error="skip")
    assert report.skipped == len(report.skipped_examples) == 4


def test_skip_in_tables_and_arrays(check, tmp_path):
    pa = pytest.importorskip("pyarrow")
    src = [None, *SRC.tolist(), -1, 5]
    rows = pa.table({"a": src, "b": [1, *DST.tolist(), 1, 2], "w": [1, *WEIGHTS.tolist(), 1, -1]})
    write_table(tmp_path / "e.parquet", rows)
    report = check(tmp_path / "e.parquet", sides=["weights"], weights="w", on_error="skip")
    assert report.skipped == 3
    assert "row 0, column 'a': is missing (null)" in report.skipped_examples[0]
    edges = np.stack([[-5, *SRC, 400], [1, *DST, 2]])
    np.save(tmp_path / "e.npy", edges)
    for source in (edges, tmp_path / "e.npy"):
        report = check(source, expect={"num_nodes": 20}, num_nodes=20, on_error="skip")
        assert report.skipped == 2
        assert "-5 to 1" in report.skipped_examples[0]


def test_skip_with_a_map(tmp_path):
    path = write(tmp_path / "e.csv", "a,b,1\nc,d,-1\n")
    report = gm.compile_graph(path, tmp_path / "g.gl", ids="map", weights=2, on_error="skip")
    assert (report.num_edges, report.skipped) == (1, 1)
    assert gm.Graph(tmp_path / "g.gl").to_internal(["a", "b"]).tolist() == [0, 1]


def test_many_skips_are_counted_and_some_shown(tmp_path):
    path = write(tmp_path / "e.csv", "0,1\n" + "x,1\n" * 1000 + "1,2\n" * 2000)
    report = gm.compile_graph(path, tmp_path / "g.gl", on_error="skip")
    assert (report.num_edges, report.skipped, len(report.skipped_examples)) == (2001, 1000, 10)


# Features

X = np.random.default_rng(6).normal(size=(20, 3)).astype(np.float32)
ORDER = np.random.default_rng(7).permutation(20)


def feature_source(kind, folder, rows=X, keys=None):
    """Rows (and keys) as a file or an object of some kind; and the options to read it with."""
    columns = {} if keys is None else {"id": keys}
    columns |= {f"x{i}": rows[:, i] for i in range(rows.shape[1])}
    path = folder / f"x.{kind}"
    if kind == "npy":
        np.save(path, rows)
    elif kind == "npz":
        np.savez_compressed(path, rows=rows, others=1)
        return path, {"member": "rows"}
    elif kind == "bin":
        rows.tofile(path)
        return path, {"shape": rows.shape, "source_dtype": rows.dtype.name}
    elif kind == "gd":
        gm.compile_features(rows, path)
    elif kind in ("csv", "csv.gz"):
        text = as_text(*columns.values(), header=tuple(columns)).encode()
        write(path, PACKERS[path.suffix](text) if kind == "csv.gz" else text)
    else:
        arrow = pytest.importorskip("pyarrow").table(columns)
        if kind == "pandas":
            pytest.importorskip("pandas")
            return arrow.to_pandas(), {}
        if kind == "polars":
            return pytest.importorskip("polars").from_arrow(arrow), {}
        if kind == "duckdb":
            return pytest.importorskip("duckdb").sql("SELECT * FROM arrow"), {}
        write_table(path, arrow)
    return path, {}


@pytest.mark.parametrize(
    "kind",
    [
        "npy",
        "npz",
        "bin",
        "gd",
        "csv",
        "csv.gz",
        "parquet",
        "feather",
        "orc",
        "pandas",
        "polars",
        "duckdb",
    ],
)
@pytest.mark.parametrize("options", [{}, {"dtype": "float16"}, {"quantize": "column"}])
def test_features(kind, options, tmp_path):
    source, how = feature_source(kind, tmp_path)
    gm.compile_features(source, tmp_path / "made.gd", **how, **options)
    gm.compile_features(X, tmp_path / "wanted.gd", **options)
    assert (tmp_path / "made.gd").read_bytes() == (tmp_path / "wanted.gd").read_bytes()


@pytest.mark.parametrize("source_kind", ["csv", "parquet", "polars"])
@pytest.mark.parametrize("kind", ["int", "str", "uuid"])
def test_features_by_external_id(source_kind, kind, tmp_path):
    """From edges and rows with ids of their own, in files of their own, to one order."""
    keys = keys_of(kind)
    text = as_text([keys[i] for i in SRC], [keys[i] for i in DST])
    gm.compile_graph(write(tmp_path / "e.csv", text), tmp_path / "g.gl", ids="map")
    rows = X[ORDER]
    source, _ = feature_source(source_kind, tmp_path, rows, [keys[i] for i in ORDER])
    report = gm.compile_features(
        source, tmp_path / "x.gd", order=tmp_path / "g.gl", key="id", missing=9, on_error="skip"
    )
    graph = gm.Graph(tmp_path / "g.gl")
    nodes = [keys.index(key) for key in graph.to_external(np.arange(graph.num_nodes))]
    assert np.array_equal(gm.FeatureStore(tmp_path / "x.gd").numpy(), X[nodes])
    gm.check_order(graph, gm.FeatureStore(tmp_path / "x.gd"))
    assert (report.missing, report.skipped) == (0, 20 - graph.num_nodes)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_features_missing_and_repeated(kind, tmp_path):
    out = tmp_path / "out.gd"
    ids = [*ORDER[:15], ORDER[3]]
    rows = np.concatenate([X[ORDER[:15]], X[:1] + 1])
    source, _ = feature_source(kind, tmp_path, rows, ids)
    with pytest.raises(gm.errors.SourceError, match=f"have one already: {ORDER[3]}"):
        gm.compile_features(source, out, key="id", num_nodes=20, missing=0)
    with pytest.raises(gm.errors.SourceError, match="5 of 20 nodes have no row"):
        gm.compile_features(source, out, key="id", num_nodes=20, repeated="last")
    assert not out.exists()
    wanted = np.full_like(X, -1)
    wanted[ORDER[:15]] = X[ORDER[:15]]
    for repeated, row in (("first", X[ORDER[3]]), ("last", X[0] + 1)):
        report = gm.compile_features(
            source, out, key="id", num_nodes=20, missing=-1, repeated=repeated
        )
        wanted[ORDER[3]] = row
        assert np.array_equal(gm.FeatureStore(out).numpy(), wanted)
        assert (report.missing, report.repeated) == (5, 1)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_features_that_cannot_be_stored(kind, tmp_path):
    out = tmp_path / "out.gd"
    rows = X.copy()
    rows[7, 1] = np.nan
    source, _ = feature_source(kind, tmp_path, rows)
    gm.compile_features(source, out)
    assert np.array_equal(gm.FeatureStore(out).numpy(), rows, equal_nan=True)
    with pytest.raises(gm.errors.SourceError, match="row 7, column 1: NaN"):
        gm.compile_features(source, out, nan="error")
    gm.compile_features(source, out, nan=0.5, quantize="column", columns=["x1", "x0"])
    expected = np.where(np.isnan(rows), 0.5, rows)[:, [1, 0]]
    store = gm.FeatureStore(out)
    assert np.abs(store.numpy() * store.scales - expected).max() <= store.scales.max() * 0.51
    rows[7, 1] = 70000
    source, _ = feature_source(kind, tmp_path, rows)
    with pytest.raises(gm.errors.SourceError, match=r"row 7, column 1: 70000\.0 cannot be"):
        gm.compile_features(source, out, dtype="float16")
    with pytest.raises(gm.errors.SourceError, match=r"row 0, column 0: .* stored as int8"):
        gm.compile_features(source, out, dtype="int8")


def test_labels_of_text_and_tables(tmp_path):
    labels = np.arange(20)[ORDER]
    for kind in ("csv", "parquet"):
        source, _ = feature_source(kind, tmp_path, labels[:, None], ORDER)
        report = gm.compile_features(source, tmp_path / "y.gd", key="id", columns=["x0"])
        assert report.dtype == "int64"
        assert gm.FeatureStore(tmp_path / "y.gd").numpy().reshape(-1).tolist() == list(range(20))


def test_late_fractions_in_text(tmp_path):
    """The advice that comes with the error is good."""
    path = write(tmp_path / "x.csv", "1,2\n" * 2000 + "1.5,2\n")
    with pytest.raises(gm.errors.SourceError, match=r"line 2001, .*pass dtype=\"float32\""):
        gm.compile_features(path, tmp_path / "x.gd")
    gm.compile_features(path, tmp_path / "x.gd", dtype="bfloat16")
    for dtype in ("float32", "float16", "float64"):
        gm.compile_features(path, tmp_path / "x.gd", dtype=dtype)
        assert float(gm.FeatureStore(tmp_path / "x.gd").numpy()[2000, 0]) == 1.5


def test_skip_in_features(tmp_path):
    path = write(tmp_path / "x.csv", "id,a\n0,1\n1,x\n2,2\n5,3\n-1,4\n1,5\n7\n")
    report = gm.compile_features(
        path, tmp_path / "x.gd", key="id", num_nodes=3, on_error="skip", quantize="column"
    )
    assert (report.skipped, len(report.skipped_examples)) == (4, 4)
    assert "line 3, column 2: 'x' is not" in report.skipped_examples[0]
    assert gm.FeatureStore(tmp_path / "x.gd").numpy().reshape(-1).tolist() == [25, 127, 51]
