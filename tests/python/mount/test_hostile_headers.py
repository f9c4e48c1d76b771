"""Headers that claim what is not there: refused by name, at once, in little memory."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile

import numpy as np
import pytest
from open_sources import open_edges, open_rows

import graphmount as gm
from graphmount._sources.arrays.npz_files import NpzFile
from graphmount._sources.layouts.recognition import find_layout
from graphmount._support.shown import shown
from graphmount.errors import BudgetError, GraphmountError, SourceError

NINES = "9" * 4000


def header(text):
    text = text.encode() + b"\n"
    return b"\x93NUMPY\x02\x00" + struct.pack("<I", len(text)) + text


def npy(shape, *, descr="'<f4'", order="False"):
    return header(f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}}}")


HEADERS = {
    "rows without columns": npy("(10**17, 0)".replace("10**17", str(10**17))),
    "columns without rows": npy(f"(0, {10**17})"),
    "columns without rows, in Fortran order": npy(f"(0, {10**17})", order="True"),
    "rows": npy(f"({10**17},)"),
    "rows of 4,000 digits": npy(f"({NINES}, 0)"),
    "a product of 8,000 digits": npy(f"({NINES}, {NINES})"),
    "rows of 5,000 digits": npy(f"({'9' * 5000}, 2)"),
    "one enormous row": npy(f"(1, {10**15})"),
    "nested parentheses": header("(" * 60_000),
    "nested signs": header("{'shape': " + "-" * 60_000 + "1}"),
    "nested lists": npy("(1,)", descr="[" * 500 + "]" * 500),
    "a dtype that is none": npy("(1,)", descr="'<q9'"),
    "a dtype of a tuple": npy("(1,)", descr="(('a', ('b', 'c')), 5)"),
    "a negative size": npy("(-1,)"),
    "a size that is a bool": npy("(True,)"),
    "nothing": header(""),
    "a number": header("5"),
    "complex": npy("(0,)", descr="'<c16'"),
    "a length": b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**32 - 1),
}


@pytest.mark.parametrize("name", HEADERS)
def test_npy(name, tmp_path):
    path = tmp_path / "x.npy"
    path.write_bytes(HEADERS[name])
    with pytest.raises((SourceError, BudgetError), match=r"x\.npy") as e:
        gm.compile_features(path, tmp_path / "x.gd")
    assert len(str(e.value)) < 500
    with pytest.raises(SourceError, match=r"x\.npy") as e:
        gm.compile_graph(path, tmp_path / "g.gl")
    assert len(str(e.value)) < 500


@pytest.mark.parametrize("name", HEADERS)
@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_npz(name, compression, tmp_path):
    path = tmp_path / "x.npz"
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("x.npy", HEADERS[name])
        archive.writestr("shape.npy", HEADERS[name])
        archive.writestr("format.npy", HEADERS[name])
    with pytest.raises((SourceError, BudgetError), match=r"x\.npz"):
        gm.compile_features(path, tmp_path / "x.gd", member="x")
    with pytest.raises(SourceError, match=r"x\.npz"):
        gm.compile_graph(path, tmp_path / "g.gl")
    with pytest.raises((SourceError, BudgetError)):
        gm.compile_graph(path, tmp_path / "g.gl", columns=("x", "x"))


def forge_size(path, size):
    """Lets the directory of an archive say that its members unpack to so many bytes."""
    data = bytearray(path.read_bytes())
    for magic, field in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        place = -1
        while (place := data.find(magic, place + 1)) >= 0:
            struct.pack_into("<I", data, place + field, size)
    path.write_bytes(data)


@pytest.mark.parametrize("shape", ["(1000000000,)", "(1, 1000000000)"])
@pytest.mark.parametrize("order", ["True", "False"])
def test_an_archive_that_claims_to_unpack_to_4_gib(shape, order, tmp_path):
    path = tmp_path / "x.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", npy(shape, order=order))
    forge_size(path, 2**32 - 2)
    with pytest.raises((SourceError, BudgetError), match=r"x\.npz, member"):
        gm.compile_features(path, tmp_path / "x.gd", memory="64MiB")
    with pytest.raises(SourceError, match="larger than it should be"):
        NpzFile(str(path)).small("x")


def test_an_archive_with_a_long_list_of_members(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, x=np.zeros(3))
    data = bytearray(path.read_bytes())
    struct.pack_into("<I", data, data.rfind(b"PK\5\6") + 12, 500 << 20)
    path.write_bytes(data)
    with pytest.raises(SourceError, match=r"list of members takes 500\.0 MiB.*numpy\.savez"):
        open_rows(path)
    # The same in the fields of archives beyond 4 GiB.
    end = data.rfind(b"PK\5\6")
    struct.pack_into("<I", data, end + 12, 2**32 - 1)
    record = b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, 1, 1, 1 << 40, 0)
    locator = b"PK\6\7" + struct.pack("<IQI", 0, end, 1)
    path.write_bytes(bytes(data[:end]) + record + locator + bytes(data[end:]))
    with pytest.raises(SourceError, match=r"list of members takes 1\.0 TiB"):
        open_rows(path)


@pytest.mark.parametrize("compression", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_members_that_numpy_does_not_write(compression, tmp_path):
    """They unpack as much at once as they like: 4 KiB may be 100 MiB."""
    path = tmp_path / "x.npz"
    content = io.BytesIO()
    np.save(content, np.zeros(100))
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("x.npy", content.getvalue())
    with pytest.raises(SourceError, match=r"save it again with numpy\.savez_compressed"):
        open_rows(path)
    np.savez_compressed(path, x=np.zeros(100))  # as it says
    assert open_rows(path).num_rows == 100


def test_encrypted_members(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, x=np.zeros(3))
    data = bytearray(path.read_bytes())
    data[6] |= 1
    place = data.find(b"PK\x01\x02")
    data[place + 8] |= 1
    path.write_bytes(data)
    with pytest.raises(SourceError, match=r"member 'x' cannot be read: .*; save it again"):
        open_rows(path)


def test_a_matrix_of_text(tmp_path):
    path = tmp_path / "m.npz"
    np.savez(path, format="csr", shape=["a", "b"], indptr=[0], indices=[0])
    with pytest.raises(SourceError, match=r"'shape' has 2 values of <U1, where a few whole"):
        open_edges(path)
    np.savez(path, format=np.empty(0, "S3"), shape=[2, 2])
    with pytest.raises(SourceError, match=r"m\.npz"):
        open_edges(path)
    np.savez(path, format="csr", shape=[1.5, 1.5], indptr=[0, 0], indices=np.empty(0, int))
    with pytest.raises(SourceError, match=r"m\.npz"):
        open_edges(path)


@pytest.mark.parametrize("number", [-5, 2**48, 2**64 - 1, 1.5])
def test_counts_of_nodes_in_archives(number, tmp_path):
    path = tmp_path / "data.npz"
    np.savez(path, edge_index=[[0], [1]], num_nodes_list=[np.array(number)])
    with pytest.raises(SourceError, match="member 'num_nodes_list'"):
        gm.compile_graph(path, tmp_path / "g.gl")
    np.savez(path, format="coo", shape=[np.array(number)] * 2, row=[0], col=[0])
    with pytest.raises(SourceError, match="member 'shape'"):
        gm.compile_graph(path, tmp_path / "g.gl")


@pytest.mark.parametrize(
    ("rows", "columns"), [(2**63, 0), (0, 2**63), (2**64 - 1, 2**64 - 1), (1, 2**62), (10**17, 0)]
)
def test_graphzero_features(rows, columns, tmp_path):
    path = tmp_path / "x.gd"
    path.write_bytes(struct.pack("<8sIiQQ", b"GZDATA26", 0, 2, rows, columns))
    with pytest.raises((SourceError, BudgetError), match=r"x\.gd"):
        gm.compile_features(path, tmp_path / "out.gd")


@pytest.mark.parametrize("field", range(1, 7))
@pytest.mark.parametrize("value", [2**64 - 1, 2**63, 2**61, 0])
def test_graphzero_graphs(field, value, tmp_path):
    path = tmp_path / "g.gl"
    fields = [b"graphlit", 24, 16, 64, 128, 2, 2, 0]
    fields[field] = value
    data = struct.pack("<8s6QB7x", *fields).ljust(64, b"\0")
    path.write_bytes(data + struct.pack("<3Q", 0, 1, 2).ljust(64, b"\0") + struct.pack("<2Q", 1, 0))
    with pytest.raises(SourceError, match=r"g\.gl"):
        gm.compile_graph(path, tmp_path / "out.gl")


def test_rows_in_memory_without_columns(tmp_path):
    rows = np.empty((10**17, 0), np.float32)
    with pytest.raises(SourceError, match=r"shape \(100000000000000000, 0\).*without columns"):
        gm.compile_features(rows, tmp_path / "x.gd")
    done = gm.compile_features(np.empty((10**9, 0), np.float32), tmp_path / "x.gd", memory="1MiB")
    assert done.shape == (10**9, 0)


def test_a_row_that_does_not_fit(tmp_path):
    row = np.zeros((1, 1 << 20), np.float32)
    with pytest.raises(BudgetError, match=r"one row of 1048576 values takes 4\.0 MiB") as e:
        gm.compile_features(row, tmp_path / "x.gd", memory="8MiB")
    advised = int(str(e.value).partition("memory=")[2].split()[0])
    assert gm.compile_features(row, tmp_path / "x.gd", memory=advised).shape == row.shape


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"shape": (10**5000, 2), "dtype": "f4"}, r"shape must be at least -1"),
        ({"shape": 5, "dtype": "f4"}, r"shape=5; pass a tuple of sizes"),
        ({"shape": (), "dtype": "f4"}, r"shape=\(\); pass a tuple of sizes"),
        ({"shape": ("a", 1), "dtype": "f4"}, "shape must be one integer, not 'a'"),
        ({"shape": (1.5, 1), "dtype": "f4"}, r"shape must be one integer, not 1\.5"),
        ({"shape": (-1, -1), "dtype": "f4"}, "one may be -1"),
        ({"shape": (-2, 1), "dtype": "f4"}, "at least -1"),
        ({"shape": (2, 2), "dtype": "no dtype"}, r"dtype=.no dtype. is no dtype of NumPy"),
        ({"shape": (2, 2), "dtype": {"x": 5}}, r"dtype=.* is no dtype of NumPy"),
        ({"shape": (2**62, 2**62), "dtype": "f4"}, r"has 16 bytes, but"),
    ],
    ids=lambda value: shown(value)[:40],
)
def test_shapes_of_headerless_files(options, error, tmp_path):
    path = tmp_path / "x.bin"
    path.write_bytes(bytes(16))
    with pytest.raises((ValueError, TypeError), match=error):
        open_edges(path, **options)


@pytest.mark.parametrize("text", ["9" * 5000, "-3", "1.5", "x"])
def test_ogb_counts(text, tmp_path):
    (tmp_path / "raw").mkdir()
    for name, content in (("num-node-list", text), ("edge", "0,1\n")):
        (tmp_path / f"raw/{name}.csv.gz").write_bytes(gzip.compress(content.encode()))
    with pytest.raises(GraphmountError, match="does not hold numbers of nodes, but") as e:
        find_layout(tmp_path)
    assert len(str(e.value)) < 500
