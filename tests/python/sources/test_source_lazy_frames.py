"""LazyFrames of Polars: the same as their DataFrames, in little memory, the same on each pass."""

from __future__ import annotations

import datetime as dt
import decimal
import filecmp
import subprocess
import sys

import numpy as np
import pytest
from draining import drain_edges, drain_rows
from open_sources import open_edges, open_rows
from run_mode import IS_SANITIZED

import graphmount as gm
from graphmount._sources.arrow.column_digest import ColumnDigest
from graphmount.errors import SourceError

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")
if not hasattr(pl.LazyFrame, "collect_batches"):
    pytest.skip("this polars cannot give rows in batches", allow_module_level=True)

NUM_ROWS = 2000


@pytest.fixture(scope="module")
def people():
    """A frame with columns of many types, in no order."""
    rng = np.random.default_rng(3)
    ids = rng.permutation(NUM_ROWS)
    return pl.DataFrame(
        {
            "id": ids,
            "name": [f"person {i}" for i in ids],
            "group": pl.Series([f"g{i % 7}" for i in ids], dtype=pl.Categorical),
            "team": [None if i % 50 == 0 else f"team {i % 3}" for i in ids],
            "age": rng.integers(0, 90, NUM_ROWS).astype(np.int16),
            "height": rng.random(NUM_ROWS),
            "x": pl.Series(rng.random((NUM_ROWS, 4)).astype(np.float32)),
            "list": [[float(i), 0.5] for i in ids],
            "friend": rng.integers(0, NUM_ROWS, NUM_ROWS).astype(np.uint32),
            "friend_name": [f"person {i}" for i in rng.integers(0, NUM_ROWS, NUM_ROWS)],
            "since": [dt.date(2000, 1, 1) + dt.timedelta(days=int(i)) for i in ids],
        }
    )


@pytest.fixture(scope="module")
def lazy(people, tmp_path_factory):
    """The same as queries: of the frame, of Parquet, and after a filter that leaves all rows."""
    path = tmp_path_factory.mktemp("lazy") / "people.parquet"
    people.write_parquet(path, row_group_size=300)
    return {
        "frame": people.lazy(),
        "parquet": pl.scan_parquet(path),
        "filter": pl.scan_parquet(path).filter(pl.col("id") >= 0),
    }


@pytest.mark.parametrize("memory", [500, 20_000, 1 << 22])
@pytest.mark.parametrize("kind", ["frame", "parquet", "filter"])
def test_edges_are_those_of_the_frame(kind, memory, people, lazy):
    for options in (
        {"columns": ("id", "friend"), "weights": "height", "timestamps": "since"},
        {"columns": ("name", "friend_name")},
        {"columns": ("group", "team"), "on_error": "skip"},
    ):
        one = open_edges(people, **options)
        other = open_edges(lazy[kind], **options)
        assert drain_edges(other, memory=memory).pairs == drain_edges(one, memory=memory).pairs
        assert drain_edges(other, memory=memory).weights == drain_edges(one).weights  # once more
        assert drain_edges(other).timestamps == drain_edges(one).timestamps
        assert (other.has_text_ids, other.skipped.count) == (one.has_text_ids, one.skipped.count)


@pytest.mark.parametrize("memory", [500, 20_000, 1 << 22])
@pytest.mark.parametrize("kind", ["frame", "parquet", "filter"])
def test_rows_are_those_of_the_frame(kind, memory, people, lazy):
    for options in (
        {"key": "id", "columns": ["age", "height"]},
        {"key": "name", "columns": ["x"]},
        {"columns": ["list"]},
        {"columns": ["age"]},
    ):
        one, other = open_rows(people, **options), open_rows(lazy[kind], **options)
        expected, keys = drain_rows(one, memory=memory)
        for _ in range(2):
            found, found_keys = drain_rows(other, memory=memory)
            assert found.dtype == expected.dtype
            assert (found == expected).all()
            assert found_keys == keys


def test_datasets_are_the_same_byte_by_byte(people, lazy, tmp_path):
    for kind, frame in (("eager", people), ("lazy", lazy["parquet"])):
        gm.compile_dataset(
            tmp_path / kind,
            edges=gm.EdgeTable(
                source=frame, columns=("name", "friend_name"), weights="height", timestamps="since"
            ),
            ids="map",
            features={
                "x": gm.Table(source=frame, key="name", columns=["x"], quantize="column"),
                "numbers": gm.Table(source=frame, key="name", columns=["age", "height"]),
            },
            labels=gm.Table(source=frame, key="name", columns=["team"], missing=-1),
            splits="group",
        )
    same = filecmp.dircmp(tmp_path / "eager", tmp_path / "lazy")
    assert same.left_list == same.right_list
    _, different, errors = filecmp.cmpfiles(
        tmp_path / "eager", tmp_path / "lazy", same.common_files, shallow=False
    )
    assert (different, errors) == ([], [])
    ds = gm.Dataset(tmp_path / "lazy")
    assert ds.classes == ["team 0", "team 1", "team 2"]
    assert sorted(ds.splits) == [f"g{i}" for i in range(7)]
    gm.Dataset(tmp_path / "lazy").add_features(
        "again", gm.Table(source=lazy["filter"], key="name", columns=["x"])
    )
    ds = gm.Dataset(tmp_path / "lazy")
    nodes = ds.to_internal(people["name"].to_list())
    assert np.array_equal(ds.features["again"].numpy()[nodes], people["x"].to_numpy())


@pytest.mark.parametrize("name", ["^a.*$", "*", ""])
def test_names_that_polars_would_take_for_patterns(name):
    frame = pl.DataFrame({"a1": [9, 9], "a2": [8, 8], name: [0, 1]})
    assert drain_edges(open_edges(frame.lazy(), columns=(name, name))).src == [0, 1]
    assert drain_rows(open_rows(frame.lazy(), columns=[name]))[0].tolist() == [0, 1]


def test_queries_that_fail():
    frame = pl.LazyFrame({"a": ["1", "x"], "b": ["0", "1"]})
    with pytest.raises(SourceError, match=r"^a polars LazyFrame: its query failed \(ColumnNotFoun"):
        open_edges(frame.select("a", "zz"))
    with pytest.raises(SourceError, match=r"query failed \(FileNotFoundError: .*gone\.parquet"):
        open_edges(pl.scan_parquet("gone.parquet"))
    source = open_edges(frame.cast(pl.Int64))
    with pytest.raises(SourceError, match=r"query failed \(InvalidOperationError: conversion from"):
        drain_edges(source)

    def fails(_):
        raise ZeroDivisionError("by nothing")

    source = open_rows(pl.LazyFrame({"a": [1.0]}).map_batches(fails))
    with pytest.raises(SourceError, match=r"query failed \(ZeroDivisionError: by nothing\)"):
        drain_rows(source)
    lists = pl.LazyFrame({"a": [[1.0]]}).map_batches(fails)
    with pytest.raises(SourceError, match="ZeroDivisionError"):
        open_rows(lists)  # which looks for the length of the lists


def test_a_failing_query_leaves_nothing(tmp_path):
    bad = pl.concat(
        [
            pl.LazyFrame({"a": ["1"] * 300_000, "b": ["2"] * 300_000}),
            pl.LazyFrame({"a": ["x"], "b": ["0"]}),
        ]
    ).cast(pl.Int64)
    with pytest.raises(gm.errors.SourceError, match="conversion from `str` to `i64`"):
        gm.compile_graph(bad, tmp_path / "g.gl")
    with pytest.raises(gm.errors.SourceError, match=r"features 'x' \(a polars LazyFrame\): its q"):
        gm.compile_dataset(
            tmp_path / "ds", edges=([0], [1]), num_nodes=300_001, features={"x": bad}
        )
    assert list(tmp_path.iterdir()) == []


def test_bad_columns_and_rows():
    frame = pl.LazyFrame({"a": [0, None], "b": [1, 2], "t": ["x", "y"], "w": [0.5, None]})
    with pytest.raises(SourceError, match=r"LazyFrame has no column 'z' \(columns=\); it has 'a'"):
        open_edges(frame, columns=("a", "z"))
    with pytest.raises(SourceError, match="LazyFrame, row 1, column 'a': is missing"):
        drain_edges(open_edges(frame))
    source = open_edges(frame, on_error="skip")
    assert drain_edges(source).pairs == [(0, 1)]
    assert source.skipped.count == 1
    with pytest.raises(SourceError, match=r"column 't' is of type .*, and features are numbers"):
        open_rows(frame)
    with pytest.raises(SourceError, match="row 1, column 'w': is missing"):
        drain_rows(open_rows(frame, columns=["w"]))
    with pytest.raises(SourceError, match="has one column only; edges have two ends"):
        open_edges(frame.select("a"))
    with pytest.raises(ValueError, match="delimiter=',' means nothing for a polars LazyFrame"):
        open_edges(frame, delimiter=",")
    with pytest.raises(TypeError, match="key= is the name or number of a column"):
        gm.compile_features(frame, "x.gd", key=[0, 1])
    empty = pl.LazyFrame(schema={"a": pl.Int64, "b": pl.Int64})
    assert drain_edges(open_edges(empty)).pairs == []
    with pytest.raises(SourceError, match="there is no list at the beginning"):
        open_rows(pl.LazyFrame(schema={"a": pl.List(pl.Float32)}))


def test_an_old_polars(monkeypatch):
    monkeypatch.delattr(pl.LazyFrame, "collect_batches")
    with pytest.raises(
        TypeError, match=r"polars \d.* in batches; install polars 1\.34 or later; if"
    ):
        open_edges(pl.LazyFrame({"a": [0], "b": [1]}))


@pytest.mark.parametrize("what", ["order", "values", "count", "nulls"])
def test_queries_that_give_something_else_each_time(what, tmp_path):
    runs = []

    def changing(frame):
        runs.append(1)
        if len(runs) == 1 or what is None:
            return frame
        return {
            "order": frame.reverse,
            "values": lambda: frame.with_columns(pl.col("x").round() - 1e-9),
            "count": lambda: frame.head(3),
            "nulls": lambda: frame.with_columns(pl.Series("t", ["a", "", "b", "c"])),
        }[what]()

    frame = pl.LazyFrame({"x": [1.0, 2.0, 3.0, 4.0], "t": ["a", None, "b", "c"]})
    source = gm.Table(source=frame.map_batches(changing), columns=["x"], quantize="column")
    if what == "nulls":  # labels are read twice as well
        source = gm.Table(source=frame.map_batches(changing), columns=["t"], missing=-1)
        with pytest.raises(SourceError, match="column 't': the query gave other rows"):
            gm.compile_dataset(tmp_path / "ds", edges=([0], [3]), labels=source)
    else:
        with pytest.raises(SourceError, match="column 'x': the query gave other rows, or the same"):
            gm.compile_dataset(tmp_path / "ds", edges=([0], [3]), features={"x": source})
    assert len(runs) > 1
    assert list(tmp_path.iterdir()) == []


def columns_of_each_type():
    """Two columns of each type that differ in one value, or in what is missing."""
    day, moment = dt.date(2020, 1, 1), dt.datetime(2020, 1, 1)  # noqa: DTZ001
    return {
        "int": (pa.array([1, 2, None]), pa.array([1, None, 2])),
        "zero": (pa.array([1, 0]), pa.array([1, None])),
        "float": (pa.array([1.5, float("nan")]), pa.array([float("nan"), 1.5])),
        "half": (pa.array([1, 2], pa.float16()), pa.array([1, 3], pa.float16())),
        "bool": (pa.array([True, False]), pa.array([False, True])),
        "text": (pa.array(["ab", "c"]), pa.array(["a", "bc"])),
        "view": (pa.array(["ab", ""], pa.string_view()), pa.array(["ab", None], pa.string_view())),
        "bytes": (pa.array([b"\xff", b""]), pa.array([b"", b"\xff"])),
        "uuid": (pa.array([b"0" * 16], pa.binary(16)), pa.array([b"1" * 16], pa.binary(16))),
        "dictionary": (pa.array(["a", "b"]).dictionary_encode(), pa.array(["b", "a"])),
        "decimal": (pa.array([decimal.Decimal("1.5")]), pa.array([decimal.Decimal("1.6")])),
        "date": (pa.array([day, None]), pa.array([None, day])),
        "moment": (pa.array([moment]), pa.array([moment + dt.timedelta(seconds=1)])),
        "duration": (pa.array([dt.timedelta(1)]), pa.array([dt.timedelta(2)])),
        "list": (pa.array([[1, 2], [3]]), pa.array([[1], [2, 3]])),
        "empty list": (pa.array([[1], []]), pa.array([[1], None])),
        "null in list": (pa.array([[1, None]]), pa.array([[None, 1]])),
        "array": (
            pa.array([[1.0, 2.0]], pa.list_(pa.float32(), 2)),
            pa.array([[2.0, 1.0]], pa.list_(pa.float32(), 2)),
        ),
        "struct": (pa.array([{"a": 1, "b": "x"}]), pa.array([{"a": 1, "b": "y"}])),
        "nothing": (pa.nulls(2), pa.nulls(3)),
    }


def digest_of(*columns):
    digest = ColumnDigest()
    for column in columns:
        digest.add(column)
    return digest.hexdigest()


@pytest.mark.parametrize("name", columns_of_each_type())
def test_digests_tell_columns_apart_however_they_are_cut(name):
    one, other = columns_of_each_type()[name]
    assert digest_of(one) != digest_of(other)
    assert digest_of(one) == digest_of(*(one.slice(i, 1) for i in range(len(one))))
    assert digest_of(one) == digest_of(one.slice(0, 0), one)
    if one.type == other.type:
        assert digest_of(pa.concat_arrays([other, one]).slice(len(other))) == digest_of(one)


_COMPILE = """
import sys
import threading
import polars as pl
import graphmount as gm

def taken():  # without pages of files, which Polars maps
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("RssAnon"))

path, out = sys.argv[1:]
gm.compile_graph(pl.LazyFrame({"a": [0], "b": [1]}), out)
before, most, done = taken(), 0, threading.Event()

def watch():
    global most
    while not done.wait(0.002):
        most = max(most, taken())

watcher = threading.Thread(target=watch)
watcher.start()
try:
    made = gm.compile_features(pl.scan_parquet(path), out + ".gd", memory="64MiB")
finally:
    done.set()
    watcher.join()
print(made.shape[0], (most - before) // 1024)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.skipif(IS_SANITIZED, reason="sanitizers take memory of their own")
def test_memory_stays_bounded(tmp_path):
    """A file five times as large as `memory`; what Polars takes for itself comes on top."""
    num_rows, path = 10_000_000, tmp_path / "large.parquet"
    rows = pl.int_range(num_rows, eager=True).to_frame("a").lazy()
    rows = rows.with_columns((pl.col("a") * 7 % 1000).alias("b")).with_columns(
        (pl.col(name) + 1).alias(name * 2) for name in "ab"
    )
    rows.sink_parquet(path, compression="uncompressed", row_group_size=50_000)
    ran = subprocess.run(
        [sys.executable, "-c", _COMPILE, path, tmp_path / "out"],
        capture_output=True,
        text=True,
        check=True,
    )
    found, grown = map(int, ran.stdout.split())
    assert found == num_rows
    assert grown < 64 + 150  # the whole result would be 305 MiB
