"""Tables of Arrow as sources: files of every kind, and objects of other libraries."""

from __future__ import annotations

import datetime as dt
import decimal
import subprocess
import sys
import uuid

import numpy as np
import pytest
from conftest import IS_SANITIZED
from draining import drain_edges, drain_rows

from graphmount.errors import SourceError
from graphmount.sources.opening import open_edges, open_rows

pa = pytest.importorskip("pyarrow")
orc = pytest.importorskip("pyarrow.orc")
parquet = pytest.importorskip("pyarrow.parquet")

KINDS = ["parquet", "feather", "arrow", "arrows", "orc", "table", "reader"]


def stored(table, kind, folder, *, rows=3):
    """The table as a file of this kind, in pieces of some rows, or as an object."""
    path = folder / f"table.{kind}"
    if kind == "parquet":
        parquet.write_table(table, path, row_group_size=rows)
    elif kind in ("feather", "arrow", "arrows"):
        new = pa.ipc.new_stream if kind == "arrows" else pa.ipc.new_file
        options = pa.ipc.IpcWriteOptions(compression="lz4" if kind == "feather" else None)
        with pa.OSFile(str(path), "wb") as file, new(file, table.schema, options=options) as out:
            out.write_table(table, max_chunksize=rows)
    elif kind == "orc":
        orc.write_table(table, path)
    elif kind == "reader":
        return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(rows))
    else:
        return table
    return path


@pytest.mark.parametrize("memory", [1, 300, 1 << 20])
@pytest.mark.parametrize("kind", KINDS)
def test_edges(kind, memory, tmp_path):
    table = pa.table(
        {
            "when": pa.array([5, 6, 7, 8, 9], pa.int32()),
            "dst": pa.array([1, 2, 3, 4, 5], pa.int32()),
            "unused": ["x"] * 5,
            "w": pa.array([0.5, 1, 2, 3, 4], pa.float64()),
            "src": pa.array([0, 1, 2, 3, 4], pa.int64()),
        }
    )
    source = open_edges(
        stored(table, kind, tmp_path), columns=("src", "dst"), weights="w", timestamps=0
    )
    edges = drain_edges(source, memory=memory)
    assert edges.pairs == [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]
    assert edges.weights == [0.5, 1, 2, 3, 4]
    assert edges.timestamps == [5, 6, 7, 8, 9]
    assert edges.num_batches == 5 or memory > 1
    assert not source.has_text_ids


@pytest.mark.parametrize("kind", KINDS)
def test_text_edges(kind, tmp_path):
    table = pa.table({"a": ["", "ä", "c\0d", "e" * 50], "b": ["x", "y", "z", "🙂"]})
    source = open_edges(stored(table, kind, tmp_path))
    assert source.has_text_ids
    assert drain_edges(source, memory=900).pairs == [
        ("", "x"),
        ("ä", "y"),
        ("c\0d", "z"),
        ("e" * 50, "🙂"),
    ]


IDS = [uuid.UUID(int=i * 12345678901234567890) for i in range(3)]


@pytest.mark.parametrize(
    ("column", "keys", "expected"),
    [
        *((pa.array([1, 0, 3], kind), None, [1, 0, 3]) for kind in (pa.int8(), pa.uint8())),
        *((pa.array([1, 0, 3], kind), None, [1, 0, 3]) for kind in (pa.int16(), pa.uint16())),
        *((pa.array([1, 0, 3], kind), None, [1, 0, 3]) for kind in (pa.uint32(), pa.uint64())),
        (pa.array([7, 8, 7]).dictionary_encode(), None, [7, 8, 7]),
        (pa.array(["a", "b", "a"]).dictionary_encode(), None, ["a", "b", "a"]),
        (pa.array(["a", "b", "a"], pa.large_string()), None, ["a", "b", "a"]),
        (pa.array(["a", "b" * 30, ""], pa.string_view()), None, ["a", "b" * 30, ""]),
        (pa.array([i.bytes for i in IDS], pa.binary(16)), None, [str(i) for i in IDS]),
        (pa.array([i.bytes for i in IDS], pa.uuid()), None, [str(i) for i in IDS]),
        (pa.array([decimal.Decimal(i) for i in (1, 2, 3)], pa.decimal128(20, 0)), None, [1, 2, 3]),
        (pa.array([decimal.Decimal(i) for i in (1, 2, 3)], pa.decimal128(20, 3)), None, [1, 2, 3]),
        (pa.array([1, 20, 300]), "text", ["1", "20", "300"]),
        (pa.array(["1", "20", "300"]), "int", [1, 20, 300]),
        (pa.array(["1", "20", "300"]), "dense", [1, 20, 300]),
    ],
)
def test_types_of_ids(column, keys, expected):
    table = pa.table({"x": pa.concat_arrays([column, column]).slice(3), "y": column})
    edges = drain_edges(open_edges(table, keys=keys), memory=400)
    assert edges.src == edges.dst == expected


def test_times():
    moments = [dt.datetime(1970, 1, 2), dt.datetime(1969, 12, 31, 23, 59, 59, 500000)]  # noqa: DTZ001
    for unit in ("ms", "us", "ns"):
        for zone in (None, "Europe/Berlin"):
            column = pa.array(moments, pa.timestamp(unit)).cast(pa.timestamp(unit, zone))
            table = pa.table({"a": [0, 1], "b": [1, 0], "t": column})
            assert drain_edges(open_edges(table, timestamps="t")).timestamps == [86400, -1]
    days = [dt.date(1970, 1, 3), dt.date(1969, 12, 31)]
    for kind in (pa.date32(), pa.date64()):
        table = pa.table({"a": [0, 1], "b": [1, 0], "t": pa.array(days, kind)})
        assert drain_edges(open_edges(table, timestamps="t")).timestamps == [172800, -86400]
    table = pa.table({"a": [0], "b": [1], "t": [1.5]})
    with pytest.raises(SourceError, match="'t' is of type double; timestamps are integers, times"):
        open_edges(table, timestamps="t")


@pytest.mark.parametrize(
    ("column", "options", "message"),
    [
        (pa.array([1, None, 3]), {}, "row 4, column 'x': is missing"),
        (
            pa.array([1, 2**63, 3], pa.uint64()),
            {},
            "row 4, column 'x': '9223372036854775808' is too",
        ),
        (pa.array(["1", "b", "3"]), {"keys": "int"}, "row 4, column 'x': 'b' is not an integer"),
        (
            pa.array([decimal.Decimal(i) for i in ("1", "2.5", "3")], pa.decimal128(9, 2)),
            {},
            "row 4, column 'x': '2.50' is not an integer",
        ),
    ],
)
def test_rows_that_cannot_be_read(column, options, message, tmp_path):
    fine = pa.array([column[0].as_py()] * 3, column.type)
    table = pa.table({"x": pa.concat_arrays([fine, column]), "y": pa.concat_arrays([fine] * 2)})
    path = stored(table, "parquet", tmp_path)
    for memory in (1, 1 << 20):
        with pytest.raises(SourceError, match=f"{message}.*on_error='skip'") as caught:
            drain_edges(open_edges(path, **options), memory=memory)
        assert str(path) in str(caught.value)
        source = open_edges(path, on_error="skip", **options)
        assert drain_edges(source, memory=memory).src == [1, 1, 1, 1, 3]
        assert source.skipped.count == 1
        assert message.partition(":")[0] in source.skipped.examples[0]


def test_weights_that_cannot_be_read():
    table = pa.table({"a": [0, 1, 2], "b": [0, 1, 2], "w": [1.0, 1e300, None]})
    with pytest.raises(SourceError, match="row 2, column 'w': is missing"):
        drain_edges(open_edges(table, weights="w"))
    with pytest.raises(SourceError, match=r"row 1, column 'w': '1e\+300' is too large for float32"):
        drain_edges(open_edges(table.slice(0, 2), weights="w"))
    source = open_edges(table, weights="w", on_error="skip")
    assert drain_edges(source).src == [0]
    assert source.skipped.count == 2
    for column, kind in ((["a"], "string"), ([True], "bool")):
        bad = pa.table({"a": [0], "b": [0], "w": column})
        with pytest.raises(SourceError, match=f"column 'w' is of type {kind}; weights are numbers"):
            open_edges(bad, weights="w")
    half = pa.table({"a": [0], "b": [0], "w": pa.array([np.float16(0.5)], pa.float16())})
    assert drain_edges(open_edges(half, weights="w")).weights == [0.5]


def test_columns_that_are_not_there(tmp_path):
    table = pa.table({"a": [0], "b": [1.5], "c": ["x"]})
    with pytest.raises(SourceError, match=r"has no column 'z' \(columns=\); it has 'a', 'b', 'c'"):
        open_edges(table, columns=("a", "z"))
    with pytest.raises(SourceError, match=r"has no column 7 \(weights=\)"):
        open_edges(table, columns=("a", "a"), weights=7)
    with pytest.raises(SourceError, match="column 'b' is of type double; node ids are integers or"):
        open_edges(table)
    with pytest.raises(SourceError, match="are not both numbers or both text; pass keys='text'"):
        open_edges(table, columns=("a", "c"))
    assert drain_edges(open_edges(table, columns=("a", "c"), keys="text")).pairs == [("0", "x")]
    with pytest.raises(ValueError, match="name two of them"):
        open_edges(table, columns=("a",))
    with pytest.raises(SourceError, match="one column only"):
        open_edges(table.select(["a"]))
    with pytest.raises(TypeError, match="name the column"):
        open_edges(table, weights=True)
    with pytest.raises(
        ValueError, match="delimiter=';' means nothing for a pyarrow Table, a table"
    ):
        open_edges(table, delimiter=";")
    twice = pa.Table.from_arrays([pa.array([0])] * 2, ["a", "a"])
    with pytest.raises(SourceError, match="2 columns called 'a'"):
        open_edges(twice, columns=("a", "a"))
    assert drain_edges(open_edges(twice)).pairs == [(0, 0)]
    for kind in ("parquet", "arrow"):
        with pytest.raises(SourceError, match="several columns called 'a'; rename them"):
            drain_edges(open_edges(stored(twice, kind, tmp_path)))
    with pytest.raises(TypeError, match="is not a table"):
        open_edges(pa.chunked_array([[1, 2]]))
    assert not open_edges(table, columns=("a", "a"), weights=False).has_weights


def test_streams_are_read_once():
    table = pa.table({"a": [0, 1], "b": [1, 0]})
    source = open_edges(table.to_reader())
    assert source.num_edges is None
    drain_edges(source)
    with pytest.raises(SourceError, match="is a stream that has been read; make it anew"):
        drain_edges(source)


def test_other_libraries():
    polars = pytest.importorskip("polars")
    duckdb = pytest.importorskip("duckdb")
    pandas = pytest.importorskip("pandas")
    columns = {"src": ["a", "b", "c"], "dst": ["b", "c", "a"], "w": [0.5, 1.5, 2.5]}
    frame = polars.DataFrame(columns)
    connection = duckdb.connect()
    connection.register("edges", pa.table(columns))
    for table in (frame, pandas.DataFrame(columns), connection.sql("select * from edges")):
        source = open_edges(table, weights="w")
        edges = drain_edges(source, memory=500)
        assert edges.pairs == [("a", "b"), ("b", "c"), ("c", "a")]
        assert edges.weights == [0.5, 1.5, 2.5]
    assert open_edges(frame).num_edges == 3
    assert open_edges(frame).name == "a polars DataFrame"
    embedded = polars.DataFrame(
        {"id": ["a", "b"], "x": [[1.0, 2.0], [3.0, 4.0]]},
        schema={"id": polars.String, "x": polars.Array(polars.Float32, 2)},
    )
    rows, keys = drain_rows(open_rows(embedded, key="id"))
    assert (rows.tolist(), keys, rows.dtype) == ([[1, 2], [3, 4]], ["a", "b"], np.float32)


def test_files_of_other_libraries(tmp_path):
    polars = pytest.importorskip("polars")
    duckdb = pytest.importorskip("duckdb")
    pandas = pytest.importorskip("pandas")
    columns = {"src": ["a", "b", "c"], "dst": ["b", "c", "a"]}
    frame = polars.DataFrame(columns)
    frame.write_parquet(tmp_path / "polars.parquet")
    frame.write_ipc(tmp_path / "polars.feather")
    frame.write_ipc_stream(tmp_path / "polars.stream")
    pandas.DataFrame(columns).to_parquet(tmp_path / "pandas.parquet")
    pandas.DataFrame(columns).to_feather(tmp_path / "pandas.feather")
    target = str(tmp_path / "duck.parquet")
    duckdb.connect().from_arrow(pa.table(columns)).write_parquet(target)
    for path in sorted(tmp_path.iterdir()):
        assert drain_edges(open_edges(path)).pairs == [("a", "b"), ("b", "c"), ("c", "a")]


@pytest.mark.parametrize("memory", [1, 1 << 20])
@pytest.mark.parametrize("kind", KINDS)
def test_numeric_rows(kind, memory, tmp_path):
    table = pa.table(
        {
            "x": pa.array([1, 2, 3, 4], pa.int32()),
            "id": ["d", "c", "b", "a"],
            "y": pa.array([0.5, 1.5, 2.5, 3.5], pa.float32()),
            "z": pa.array([True, False, True, False]),
        }
    )
    rows, keys = drain_rows(open_rows(stored(table, kind, tmp_path), key="id"), memory=memory)
    assert rows.tolist() == [[1, 0.5, 1], [2, 1.5, 0], [3, 2.5, 1], [4, 3.5, 0]]
    assert rows.dtype == np.float64  # what int32 and float32 have in common
    assert keys == ["d", "c", "b", "a"]
    rows, keys = drain_rows(open_rows(stored(table, kind, tmp_path), columns="y"), memory=memory)
    assert (rows.tolist(), rows.dtype, keys) == ([0.5, 1.5, 2.5, 3.5], np.float32, None)
    source = open_rows(stored(table, kind, tmp_path), columns=["y", "x"], key=1)
    assert drain_rows(source, memory=memory)[0][1].tolist() == [1.5, 2]


@pytest.mark.parametrize("memory", [1, 1 << 20])
@pytest.mark.parametrize("inner", [pa.float16(), pa.float32(), pa.float64(), pa.int8(), pa.bool_()])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_lists(kind, inner, memory, tmp_path):
    if kind == "orc" and inner == pa.float16():
        pytest.skip("ORC has no float16")
    values = np.arange(12).reshape(4, 3).astype(inner.to_pandas_dtype())
    for shape in (pa.list_(inner), pa.large_list(inner), pa.list_(inner, 3)):
        if kind == "orc" and shape == pa.list_(inner, 3):
            continue
        table = pa.table({"id": [4, 3, 2, 1], "x": pa.array(list(values), shape)})
        source = open_rows(stored(table, kind, tmp_path), key="id")
        assert (source.num_columns, source.is_vector) == (3, False)
        rows, keys = drain_rows(source, memory=memory)
        assert rows.tolist() == values.tolist()
        assert rows.dtype == values.dtype
        assert keys == [4, 3, 2, 1]


def test_lists_that_are_no_rows(tmp_path):
    table = pa.table({"x": [[1.0, 2.0], [3.0, 4.0], [5.0], None, [6.0, None]]})
    path = stored(table, "parquet", tmp_path)
    for memory in (1, 1 << 20):
        with pytest.raises(SourceError, match=r"row [23], column 'x'"):
            drain_rows(open_rows(path), memory=memory)
        source = open_rows(path, on_error="skip")
        rows, _ = drain_rows(source, memory=memory)
        assert rows.tolist() == [[1, 2], [3, 4]]
        assert source.skipped.count == 3
    with pytest.raises(SourceError, match=r"row 2, column 'x': '\[5.0\]' is not of 2 values"):
        drain_rows(open_rows(table.slice(0, 3)))
    with pytest.raises(SourceError, match="no list at the beginning"):
        open_rows(table.slice(0, 0))
    with pytest.raises(SourceError, match="column 'x' holds lists, next to other columns"):
        open_rows(pa.table({"x": [[1.0]], "y": [2.0]}))
    with pytest.raises(SourceError, match="column 'x' is of type string, and features are numbers"):
        open_rows(pa.table({"x": ["a"], "y": [2.0]}))
    with pytest.raises(SourceError, match="uint64 and of signed integers"):
        open_rows(pa.table({"x": pa.array([1], pa.uint64()), "y": [2]}))
    with pytest.raises(SourceError, match="no column with values"):
        open_rows(pa.table({"x": [1]}), key="x")
    with pytest.raises(ValueError, match="dtype='float32' means nothing"):
        open_rows(table, dtype="float32")


def test_tensor_columns():
    kind = pa.fixed_shape_tensor(pa.float32(), (2, 2))
    storage = pa.array([[1, 2, 3, 4], [5, 6, 7, 8]], pa.list_(pa.float32(), 4))
    table = pa.table({"x": pa.ExtensionArray.from_storage(kind, storage)})
    assert drain_rows(open_rows(table))[0].tolist() == [[1, 2, 3, 4], [5, 6, 7, 8]]


def test_folders_of_files(tmp_path):
    folder = tmp_path / "edges"
    (folder / "year=2021").mkdir(parents=True)
    for number, name in enumerate(["part-0.parquet", "part-1.parquet", "year=2021/x.parquet"]):
        parquet.write_table(pa.table({"a": [number, None], "b": [9, 9]}), folder / name)
    (folder / "_SUCCESS").touch()
    (folder / ".hidden").touch()
    source = open_edges(folder, on_error="skip")
    assert drain_edges(source).src == [0, 1, 2]
    assert source.skipped.count == 3
    assert [f"part-{i}.parquet, row 1" in source.skipped.examples[i] for i in (0, 1)] == [True] * 2
    source = open_edges(f"{folder}/part-*.parquet", on_error="skip")
    assert drain_edges(source).src == [0, 1]
    (folder / "more.csv").write_text("1,2\n")
    with pytest.raises(SourceError, match=r"more\.csv is text, but .*pass a pattern"):
        open_edges(folder)
    parquet.write_table(pa.table({"a": ["x"], "b": ["y"]}), tmp_path / "text.parquet")
    with pytest.raises(SourceError, match="does not have text for ids, unlike"):
        open_edges([folder / "part-0.parquet", tmp_path / "text.parquet"])


def test_damaged_files(tmp_path):
    table = pa.table({"a": range(1000), "b": range(1000)})
    for kind in ("parquet", "arrow", "orc"):
        path = stored(table, kind, tmp_path, rows=1000)
        path.write_bytes(path.read_bytes()[:-100])
        with pytest.raises(SourceError, match=f"table.{kind} cannot be read"):
            open_edges(path)


def test_damaged_pages(tmp_path):
    ids = np.random.default_rng(0).integers(0, 2**40, 10_000)
    path = stored(pa.table({"a": ids, "b": ids}), "parquet", tmp_path, rows=10_000)
    data = bytearray(path.read_bytes())
    data[4:2000] = bytes(1996)
    path.write_bytes(data)
    with pytest.raises(SourceError, match=r"table\.parquet cannot be read"):
        drain_edges(open_edges(path))


def test_views_with_nulls():
    column = pa.array(["a", None, "c" * 40], pa.string_view())
    source = open_edges(pa.table({"a": column, "b": column}), on_error="skip")
    assert drain_edges(source).src == ["a", "c" * 40]


def test_without_pyarrow(tmp_path):
    parquet.write_table(pa.table({"a": [0], "b": [1]}), tmp_path / "x.parquet")
    code = f"""
import sys
sys.modules["pyarrow"] = None  # as if it were not installed
from graphmount.sources.opening import open_edges
try:
    open_edges({str(tmp_path / "x.parquet")!r})
except ImportError as error:
    print(error)
"""
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "pip install 'graphmount[arrow]'" in result.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_memory_is_bounded(kind, tmp_path):
    """128 MiB of ids are read within 8 MiB; the process grows by less than 48 MiB.

    Arrow's allocator keeps what it has freed, so this is more than there is at any time.
    """
    if IS_SANITIZED:
        pytest.skip("sanitizers have memory of their own")
    ids = np.random.default_rng(0).integers(0, 2**40, 1 << 23)
    table = pa.table({"a": ids, "b": ids, "unused": ids})
    path = tmp_path / f"x.{kind}"
    small = stored(table.slice(0, 1000), kind, tmp_path)
    if kind == "parquet":
        parquet.write_table(table, path, row_group_size=1 << 22)
    else:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as out:
            out.write_table(table, max_chunksize=1 << 16)
    code = """
import sys
from graphmount.sources.opening import open_edges
def peak():
    status = open("/proc/self/status").read()
    return int(status.split("VmHWM:")[1].split()[0]) << 10
for batch in open_edges(sys.argv[2]).batches(memory=8 << 20):
    pass  # what the first use of anything costs
source = open_edges(sys.argv[1])
before = peak()
print(sum(len(batch.src) for batch in source.batches(memory=8 << 20)), peak() - before)
"""
    result = subprocess.run(
        [sys.executable, "-c", code, path, small], capture_output=True, text=True, check=True
    )
    total, grown = map(int, result.stdout.split())
    assert total == 1 << 23
    assert grown < 48 << 20
