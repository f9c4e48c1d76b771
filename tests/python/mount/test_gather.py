"""Gathering rows: `gather(ids)` is `numpy()[ids]`, by every reader, or an error that says why."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import re
import threading

import hypothesis
import ml_dtypes
import numpy as np
import pytest
from feature_data import feature_rows
from hypothesis import strategies as st
from run_mode import IS_SANITIZED

import graphmount as gm

DTYPES = [
    *("float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8"),
    "bool",
]
READERS = ("auto", "mapped", "pread", "uring")


def allowed(store, reader):
    if reader not in store.readers:
        pytest.skip(f"this system does not allow {reader}")
    return reader


def evict(path):
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def random_values(dtype, shape, seed=0):
    generator = np.random.default_rng(seed)
    if dtype == "bool":
        return generator.random(shape) < 0.5
    if dtype == "bfloat16":
        return generator.standard_normal(shape).astype(ml_dtypes.bfloat16)
    if dtype.startswith("float"):
        return (generator.standard_normal(shape) * 100).astype(dtype)
    limits = np.iinfo(dtype)
    return generator.integers(limits.min, limits.max, shape, dtype, endpoint=True)


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """One for each dtype and shape of row, with the matrix that is in it."""
    folder = tmp_path_factory.mktemp("stores")
    made = []
    for dtype in DTYPES:
        for shape in ((300, 7), (300, 1500), (300,)):
            path = folder / f"{dtype}-{len(made)}.gd"
            matrix = random_values(dtype, shape, len(made))
            gm.compile_features(matrix, path)
            made.append((gm.FeatureStore(path), matrix))
    return made


@hypothesis.given(data=st.data())
def test_same_as_indexing(data, stores):
    store, _ = data.draw(st.sampled_from(stores))
    ids = data.draw(st.lists(st.integers(0, len(store) - 1), max_size=400))
    reader = data.draw(st.sampled_from(store.readers))
    if data.draw(st.booleans()):
        evict(store.path)
    view = store.numpy()
    expected = view[np.array(ids, np.int64)]
    rows = store.gather(ids, reader=reader)
    assert rows.dtype == expected.dtype
    assert rows.shape == expected.shape
    assert rows.tobytes() == expected.tobytes()
    out = np.empty_like(expected)
    assert store.gather(ids, out, reader=reader) is out
    assert out.tobytes() == expected.tobytes()


@hypothesis.given(data=st.data())
def test_same_as_converting(data, stores):
    store, matrix = data.draw(st.sampled_from(stores))
    ids = np.array(data.draw(st.lists(st.integers(0, 299), max_size=50)), np.int64)
    dtype = data.draw(st.sampled_from([*DTYPES[:2], *DTYPES[4:9]]))
    reader = data.draw(st.sampled_from(store.readers))
    if dtype.startswith("float") or np.can_cast(matrix.dtype, dtype, "safe"):
        expected = matrix[ids].astype(dtype)
        rows = store.gather(ids, dtype=dtype, reader=reader)
        assert rows.dtype == np.dtype(dtype)
        assert np.array_equal(rows, expected)
        # The dtype of `out` says as much.
        assert np.array_equal(store.gather(ids, np.empty_like(expected), reader=reader), expected)
    else:
        with pytest.raises(ValueError, match=rf"cannot be gathered as {dtype}; choose the same"):
            store.gather(ids, dtype=dtype, reader=reader)


@pytest.mark.parametrize("reader", READERS)
def test_quantized(reader, tmp_path):
    values = random_values("float32", (500, 24))
    gm.compile_features(values, tmp_path / "q.gd", quantize="column")
    store = gm.FeatureStore(tmp_path / "q.gd")
    allowed(store, reader)
    ids = np.random.default_rng(1).integers(0, 500, 2000)
    assert np.array_equal(store.gather(ids, reader=reader), store.numpy()[ids])
    floats = store.gather(ids, dtype=np.float32, reader=reader)
    assert np.array_equal(floats, store.numpy()[ids] * store.scales)
    assert np.abs(floats - values[ids]).max() <= store.scales.max() / 2 * 1.001
    wide = store.gather(ids, dtype="float64", reader=reader)
    assert np.array_equal(wide, store.numpy()[ids] * store.scales.astype(np.float64))
    with pytest.raises(ValueError, match="rows of quantized int8 cannot be gathered as int16"):
        store.gather(ids, dtype="int16", reader=reader)


@pytest.mark.parametrize("reader", READERS)
def test_cold_file(reader, tmp_path, campaign):
    """Rows of all sizes, from a file that is not in memory."""
    for columns in (1, 100, 128, 1000, 5000):
        path = tmp_path / f"{columns}.gd"
        matrix = random_values("float32", (4000, columns))
        gm.compile_features(matrix, path)
        store = gm.FeatureStore(path, advice="random")
        allowed(store, reader)
        for seed in range(campaign(2, 50)):
            ids = np.random.default_rng(seed).integers(0, 4000, 3000)
            evict(path)
            assert np.array_equal(store.gather(ids, reader=reader), matrix[ids])


@pytest.mark.parametrize("reader", READERS)
def test_threads(reader, tmp_path):
    matrix = random_values("float32", (5000, 64))
    gm.compile_features(matrix, tmp_path / "x.gd")
    store = gm.FeatureStore(tmp_path / "x.gd")
    allowed(store, reader)
    wrong = []

    def work(seed):
        generator = np.random.default_rng(seed)
        out = np.empty((1000, 64), np.float32)
        for _ in range(20):
            ids = generator.integers(0, 5000, 1000)
            store.gather(ids, out, reader=reader)
            if not np.array_equal(out, matrix[ids]):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def gather_in_child(store, reader, seed):
    ids = np.random.default_rng(seed).integers(0, 100, 500)
    return np.array_equal(store.gather(ids, reader=reader), feature_rows(ids))


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_processes(method, features_path):
    if IS_SANITIZED and method != "fork":
        pytest.skip("new interpreters take too long under a sanitizer")
    store = gm.FeatureStore(features_path)
    for reader in store.readers:
        assert gather_in_child(store, reader, 0)  # so that there are rings and threads to inherit
    with multiprocessing.get_context(method).Pool(2) as pool:
        work = [(store, reader, seed) for seed in range(5) for reader in store.readers]
        assert all(pool.starmap(gather_in_child, work))
    assert gather_in_child(store, "auto", 1)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_inherited_store(features_path):
    """A child of fork uses the very object, not a pickled copy; its parent goes on meanwhile."""
    store = gm.FeatureStore(features_path)
    for reader in store.readers:
        assert gather_in_child(store, reader, 0)
    child = os.fork()
    if child == 0:
        fine = all(gather_in_child(store, r, seed) for seed in range(100) for r in store.readers)
        os._exit(0 if fine else 1)
    assert all(gather_in_child(store, r, seed) for seed in range(100) for r in store.readers)
    assert os.waitpid(child, 0)[1] == 0


def test_pickled_store(features_path):
    store = pickle.loads(pickle.dumps(gm.FeatureStore(features_path)))  # noqa: S301
    assert np.array_equal(store.gather([3, 1]), feature_rows([3, 1]))


def test_closed_store(features_path):
    store = gm.FeatureStore(features_path)
    rows = store.gather([3, 1])
    store.close()
    assert np.array_equal(rows, feature_rows([3, 1]))
    with pytest.raises(gm.errors.ClosedError):
        store.gather([3])
    with pytest.raises(gm.errors.ClosedError):
        store.readers  # noqa: B018


def test_readers(features_path):
    readers = gm.FeatureStore(features_path).readers
    assert readers[:2] == ("auto", "mapped")
    assert set(readers) <= set(READERS)
    assert "pread" in readers


def test_ids_of_any_kind(features_path):
    torch = pytest.importorskip("torch")
    store = gm.FeatureStore(features_path)
    for ids in ([5, 2], (5, 2), np.array([5, 2], np.uint8), torch.tensor([5, 2]), range(5, 1, -3)):
        assert np.array_equal(store.gather(ids), feature_rows([5, 2]))
    assert store.gather([]).shape == (0, 24)


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        ([100], gm.errors.IdError, "row 100 (at position 0) does not exist: rows are numbered"),
        ([0, -1], gm.errors.IdError, "row -1 (at position 1)"),
        ([1.0], TypeError, "ids must be integers, not float64"),
        ([True], TypeError, "numpy.flatnonzero"),
        ([[1]], ValueError, "one-dimensional, not of shape (1, 1)"),
        ([0, 2**70], gm.errors.IdError, "ids[1] is 1180591620717411303424"),
    ],
)
def test_bad_ids(ids, error, message, features_path):
    store = gm.FeatureStore(features_path)
    for reader in store.readers:
        with pytest.raises(error, match=re.escape(message)):
            store.gather(ids, reader=reader)


def frozen(array):
    array.flags.writeable = False
    return array


def unaligned(shape):
    return np.zeros(8 * 24 + 1, np.uint8)[1:].view(np.float32).reshape(shape)


@pytest.mark.parametrize(
    ("out", "error", "message"),
    [
        (np.zeros((3, 24), np.float32), ValueError, "out has the shape (3, 24); these rows need"),
        (np.zeros(48, np.float32), ValueError, "these rows need (2, 24)"),
        (np.zeros((2, 24), np.float16), ValueError, "cannot be gathered as float16"),
        (np.zeros((2, 24), np.complex64), ValueError, "complex64"),
        (np.zeros((2, 24), ">f4"), ValueError, "out is of >f4; these rows need float32"),
        (np.zeros((24, 2), np.float32).T, ValueError, "C-contiguous"),
        (np.zeros((4, 24), np.float32)[::2], ValueError, "C-contiguous"),
        (frozen(np.zeros((2, 24), np.float32)), ValueError, "writeable"),
        (unaligned((2, 24)), ValueError, "aligned"),
        ([[0.0] * 24] * 2, TypeError, "out must be a NumPy array, not list"),
    ],
)
def test_bad_output(out, error, message, features_path):
    with pytest.raises(error, match=re.escape(message)):
        gm.FeatureStore(features_path).gather([5, 2], out)


def test_bad_options(features_path, tmp_path):
    store = gm.FeatureStore(features_path)
    with pytest.raises(ValueError, match="reader='fast'; choose one of 'auto', 'mapped', 'pread'"):
        store.gather([1], reader="fast")
    with pytest.raises(ValueError, match="dtype 'complex64'"):
        store.gather([1], dtype="complex64")
    with pytest.raises(ValueError, match="out is of float32; these rows need float64"):
        store.gather([1], np.zeros((1, 24), np.float32), dtype="float64")
    gm.compile_features(np.arange(10), tmp_path / "y.gd")
    ids = np.array([3, 1, 2])
    with pytest.raises(ValueError, match="out shares memory with ids"):
        gm.FeatureStore(tmp_path / "y.gd").gather(ids, ids)


@pytest.mark.parametrize("reader", READERS)
def test_truncated_file(reader, tmp_path):
    matrix = random_values("float32", (5000, 128))
    gm.compile_features(matrix, tmp_path / "x.gd")
    store = gm.FeatureStore(tmp_path / "x.gd")
    allowed(store, reader)
    assert np.array_equal(store.gather([4999], reader=reader), matrix[[4999]])
    os.truncate(tmp_path / "x.gd", 1_000_000)
    for ids in ([0], [4999], np.arange(5000)):
        with pytest.raises(gm.errors.FileChangedError, match="to 1000000 bytes while mounted"):
            store.gather(ids, reader=reader)


def test_bfloat16_output(stores):
    store, matrix = next(pair for pair in stores if pair[0].dtype == "bfloat16")
    out = np.empty((2, 7), ml_dtypes.bfloat16)
    store.gather([4, 2], out)
    assert np.array_equal(out, matrix[[4, 2]])
    assert store.gather([4], dtype="bfloat16").dtype == np.uint16


def test_torch(stores):
    torch = pytest.importorskip("torch")
    import graphmount.torch

    ids = torch.tensor([250, 3, 3])
    for store, _ in stores:
        expected = store.tensor()[ids]
        rows = graphmount.torch.gather(store, ids)
        assert rows.dtype == expected.dtype
        assert torch.equal(rows, expected)
        out = torch.empty_like(expected)
        assert graphmount.torch.gather(store, ids.tolist(), out=out) is out
        assert torch.equal(out, expected)
        floats = graphmount.torch.gather(store, ids, dtype=torch.float32)
        assert torch.equal(floats, expected.float())
    with pytest.raises(ValueError, match="contiguous tensor in memory"):
        graphmount.torch.gather(stores[0][0], ids, out=torch.empty(7, 3).T)
    with pytest.raises(ValueError, match="contiguous tensor in memory"):
        graphmount.torch.gather(stores[0][0], ids, out=torch.empty((3, 7), device="meta"))
    with pytest.raises(ValueError, match="out has the shape"):
        graphmount.torch.gather(stores[0][0], ids, out=torch.empty(3, 8))
