"""Faults in the middle, as Python sees them: calls of Python itself that fail, a disk that is full,
io_uring that is forbidden after a loop has begun, a control group that has no memory left. Faults
in the calls of the core are in tests/cpp/faults.
"""

from __future__ import annotations

import errno
import os
import subprocess
import sys

import numpy as np
import pytest
from run_mode import IS_SANITIZED, MEMCAP, SUPPORT

import graphmount as gm

CANNOT = 77  # the exit status of a script that the machine does not allow


def run(*command, seconds=300):
    """Runs a script of this folder, or Python code; what is not done by then hangs."""
    return subprocess.run(
        [sys.executable, *map(str, command)],
        capture_output=True,
        text=True,
        cwd=SUPPORT,
        timeout=seconds,
        check=False,
    )


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts open files in /proc")
def test_calls_of_python_that_fail(tmp_path, campaign):
    """The old dataset or the new one is there, whole; the error is the first; nothing stays."""
    result = run("folder_faults.py", tmp_path, campaign(5, 1), seconds=1200)
    assert result.returncode == 0, result.stdout + result.stderr


def files_in(folder):
    """Everything in a folder, by name."""
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("small_disk", ["8m"], indirect=True)
def test_a_disk_that_is_full_at_any_point(small_disk, campaign):
    """The old dataset is there, whole, or the new one; and nothing else takes any space."""
    edges = np.random.default_rng(0).integers(0, 50, (2, 400))
    rows = np.ones((50, 8), np.float32)

    def compile_one(value):
        options = {"labels": np.arange(50), "splits": {"train": np.arange(9)}, "overwrite": True}
        path = small_disk / "data"
        gm.compile_dataset(path, edges=edges, num_nodes=50, features={"x": rows * value}, **options)
        return files_in(path)

    new, old = compile_one(2), compile_one(1)
    ballast = small_disk / "ballast"
    outcomes = []
    for free in range(0, 2000, campaign(400, 16)):  # KiB
        space = os.statvfs(small_disk)
        ballast.write_bytes(bytes(max(0, space.f_bavail * space.f_bsize - (free << 10))))
        try:
            compile_one(2)
        except OSError as error:
            assert error.errno == errno.ENOSPC, error  # noqa: PT017 (it may also work)
            assert files_in(small_disk / "data") == old, free
        else:
            assert files_in(small_disk / "data") == new, free
        outcomes.append(files_in(small_disk / "data") == new)
        assert sorted(os.listdir(small_disk)) == ["ballast", "data"]
        ballast.unlink()
        assert compile_one(1) == old
    assert outcomes == sorted(outcomes)
    assert not outcomes[0]
    assert outcomes[-1]


FORBIDDEN = """
import os, sys
import numpy as np
import graphmount as gm
from refused_calls import IO_URING_ENTER, IO_URING_REGISTER, IO_URING_SETUP, refuse

folder, call, code = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
store = gm.FeatureStore(folder + "/x.gd")
ids = np.arange(0, len(store), 7)
try:
    before = store.gather(ids, reader="uring")
except OSError:
    sys.exit(77)
dataset = gm.Dataset(folder + "/data")
options = dict(batch_size=50, memory="1MiB")
loaders = {r: gm.NeighborLoader(dataset, [3, 3], reader=r, **options) for r in ("uring", "auto")}
loops = {reader: iter(loader) for reader, loader in loaders.items()}
for loop in loops.values():
    next(loop)
try:
    refuse(call, code, every_thread=True)
except OSError:
    sys.exit(77)
assert np.array_equal(store.gather(ids, reader="auto"), before)
assert np.array_equal(store.gather(ids, reader="pread"), before)
for attempt in (lambda: store.gather(ids, reader="uring"), lambda: list(loops["uring"])):
    try:
        attempt()
    except OSError as error:
        assert error.errno == code, error
        assert "use another reader" in str(error), error
for batch in loops["auto"]:
    assert np.array_equal(batch.features["x"][:, 0], np.asarray(dataset.to_external(batch.nodes)))
for loader in loaders.values():
    loader.close()
print(len(os.listdir("/proc/self/fd")))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs seccomp")
@pytest.mark.parametrize("call", [425, 426, 427], ids=["setup", "enter", "register"])
@pytest.mark.parametrize("code", [errno.EPERM, errno.ENOSYS], ids=["EPERM", "ENOSYS"])
def test_io_uring_that_is_forbidden_half_way(tmp_path, call, code):
    """The readers that need it say so, the others go on, and nobody waits for ever."""
    rows = np.arange(3000, dtype=np.float32)[:, None].repeat(200, axis=1)
    edges = np.random.default_rng(0).integers(0, 3000, (2, 30_000))
    gm.compile_features(rows, tmp_path / "x.gd")
    gm.compile_dataset(tmp_path / "data", edges=edges, num_nodes=3000, features={"x": rows})
    result = run("-c", FORBIDDEN, tmp_path, call, code, seconds=120)
    if result.returncode == CANNOT:
        pytest.skip("rings or filters are not to be had here")
    assert result.returncode == 0, result.stderr


WITHIN = """
import sys
import numpy as np
import graphmount as gm

folder = sys.argv[1]
edges = np.load(folder + "/edges.npy", mmap_mode="r")
gm.compile_graph(edges, folder + "/g.gl", memory="64MiB", num_nodes=100_000)
gm.compile_features(folder + "/x.npy", folder + "/y.gd", memory="64MiB")
gm.compile_dataset(
    folder + "/data", edges=folder + "/edges.npy", num_nodes=100_000,
    features={"x": folder + "/x.npy"}, memory="64MiB",
)
store = gm.FeatureStore(folder + "/y.gd")
for first in range(0, 100_000, 20_000):
    ids = np.arange(first, first + 20_000)
    assert np.array_equal(store.gather(ids)[:, 0], ids)
dataset = gm.Dataset(folder + "/data")
seeds = {"input_nodes": np.arange(40_000), "ids": "internal"}
loader = gm.NeighborLoader(dataset, [5], batch_size=2000, memory="64MiB", **seeds)
for batch in loader:
    assert len(batch.features["x"]) == len(batch.nodes)
"""

BEYOND = """
import sys
import numpy as np
import graphmount as gm

edges = np.random.default_rng(0).integers(0, 1_000_000, (2, 8_000_000), dtype=np.int32)
gm.compile_graph(edges, sys.argv[1] + "/g.gl", memory="2GiB")
"""


def run_capped(limit, code, folder):
    """Runs code with a limit on its memory, which the kernel enforces."""
    if IS_SANITIZED:
        pytest.skip("sanitizers need memory of their own")
    command = [MEMCAP, "--warm", limit, "--", sys.executable, "-c", code, folder]
    result = run(*command)
    if result.returncode == 125:
        pytest.skip(f"no control group to be had: {result.stderr}")
    return result


def test_a_control_group_with_enough_memory(tmp_path):
    """Files that are larger than the limit: what is cached of them makes room."""
    np.save(tmp_path / "edges.npy", np.random.default_rng(0).integers(0, 100_000, (2, 3_000_000)))
    rows = np.arange(100_000, dtype=np.float32)[:, None].repeat(250, axis=1)
    np.save(tmp_path / "x.npy", rows)
    result = run_capped("256M", WITHIN, tmp_path)
    assert result.returncode == 0, result.stderr
    assert gm.verify(tmp_path / "g.gl").ok
    assert gm.verify(tmp_path / "y.gd").ok


def test_a_control_group_without_memory(tmp_path):
    """The kernel kills: the old file is there as it was, nothing else, and it works again."""
    gm.compile_graph([[0], [1]], tmp_path / "g.gl")
    before = (tmp_path / "g.gl").read_bytes()
    result = run_capped("160M", BEYOND, tmp_path)
    assert result.returncode == 128 + 9, result.stderr
    assert os.listdir(tmp_path) == ["g.gl"]
    assert (tmp_path / "g.gl").read_bytes() == before
    gm.compile_graph([[0, 1], [1, 0]], tmp_path / "g.gl")
    assert gm.Graph(tmp_path / "g.gl").num_edges == 2
