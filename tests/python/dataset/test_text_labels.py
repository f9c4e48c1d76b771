"""Labels that are text become numbers of sorted classes, which the dataset knows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import graphmount as gm

TEAMS = ["red", "blue", "red", "green"]
CLASSES = ["blue", "green", "red"]
EDGES = ([0, 1, 2, 3, 3], [1, 2, 3, 0, 1])


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def labels_of(ds: gm.Dataset) -> list[int]:
    """The labels, in the order of the source."""
    assert ds.labels is not None
    labels: list[int] = ds.labels[ds.to_internal(np.arange(ds.num_nodes))].tolist()
    return labels


def compile_labels(labels: Any, **options: Any) -> gm.Dataset:
    gm.compile_dataset("out", edges=EDGES, labels=labels, overwrite=True, progress=False, **options)
    return gm.Dataset("out")


def sources() -> dict[str, Any]:
    frame = pl.DataFrame({"id": [3, 2, 1, 0], "team": TEAMS[::-1]})
    frame.write_parquet("teams.parquet")
    frame.write_csv("teams.csv")
    frame.select("team").reverse().write_csv("column.csv")
    keyed: dict[str, Any] = {"key": "id", "columns": ["team"]}
    return {
        "list": TEAMS,
        "tuple": tuple(TEAMS),
        "array": np.array(TEAMS),
        "objects": np.array(TEAMS, dtype=object),
        "column of a matrix": np.array(TEAMS).reshape(-1, 1),
        "keys in memory": gm.Table(source=TEAMS[::-1], key=[3, 2, 1, 0]),
        "csv": gm.Table(source="teams.csv", **keyed),
        "csv without a key": gm.Table(source="column.csv", columns=["team"]),
        "parquet": gm.Table(source="teams.parquet", **keyed),
        "polars": gm.Table(source=frame, **keyed),
        "categories": gm.Table(
            source=frame.with_columns(pl.col("team").cast(pl.Categorical)), **keyed
        ),
        "pyarrow": gm.Table(source=frame.to_arrow(), **keyed),
        "pandas": gm.Table(source=frame.to_pandas(), **keyed),
        "two files": gm.Table(source=["teams-0.csv", "teams-1.csv"], **keyed),
    }


@pytest.mark.parametrize("kind", list(range(14)))
@pytest.mark.parametrize("order", ["hot", "given"])
def test_text_of_all_kinds_is_encoded(kind: int, order: str) -> None:
    Path("teams-0.csv").write_text("id,team\n0,red\n1,blue\n")
    Path("teams-1.csv").write_text("id,team\n2,red\n3,green\n")
    ds = compile_labels(list(sources().values())[kind], order=order)
    assert ds.classes == CLASSES
    assert labels_of(ds) == [2, 0, 2, 1]
    assert ds.labels is not None
    assert ds.labels.dtype == np.int64
    assert gm.verify("out").ok


def test_numbers_have_no_classes() -> None:
    assert compile_labels([0, 1, 0, 1]).classes is None
    assert "classes" not in json.loads(Path("out/dataset.json").read_text())


def test_nodes_called_by_text() -> None:
    Path("follows.csv").write_text("from,to\nann,bob\nbob,cay\n")
    Path("people.csv").write_text("name,team\ncay,züge\nann,a b\nbob,züge\n")
    table = gm.Table(source="people.csv", key="name", columns=["team"])
    gm.compile_dataset("people", edges="follows.csv", ids="map", labels=table)
    ds = gm.Dataset("people")
    assert ds.classes == ["a b", "züge"]
    assert ds.labels is not None
    assert ds.labels[ds.to_internal(["ann", "bob", "cay"])].tolist() == [0, 1, 1]


@pytest.mark.parametrize("absent", [None, "", float("nan")])
def test_missing_labels_in_memory(absent: object) -> None:
    labels = ["red", absent, "blue", "red"]
    with pytest.raises(gm.errors.SourceError, match=r"row 1: there is no label.*missing=-1"):
        compile_labels(np.array(labels, dtype=object))
    if not isinstance(absent, float):
        with pytest.raises(gm.errors.SourceError, match=r"row 1: there is no label"):
            compile_labels(labels)
    ds = compile_labels(gm.Table(source=labels, missing=-1))
    assert (ds.classes, labels_of(ds)) == (["blue", "red"], [1, -1, 0, 1])


def test_missing_labels_of_files() -> None:
    Path("teams.csv").write_text("id,team\n0,red\n1,blue\n2,\n3,red\n")
    frame = pl.DataFrame({"id": [0, 1, 2, 3], "team": ["red", "blue", None, "red"]})
    for source, name in (("teams.csv", "teams.csv"), (frame, "polars DataFrame")):
        options: dict[str, Any] = {"source": source, "key": "id", "columns": ["team"]}
        with pytest.raises(gm.errors.SourceError, match=rf"{name}.*row 2: there is no label"):
            compile_labels(gm.Table(**options))
        ds = compile_labels(gm.Table(**options, missing=-1))
        assert labels_of(ds) == [1, 0, -1, 1]
        done = gm.compile_dataset(
            "short",
            edges=([0, 1], [1, 3]),
            labels=gm.Table(**options),
            ids="map",
            on_error="skip",
            overwrite=True,
        )
        assert (done.num_nodes, done.skipped) == (3, 1)
        assert "row 2" in done.skipped_examples[0]


def test_missing_must_be_a_number_of_a_class() -> None:
    with pytest.raises(ValueError, match=r"missing=0\.5 is no number of a class"):
        compile_labels(gm.Table(source=TEAMS, missing=0.5))


def test_mixed_types_name_the_row() -> None:
    with pytest.raises(gm.errors.SourceError, match=r"row 2: 7 is int.*before it are text"):
        compile_labels(["red", "blue", 7, "red"])
    with pytest.raises(gm.errors.SourceError, match=r"row 1: 'red' is str"):
        compile_labels([1, "red", 2, 3])
    Path("mixed.csv").write_text("team\n1\n0\nred\n1\n")
    with pytest.raises(gm.errors.SourceError, match=r"mixed\.csv, row 2: 'red' is text"):
        compile_labels(gm.Table(source="mixed.csv", columns=["team"]))
    Path("mixed.csv").write_text("team\nred\nblue\nred\n1\n")
    with pytest.raises(gm.errors.SourceError, match=r"mixed\.csv, row 3: '1' is a number"):
        compile_labels(gm.Table(source="mixed.csv", columns=["team"]))
    ds = compile_labels(gm.Table(source="mixed.csv", columns=["team"], dtype="str"))
    assert (ds.classes, labels_of(ds)) == (["1", "blue", "red"], [2, 1, 2, 0])


@pytest.mark.parametrize(("common", "odd"), [("red", "12"), ("12", "red")])
def test_mixed_types_far_behind_the_sample(common: str, odd: str) -> None:
    count = 70_000
    Path("late.csv").write_text("team\n" + f"{common}\n" * (count - 1) + f"{odd}\n")
    wanted = (
        rf"row {count - 1}: '12' is a number" if odd == "12" else rf"line {count + 1}.*dtype='str'"
    )
    with pytest.raises(gm.errors.SourceError, match=wanted):
        gm.compile_dataset(
            "out",
            edges=EDGES,
            num_nodes=count,
            labels=gm.Table(source="late.csv", columns=["team"]),
        )
    gm.compile_dataset(
        "out",
        edges=EDGES,
        num_nodes=count,
        labels=gm.Table(source="late.csv", columns=["team"], dtype="str"),
    )
    assert gm.Dataset("out").classes == ["12", "red"]


def test_too_many_classes_are_refused_before_anything_is_compiled() -> None:
    names = [f"a rather long name of node {number}" for number in range(200_000)]
    with pytest.raises(
        gm.errors.SourceError, match=r"200,000 or more different labels.*take anoth"
    ):
        gm.compile_dataset("out", edges=EDGES, num_nodes=len(names), labels=names)
    assert not Path("out").exists()


def test_text_is_no_feature() -> None:
    with pytest.raises(TypeError, match="features must be numbers"):
        gm.compile_dataset("out", edges=EDGES, features={"x": np.array(TEAMS)})


def test_a_stream_that_cannot_be_read_twice_says_so() -> None:
    table = pa.table({"team": TEAMS})
    with pytest.raises(gm.errors.SourceError, match="make it anew"):
        compile_labels(table.to_reader())


@pytest.mark.parametrize(
    ("classes", "wrong"),
    [
        ("red", "'classes' is wrong"),
        (["red", 1], "item 1 of 'classes' is no text"),
        (["red", "red"], "twice in 'classes'"),
        ([""], "item 0 of 'classes'"),
    ],
)
def test_a_description_with_wrong_classes_is_damaged(classes: object, wrong: str) -> None:
    compile_labels(TEAMS)
    path = Path("out/dataset.json")
    description = json.loads(path.read_text())
    path.write_text(json.dumps(description | {"classes": classes}))
    with pytest.raises(gm.errors.FormatError, match=wrong):
        gm.Dataset("out")
    path.write_text(json.dumps(description | {"labels": None, "files": None}))
    with pytest.raises(gm.errors.FormatError, match="no labels"):
        gm.Dataset("out")


def test_labels_that_are_set_later_bring_their_classes_and_take_them_along() -> None:
    before = compile_labels(TEAMS)
    numbers = before.set_labels([5, 6, 7, 8])
    assert (numbers.classes, labels_of(numbers)) == (None, [5, 6, 7, 8])
    assert before.classes == CLASSES
    named = numbers.set_labels(["b", "a", "a", "c"])
    assert (named.classes, labels_of(named)) == (["a", "b", "c"], [1, 0, 0, 2])
    assert named.set_split("train", [0], ids="external").classes == ["a", "b", "c"]
    none = named.remove("labels")
    assert (none.classes, none.labels) == (None, None)
    assert gm.Dataset("out").classes is None


def test_strings_that_are_files_are_paths() -> None:
    Path("a.csv").write_text("label\n1\n0\n")
    Path("b.csv").write_text("label\n0\n1\n")
    ds = compile_labels(["a.csv", "b.csv"])
    assert (ds.classes, labels_of(ds)) == (None, [1, 0, 0, 1])
    with pytest.raises(FileNotFoundError, match=r"c\.csv"):
        compile_labels(["a.csv", "c.csv"])
    ds = compile_labels(["a.csv", "red", "red", "red"])  # not all of them are files
    assert ds.classes == ["a.csv", "red"]
