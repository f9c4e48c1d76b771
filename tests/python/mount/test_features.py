"""FeatureStore: views that are the file, tensors, DLPack, advice, prefetching."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
import warnings
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from feature_data import DTYPES, feature_rows
from mapped_memory import mapping_of
from run_mode import IS_SANITIZED

import graphmount as gm


def example(dtype):
    if dtype == "bool":
        return np.array([[True, False], [False, True], [True, True]])
    if dtype == "bfloat16":
        return np.arange(6).reshape(3, 2).astype(ml_dtypes.bfloat16)
    return np.arange(6).reshape(3, 2).astype(dtype)


def test_numpy_is_the_file(features_path):
    store = gm.FeatureStore(features_path)
    array = store.numpy()
    assert np.array_equal(array, feature_rows(np.arange(100)))
    assert str(features_path) in mapping_of(array.ctypes.data)
    with pytest.raises(ValueError, match="read-only"):
        array[0, 0] = 1.0
    assert np.shares_memory(store.numpy(), array)


def test_array_protocol(features_path):
    store = gm.FeatureStore(features_path)
    assert np.shares_memory(np.asarray(store), store.numpy())
    assert np.asarray(store, dtype=np.float64).dtype == np.float64
    assert not np.shares_memory(np.array(store, copy=True), store.numpy())
    with pytest.raises(ValueError, match="needs a copy"):
        store.__array__(np.float64, copy=False)


@pytest.mark.parametrize("dtype", DTYPES)
def test_tensor_is_the_file(dtype, tmp_path):
    torch = pytest.importorskip("torch")
    matrix = example(dtype)
    gm.compile_features(matrix, tmp_path / "x.gd")
    store = gm.FeatureStore(tmp_path / "x.gd")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tensor = store.tensor()
    assert str(tensor.dtype) == f"torch.{dtype}"
    assert tensor.shape == (3, 2)
    assert tensor.float().tolist() == matrix.astype(np.float32).tolist()
    line = mapping_of(tensor.data_ptr())
    assert str(tmp_path / "x.gd") in line
    assert "rw-p" in line  # writable and private
    assert torch.from_dlpack(store).dtype == tensor.dtype


def test_vector_tensor(tmp_path):
    torch = pytest.importorskip("torch")
    gm.compile_features(np.array([3, 1, 2]), tmp_path / "y.gd")
    assert torch.equal(gm.FeatureStore(tmp_path / "y.gd").tensor(), torch.tensor([3, 1, 2]))


def test_writes_to_a_tensor_stay_private(features_path):
    pytest.importorskip("torch")
    before = features_path.read_bytes()
    store = gm.FeatureStore(features_path)
    tensor = store.tensor()
    tensor[5] = -1.0
    assert store.tensor()[5, 0] == -1.0  # tensors of one store share their memory
    assert store.numpy()[5, 0] == 5.0
    assert gm.FeatureStore(features_path).tensor()[5, 0] == 5.0
    del tensor
    assert store.tensor()[5, 0] == 5.0  # forgotten with the last tensor
    assert features_path.read_bytes() == before


def test_tensor_falls_back_to_read_only_memory(features_path):
    pytest.importorskip("torch")
    if IS_SANITIZED:
        pytest.skip("sanitizers need more memory than the limit of this test")
    # Private writable mappings count against RLIMIT_DATA; a limit below what is in use makes the
    # system refuse them, as overcommit mode 2 does for files larger than memory.
    code = """
import resource, sys, warnings
import numpy as np, torch
import graphmount as gm
import graphmount.torch  # which needs memory, and would be imported below
store = gm.FeatureStore(sys.argv[1])
resource.setrlimit(resource.RLIMIT_DATA, (1 << 20, 1 << 20))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    tensor = store.tensor()
messages = [(w.category.__name__, "private mapping" in str(w.message)) for w in caught]
print(messages, tensor[3, 1].item(), np.from_dlpack(store).flags.writeable)
"""
    result = subprocess.run(
        [sys.executable, "-c", code, features_path], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[('RuntimeWarning', True)] 3.5 False"


def test_dlpack_to_numpy(features_path):
    store = gm.FeatureStore(features_path)
    array = np.from_dlpack(store)
    assert np.array_equal(array, store.numpy())
    assert str(features_path) in mapping_of(array.ctypes.data)
    assert store.__dlpack_device__() == (1, 0)


def test_bfloat16_in_numpy_is_its_bits(tmp_path):
    matrix = example("bfloat16")
    gm.compile_features(matrix, tmp_path / "x.gd")
    array = gm.FeatureStore(tmp_path / "x.gd").numpy()
    assert array.dtype == np.uint16
    assert np.array_equal(array.view(ml_dtypes.bfloat16), matrix)
    with pytest.raises(TypeError, match="NumPy has no bfloat16"):
        np.asarray(gm.FeatureStore(tmp_path / "x.gd"), dtype=np.float32)


def test_shape_dtype_repr(features_path, tmp_path):
    store = gm.FeatureStore(features_path)
    assert store.shape == (100, 24)
    assert store.dtype == np.float32
    assert store.order == 0
    assert store.path == str(features_path)
    assert repr(store) == f"<FeatureStore '{features_path}': 100 x 24 float32>"
    store.close()
    assert repr(store) == f"<FeatureStore '{features_path}', closed>"
    assert gm.FeatureStore(os.fsencode(features_path)).path == str(features_path)
    relative = gm.FeatureStore(os.path.relpath(features_path))
    assert relative.path == str(features_path)
    odd = tmp_path / os.fsdecode(b"odd \xff name.gd")  # not UTF-8, but a name all the same
    gm.compile_features([[1.0]], odd)
    assert gm.FeatureStore(odd).path == str(odd)
    with pytest.raises(FileNotFoundError) as caught:
        gm.FeatureStore(str(odd) + "?")
    assert caught.value.filename == str(odd) + "?"


def test_prefetch(features_path):
    store = gm.FeatureStore(features_path)
    assert store.prefetch([]) == 0
    assert store.prefetch([0, 1, 2]) == 4096  # rows of 96 bytes: one page
    assert store.prefetch([0, 99, 0]) == 8192  # the first and the last page
    assert store.prefetch(np.arange(100)) == 12288


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        ([100], gm.errors.IdError, "row 100 (at position 0) does not exist: rows are numbered"),
        ([0, -1], gm.errors.IdError, "row -1 (at position 1)"),
        ([1.0], TypeError, "ids must be integers, not float64"),
        ([True], TypeError, "numpy.flatnonzero"),
        ([[1]], ValueError, "one-dimensional, not of shape (1, 1)"),
        (3, ValueError, "one-dimensional"),
        (["a"], TypeError, "ids must be integers"),
        (np.array([2**63], np.uint64), gm.errors.IdError, "ids[0] is 9223372036854775808"),
        ([0, 2**70], gm.errors.IdError, "ids[1] is 1180591620717411303424"),
        ([-1, 2**63], gm.errors.IdError, "ids[1] is 9223372036854775808"),
        ([None], TypeError, "ids must be integers, not object"),
    ],
)
def test_bad_rows(ids, error, message, features_path):
    with pytest.raises(error, match=re.escape(message)):
        gm.FeatureStore(features_path).prefetch(ids)


def test_advice(features_path):
    pytest.importorskip("torch")
    store = gm.FeatureStore(features_path, advice="random")
    view = store.numpy()
    assert " rr" in vm_flags(view.ctypes.data)  # random read
    store.advise("sequential")
    assert " sr" in vm_flags(view.ctypes.data)
    assert " sr" in vm_flags(store.tensor().data_ptr())  # later views too
    store.advise("normal")
    assert " sr" not in vm_flags(view.ctypes.data)
    store.advise("willneed")
    store.advise("populate")
    calls = []
    store.advise("populate", progress=lambda done, total: calls.append((done, total)))
    assert calls == [(store.file_bytes, store.file_bytes)]
    for advice in ("fast", None):
        with pytest.raises(ValueError, match=r"advice=.*choose one of 'auto', 'normal'"):
            store.advise(advice)
        with pytest.raises(ValueError, match="choose one of 'auto', 'normal'"):
            gm.FeatureStore(features_path, advice=advice)
    with pytest.raises(TypeError, match="progress must be"):
        store.advise("populate", progress=5)


def test_automatic_advice(features_path, graph_path, monkeypatch):
    """Large files are read page by page, small ones with what is around."""
    from graphmount._mount import handle as _handle

    size = features_path.stat().st_size
    assert gm.FeatureStore(features_path).advice == "normal"
    monkeypatch.setattr(_handle, "usable_bytes", lambda: 2 * size - 2)
    store = gm.FeatureStore(features_path)
    assert store.advice == "random"
    assert " rr" in vm_flags(store.numpy().ctypes.data)
    assert pickle.loads(pickle.dumps(store)).advice == "random"  # noqa: S301
    copy = pickle.dumps(store)
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(_handle, "usable_bytes", lambda: 100 * size)
        assert pickle.loads(copy).advice == "normal"  # noqa: S301
    assert gm.FeatureStore(features_path, advice="normal").advice == "normal"
    store.advise("willneed")
    assert store.advice == "random"
    monkeypatch.setattr(_handle, "usable_bytes", lambda: 2 * size)
    store.advise("auto")
    assert store.advice == "normal"
    assert gm.Graph(graph_path).advice == "random"


def test_usable_memory():
    from graphmount._mount.memory_report import usable_bytes

    limit = gm.memory().limit_bytes
    assert usable_bytes() <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert limit is None or usable_bytes() <= limit


def vm_flags(address):
    """The kernel's flags of the mapping that holds an address."""
    inside = False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
            begin, end = (int(part, 16) for part in line.split()[0].split("-"))
            inside = begin <= address < end
        elif inside and line.startswith("VmFlags:"):
            return line
    return ""


@pytest.mark.skipif(os.geteuid() != 0, reason="becoming another user needs root")
def test_residency_for_those_who_do_not_own_the_file(tmp_path):
    """An estimate, which must not pull the file into memory."""
    path = tmp_path / "x.gd"
    gm.compile_features(np.zeros((1 << 16, 256), np.float32), path)  # 64 MiB
    for folder in (path, *path.parents[:-1]):
        folder.chmod(folder.stat().st_mode | 0o555)
    store = gm.FeatureStore(path)
    try:
        os.seteuid(65534)
        assert store.resident_bytes() > store.file_bytes // 2  # just written
        os.seteuid(0)
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        if store.resident_bytes() > store.file_bytes // 2:
            pytest.skip("this system does not drop clean pages on request")
        os.seteuid(65534)
        for _ in range(3):
            assert store.resident_bytes() < store.file_bytes // 2
    finally:
        os.seteuid(0)


def test_resident_bytes_follow_the_page_cache(tmp_path):
    matrix = np.zeros((1 << 16, 64), np.float32)  # 16 MiB
    path = tmp_path / "x.gd"
    gm.compile_features(matrix, path)
    store = gm.FeatureStore(path)
    if store.resident_bytes() is None:
        pytest.skip("this system cannot tell what is in the page cache")
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    evicted = store.resident_bytes()
    if evicted > store.file_bytes // 2:
        pytest.skip("this system does not drop clean pages on request")
    store.advise("random")
    store.numpy()[::1024].sum()  # 64 rows, 256 KiB apart
    some = store.resident_bytes()
    assert evicted < some < store.file_bytes // 2
    store.advise("populate")
    assert store.resident_bytes() == store.file_bytes
