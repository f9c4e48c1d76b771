"""Arrays on a disk as sources: .npy, headerless files and members of .npz."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from draining import drain_edges, drain_rows
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from open_sources import open_edges, open_rows
from run_mode import IS_SANITIZED

from graphmount._sources.arrays.npy_files import open_npy
from graphmount.errors import SourceError

NUMBERS = [
    f"{order}{kind}" for kind in ("i2", "i4", "i8", "u8", "f4", "f8", "f2") for order in "<>"
]


@st.composite
def arrays(draw):
    dtype = np.dtype(draw(st.sampled_from([*NUMBERS, "b1", "u1", "i1"])))
    shape = draw(
        st.one_of(st.tuples(st.integers(0, 40)), npst.array_shapes(min_dims=2, max_dims=2))
    )
    size = int(np.prod(shape))
    bits = draw(st.binary(min_size=size * dtype.itemsize, max_size=size * dtype.itemsize))
    if dtype == np.bool_:
        bits = bytes(byte & 1 for byte in bits)
    array = np.frombuffer(bits, dtype).reshape(shape)
    return np.asfortranarray(array) if draw(st.booleans()) else array


@given(
    array=arrays(), memory=st.integers(1, 300), version=st.sampled_from([(1, 0), (2, 0), (3, 0)])
)
def test_npy_reads_as_numpy_does(array, memory, version, tmp_path):
    path = tmp_path / "x.npy"
    with path.open("wb") as file:
        np.lib.format.write_array(file, array, version=version)
    rows, _ = drain_rows(open_rows(path), memory=memory)
    expected = np.load(path)
    assert rows.astype(expected.dtype, copy=False).tobytes() == expected.tobytes() or not array.size


@given(array=arrays(), memory=st.integers(1, 300), is_compressed=st.booleans())
def test_npz_members_read_as_numpy_does(array, memory, is_compressed, tmp_path):
    save = np.savez_compressed if is_compressed else np.savez
    save(tmp_path / "x.npz", first=np.arange(5), x=array, last=np.ones(3))
    rows, _ = drain_rows(open_rows(tmp_path / "x.npz", member="x"), memory=memory)
    expected = np.load(tmp_path / "x.npz")["x"]
    assert rows.astype(expected.dtype, copy=False).tobytes() == expected.tobytes() or not array.size


@given(
    ends=npst.arrays(
        np.int64, st.tuples(st.just(2), st.integers(0, 30)), elements=st.integers(0, 99)
    ),
    dtype=st.sampled_from(["<i4", ">i4", "<i8", ">i8", "u1", "<u8", "i1"]),
    is_pairs=st.booleans(),
    is_fortran=st.booleans(),
    memory=st.integers(1, 500),
    kind=st.sampled_from(["npy", "npz", "stored", "raw"]),
)
def test_edges_in_every_layout(*, ends, dtype, is_pairs, is_fortran, memory, kind, tmp_path):
    array = (ends.T if is_pairs else ends).astype(dtype)
    array = np.asarray(array, order="F" if is_fortran and kind != "raw" else "C")
    options = {}
    if kind == "raw":
        path = tmp_path / "edges.bin"
        path.write_bytes(array.tobytes())
        options = {"shape": array.shape, "dtype": dtype}
    elif kind == "npy":
        path = tmp_path / "edges.npy"
        np.save(path, array)
    else:
        path = tmp_path / "edges.npz"
        (np.savez_compressed if kind == "npz" else np.savez)(path, edge_index=array)
    edges = drain_edges(open_edges(path, **options), memory=memory)
    if array.shape == (2, 2):
        ends = array.astype(np.int64)  # taken for (2, edges), as documented
    assert [edges.src, edges.dst] == ends.tolist()
    assert edges.num_batches >= min(ends.shape[1], 1)


def test_two_by_two_is_taken_for_an_edge_index(tmp_path):
    np.save(tmp_path / "e.npy", [[1, 2], [3, 4]])
    assert drain_edges(open_edges(tmp_path / "e.npy")).pairs == [(1, 3), (2, 4)]


def test_headerless_file_called_npy(tmp_path):
    x = np.arange(24, dtype=np.float32).reshape(6, 4)
    path = tmp_path / "node_feat.npy"
    x.tofile(path)
    with pytest.raises(SourceError, match=r"does not begin like a \.npy file.*96 B.*pass shape="):
        open_rows(path)
    with pytest.raises(SourceError, match="pass both shape= and dtype="):
        open_rows(path, shape=(6, 4))
    with pytest.raises(
        SourceError, match=r"has 96 bytes, but .* \(7, 4\) and dtype float32 takes 112"
    ):
        open_rows(path, shape=(7, 4), dtype="float32")
    for shape in ((6, 4), (-1, 4)):
        rows, _ = drain_rows(open_rows(path, shape=shape, dtype="float32"), memory=40)
        assert (rows == x).all()
    vector, _ = drain_rows(open_rows(path, shape=(24,), dtype="float32"))
    assert vector.tolist() == x.ravel().tolist()
    with pytest.raises(ValueError, match="one may be -1"):
        open_rows(path, shape=(-1, -1), dtype="float32")
    with pytest.raises(SourceError, match="a multiple of 28"):
        open_rows(path, shape=(-1, 7), dtype="float32")


def test_header_and_arguments_must_agree(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((3, 2), np.float32))
    open_rows(tmp_path / "x.npy", shape=(3, 2), dtype="float32")
    open_rows(tmp_path / "x.npy", shape=(-1, 2))
    with pytest.raises(SourceError, match=r"header says shape \(3, 2\), not shape=\(2, 3\)"):
        open_rows(tmp_path / "x.npy", shape=(2, 3))
    with pytest.raises(SourceError, match="header says float32, not dtype=float64"):
        open_rows(tmp_path / "x.npy", dtype="float64")


def test_pickles_are_never_loaded(tmp_path):
    np.save(tmp_path / "x.npy", np.array([{}], object), allow_pickle=True)
    with pytest.raises(SourceError, match="pickled Python objects, which are never loaded"):
        open_rows(tmp_path / "x.npy")
    np.savez(tmp_path / "x.npz", x=np.array([{}], object), allow_pickle=True)
    with pytest.raises(SourceError, match="pickled Python objects"):
        open_rows(tmp_path / "x.npz", member="x")


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.array(["a"]), "holds <U1, not numbers"),
        (np.zeros(3, complex), "holds complex128, not numbers"),
        (np.zeros(3, [("a", "i4")]), "not numbers"),
        (np.zeros((2, 2, 2)), r"has shape \(2, 2, 2\); edges and rows"),
        (np.array(3), r"has shape \(\)"),
        (np.zeros(3, "datetime64[s]"), "features must be numbers, not datetime64"),
    ],
)
def test_arrays_that_are_no_rows(array, message, tmp_path):
    np.save(tmp_path / "x.npy", array)
    with pytest.raises(SourceError, match=message):
        open_rows(tmp_path / "x.npy")


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((3, 3), int), r"has shape \(3, 3\); edges are of shape \(2, edges\) or"),
        (np.zeros(6, int), r"has shape \(6,\); edges are"),
        (np.zeros((2, 3)), "node ids must be integers, not float64"),
        (np.zeros((2, 3), bool), "node ids must be integers, not bool"),
    ],
)
def test_arrays_that_are_no_edges(array, message, tmp_path):
    np.save(tmp_path / "x.npy", array)
    with pytest.raises(SourceError, match=message):
        open_edges(tmp_path / "x.npy")


def test_ids_beyond_int64(tmp_path):
    np.save(tmp_path / "e.npy", np.array([[1, 2, 3], [4, 2**63, 6]], np.uint64))
    with pytest.raises(SourceError, match=r"e\.npy, edge 1: 9223372036854775808 is too large"):
        drain_edges(open_edges(tmp_path / "e.npy"), memory=1)


def test_damaged_npy(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.arange(1000))
    whole = path.read_bytes()
    path.write_bytes(whole[:-8])
    with pytest.raises(
        SourceError, match=r"is cut off: an array of shape \(1000,\) .* 7992 are there"
    ):
        open_rows(path)
    for end in (9, 20, 60):
        path.write_bytes(whole[:end])
        with pytest.raises(SourceError, match="header"):
            open_rows(path)
    path.write_bytes(whole[:6] + b"\x09" + whole[7:])
    with pytest.raises(SourceError, match="version 1, 2 or 3"):
        open_rows(path)
    path.write_bytes(whole.replace(b"(1000,)", b"(-100,)"))
    with pytest.raises(SourceError, match="header is damaged"):
        open_rows(path)
    path.write_bytes(whole.replace(b"'descr'", b"'descX'"))
    with pytest.raises(SourceError, match="header is damaged"):
        open_rows(path)


def test_file_cut_off_while_it_is_read(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.arange(100_000))
    batches = open_rows(path).batches(memory=8000)
    next(batches)
    with path.open("r+b") as file:
        file.truncate(10_000)
    with pytest.raises(SourceError, match="the file ends at byte 10000, while it is read"):
        list(batches)


def test_weights_and_times_from_elsewhere(tmp_path):
    np.save(tmp_path / "e.npy", [[0, 1, 2], [1, 2, 0]])
    np.save(tmp_path / "w.npy", [0.5, 1.5, 2.5])
    times = np.array(
        ["1970-01-02", "1970-01-01T00:00:01.9", "1969-12-31T23:59:59"], "datetime64[ms]"
    )
    for weights in (tmp_path / "w.npy", str(tmp_path / "w.npy"), [0.5, 1.5, 2.5]):
        source = open_edges(tmp_path / "e.npy", weights=weights, timestamps=times)
        edges = drain_edges(source, memory=60)
        assert edges.weights == [0.5, 1.5, 2.5]
        assert edges.timestamps == [86400, 1, -1]
        assert edges.num_batches > 1
    with pytest.raises(SourceError, match=r"e\.npy: weights has 2 values for 3 edges"):
        open_edges(tmp_path / "e.npy", weights=[1, 2])
    with pytest.raises(SourceError, match=r"weights has shape \(3, 1\), but one value"):
        open_edges(tmp_path / "e.npy", weights=np.ones((3, 1)))
    with pytest.raises(TypeError, match="weights must be numbers, not bool"):
        open_edges(tmp_path / "e.npy", weights=[True, False, True])
    with pytest.raises(
        SourceError, match=r"weights, edge 2: weight 1e\+300 is too large for float32"
    ):
        drain_edges(open_edges(tmp_path / "e.npy", weights=[1, np.inf, 1e300]), memory=30)
    with pytest.raises(TypeError, match="timestamps must be integers or datetime64, not float64"):
        open_edges(tmp_path / "e.npy", timestamps=[1.0, 2.0, 3.0])
    with pytest.raises(SourceError, match="edge 1: the timestamp is missing"):
        drain_edges(open_edges(tmp_path / "e.npy", timestamps=np.array([1, "NaT", 2], "M8[s]")))


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("kind", ["npy", "npz", "fortran", "rows"])
def test_memory_is_bounded(kind, tmp_path):
    """128 MiB are read within 8 MiB; the process grows by less than 24 MiB."""
    if IS_SANITIZED:
        pytest.skip("sanitizers have memory of their own")
    path = tmp_path / ("x.npz" if kind == "npz" else "x.npy")
    edges = np.arange(1 << 24).reshape(2, 1 << 23) % 1000
    if kind == "npz":
        np.savez_compressed(path, edge_index=edges)
    elif kind == "rows":
        np.save(path, edges.reshape(1 << 17, 128))
    else:
        np.save(path, np.asfortranarray(edges) if kind == "fortran" else edges)
    code = """
import sys
from graphmount._sources.contract.tables import EdgeRequest, RowRequest
from graphmount._sources.opening import open_edges, open_rows
def peak():
    status = open("/proc/self/status").read()
    return int(status.split("VmHWM:")[1].split()[0]) << 10
if sys.argv[2] == "rows":
    source = open_rows(RowRequest(source=sys.argv[1]))
else:
    source = open_edges(EdgeRequest(source=sys.argv[1]))
before = peak()
total = sum(len(getattr(batch, "rows" if sys.argv[2] == "rows" else "src"))
            for batch in source.batches(memory=8 << 20))
print(total, peak() - before)
"""
    result = subprocess.run(
        [sys.executable, "-c", code, path, kind], capture_output=True, text=True, check=True
    )
    total, grown = map(int, result.stdout.split())
    assert total == (1 << 17 if kind == "rows" else 1 << 23)
    assert grown < 24 << 20


def test_open_npy_is_what_sources_use(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(6).reshape(3, 2))
    stream = open_npy(str(tmp_path / "x.npy"))
    with stream.T.opened() as read:
        assert read(1).tolist() == [[0, 2, 4]]
        assert read(9).tolist() == [[1, 3, 5]]
        assert read(1).shape == (0, 3)
