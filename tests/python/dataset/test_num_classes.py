"""How many classes a dataset has, and labels that are none."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import graphmount as gm


def dataset_with(labels, path="d", **options):
    num_nodes = len(labels) if hasattr(labels, "__len__") else 4
    gm.compile_dataset(path, edges=([0], [1]), labels=labels, num_nodes=num_nodes, **options)
    return gm.Dataset(path)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("labels", "count"),
    [
        (["red", "blue", "red"], 2),
        ([0, 4, 2], 5),
        (np.array([0, -1, 1], np.int8), 2),
        (np.array([[0], [2]]), 3),
        (np.array([True, False]), 2),
        (np.array([0.0, np.nan, 3.0], np.float32), 4),
        (np.array([[0, 1, 1], [1, 0, 0]], np.uint8), 3),
        (np.array([-1, -1]), 0),
    ],
)
def test_num_classes(labels, count):
    ds = dataset_with(labels)
    assert ds.num_classes == count
    assert ds.num_classes == count
    changed = ds.set_labels(np.full(len(labels), 6))
    assert (changed.num_classes, ds.num_classes) == (7, count)


def test_bfloat16_and_many_labels(monkeypatch):
    ds = dataset_with(gm.Table(source=[0.0, 3.0, 1.0, 2.0], dtype="bfloat16"))
    assert ds.num_classes == 4
    monkeypatch.setattr("graphmount._dataset.label_classes._ROWS", 7)
    assert dataset_with(np.arange(50) % 13, "many").num_classes == 13


def test_labels_that_are_no_classes():
    gm.compile_dataset("none", edges=([0], [1]))
    with pytest.raises(ValueError, match=r"none has no labels; ds = ds\.set_labels\(…\) gives"):
        gm.Dataset("none").num_classes  # noqa: B018
    assert gm.Dataset("none").set_labels([0, 1]).num_classes == 2
    with pytest.raises(ValueError, match=r"are values, and no classes: one of them is 0\.5"):
        dataset_with([0.0, 0.5], "values").num_classes  # noqa: B018


def test_names_taken_for_labels():
    """One warning, at the line that compiles; and none for classes that many nodes share."""
    names = [f"node {number}" for number in range(10_001)]
    with pytest.warns(UserWarning, match=r"10,001 different labels for 10,001 nodes.*column of na"):
        warned = dataset_with(names)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        gm.compile_dataset("e", edges=([0], [1]), labels=names, num_nodes=len(names))
        gm.compile_dataset("f", edges=([0], [1]), labels=names[:10_000], num_nodes=10_000)
        gm.compile_dataset("g", edges=([0], [1]), labels=names * 2, num_nodes=2 * len(names))
        warned.set_labels(names)
    assert [warning.filename for warning in caught] == [__file__] * 2
    Path("people.csv").write_text("".join(f"{place},{name}\n" for place, name in enumerate(names)))
    table = gm.Table(source="people.csv", key=0, columns=[1])
    with pytest.warns(UserWarning, match=r"people\.csv has 10,001 different labels"):
        gm.compile_dataset("h", edges=([0], [1]), labels=table, num_nodes=10_001)
