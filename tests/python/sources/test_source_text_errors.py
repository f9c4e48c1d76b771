"""What is wrong with a text table, and where: raised, or left out and counted."""

from __future__ import annotations

import os

import pytest
from open_sources import text_edges
from text_tables import MEMORY, pairs_of, write

import graphmount as gm
from graphmount.errors import SourceError


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("1,2\nfoo,3\n", {"keys": "int"}, "line 2, column 1: 'foo' is not a node id; pass key_ty"),
        ("1,2\nfoo,3\n", {"keys": "dense"}, "is not a node id; pass ids='map' if ids are names"),
        ("1,2\n3,-4\n", {"keys": "dense"}, "line 2, column 2: node id -4 is negative; pass ids="),
        ("1,2\n3,4,5\n", {}, "line 2: 3 fields, where the first row has 2"),
        ("1,2\n3\n", {}, "line 2: 1 field, where the first row has 2"),
        ("1\n2\n", {}, "line 1: 1 field, where column 2 is wanted; pass delimiter= if ','"),
        ("1 2\n3\n", {}, "line 2: 1 field, where column 2 is wanted"),
        ('1,"2\n3"\n', {"keys": "int", "delimiter": ","}, "line 1, column 2: a quote is opened"),
        ('1,"2"x\n', {"keys": "int", "delimiter": ","}, "there is text behind the closing quote"),
        ("1,2,x\n", {"weights": 2}, "line 1, column 3: 'x' is not a number"),
        ("1,2,1e39\n", {"weights": 2}, "'1e39' is too large for float32"),
        ("1,2,x\n", {"timestamps": 2}, "line 1, column 3: 'x' is not an integer"),
        ("1,2,2024-01-01\n1,2,x\n", {"timestamps": 2, "on_error": "raise"}, "is not an integer"),
        ("1,2\n3,\n", {"keys": "int"}, "the field is empty, where a node id should be"),
        (b"a,b\n\xff\xfe,c\n", {}, "line 2, column 1: '\\xff\\xfe' is not valid UTF-8"),
        (b"a,b\na\x1b[31m,\xff\n", {}, "line 2, column 2: '\\xff' is not"),
    ],
)
def test_errors_say_where(tmp_path, text, options, message):
    path = write(tmp_path, text)
    source = text_edges(path, **options)
    with pytest.raises(SourceError) as caught:
        list(source.batches(memory=MEMORY))
    assert str(caught.value).startswith(f"{path}, line ")
    assert message in str(caught.value)
    assert caught.value.path == str(path)


def test_a_late_word_among_integers(tmp_path):
    path = write(tmp_path, "1,2\n" * 100_000 + "x,3\n")
    source = text_edges(path)
    assert not source.has_text_ids
    for memory in (50_000, 1 << 28):
        with pytest.raises(SourceError, match=r"line 100001, column 1: \'x\' .* key_type=\'str\'"):
            list(source.batches(memory=memory))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"columns": ("a", "d")}, SourceError, "no column is called 'd'; there are 'a', 'b', 'b'"),
        ({"columns": ("a", "b")}, SourceError, "several columns are called 'b'; give the number"),
        ({"columns": ("a", "c"), "header": False}, ValueError, "header=False says there are none"),
        ({"columns": "ab"}, ValueError, "give two"),
        ({"columns": (0, -1)}, ValueError, "columns must be at least 0"),
        ({"columns": (0, True)}, TypeError, "columns must be one integer"),
        ({"delimiter": "::"}, ValueError, "the delimiter must be one character"),
        ({"delimiter": "1"}, ValueError, "the delimiter must be one character that is no letter"),
        ({"comments": "a"}, ValueError, "a comment must begin with"),
        ({"header": 1}, ValueError, "header=1; choose one of"),
        ({"on_error": "ignore"}, ValueError, "on_error='ignore'; choose one of"),
        ({"keys": "str"}, ValueError, "keys='str'; choose one of"),
    ],
)
def test_wrong_options(tmp_path, options, error, message):
    path = write(tmp_path, "a,b,b\n1,2,3\n")
    with pytest.raises(error, match=message):
        text_edges(path, **options)


def test_files_that_are_no_text(tmp_path):
    with pytest.raises(FileNotFoundError):
        text_edges(tmp_path / "none.csv")
    with pytest.raises(IsADirectoryError):
        text_edges(tmp_path)
    for text in ("1,2\n".encode("utf-16"), "\ufeff1,2\n".encode("utf-16-be")):
        with pytest.raises(SourceError, match=r"looks like UTF-16; save it as UTF-8"):
            text_edges(write(tmp_path, text))
    with pytest.raises(SourceError, match="null bytes in it: this is no text"):
        text_edges(write(tmp_path, "1,2\n".encode("utf-16-le")))
    with pytest.raises(SourceError, match="this is a ZIP archive; unpack it"):
        text_edges(write(tmp_path, b"PK\3\4\0\0\0"))


def test_skip(tmp_path):
    good = [(i, i + 1) for i in range(1000)]
    lines = [f"{a},{b}\n" for a, b in good]
    for place in range(0, 1000, 50):
        lines.insert(place, "bad line\n")
    path = write(tmp_path, "".join(lines))
    source = text_edges(path, on_error="skip")
    for memory in (1, MEMORY):
        source.skipped.clear()  # as whoever reads a source again does
        assert pairs_of(source, memory) == good
        assert source.skipped.count == 20
        assert len(source.skipped.examples) == 10
        assert source.skipped.examples[1].startswith(f"{path}, line 51: 1 field, where the first")
    assert text_edges(path).has_text_ids


def test_file_that_shrinks(tmp_path):
    path = write(tmp_path, "1,2\n" * 1_000_000)
    batches = text_edges(path).batches(memory=100_000)
    next(batches)
    os.truncate(path, 200_000)
    with pytest.raises(gm.errors.FileChangedError, match="was truncated from 4000000 bytes"):
        list(batches)


def test_names_that_are_no_text(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff.csv"
    with open(path, "wb") as file:
        file.write(b"1,2\n3,x\n5,6\n7,8\n")
    source = text_edges(os.fsdecode(path), keys="int", on_error="skip")
    assert pairs_of(source) == [(1, 2), (5, 6), (7, 8)]
    assert "\udcff.csv, line 2" in source.skipped.examples[0]
