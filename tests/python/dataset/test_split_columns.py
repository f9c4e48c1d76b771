"""Splits from a column: each different value is a split of that name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import graphmount as gm

EDGES = ([0, 1, 2, 3, 3], [1, 2, 3, 0, 1])
CSV = "id,team,fold\n3,red,test\n0,red,train\n1,blue,\n2,red,train\n"
WANTED = {"train": [0, 2], "test": [3]}


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("nodes.csv").write_text(CSV)


def splits_of(splits: Any, **options: Any) -> dict[str, list[Any]]:
    options.setdefault("edges", EDGES)
    gm.compile_dataset("out", splits=splits, overwrite=True, progress=False, **options)
    ds = gm.Dataset("out")
    assert gm.verify("out").ok
    return {name: sorted(ds.to_external(nodes)) for name, nodes in ds.splits.items()}


def test_a_table_of_its_own() -> None:
    frame = pl.read_csv("nodes.csv").sort("id")
    frame.write_parquet("nodes.parquet")
    keyed: dict[str, Any] = {"key": "id", "columns": ["fold"]}
    sources = ["nodes.csv", "nodes.parquet", frame, frame.to_arrow(), frame.to_pandas()]
    for source in sources:
        assert splits_of(gm.Table(source=source, **keyed)) == WANTED
    for source in sources[1:]:  # rows in the order of the nodes need no key
        assert splits_of(gm.Table(source=source, columns=["fold"])) == WANTED
    folds = ["train", None, "train", "test"]
    assert splits_of(gm.Table(source=np.array(folds, object))) == WANTED


def test_a_column_of_the_labels_or_the_features() -> None:
    labels = gm.Table(source="nodes.csv", key="id", columns=["team"])
    assert splits_of("fold", labels=labels) == WANTED
    assert gm.Dataset("out").classes == ["blue", "red"]
    Path("x.csv").write_text("id,x,fold\n0,1,a\n1,2,b\n2,3,a\n3,4,\n")
    x = gm.Table(source="x.csv", key="id", columns=["x"])
    assert splits_of("fold", features={"x": x}) == {"a": [0, 2], "b": [1]}
    assert splits_of("fold", features={"x": x}, labels=labels) == WANTED
    assert splits_of("fold", features={"x": x}, labels=[0, 1, 0, 1]) == {"a": [0, 2], "b": [1]}


def test_whole_numbers_are_names() -> None:
    Path("folds.csv").write_text("id,fold\n0,1\n1,\n2,10\n3,1\n")
    table: dict[str, Any] = {"key": "id", "columns": ["fold"]}
    wanted = {"1": [0, 3], "10": [2]}
    frame = pl.DataFrame({"id": [0, 1, 2, 3], "fold": [1, None, 10, 1]})
    for source in ("folds.csv", frame, frame.to_pandas()):  # of which pandas has floats
        assert splits_of(gm.Table(source=source, **table)) == wanted
    assert splits_of(gm.Table(source=np.array([1.0, np.nan, 10.0, 1.0]))) == wanted
    assert splits_of(gm.Table(source=np.array([1, 0, 0, 1]))) == {"0": [1, 2], "1": [0, 3]}


def test_nodes_called_by_text() -> None:
    Path("follows.csv").write_text("from,to\nann,bob\nbob,cay\n")
    Path("people.csv").write_text("name,team,fold\ncay,red,test\nann,blue,train\nbob,red,train\n")
    labels = gm.Table(source="people.csv", key="name", columns=["team"])
    found = splits_of("fold", edges="follows.csv", ids="map", labels=labels)
    assert found == {"test": ["cay"], "train": ["ann", "bob"]}


def test_what_is_no_column_of_splits() -> None:
    labels = gm.Table(source="nodes.csv", key="id", columns=["team"])
    with pytest.raises(
        gm.errors.SourceError, match=r"'hold'.*neither labels nor features.*Table\("
    ):
        splits_of("hold", labels=labels)
    with pytest.raises(gm.errors.SourceError, match="neither labels nor features"):
        splits_of("fold", labels=[0, 1, 0, 1])
    with pytest.raises(gm.errors.SourceError, match="one column, not 2"):
        splits_of(gm.Table(source=pl.DataFrame({"a": [1, 2, 3, 4], "b": [1, 2, 3, 4]})))
    with pytest.raises(gm.errors.SourceError, match=r"0\.5, which is no name of a split"):
        splits_of(gm.Table(source=np.array([0.5, 1, 1, 1])))
    with pytest.raises(gm.errors.SourceError, match="no column of text or whole numbers"):
        splits_of(gm.Table(source=pl.DataFrame({"fold": [0.5, 1, 1, 1]})))
    with pytest.raises(gm.errors.SourceError, match="2,000 different values"):
        splits_of(gm.Table(source=np.arange(2000)), num_nodes=2000)
    with pytest.raises(ValueError, match="'a/b' cannot be the name of a file"):
        splits_of(gm.Table(source=np.array(["a/b", "c", "c", "c"])))
    with pytest.raises(gm.errors.SourceError, match="with ids='map' nodes are numbered"):
        splits_of(gm.Table(source=np.array(["a", "b", "b", "b"])), ids="map")
    with pytest.raises(TypeError, match="or a column, such as Table"):
        splits_of([1, 2])


def test_the_folder_of_the_column_is_not_overwritten() -> None:
    gm.compile_dataset("out", edges=EDGES, labels=[0, 1, 0, 1])
    with pytest.raises(ValueError, match="out"):
        splits_of(gm.Table(source="out/labels.gd"))
