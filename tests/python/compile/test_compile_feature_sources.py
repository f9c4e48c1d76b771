"""Features from every kind of source: the file is that made of the array."""

from __future__ import annotations

import numpy as np
import pytest
from source_samples import (
    DST,
    PACKERS,
    SRC,
    as_text,
    keys_of,
    write,
    write_table,
)

import graphmount as gm

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


def test_skip_does_not_take_floats_for_bad_integers(tmp_path):
    path = write(tmp_path / "x.csv", "nan,3\n1,2\nx,5\n4,6\n7,8\n")
    report = gm.compile_features(path, tmp_path / "x.gd", on_error="skip")
    assert (report.shape, report.dtype, report.skipped) == ((4, 2), "float32", 1)
    assert np.isnan(gm.FeatureStore(tmp_path / "x.gd").numpy()[0, 0])
