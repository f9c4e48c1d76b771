"""Text tables as sources, against a slow twin: Python's csv module, int() and float()."""

from __future__ import annotations

import bz2
import csv
import datetime as dt
import gzip
import importlib.util
import io
import lzma
import os
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphmount as gm
from graphmount.errors import SourceError
from graphmount.sources.batches import TextColumn
from graphmount.sources.compression import UnpackedStream, find_compression, unpack
from graphmount.sources.text import TextEdges, TextRows

MEMORY = 1 << 20


def write(tmp_path, text, name="edges.csv"):
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def as_list(keys):
    if isinstance(keys, TextColumn):
        data = keys.data.tobytes()
        return [data[a:b].decode() for a, b in zip(keys.offsets, keys.offsets[1:], strict=False)]
    assert keys.dtype == np.int64
    assert keys.flags.c_contiguous
    return keys.tolist()


def edges_of(source, memory=MEMORY):
    """All edges as (src, dst, weight, time), in order."""
    rows = []
    done = 0
    for batch in source.batches(memory=memory):
        columns = [as_list(batch.src), as_list(batch.dst)]
        for values, dtype in ((batch.weights, np.float32), (batch.timestamps, np.int64)):
            assert values is None or values.dtype == dtype
            columns.append([None] * len(columns[0]) if values is None else values.tolist())
        assert columns[0], "no empty batches"
        rows += zip(*columns, strict=True)
        assert done <= batch.done <= source.size
        done = batch.done
    return rows


def pairs_of(source, memory=MEMORY):
    return [(src, dst) for src, dst, _, _ in edges_of(source, memory)]


def rows_of(source, memory=MEMORY):
    batches = list(source.batches(memory=memory))
    for batch in batches:
        assert batch.rows.dtype == source.dtype
    keys = None
    if source.has_keys:
        keys = [key for batch in batches for key in as_list(batch.keys)]
    return np.concatenate([batch.rows for batch in batches]), keys


# Twins


@given(
    rows=st.lists(
        st.tuples(
            st.integers(0, 2**63 - 1) | st.integers(0, 999),
            st.integers(0, 2**63 - 1) | st.integers(0, 10**8),
            st.floats(width=32, allow_nan=False, allow_infinity=False, min_value=0),
        ),
        min_size=1,
        max_size=60,
    ),
    delimiter=st.sampled_from([",", "\t", ";", "|"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    line_end=st.sampled_from(["\n", "\r\n"]),
    has_header=st.booleans(),
    ends_open=st.booleans(),
    memory=st.sampled_from([1, 20_000, MEMORY]),
)
def test_edges_like_csv(
    tmp_path, *, rows, delimiter, quoting, line_end, has_header, ends_open, memory
):
    table = io.StringIO()
    writer = csv.writer(table, delimiter=delimiter, quoting=quoting, lineterminator=line_end)
    if has_header:
        writer.writerow(["from", "to", "how much"])
    writer.writerows(rows)
    text = table.getvalue()
    if ends_open:
        text = text.removesuffix(line_end)
    path = write(tmp_path, text)
    source = TextEdges(
        path, weights=2, header=has_header, delimiter=delimiter if delimiter == "|" else None
    )
    twin = list(csv.reader(io.StringIO(text), delimiter=delimiter))[has_header:]
    assert edges_of(source, memory) == [
        (int(a), int(b), float(np.float32(float(w))), None) for a, b, w in twin
    ]


TEXT_ID = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\r\n\0"), min_size=1, max_size=12
)


@given(rows=st.lists(st.tuples(TEXT_ID, TEXT_ID), min_size=1, max_size=40), is_tsv=st.booleans())
def test_text_ids_like_csv(tmp_path, rows, is_tsv):
    table = io.StringIO()
    delimiter = "\t" if is_tsv else ","
    # In quotes, as blanks around a field do not belong to it otherwise.
    writer = csv.writer(table, quoting=csv.QUOTE_ALL, delimiter=delimiter, lineterminator="\n")
    writer.writerows(rows)
    path = write(tmp_path, table.getvalue())
    source = TextEdges(path, keys="text", header=False, delimiter=delimiter)
    assert source.has_text_ids
    assert pairs_of(source, 1) == rows


@given(
    values=st.lists(st.lists(st.floats(width=32), min_size=3, max_size=3), min_size=1, max_size=30),
    form=st.sampled_from(["{!r}", "{:.3f}", "{:.18e}", "{:+g}", " {} "]),
)
def test_floats_like_python(tmp_path, values, form):
    text = "".join(",".join(form.format(v) for v in row) + "\n" for row in values)
    twin = [[float(field) for field in row] for row in csv.reader(io.StringIO(text))]
    path = write(tmp_path, text)
    for dtype in ("float32", "float64"):
        rows, _ = rows_of(TextRows(path, dtype=dtype, header=False))
        expected = np.array(twin)
        np.testing.assert_array_equal(rows, expected.astype(dtype))
        assert (np.signbit(rows) | np.isnan(rows)).tolist() == (
            np.signbit(expected) | np.isnan(expected)
        ).tolist()


def test_every_float_comes_back(tmp_path):
    rng = np.random.default_rng(4)
    bits = rng.integers(0, 1 << 32, (2000, 60), dtype=np.uint32)
    # Half of them are numbers as features have them, which are written without an exponent.
    bits[:, ::2] = bits[:, ::2] & 0x807FFFFF | rng.integers(114, 150, (2000, 30), np.uint32) << 23
    values = np.nan_to_num(bits.view(np.float32))
    text = "".join(",".join(map(str, row)) + "\n" for row in values)
    rows, _ = rows_of(TextRows(write(tmp_path, text), dtype="float32", header=False))
    np.testing.assert_array_equal(rows.view(np.uint32), values.view(np.uint32))


@given(field=st.text(st.sampled_from("0123456789+-.eE _xinfa\t\"'"), max_size=24))
def test_any_field_like_python(tmp_path, field):
    """A field is a number exactly where Python says so (but for underscores), and the same."""
    path = write(tmp_path, f"1;2\n{field};3\n")
    for keys, convert in (("int", int), ("dense", int), (None, float)):
        try:
            twin = convert(field)
            is_fine = "_" not in field
            if convert is int:
                least = 0 if keys == "dense" else -(2**63)
                is_fine &= least <= twin < 2**63 and "+" not in field
        except ValueError:
            is_fine = False
        if field.strip(" \t").startswith('"'):
            continue
        if convert is int:
            source = TextEdges(path, keys=keys, delimiter=";", header=False)
        else:
            source = TextRows(path, dtype="float64", delimiter=";", header=False)
        if is_fine and not (convert is float and np.isinf(twin) and "inf" not in field):
            if convert is int:
                assert edges_of(source)[1][0] == twin
            else:
                np.testing.assert_array_equal(rows_of(source)[0][1, 0], twin)
        else:
            with pytest.raises(SourceError, match=r"edges.csv, line 2, column 1: "):
                list(source.batches(memory=MEMORY))


# Formats


@pytest.mark.parametrize(
    "text",
    [
        "1,2\n3,4\n",
        "1\t2\n3\t4\n",
        "1 2\n3 4",
        "1;2\n3;4\n",
        "1, 2\n3, 4\n",
        "  1   2\n\t3 4  \n",
        '"1","2"\n"3","4"\n',
        "\ufeff1,2\r\n3,4\r\n",
        "# SNAP\n# From To\n1\t2\n3\t4\n",
        "% asym\n1 2\n\n3 4\n\n",
        "src,dst\n1,2\n3,4\n",
        "\n#\n\nfrom\tto\n1\t2\n3\t4\n",
        '"a b" c\n1 2\n3 4\n',
    ],
)
def test_formats_are_found_out(tmp_path, text):
    path = write(tmp_path, text)
    for keys in (None, "dense", "int"):
        source = TextEdges(path, keys=keys)
        assert pairs_of(source) == [(1, 2), (3, 4)]
        assert not source.has_text_ids
    assert (source.num_edges, source.num_nodes, source.is_symmetric) == (None, None, False)
    assert (source.has_weights, source.has_timestamps) == (False, False)
    assert source.size == path.stat().st_size
    assert source.name == str(path)


def test_columns_by_name_and_number(tmp_path):
    path = write(
        tmp_path,
        "id,when,to,how much,from\n9,2024-01-01,7,0.5,8\n9,1970-01-01T00:01:00+01:00,-7,2,6\n",
    )
    day = int(dt.datetime(2024, 1, 1, tzinfo=dt.UTC).timestamp())
    expected = [(8, 7, 0.5, day), (6, -7, 2.0, -3540)]
    by_name = TextEdges(path, columns=("from", "to"), weights="how much", timestamps="when")
    by_number = TextEdges(path, columns=(4, 2), weights=3, timestamps=1)
    assert edges_of(by_name) == edges_of(by_number) == expected
    assert by_name.has_weights
    assert by_name.has_timestamps
    assert edges_of(by_name) == expected, "batches can be had again"
    path = write(tmp_path, "1 2 5 -70\n3 4 6 80\n")
    source = TextEdges(path, weights=2, timestamps=3)
    assert edges_of(source) == [(1, 2, 5.0, -70), (3, 4, 6.0, 80)]


def test_kinds_of_keys(tmp_path):
    assert TextEdges(write(tmp_path, "a,b\nc,d\n")).has_text_ids
    assert pairs_of(TextEdges(write(tmp_path, "source,target\nc,d\n"))) == [("c", "d")]
    assert pairs_of(TextEdges(write(tmp_path, "1,b\n2,d\n"))) == [("1", "b"), ("2", "d")]
    assert pairs_of(TextEdges(write(tmp_path, "01,2\n"), keys="text")) == [("01", "2")]
    assert pairs_of(TextEdges(write(tmp_path, "-1,2\n"))) == [(-1, 2)]
    assert pairs_of(TextEdges(write(tmp_path, f"1,{2**63}\n"))) == [("1", str(2**63))]
    # A header over text shows where a column of numbers has a name.
    path = write(tmp_path, "x,y,w\na,b,1\nc,d,2\n")
    assert [edge[:2] for edge in edges_of(TextEdges(path, weights=2))] == [("a", "b"), ("c", "d")]
    assert pairs_of(TextEdges(path)) == [("x", "y"), ("a", "b"), ("c", "d")]


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n", "src,dst\n", "\ufeff"])
def test_nothing_in_it(tmp_path, text):
    path = write(tmp_path, text)
    assert edges_of(TextEdges(path)) == []
    assert edges_of(TextEdges(path, columns=("src", "dst"))) == [] if "src" in text else True
    rows = TextRows(path, header=True)
    assert list(rows.batches(memory=MEMORY)) == []
    assert list(TextRows(path, key=0, columns=[1]).batches(memory=MEMORY)) == []


def test_estimates(tmp_path):
    path = write(tmp_path, "".join(f"{i},{i * 7}\n" for i in range(100_000)))
    source = TextEdges(path)
    assert source.estimated_edges == pytest.approx(100_000, rel=0.15)
    assert TextEdges(write(tmp_path, gzip.compress(path.read_bytes()))).estimated_edges is None


# Errors


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
    source = TextEdges(path, **options)
    with pytest.raises(SourceError) as caught:
        list(source.batches(memory=MEMORY))
    assert str(caught.value).startswith(f"{path}, line ")
    assert message in str(caught.value)
    assert caught.value.path == str(path)


def test_a_late_word_among_integers(tmp_path):
    path = write(tmp_path, "1,2\n" * 100_000 + "x,3\n")
    source = TextEdges(path)
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
        TextEdges(path, **options)


def test_files_that_are_no_text(tmp_path):
    with pytest.raises(FileNotFoundError):
        TextEdges(tmp_path / "none.csv")
    with pytest.raises(IsADirectoryError):
        TextEdges(tmp_path)
    for text in ("1,2\n".encode("utf-16"), "\ufeff1,2\n".encode("utf-16-be")):
        with pytest.raises(SourceError, match=r"looks like UTF-16; save it as UTF-8"):
            TextEdges(write(tmp_path, text))
    with pytest.raises(SourceError, match="null bytes in it: this is no text"):
        TextEdges(write(tmp_path, "1,2\n".encode("utf-16-le")))
    with pytest.raises(SourceError, match="this is a ZIP archive; unpack it"):
        TextEdges(write(tmp_path, b"PK\3\4\0\0\0"))


def test_skip(tmp_path):
    good = [(i, i + 1) for i in range(1000)]
    lines = [f"{a},{b}\n" for a, b in good]
    for place in range(0, 1000, 50):
        lines.insert(place, "bad line\n")
    path = write(tmp_path, "".join(lines))
    source = TextEdges(path, on_error="skip")
    for memory in (1, MEMORY):
        assert pairs_of(source, memory) == good
        assert source.skipped.count == 20
        assert len(source.skipped.examples) == 10
        assert source.skipped.examples[1].startswith(f"{path}, line 51: 1 field, where the first")
    assert TextEdges(path).has_text_ids


def test_file_that_shrinks(tmp_path):
    path = write(tmp_path, "1,2\n" * 1_000_000)
    batches = TextEdges(path).batches(memory=100_000)
    next(batches)
    os.truncate(path, 200_000)
    with pytest.raises(gm.errors.FileChangedError, match="was truncated from 4000000 bytes"):
        list(batches)


def test_names_that_are_no_text(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff.csv"
    with open(path, "wb") as file:
        file.write(b"1,2\n3,x\n5,6\n7,8\n")
    source = TextEdges(os.fsdecode(path), keys="int", on_error="skip")
    assert pairs_of(source) == [(1, 2), (5, 6), (7, 8)]
    assert "\udcff.csv, line 2" in source.skipped.examples[0]


# Rows


def test_rows(tmp_path):
    path = write(tmp_path, "id,x,y,label\n7,0.5,1,3\n5,1.5,2,4\n")
    source = TextRows(path, key="id")
    assert (source.num_columns, source.is_vector, source.dtype) == (3, False, "float32")
    assert (source.has_keys, source.has_text_keys, source.num_rows) == (True, False, None)
    rows, keys = rows_of(source)
    assert keys == [7, 5]
    assert rows.tolist() == [[0.5, 1, 3], [1.5, 2, 4]]
    labels = TextRows(path, key=0, columns="label")
    assert (labels.num_columns, labels.is_vector, labels.dtype) == (1, True, "int64")
    assert rows_of(labels)[0].tolist() == [3, 4]
    column = TextRows(path, columns=[3], vector=False, dtype="float64")
    assert rows_of(column)[0].tolist() == [[3.0], [4.0]]
    assert column.dtype == "float64"
    picked = TextRows(path, key=0, columns=["label", "x"])
    assert rows_of(picked)[0].tolist() == [[3, 0.5], [4, 1.5]]
    both = TextRows(path, key=0, columns=("label", 2))
    assert both.dtype == "int64"
    assert rows_of(both)[0].tolist() == [[3, 1], [4, 2]]


def test_rows_without_keys(tmp_path):
    rows, keys = rows_of(TextRows(write(tmp_path, "1\n2\n3\n")))
    assert rows.tolist() == [1, 2, 3]
    assert keys is None
    rows, _ = rows_of(TextRows(write(tmp_path, "label\n1\n2\n3\n")))
    assert rows.tolist() == [1, 2, 3]
    rows, _ = rows_of(TextRows(write(tmp_path, "1.0 2\n3 4\n")))
    assert rows.tolist() == [[1, 2], [3, 4]]
    rows, keys = rows_of(TextRows(write(tmp_path, "paper,1,2\nbook,3,4\n"), key=0))
    assert (rows.tolist(), keys) == ([[1, 2], [3, 4]], ["paper", "book"])


def test_missing_values(tmp_path):
    path = write(tmp_path, ",1.5\n2,\n")
    with pytest.raises(SourceError, match="line 1, column 1: the field is empty, where a number"):
        rows_of(TextRows(path))
    rows, _ = rows_of(TextRows(path, missing="nan"))
    np.testing.assert_array_equal(rows, [[np.nan, 1.5], [2, np.nan]])


def test_rows_refused(tmp_path):
    path = write(tmp_path, "1,2\n3,4\n")
    with pytest.raises(ValueError, match="vector=True takes one column of values, and there are 2"):
        TextRows(path, vector=True)
    with pytest.raises(ValueError, match="dtype='float16'; choose one of"):
        TextRows(path, dtype="float16")
    with pytest.raises(SourceError, match="no column of values besides the key"):
        TextRows(write(tmp_path, "1\n2\n"), key=0)
    path = write(tmp_path, "1\n" * 200_000 + "0.5\n")
    with pytest.raises(
        SourceError, match=r"200001, column 1: .0.5. is not an integer, as .*dtype="
    ):
        rows_of(TextRows(path))


def test_wide_rows(tmp_path):
    matrix = np.random.default_rng(0).standard_normal((50, 3000)).astype(np.float32)
    text = "".join(",".join(map(repr, row)) + "\n" for row in matrix.tolist())
    rows, _ = rows_of(TextRows(write(tmp_path, text)))
    np.testing.assert_array_equal(rows, matrix)


# Compression


def zstd(data):
    import zstandard

    return zstandard.ZstdCompressor().compress(data)


COMPRESSIONS = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstd,
}
LINES = "".join(f"{i},{i * 7919 % 100003}\n" for i in range(100_000)).encode()
EDGES = [(i, i * 7919 % 100003) for i in range(100_000)]


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_compressed(tmp_path, kind):
    compress = COMPRESSIONS[kind]
    packed = compress(LINES)
    assert find_compression(packed) == kind
    # The name says nothing, and the content may come in parts.
    half = len(LINES) // 2
    for content in (packed, compress(LINES[:half]) + compress(b"") + compress(LINES[half:])):
        source = TextEdges(write(tmp_path, content))
        assert source.size == len(content)
        for memory in (300_000, 1 << 26):
            assert pairs_of(source, memory) == EDGES
    assert pairs_of(TextEdges(write(tmp_path, compress(b"")))) == []
    with pytest.raises(
        SourceError, match=r"edges.csv, line 100001, column 1: 'x' is not a node id"
    ):
        pairs_of(TextEdges(write(tmp_path, compress(LINES + b"x,1\n"))))


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_damaged_archives(tmp_path, kind):
    packed = COMPRESSIONS[kind](LINES)
    for length in (12, len(packed) // 2, len(packed) - 1):
        path = write(tmp_path, packed[:length])
        with pytest.raises(SourceError, match=f"edges.csv: cut off: its {kind} data ends"):
            pairs_of(TextEdges(path))
    damaged = bytearray(packed)
    for place in range(len(damaged) // 2, len(damaged) // 2 + 64):
        damaged[place] ^= 0x55
    # What comes before the damage is found may be wrong already.
    with pytest.raises(SourceError, match=f"edges.csv(, line |: damaged: its {kind} data cannot)"):
        pairs_of(TextEdges(write(tmp_path, bytes(damaged))))
    with pytest.raises(SourceError, match=r"edges.csv: damaged"):
        pairs_of(TextEdges(write(tmp_path, packed + b"garbage")))


def test_padding_behind_an_archive(tmp_path):
    path = write(
        tmp_path, gzip.compress(b"1,2\n") + bytes(512) + gzip.compress(b"3,4\n") + bytes(9)
    )
    assert pairs_of(TextEdges(path)) == [(1, 2), (3, 4)]


def test_text_that_begins_like_an_archive():
    assert find_compression(b"BZh1,2\n3,4\n5,6\n") is None
    assert find_compression(b"P*M") is None
    assert find_compression(b"") is None


def test_unpacking_stops_with_its_reader(tmp_path):
    path = write(tmp_path, gzip.compress(LINES * 20))
    source = TextEdges(path)
    for end in ("close", "drop", "throw"):
        batches = source.batches(memory=1 << 20)
        next(batches)
        if end == "close":
            batches.close()
        elif end == "throw":
            with pytest.raises(KeyError):
                batches.throw(KeyError())
        del batches
        assert not [t for t in threading.enumerate() if t.name == "graphmount-unpack"]


def test_unpacking_runs_only_so_far_ahead(tmp_path):
    path = write(tmp_path, gzip.compress(bytes(100 << 20), 1))
    stream = UnpackedStream(str(path), "gzip", ahead=1 << 20)
    try:
        buffer = bytearray(1 << 20)
        assert stream.readinto(memoryview(buffer)) == 1 << 20
        assert stream._waiting <= 2 << 20
    finally:
        stream.close()


def without(monkeypatch, *modules):
    for module in modules:
        monkeypatch.setitem(sys.modules, module, None)
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name in modules else find_spec(name)
    )


def test_no_zstd(tmp_path, monkeypatch):
    path = write(tmp_path, zstd(LINES))
    without(monkeypatch, "compression.zstd", "zstandard", "pyarrow")
    with pytest.raises(SourceError, match=r"pip install 'graphmount\[zstd\]'"):
        TextEdges(path)


def test_zstd_by_pyarrow(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    path = write(tmp_path, zstd(LINES) + zstd(LINES))
    cut_off = write(tmp_path, zstd(LINES)[:-100], "cut.csv")
    without(monkeypatch, "compression.zstd", "zstandard")
    assert b"".join(content for content, _ in unpack(str(path), "zstd")) == LINES * 2
    assert pairs_of(TextEdges(path)) == EDGES * 2
    with pytest.raises(SourceError, match=r"cut.csv: damaged"):
        pairs_of(TextEdges(cut_off))
