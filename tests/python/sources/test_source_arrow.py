"""Edges from tables of Arrow: columns of every type, and rows that cannot be read."""

from __future__ import annotations

import datetime as dt
import decimal
import uuid

import numpy as np
import pytest
from arrow_files import KINDS, pa, stored
from draining import drain_edges
from open_sources import open_edges

from graphmount.errors import SourceError


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
    with pytest.raises(SourceError, match="are not both numbers or both text; pass ids='map'"):
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
    source = open_edges(table)
    assert drain_edges(source) == drain_edges(source)


def test_views_with_nulls():
    column = pa.array(["a", None, "c" * 40], pa.string_view())
    source = open_edges(pa.table({"a": column, "b": column}), on_error="skip")
    assert drain_edges(source).src == ["a", "c" * 40]
