"""Rows of features and labels from text tables."""

from __future__ import annotations

import numpy as np
import pytest
from open_sources import text_rows
from text_tables import rows_of, write

from graphmount.errors import SourceError


def test_rows(tmp_path):
    path = write(tmp_path, "id,x,y,label\n7,0.5,1,3\n5,1.5,2,4\n")
    source = text_rows(path, key="id")
    assert (source.num_columns, source.is_vector, source.dtype) == (3, False, "float32")
    assert (source.has_keys, source.has_text_keys, source.num_rows) == (True, False, None)
    rows, keys = rows_of(source)
    assert keys == [7, 5]
    assert rows.tolist() == [[0.5, 1, 3], [1.5, 2, 4]]
    labels = text_rows(path, key=0, columns="label")
    assert (labels.num_columns, labels.is_vector, labels.dtype) == (1, True, "int64")
    assert rows_of(labels)[0].tolist() == [3, 4]
    column = text_rows(path, columns=[3], dtype="float64")
    assert rows_of(column)[0].tolist() == [3.0, 4.0]
    assert column.dtype == "float64"
    picked = text_rows(path, key=0, columns=["label", "x"])
    assert rows_of(picked)[0].tolist() == [[3, 0.5], [4, 1.5]]
    both = text_rows(path, key=0, columns=("label", 2))
    assert both.dtype == "int64"
    assert rows_of(both)[0].tolist() == [[3, 1], [4, 2]]


def test_rows_without_keys(tmp_path):
    rows, keys = rows_of(text_rows(write(tmp_path, "1\n2\n3\n")))
    assert rows.tolist() == [1, 2, 3]
    assert keys is None
    rows, _ = rows_of(text_rows(write(tmp_path, "label\n1\n2\n3\n")))
    assert rows.tolist() == [1, 2, 3]
    rows, _ = rows_of(text_rows(write(tmp_path, "1.0 2\n3 4\n")))
    assert rows.tolist() == [[1, 2], [3, 4]]
    rows, keys = rows_of(text_rows(write(tmp_path, "paper,1,2\nbook,3,4\n"), key=0))
    assert (rows.tolist(), keys) == ([[1, 2], [3, 4]], ["paper", "book"])


def test_missing_values(tmp_path):
    path = write(tmp_path, ",1.5\n2,\n")
    with pytest.raises(SourceError, match="line 1, column 1: the field is empty, where a number"):
        rows_of(text_rows(path))


def test_rows_refused(tmp_path):
    path = write(tmp_path, "1,2\n3,4\n")
    with pytest.raises(ValueError, match="dtype='float16'; choose one of"):
        text_rows(path, dtype="float16")
    with pytest.raises(SourceError, match="no column of values besides the key"):
        text_rows(write(tmp_path, "1\n2\n"), key=0)
    path = write(tmp_path, "1\n" * 200_000 + "0.5\n")
    with pytest.raises(
        SourceError, match=r"200001, column 1: .0.5. is not an integer, as .*dtype="
    ):
        rows_of(text_rows(path))


def test_wide_rows(tmp_path):
    matrix = np.random.default_rng(0).standard_normal((50, 3000)).astype(np.float32)
    text = "".join(",".join(map(repr, row)) + "\n" for row in matrix.tolist())
    rows, _ = rows_of(text_rows(write(tmp_path, text)))
    np.testing.assert_array_equal(rows, matrix)
