"""`dataset.json`: one strict reader, which ends with a description or with a FormatError."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socket
import stat
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphmount as gm
from graphmount._dataset.description import MOST_BYTES, encode_description, parse_description
from graphmount._support.files.opened_folder import OpenedFolder

SOURCES = Path(gm.__file__).parent


def compile_it(path):
    gm.compile_dataset(
        path,
        edges=([2, 2, 0], [0, 1, 1]),
        features={"x": np.eye(3), "y": np.ones(3)},
        edge_features={"w": [1.0, 2.0, 3.0]},
        labels=[0, 1, 2],
        splits={"train": [1]},
        notes=["A note."],
    )
    return path


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    return compile_it(tmp_path_factory.mktemp("valid") / "ds")


@pytest.fixture
def folder(compiled, tmp_path):
    return shutil.copytree(compiled, tmp_path / "ds")


@pytest.fixture(scope="module")
def valid(compiled):
    return (compiled / "dataset.json").read_bytes()


def put(*path_and_value):
    """A change of one field, however deep."""
    *path, last, value = path_and_value

    def change(description):
        for part in path:
            description = description[part]
        description[last] = value

    return change


def drop(*path):
    def change(description):
        for part in path[:-1]:
            description = description[part]
        del description[path[-1]]

    return change


ENTRY = {"bytes": 65536, "checksum": "0" * 16}

WRONG_FIELDS = [
    (put("version", True), "of version True"),
    (put("version", 1.0), "of version 1.0"),
    (put("version", "1"), "of version '1'"),
    (put("num_nodes", True), "'num_nodes' is wrong"),
    (put("num_nodes", -1), "'num_nodes' is -1"),
    (put("num_nodes", 2**63), "'num_nodes' is 9223372036854775808"),
    (put("num_edges", 3.0), "'num_edges' is wrong"),
    (put("num_edges", None), "'num_edges' is wrong"),
    (put("num_edges", 10**30), "a number of 31 digits"),
    (put("graph", None), "'graph' is wrong"),
    (put("labels", 3), "'labels' is wrong"),
    (put("features", "y", None), "None is no file of the dataset"),
    (put("features", "y", ["y.gd"]), r"\['y.gd'\] is no file of the dataset"),
    (put("features", "y", ""), "'' is no file of the dataset"),
    (put("features", "y", "."), "'.' is no file of the dataset"),
    (put("features", "y", "features//y.gd"), "'features//y.gd' is no file of the dataset"),
    (put("features", "y", "features/./y.gd"), "'features/./y.gd' is no file of the dataset"),
    (put("features", "y", "a/../../y.gd"), "'a/../../y.gd' is no file of the dataset"),
    (put("features", "y", "/y.gd"), "'/y.gd' is no file of the dataset"),
    (put("features", "y", "a\0b"), "is no file of the dataset"),
    (put("features", "y", "a\nb"), "is no file of the dataset"),
    (put("features", "y", "\ud800"), "is no file of the dataset"),
    (put("features", "y", "dataset.json"), "'dataset.json' is no file of the dataset"),
    (put("features", "y", "features/x.gd"), "'features/x.gd' is named twice"),
    (put("splits", "train", "graph.gl"), "'graph.gl' is named twice"),
    (put("features", "", "z.gd"), "'' in 'features' is no name of a table"),
    (put("features", "a\0b", "z.gd"), "in 'features' is no name of a table"),
    (put("splits", "\udc80", "z.gd"), "in 'splits' is no name of a table"),
    (put("edge_features", None), "'edge_features' is wrong"),
    (put("notes", "A note."), "'notes' is wrong"),
    (put("notes", [1]), "'notes' are not sentences"),
    (put("order", 5), "'order' is wrong"),
    (put("graphmount", {}), "'graphmount' is wrong"),
    (put("node_types", ["paper"]), "node_types, which this graphmount does not know"),
    (put("files", None), "'files' is wrong"),
    (put("files", []), "'files' is wrong"),
    (drop("files", "labels.gd"), "'labels.gd' is not in the list of files"),
    (put("files", "more.gd", ENTRY), "'more.gd' is in the list of files, but is no file of the"),
    (put("files", "labels.gd", 5), "'labels.gd' is wrong in the list of files"),
    (put("files", "labels.gd", "bytes", True), "the bytes of 'labels.gd' are wrong"),
    (put("files", "labels.gd", "bytes", -1), "the bytes of 'labels.gd' are wrong"),
    (drop("files", "labels.gd", "bytes"), "the bytes of 'labels.gd' are wrong"),
    (put("files", "labels.gd", "checksum", 5), "the checksum of 'labels.gd' is wrong"),
    (put("files", "labels.gd", "checksum", "5"), "the checksum of 'labels.gd' is wrong"),
    (put("files", "labels.gd", "checksum", "A" * 16), "the checksum of 'labels.gd' is wrong"),
]


@pytest.mark.parametrize(("change", "message"), WRONG_FIELDS)
def test_wrong_fields(change, message, folder):
    path = folder / "dataset.json"
    description = json.loads(path.read_text())
    change(description)
    path.write_text(json.dumps(description))
    with pytest.raises(gm.errors.FormatError, match=message) as caught:
        gm.Dataset(folder)
    assert str(path) in str(caught.value)
    assert caught.value.path == str(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "nested more than 32 levels deep"),
        ('{"a":' * 100_000, "nested more than 32 levels deep"),
        ('{"version": 1, "version": 1}', "'version' is there twice"),
        ('{"kind": "graphmount dataset", "version": 1, "num_nodes": NaN}', "NaN is no number"),
        ('{"num_nodes": -Infinity}', "-Infinity is no number"),
        (f'{{"num_nodes": {"9" * 5000}}}', "a number of 5000 digits"),
        ("\ufeff{}", "it is not JSON"),
        ('{"a": "\\', "it is not JSON"),
        ("nonsense", "it is not JSON"),
        (" " * (MOST_BYTES + 1), "has more than 4,194,304 bytes"),
    ],
)
def test_texts_that_are_no_descriptions(text, message, folder):
    (folder / "dataset.json").write_text(text)
    with pytest.raises(gm.errors.FormatError, match=message):
        gm.Dataset(folder)


def test_half_of_a_surrogate_pair_is_no_text(valid):
    """It was taken, and could then not be written again."""
    text = json.dumps({**json.loads(valid), "notes": ["X"]})
    pair = text.replace('"X"', r'"\ud83d\ude00"').encode()
    assert parse_description(pair, "here")["notes"] == ["\N{GRINNING FACE}"]
    lone = text.replace('"X"', r'"\ud83d"').encode()
    with pytest.raises(gm.errors.FormatError, match="half of a surrogate pair"):
        parse_description(lone, "here")


def test_brackets_in_texts_are_no_levels(folder):
    path = folder / "dataset.json"
    description = json.loads(path.read_text()) | {"notes": ["[" * 100, '\\"{' * 100]}
    path.write_text(json.dumps(description))
    assert gm.Dataset(folder).description["notes"] == description["notes"]


def make_pipe(path):
    os.mkfifo(path)


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.basename(path))


def make_folder(path):
    os.mkdir(path)


def make_link(path):
    os.rename(os.path.join(os.path.dirname(path), "kept"), os.path.abspath("outside"))
    os.symlink(os.path.abspath("outside"), path)


@pytest.mark.parametrize("make", [make_pipe, make_socket, make_folder, make_link])
@pytest.mark.parametrize("name", ["dataset.json", "graph.gl", "labels.gd"])
def test_only_regular_files(make, name, folder, monkeypatch):
    """A pipe is not waited for, and a link is not followed, not even to a good file."""
    os.rename(folder / name, folder / "kept")
    monkeypatch.chdir(folder)  # the name of a socket must be short
    make(str(folder / name))
    expected = "symbolic link" if make is make_link else "is no regular file"
    with pytest.raises(gm.errors.FormatError, match=expected) as caught:
        gm.Dataset(folder)
    assert caught.value.path == str(folder / name)


def test_no_link_below_the_folder(folder, tmp_path):
    os.rename(folder / "features", tmp_path / "outside")
    (folder / "features").symlink_to(tmp_path / "outside")
    with pytest.raises(gm.errors.FormatError, match=r"features/x\.gd leads out of its folder"):
        gm.Dataset(folder)


def test_the_folder_itself_may_be_a_link(folder, tmp_path):
    (tmp_path / "link").symlink_to(folder)
    assert gm.Dataset(tmp_path / "link").path == str(folder)


def test_a_description_that_is_cut_off_anywhere(valid):
    for size in range(len(valid) - 2):
        with pytest.raises(gm.errors.FormatError):
            parse_description(valid[:size], "d")


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["graph.gl", "features/x.gd", "../x", "/x", "a\0", "\ud800", "0" * 16]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


def places(value, path=()):
    """The paths to all values in a description."""
    yield path
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from places(inner, (*path, name))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from places(inner, (*path, number))


def require_sound(description):
    """What whoever holds a description takes for granted."""
    assert type(description["num_nodes"]) is type(description["num_edges"]) is int
    assert 0 <= description["num_nodes"] < 2**63
    tables = [description[kind] for kind in ("features", "edge_features", "splits")]
    files = [description["graph"], *(file for table in tables for file in table.values())]
    files += [] if description["labels"] is None else [description["labels"]]
    assert len(set(files)) == len(files)
    for file in files:
        file.encode()
        assert not file.startswith("/")
        assert ".." not in file.split("/")
        assert "\0" not in file
        if "files" in description:
            assert type(description["files"][file]["bytes"]) is int
            int(description["files"][file]["checksum"], 16)


@given(data=st.data())
def test_any_value_anywhere(valid, data):
    description = json.loads(valid)
    path = data.draw(st.sampled_from(list(places(description))[1:]))
    value = data.draw(VALUES)
    inner = description
    for part in path[:-1]:
        inner = inner[part]
    if data.draw(st.booleans()):
        inner[path[-1]] = value
    elif isinstance(inner, dict):
        inner[data.draw(st.text(max_size=5))] = value
    else:
        inner.append(value)
    text = json.dumps(description, ensure_ascii=data.draw(st.booleans()))
    try:
        require_sound(parse_description(text.encode("utf-8", "surrogatepass"), "d"))
    except gm.errors.FormatError as error:
        assert str(error).startswith("d ")  # noqa: PT017


@given(data=st.data())
def test_any_bytes_anywhere(valid, data):
    changed = bytearray(valid)
    for _ in range(data.draw(st.integers(1, 4))):
        begin = data.draw(st.integers(0, len(changed)))
        end = data.draw(st.integers(begin, min(len(changed), begin + 20)))
        token = st.sampled_from([b"{", b"}", b"[", b"]", b'"', b"\\", b":", b"NaN", b"\xff", b"9"])
        changed[begin:end] = data.draw(st.binary(max_size=4) | token)
    with contextlib.suppress(gm.errors.FormatError):
        require_sound(parse_description(bytes(changed), "d"))


def test_what_cannot_be_read_is_not_written():
    described = {
        "num_nodes": 1,
        "num_edges": 1,
        "graph": "graph.gl",
        "features": {},
        "edge_features": {},
        "labels": None,
        "splits": {},
    }
    assert parse_description(encode_description(described), "d")["graph"] == "graph.gl"
    with pytest.raises(ValueError, match="give fewer or shorter notes="):
        encode_description(described | {"notes": ["x" * MOST_BYTES]})
    with pytest.raises(ValueError, match=r"'\.\./g' is no file of the dataset$"):
        encode_description(described | {"graph": "../g"})


def test_descriptors_are_closed(folder):
    def count():
        return len(os.listdir("/proc/self/fd"))

    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("counts descriptors by /proc")
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "deep" / "er" / "file").write_bytes(b"x")
    os.mkfifo(folder / "pipe")
    before = count()
    with OpenedFolder(folder) as opened:
        assert opened.read_file("deep/er/file", most=1) == b"x"
        assert count() == before + 1
        for name in ("pipe", "deep/er", "deep/no/file", "deep/er/no", "graph.gl/x"):
            with pytest.raises((gm.errors.FormatError, OSError)):
                opened.open_file(name)
        assert count() == before + 1
        with opened.open_file("graph.gl") as file:
            assert stat.S_ISREG(os.fstat(file.fileno()).st_mode)
    assert count() == before


def test_there_is_one_reader():
    """Who needs a description asks `_dataset_description`: no other module parses one."""
    pattern = re.compile(r"json\.loads?\(")
    readers = {
        str(path.relative_to(SOURCES))
        for path in SOURCES.rglob("*.py")
        if pattern.search(path.read_text()) and "doctor" not in path.parts
    }
    assert "_dataset/description.py" in readers
    named = {
        str(path.relative_to(SOURCES))
        for path in SOURCES.rglob("*.py")
        if re.search(r"\bDESCRIPTION\b|[\"']dataset\.json[\"']", path.read_text())
    }
    assert named & readers == {"_dataset/description.py"}
