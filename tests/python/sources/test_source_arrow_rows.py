"""Rows of features from tables of Arrow."""

from __future__ import annotations

import numpy as np
import pytest
from arrow_files import KINDS, pa, stored
from draining import drain_rows
from open_sources import open_rows

from graphmount.errors import SourceError


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
