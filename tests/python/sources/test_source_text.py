"""Text tables as sources, against a slow twin: Python's csv module, int() and float()."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from open_sources import text_edges, text_rows
from text_tables import MEMORY, edges_of, pairs_of, rows_of, write

from graphmount.errors import SourceError

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
    source = text_edges(
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
    source = text_edges(path, keys="text", header=False, delimiter=delimiter)
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
        rows, _ = rows_of(text_rows(path, dtype=dtype, header=False))
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
    rows, _ = rows_of(text_rows(write(tmp_path, text), dtype="float32", header=False))
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
            source = text_edges(path, keys=keys, delimiter=";", header=False)
        else:
            source = text_rows(path, dtype="float64", delimiter=";", header=False)
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
        source = text_edges(path, keys=keys)
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
    by_name = text_edges(path, columns=("from", "to"), weights="how much", timestamps="when")
    by_number = text_edges(path, columns=(4, 2), weights=3, timestamps=1)
    assert edges_of(by_name) == edges_of(by_number) == expected
    assert by_name.has_weights
    assert by_name.has_timestamps
    assert edges_of(by_name) == expected, "batches can be had again"
    path = write(tmp_path, "1 2 5 -70\n3 4 6 80\n")
    source = text_edges(path, weights=2, timestamps=3)
    assert edges_of(source) == [(1, 2, 5.0, -70), (3, 4, 6.0, 80)]


def test_kinds_of_keys(tmp_path):
    assert text_edges(write(tmp_path, "a,b\nc,d\n")).has_text_ids
    assert pairs_of(text_edges(write(tmp_path, "source,target\nc,d\n"))) == [("c", "d")]
    assert pairs_of(text_edges(write(tmp_path, "1,b\n2,d\n"))) == [("1", "b"), ("2", "d")]
    assert pairs_of(text_edges(write(tmp_path, "01,2\n"), keys="text")) == [("01", "2")]
    assert pairs_of(text_edges(write(tmp_path, "-1,2\n"))) == [(-1, 2)]
    assert pairs_of(text_edges(write(tmp_path, f"1,{2**63}\n"))) == [("1", str(2**63))]
    # A header over text shows where a column of numbers has a name.
    path = write(tmp_path, "x,y,w\na,b,1\nc,d,2\n")
    assert [edge[:2] for edge in edges_of(text_edges(path, weights=2))] == [("a", "b"), ("c", "d")]
    assert pairs_of(text_edges(path)) == [("x", "y"), ("a", "b"), ("c", "d")]


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n", "src,dst\n", "\ufeff"])
def test_nothing_in_it(tmp_path, text):
    path = write(tmp_path, text)
    assert edges_of(text_edges(path)) == []
    assert edges_of(text_edges(path, columns=("src", "dst"))) == [] if "src" in text else True
    rows = text_rows(path, header=True)
    assert list(rows.batches(memory=MEMORY)) == []
    assert list(text_rows(path, key=0, columns=[1]).batches(memory=MEMORY)) == []


def test_estimates(tmp_path):
    path = write(tmp_path, "".join(f"{i},{i * 7}\n" for i in range(100_000)))
    source = text_edges(path)
    assert source.estimated_edges == pytest.approx(100_000, rel=0.15)
    assert text_edges(write(tmp_path, gzip.compress(path.read_bytes()))).estimated_edges is None
