"""Numbers that would change on the way in: errors that name them, never other numbers."""

from __future__ import annotations

import decimal
import os
import pathlib
import re
import struct

import numpy as np
import pytest
from open_sources import open_edges, open_rows

import graphmount as gm
from graphmount._sources.contract.batches import RowBatch, Skipped
from graphmount._sources.contract.exact import changed_by_cast
from graphmount.errors import OrderError, SourceError

EDGES = ([0, 1], [1, 0])


@pytest.mark.parametrize("unit", ["D", "Y", "M", "W", "h", "m"])
def test_dates_that_wrap(unit, tmp_path):
    times = np.array([1, 2**62], f"M8[{unit}]")
    with pytest.raises(SourceError, match=rf"edge 1: {2**62} of the unit '{unit}' since 1970 is"):
        gm.compile_graph(EDGES, tmp_path / "g.gl", timestamps=times)
    times[1] = times[0]
    gm.compile_graph(EDGES, tmp_path / "g.gl", timestamps=times)
    seconds = int(times[0].astype("M8[s]").astype(int))
    assert gm.Graph(tmp_path / "g.gl").neighbor_lists("in").timestamps.tolist() == [seconds] * 2


def test_dates_of_finer_units_are_rounded_down(tmp_path):
    times = np.array([-1, 1999], "M8[ms]")
    gm.compile_graph(EDGES, tmp_path / "g.gl", timestamps=times)
    found = gm.Graph(tmp_path / "g.gl").neighbor_lists("in").timestamps
    assert sorted(found.tolist()) == [-1, 1]


def test_dates_without_a_unit(tmp_path):
    times = np.array([5, 6]).astype("M8")
    with pytest.raises(
        SourceError, match=r"without a unit.*pass array.astype\('datetime64\[s\]'\)"
    ):
        gm.compile_graph(EDGES, tmp_path / "g.gl", timestamps=times)
    gm.compile_graph(EDGES, tmp_path / "g.gl", timestamps=times.astype("datetime64[s]"))


@pytest.mark.parametrize(
    ("values", "dtype", "is_other"),
    [
        (np.array([2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1]), "f8", [0, 1, 1, 1]),
        (np.array([2**64 - 1, 2**63, 7], np.uint64), "f8", [1, 0, 0]),
        (np.array([2**64 - 1, 2**63, 7], np.uint64), "i8", [1, 1, 0]),
        (np.array([-1, 7]), "u8", [1, 0]),
        (np.array([2**31, -(2**31), 7]), "i4", [1, 0, 0]),
        (np.array([1e39, np.inf, np.nan, 0.1]), "f4", [1, 0, 0, 0]),
    ],
)
def test_casts_are_compared(values, dtype, is_other):
    assert changed_by_cast(values, dtype).tolist() == list(map(bool, is_other))


def test_offsets_beyond_int64(tmp_path):
    path = tmp_path / "g.gl"
    header = struct.pack("<8s6QB7x", b"graphlit", 24, 16, 64, 128, 2, 2, 0).ljust(64, b"\0")
    offsets = struct.pack("<3Q", 0, 2**64 - 1, 2).ljust(64, b"\0")
    path.write_bytes(header + offsets + struct.pack("<2Q", 1, 0))
    with pytest.raises(SourceError, match=r"18446744073709551615 is too large for int64"):
        list(open_edges(path).batches(memory=1 << 20))


def test_longdoubles_are_not_rounded(tmp_path):
    if np.finfo(np.longdouble).nmant <= 52:
        pytest.skip("a longdouble is a double here")
    value = np.longdouble(2**53) + np.longdouble("0.5")
    with pytest.raises(SourceError, match=r"row 0: 9007199254740992.5 cannot be stored as int64"):
        gm.compile_features(np.array([value]), tmp_path / "x.gd", dtype="int64")


def tables(columns):
    """The same columns as a table in memory, and as files."""
    pa = pytest.importorskip("pyarrow")
    return pa.table(columns)


def test_integers_beside_floats(tmp_path):
    """All columns become float64, which has not all integers: a forgotten key, most often."""
    table = tables({"id": [1, 2**53 + 1], "x": [0.5, 1.5]})
    with pytest.raises(SourceError, match=r"row 1, column 'id': '9007199254740993' would be an"):
        gm.compile_features(table, tmp_path / "x.gd")
    done = gm.compile_features(table, tmp_path / "x.gd", on_error="skip")
    assert (done.shape, done.skipped) == ((1, 2), 1)
    # As it says: columns apart.
    assert gm.compile_features(table, tmp_path / "x.gd", columns=["id"]).dtype == "int64"
    assert gm.compile_features(table, tmp_path / "x.gd", columns=["x"]).dtype == "float64"


def test_decimals(tmp_path):
    pa = pytest.importorskip("pyarrow")
    wide = pa.array([decimal.Decimal(10**30), decimal.Decimal(7)], pa.decimal128(38, 0))
    table = pa.table({"x": wide})
    with pytest.raises(
        SourceError, match=r"row 0, column 'x': .* is not an integer that int64 can"
    ):
        gm.compile_features(table, tmp_path / "x.gd")
    done = gm.compile_features(table, tmp_path / "x.gd", on_error="skip")
    assert (done.shape, done.dtype) == ((1,), "int64")
    lists = pa.table({"x": pa.FixedSizeListArray.from_arrays(wide, 1)})
    with pytest.raises(SourceError, match=r"row 0, column 'x': .* has one: is not an integer"):
        gm.compile_features(lists, tmp_path / "x.gd")


def test_damaged_arrow_files_do_not_crash(tmp_path):
    """Offsets of strings are as they are in the file, and would be followed anywhere."""
    pa = pytest.importorskip("pyarrow")
    path = tmp_path / "x.arrow"
    table = pa.table({"a": ["ann", "bob"] * 50, "b": ["eve", "joe"] * 50})
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    data = bytearray(path.read_bytes())
    place = data.find(struct.pack("<4i", 0, 3, 6, 9))
    assert place > 0
    for value in (2**31 - 1, -5, 10**6):
        struct.pack_into("<i", data, place + 8, value)
        path.write_bytes(data)
        with pytest.raises(SourceError, match=r"x\.arrow cannot be read: .*; write the file again"):
            gm.compile_graph(path, tmp_path / "g.gl", ids="map")


def test_networkx_weights(tmp_path):
    networkx = pytest.importorskip("networkx")
    graph = networkx.DiGraph()
    graph.add_edge(0, 1, weight=np.complex128(1 + 2j))
    with pytest.raises(SourceError, match=r"its 'weight' is .*, not a number"):
        gm.compile_graph(graph, tmp_path / "g.gl", weights=True)
    graph.add_edge(0, 1, weight=10**400)
    with pytest.raises(SourceError, match=r"its 'weight' is too large for float32"):
        gm.compile_graph(graph, tmp_path / "g.gl", weights=True)
    graph.add_edge(0, 1, weight="x" * 10**6)
    with pytest.raises(SourceError, match=r"not a number") as e:
        gm.compile_graph(graph, tmp_path / "g.gl", weights=True)
    assert len(str(e.value)) < 500


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")
@pytest.mark.parametrize("name", ["float8_e4m3fn", "complex64", "quint8"])
def test_tensors_that_numpy_does_not_know(name, tmp_path):
    torch = pytest.importorskip("torch")
    if name == "quint8":
        tensor = torch.quantize_per_tensor(torch.ones(2), 0.5, 0, torch.quint8)
    elif name == "complex64":
        tensor = torch.ones(2, dtype=torch.complex64).conj()
    else:
        tensor = torch.ones(2).to(getattr(torch, name))
    with pytest.raises(TypeError, match=r"NumPy has no dtype|must be numbers"):
        gm.compile_features(tensor, tmp_path / "x.gd")
    with pytest.raises(TypeError, match=r"NumPy has no dtype|must be numbers"):
        gm.compile_graph(EDGES, tmp_path / "g.gl", weights=tensor)
    plain = tensor.dequantize() if name == "quint8" else tensor.real.float()
    assert gm.compile_features(plain, tmp_path / "x.gd").shape == (2,)


class Changing:
    """Rows that are other ones each time they are read; a `RowSource`."""

    def __init__(self, *passes):
        self._passes = list(passes)
        self.name = "a source that changes"
        self.size = self.num_rows = None
        self.num_columns = passes[0].shape[1]
        self.is_vector = self.has_keys = self.has_text_keys = False
        self.order = 0
        self.dtype = "float32"
        self.skipped = Skipped()

    def batches(self, *, memory):
        del memory
        yield RowBatch(rows=self._passes.pop(0), done=0)


FIRST = np.array([[1, 2], [3, 4]], np.float32)


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ([[1, 2], [3, 400]], "row 1, column 1: 400.0 was not there when the scales were made"),
        ([[-3.5, 2], [3, 4]], "row 0, column 0: -3.5 was not there"),
        ([[np.nan, 2], [3, 4]], "row 0, column 0: nan was not there"),
        ([[1, np.inf], [3, 4]], "row 0, column 1: inf was not there"),
        ([[1, 2]], "had 2 rows when it was measured, and has 1 now"),
        ([[1, 2], [3, 4], [1, 1]], "had 2 rows when it was measured, and has 3 now"),
    ],
)
def test_values_that_were_not_measured(second, message, tmp_path):
    """Quantization reads twice; what was not there the first time was clipped, or became 0."""
    source = Changing(FIRST, np.array(second, np.float32))
    with pytest.raises(SourceError, match=f"a source that changes.*{message}"):
        gm.compile_features(source, tmp_path / "x.gd", quantize="column")
    assert not (tmp_path / "x.gd").exists()
    done = gm.compile_features(Changing(FIRST, FIRST), tmp_path / "x.gd", quantize="column")
    assert done.shape == (2, 2)


@pytest.mark.parametrize("factor", [1, 1e-40, 3e-45, 1e30])
def test_what_was_measured_is_not_refused(factor, tmp_path):
    rows = (np.random.default_rng(0).normal(size=(1000, 3)) * factor).astype(np.float32)
    gm.compile_features(rows, tmp_path / "x.gd", quantize="column")


def rewrite(path, text):
    before = os.stat(path)
    path.write_bytes(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))


def test_files_that_change_while_they_are_read(tmp_path):
    path, out = tmp_path / "x.csv", tmp_path / "x.gd"
    path.write_bytes(b"1,2\n" * 1000)
    rows = open_rows(path)
    rewrite(path, b"1,3\n" * 1000)
    with pytest.raises(SourceError, match=r"x\.csv was written to while it was read, so .*mixture"):
        gm.compile_features(rows, out)
    rows = open_rows(path)
    rewrite(path, b"1,3\n" * 10)
    with pytest.raises(
        SourceError, match=r"was written to while it was read, from 3.9 KiB to 40 B"
    ):
        gm.compile_features(rows, out)
    rows = open_rows(path)
    (tmp_path / "new").write_bytes(b"1,3\n" * 10)
    (tmp_path / "new").replace(path)
    with pytest.raises(SourceError, match=r"was replaced while it was read"):
        gm.compile_features(rows, out)
    assert not out.exists()
    gm.compile_features(open_rows(path), out)  # as it says: again


def test_edges_that_change_while_they_are_read(tmp_path):
    path, weights = tmp_path / "e.csv", tmp_path / "w.npy"
    path.write_bytes(b"0,1\n" * 100_000)
    np.save(weights, np.ones(100_000))
    for changed in (path, weights):

        def progress(*_, changed=changed):
            status = os.stat(changed)
            os.utime(changed, ns=(status.st_atime_ns, status.st_mtime_ns + 1))

        with pytest.raises(SourceError, match=f"{changed.name} was written to while it was read"):
            gm.compile_graph(path, tmp_path / "g.gl", weights=weights, progress=progress)
    gm.compile_graph(path, tmp_path / "g.gl", weights=weights)


def forged_rows(path, row):
    """A graph of two edges, of which one says that it was in a row far away."""
    gm.compile_graph(EDGES, path, source_rows=True)
    graph = gm.Graph(path)
    section = next(s for s in graph.sections if s.name.startswith("source rows"))
    graph.close()
    with open(path, "r+b") as file:
        file.seek(section.offset)
        file.write(row.to_bytes(np.dtype(section.dtype).itemsize, "little"))


@pytest.mark.parametrize("row", [2**31 - 1, 10**9])
def test_source_rows_that_are_not_there(row, tmp_path):
    """They made a temporary graph of 16 GiB."""
    path = tmp_path / "g.gl"
    forged_rows(path, row)
    with pytest.raises(
        OrderError, match=rf"an edge from row {row} of its source, but 2 edges.* has 2 row"
    ):
        gm.compile_features([[1.0], [2.0]], tmp_path / "x.gd", edges=path)
    text = tmp_path / "x.csv"
    text.write_text("1.5\n2.5\n")
    with pytest.raises(
        OrderError, match=r"damaged, or not the graph of these rows; compile it again, or"
    ):
        gm.compile_features(text, tmp_path / "x.gd", edges=path)
    gm.compile_graph(EDGES, path, source_rows=True)
    assert gm.compile_features(text, tmp_path / "x.gd", edges=path).shape == (2,)


def test_scores_that_a_float_cannot_tell_apart(tmp_path):
    scores = np.array([2**53, 2**53 + 1, 2**63 - 1, 2**63 - 2])
    gm.compile_dataset(tmp_path / "d", edges=([0, 1, 2], [1, 2, 3]), order=scores)
    assert gm.Dataset(tmp_path / "d").to_external([0, 1, 2, 3]).tolist() == [2, 3, 1, 0]
    scores = np.array([1, 2, 2, 1], np.uint8)
    gm.compile_dataset(tmp_path / "e", edges=([0, 1, 2], [1, 2, 3]), order=scores)
    assert gm.Dataset(tmp_path / "e").to_external([0, 1, 2, 3]).tolist() == [1, 2, 0, 3]


def test_casts_of_sources_are_marked():
    """`.astype` wraps around and rounds; who uses it says why that cannot happen."""
    folder = pathlib.Path(gm.__file__).parent / "_sources"
    casts = [
        f"{path.name}: {line.strip()}"
        for path in sorted(folder.rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"\.astype\(", line) and '"' not in line
    ]
    assert casts  # or the sources are elsewhere by now
    assert [line for line in casts if "# cast: " not in line] == []
