"""Archives of NumPy as sources; test_source_arrays.py compares members with what NumPy reads."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest
from draining import drain_edges, drain_rows
from open_sources import open_edges, open_rows

from graphmount._sources.arrays.npz_files import NpzFile
from graphmount.errors import SourceError


def test_damaged_npz(tmp_path):
    path = tmp_path / "x.npz"
    np.savez_compressed(path, x=np.random.default_rng(0).integers(0, 99, 10_000))
    whole = bytearray(path.read_bytes())
    path.write_bytes(whole[:-50])
    with pytest.raises(SourceError, match="is not a zip archive, or is cut off"):
        open_rows(path)
    whole[len(whole) // 2] ^= 0xFF
    path.write_bytes(whole)
    with pytest.raises(SourceError, match="is damaged"):
        drain_rows(open_rows(path))


def test_npz_members(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, a=np.arange(3), b=np.arange(4))
    with pytest.raises(SourceError, match="several members; pass member= one of 'a', 'b'"):
        open_rows(path)
    with pytest.raises(SourceError, match="has no member 'c'; it has 'a', 'b'"):
        open_rows(path, member="c")
    assert drain_rows(open_rows(path, member="b"))[0].tolist() == [0, 1, 2, 3]
    np.savez(path, only=np.arange(3))
    assert drain_rows(open_rows(path))[0].tolist() == [0, 1, 2]
    assert NpzFile(str(path)).small("only").tolist() == [0, 1, 2]
    np.savez(path, big=np.zeros(1 << 20))
    with pytest.raises(SourceError, match="larger than it should be"):
        NpzFile(str(path)).small("big")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x.npy", b"not an array")
    with pytest.raises(SourceError, match="member 'x' is not an array"):
        open_rows(path)


def test_compressed_fortran_matrix_with_many_columns(tmp_path):
    array = np.asfortranarray(np.arange(200.0).reshape(10, 20))
    np.savez_compressed(tmp_path / "x.npz", x=array)
    with pytest.raises(SourceError, match=r"Fortran order.*ascontiguousarray"):
        drain_rows(open_rows(tmp_path / "x.npz"))
    np.savez(tmp_path / "x.npz", x=array)
    assert (drain_rows(open_rows(tmp_path / "x.npz"), memory=500)[0] == array).all()


def test_npz_columns(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(
        path, a=[0, 1, 2], b=[1, 2, 0], w=[0.5, 1, 2], t=[3, 4, 5], pair=[[7, 8, 9], [1, 2, 3]]
    )
    edges = drain_edges(open_edges(path, columns=("a", "b"), weights="w", timestamps="t"))
    assert edges.pairs == [(0, 1), (1, 2), (2, 0)]
    assert (edges.weights, edges.timestamps) == ([0.5, 1, 2], [3, 4, 5])
    assert drain_edges(open_edges(path, columns="pair")).src == [7, 8, 9]
    with pytest.raises(
        SourceError, match=r"neither an edge_index nor a SciPy matrix; pass columns="
    ):
        open_edges(path)
    with pytest.raises(SourceError, match="is not a SciPy matrix; name the member"):
        open_edges(path, columns="pair", weights=True)
    with pytest.raises(ValueError, match="name one member, or"):
        open_edges(path, columns=("a", "b", "w"))
    with pytest.raises(SourceError, match=r"has shape \(2, 3\); edges are"):
        open_edges(path, columns=("a", "pair"))
    np.savez(path, edge_index=[[0, 1], [1, 0]], num_nodes_list=[5])
    assert open_edges(path).num_nodes == 5
