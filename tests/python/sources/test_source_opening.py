"""Which source a path or object is, and which options it knows."""

from __future__ import annotations

import bz2
import gzip
import lzma
import subprocess
import sys

import numpy as np
import pytest
from draining import drain_edges, drain_rows
from open_sources import open_edges, open_rows

from graphmount._sources.kinds import kind_of
from graphmount.errors import SourceError


def test_signatures_count_more_than_names(tmp_path):
    np.save(tmp_path / "x.npy", [[0, 1, 2], [1, 2, 0]])
    (tmp_path / "x.npy").rename(tmp_path / "x.csv")
    assert drain_edges(open_edges(tmp_path / "x.csv")).src == [0, 1, 2]


@pytest.mark.parametrize(
    ("start", "name", "kind"),
    [
        (b"0 1\n1 2\n", "edges", "text"),
        (b"# SNAP\n0\t1\n", "edges.txt", "text"),
        ("ä,ö\n".encode(), "edges.csv", "text"),
        (gzip.compress(b"0,1\n", mtime=0), "edges.csv.gz", "text"),
        (bz2.compress(b"0,1\n"), "edges.csv.bz2", "text"),
        (lzma.compress(b"0,1\n"), "edges", "text"),
        (b"BZh9,1\n", "words.csv", "text"),
        ("0,1\n".encode("utf-16"), "edges", "text"),
        (gzip.compress(b"%%MatrixMarket matrix", mtime=0), "m.mtx.gz", "matrix market"),
        (b"%%matrixmarket MATRIX", "m.mtx", "matrix market"),
        (b"", "edges.csv", "text"),
        (b"\xff\xff\xff\xff\x10\0\0\0", "x.arrows", "arrow stream"),
        (b"1234567890123456", "x.bin", "binary"),
        (b"\0\0\0\0", "x.npy", "binary"),
    ],
)
def test_kinds(start, name, kind, tmp_path):
    (tmp_path / name).write_bytes(start)
    assert kind_of(str(tmp_path / name)) == kind


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (b"\0\1\2\3", r"of no kind that is known; supported are \.npy and \.npz"),
        (b"\x80\x04\x95", "a Python pickle, which is never loaded"),
        (b"FEA1", "Feather file of version 1"),
        (bz2.compress(b"\0\1\2"), "compressed with bzip2 and holds neither text nor"),
        (lzma.compress(b"%%MatrixMarket "), "a Matrix Market file compressed with xz; unpack it"),
        (b"\x28\xb5\x2f\xfd", "cut off: its zstd data ends|damaged"),
        (b"\x89HDF\r\n", "an HDF5 file"),
        (gzip.compress(b"\0\1\2", mtime=0), "compressed with gzip and holds neither text nor"),
        (b"\x1f\x8bnonsense", "damaged: its gzip data"),
    ],
)
def test_strangers(start, message, tmp_path):
    (tmp_path / "x").write_bytes(start)
    with pytest.raises(SourceError, match=message):
        open_edges(tmp_path / "x")
    with pytest.raises(SourceError, match=message):
        open_rows(tmp_path / "x")


def test_minus_ones_are_not_a_stream_of_arrow(tmp_path):
    np.full((4, 2), -1, np.int32).tofile(tmp_path / "x.bin")
    rows, _ = drain_rows(open_rows(tmp_path / "x.bin", shape=(4, 2), dtype="int32"))
    assert (rows == -1).all()


def test_files_of_a_list_folder_and_pattern(tmp_path):
    for number in range(3):
        np.save(tmp_path / f"part-{number}.npy", np.array([[number], [9]]))
        np.save(tmp_path / f"rows-{number}.npy", np.full((2, 3), number))
    parts = [tmp_path / f"part-{number}.npy" for number in (2, 0)]
    source = open_edges(parts, weights=[0.5, 1.5])
    assert (source.num_edges, source.size) == (2, 32)
    edges = drain_edges(source)
    assert (edges.src, edges.weights) == ([2, 0], [0.5, 1.5])
    assert source.name == f"{parts[0]} and 1 more"
    assert drain_edges(open_edges(f"{tmp_path}/part-*.npy")).src == [0, 1, 2]
    rows, _ = drain_rows(open_rows(str(tmp_path / "rows-?.npy")))
    assert rows[:, 0].tolist() == [0, 0, 1, 1, 2, 2]
    np.save(tmp_path / "rows-3.npy", np.zeros((2, 4), int))
    with pytest.raises(
        SourceError, match=r"number of columns of .*rows-0.npy is 3, that of .* is 4"
    ):
        open_rows(str(tmp_path / "rows-?.npy"))
    np.save(tmp_path / "rows-3.npy", np.zeros((2, 3)))
    with pytest.raises(SourceError, match=r"the dtype of .* is int64, that of .* is float64"):
        open_rows(str(tmp_path / "rows-?.npy"))


def test_paths_that_are_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"missing\.npy"):
        open_edges(tmp_path / "missing.npy")
    with pytest.raises(FileNotFoundError, match="no file matches"):
        open_edges(f"{tmp_path}/*.npy")
    with pytest.raises(SourceError, match="is a folder without files"):
        open_edges(tmp_path)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"delimiter": ","},
            ValueError,
            r"delimiter=',' means nothing for .*x\.npy, an array; its",
        ),
        ({"columns": (0, 1)}, ValueError, "columns=.* means nothing .*, dtype=, key_type="),
        ({"comments": "//"}, ValueError, "comments='//' means nothing"),
        ({"weights": "w"}, ValueError, "weights='w' means nothing"),
        ({"keys": "text"}, ValueError, "key_type='str', but the ids"),
        ({"keys": "number"}, ValueError, "keys='number'; choose one of None, 'dense'"),
        ({"on_error": "ignore"}, ValueError, "on_error='ignore'; choose one of"),
        ({"on_error": "skip", "weights": [1]}, ValueError, "cannot be used with weights"),
    ],
)
def test_options_that_mean_nothing(options, error, message, tmp_path):
    np.save(tmp_path / "x.npy", [[0], [1]])
    with pytest.raises(error, match=message):
        open_edges(tmp_path / "x.npy", **options)


def test_text_takes_its_options(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("%2;3;0.5;7\n-1;2;0.25;8\nfour;5;1;9\n")
    options = {"delimiter": ";", "header": False, "comments": "#", "on_error": "skip"}
    edges = open_edges(path, columns=(1, 0), weights=2, timestamps=3, keys="int", **options)
    found = drain_edges(edges)
    assert (found.pairs, found.weights, found.timestamps) == ([(2, -1)], [0.25], [8])
    assert edges.skipped.count == 2
    rows, keys = drain_rows(open_rows(path, key=0, columns=[2], dtype="float64", **options))
    assert rows.dtype == np.float64
    assert rows.tolist() == [0.5, 0.25, 1.0]
    assert keys == ["%2", "-1", "four"]
    with pytest.raises(ValueError, match=r"member='x' means nothing for .*, text; its options are"):
        open_rows(path, member="x")


def test_no_library_is_imported_for_others(tmp_path):
    np.save(tmp_path / "x.npy", [[0], [1]])
    code = f"""
import sys
from graphmount._sources.contract.tables import EdgeRequest
from graphmount._sources.opening import open_edges
list(open_edges(EdgeRequest(source={str(tmp_path / "x.npy")!r})).batches(memory=100))
list(open_edges(EdgeRequest(source=([0], [1]), weights=[0.5])).batches(memory=100))
for name in ("pyarrow", "scipy", "torch", "networkx", "pandas", "polars", "torch_geometric"):
    assert name not in sys.modules, name
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_pair_of_files(tmp_path):
    """A tuple is a pair (sources, destinations), as of arrays; a list is read one after another."""
    np.save(tmp_path / "src.npy", np.array([0, 1, 2], np.int32))
    np.save(tmp_path / "dst.npy", [1, 2, 0])
    pair = (tmp_path / "src.npy", str(tmp_path / "dst.npy"))
    assert drain_edges(open_edges(pair), memory=50).pairs == [(0, 1), (1, 2), (2, 0)]
    with pytest.raises(SourceError, match=r"has shape \(3,\); edges are"):
        open_edges(list(pair))
    np.save(tmp_path / "dst.npy", [1, 2])
    with pytest.raises(SourceError, match=r"dst\.npy has shape \(2,\), but there are 3 edges"):
        open_edges(pair)


def test_names_are_wanted(tmp_path):
    np.savez(tmp_path / "x.npz", edge_index=[[0], [1]])
    with pytest.raises(TypeError, match="timestamps=True; pass the name"):
        open_edges(tmp_path / "x.npz", timestamps=True)
    source = open_edges(tmp_path / "x.npz", timestamps=False, weights=False)
    assert not source.has_timestamps
