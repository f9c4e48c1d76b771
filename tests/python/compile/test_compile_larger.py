"""Graphs larger than the memory they are given: the same file, little memory, nothing left behind.

With 64 MiB, the least there is, a few million edges have to wait in temporary files.
"""

from __future__ import annotations

import errno
import filecmp
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest
from interrupting import CAN_BE_INTERRUPTED, interrupt
from run_mode import IS_SANITIZED

import graphmount as gm

NUM_EDGES, NUM_NODES = 3_000_000, 400_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files of edges, weights and times; some nodes have many more neighbors than others."""
    path = tmp_path_factory.mktemp("edges")
    generator = np.random.default_rng(0)
    edges = (generator.random((2, NUM_EDGES)) ** 2 * NUM_NODES).astype(np.int32)
    np.save(path / "edges.npy", edges)
    np.save(path / "keys.npy", edges.astype(np.int64) // 4 * 1_000_003 - 10**10)
    np.save(path / "weights.npy", generator.random(NUM_EDGES, dtype=np.float32))
    np.save(path / "times.npy", generator.integers(0, 1000, NUM_EDGES))
    yield path
    shutil.rmtree(path)  # pytest would keep it


@pytest.fixture
def paths(tmp_path):
    """A folder for what is made, and one for what is in the way."""
    result = SimpleNamespace(out=tmp_path / "out", tmp=tmp_path / "tmp")
    result.out.mkdir()
    result.tmp.mkdir()
    return result


WITH_ALL = {"weights": "weights.npy", "timestamps": "times.npy"}


def in_folder(options, folder):
    """The options, with names of files as their paths."""
    is_name = {name: str(value).endswith(".npy") for name, value in options.items()}
    return {name: folder / x if is_name[name] else x for name, x in options.items()}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"neighbors": "in", **WITH_ALL},
        {"neighbors": "out", "weights": "weights.npy", "index_dtype": "int64"},
        {"directed": False, "timestamps": "times.npy"},
        {"directed": False, "dedup": True, "self_loops": "drop"},
        {"dedup": "sum", "weights": "weights.npy"},
        {"source_rows": True, **WITH_ALL},
        {"source_rows": True, "dedup": "first", "num_nodes": 3 * NUM_NODES},
        {"ids": "map", "weights": "weights.npy"},
        {"ids": "map", "directed": False, "source_rows": True, "dedup": "first"},
    ],
    ids=lambda options: "-".join(options) or "plain",
)
def test_same_file_whatever_the_memory(options, folder, paths):
    source = folder / ("keys.npy" if "ids" in options else "edges.npy")
    options = in_folder(options, folder)
    reports = {
        memory: gm.compile_graph(
            source, paths.out / f"{memory}.gl", memory=memory, tmp=paths.tmp, **options
        )
        for memory in ("64MiB", "4GiB")
    }
    assert reports["64MiB"].spilled_bytes > 0
    assert reports["4GiB"].spilled_bytes == 0
    assert filecmp.cmp(paths.out / "64MiB.gl", paths.out / "4GiB.gl", shallow=False)
    assert list(paths.tmp.iterdir()) == []
    assert gm.verify(paths.out / "64MiB.gl").ok


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_same_file_from_tables(kind, folder, paths):
    pa = pytest.importorskip("pyarrow")
    src, dst = np.load(folder / "edges.npy")
    columns = {"src": src, "dst": dst, "w": np.load(folder / "weights.npy")}
    source = paths.out / f"edges.{kind}"
    if kind == "csv":
        csv = pytest.importorskip("pyarrow.csv")
        csv.write_csv(pa.table(columns), source)
    else:
        pytest.importorskip("pyarrow.parquet").write_table(pa.table(columns), source)
    report = gm.compile_graph(source, paths.out / "g.gl", weights="w", memory="64MiB")
    assert report.spilled_bytes > 0
    gm.compile_graph((src, dst), paths.out / "twin.gl", weights=columns["w"])
    assert filecmp.cmp(paths.out / "g.gl", paths.out / "twin.gl", shallow=False)
    assert len(list(paths.out.iterdir())) == 3


# The memory it takes

COMPILE = """
import sys
import numpy as np
import graphmount as gm
folder, out, memory = sys.argv[1:]
gm.compile_graph(([0], [1]), out)  # what the first use of anything costs
print("ready", flush=True)
sys.stdin.readline()
gm.compile_graph(
    folder + "/edges.npy",
    out,
    weights=folder + "/weights.npy",
    timestamps=folder + "/times.npy",
    source_rows=True,
    memory=memory,
)
"""


def anonymous_bytes(pid):
    """The memory of a process that is its own; 0 if it has ended."""
    with open(f"/proc/{pid}/status") as file:
        found = re.search(r"RssAnon:\s+(\d+) kB", file.read())
    return int(found[1]) << 10 if found else 0


def peak_of_compiling(folder, out, memory):
    child = subprocess.Popen(
        [sys.executable, "-c", COMPILE, folder, out, memory],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert child.stdout is not None
    assert child.stdin is not None
    child.stdout.readline()
    before = peak = anonymous_bytes(child.pid)
    child.stdin.write(b"\n")
    child.stdin.close()
    while child.poll() is None:
        peak = max(peak, anonymous_bytes(child.pid))
        time.sleep(0.001)
    child.stdout.close()
    assert child.returncode == 0
    return peak - before


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.skipif(IS_SANITIZED, reason="sanitizers have memory of their own")
def test_memory_is_bounded(folder, paths):
    little = peak_of_compiling(folder, paths.out / "g.gl", "64MiB")
    much = peak_of_compiling(folder, paths.out / "g.gl", "4GiB")
    assert little < (64 + 256) << 20
    assert little < 0.6 * much


# Temporary files


def open_files(folder):
    """Files of a folder that this process has open, be they named or not."""
    if sys.platform != "linux":
        return []
    names = []
    for number in os.listdir("/proc/self/fd"):
        try:
            names.append(os.readlink(f"/proc/self/fd/{number}"))
        except FileNotFoundError:  # that of the listing itself
            continue
    return [name for name in names if name.startswith(f"{folder}/")]


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("is_given", [True, False])
def test_where_temporary_files_are(is_given, folder, paths):
    seen = {"tmp": 0, "out": 0}

    def look(_done, _total):
        seen["tmp"] = max(seen["tmp"], len(open_files(paths.tmp)))
        seen["out"] = max(seen["out"], len(open_files(paths.out)))

    gm.compile_graph(
        folder / "edges.npy",
        paths.out / "g.gl",
        memory="64MiB",
        progress=look,
        **({"tmp": paths.tmp} if is_given else {}),
    )
    assert (seen["tmp"] > 0) == is_given
    assert seen["out"] > (0 if is_given else 1)
    assert open_files(paths.tmp) == []
    assert list(paths.tmp.iterdir()) == []
    assert [path.name for path in paths.out.iterdir()] == ["g.gl"]


def test_missing_temporary_folder(folder, paths):
    with pytest.raises(FileNotFoundError) as caught:
        gm.compile_graph(
            folder / "edges.npy", paths.out / "g.gl", memory="64MiB", tmp=paths.tmp / "no"
        )
    assert str(paths.tmp / "no") in str(caught.value)
    assert list(paths.out.iterdir()) == []


@pytest.mark.parametrize("full", ["out", "tmp"])
def test_too_little_space_is_seen_before(full, folder, paths, monkeypatch):
    free = {paths.out: 10**12, paths.tmp: 10**12, getattr(paths, full): 5 << 20}
    monkeypatch.setattr(
        shutil, "disk_usage", lambda place: SimpleNamespace(free=free[type(paths.out)(place)])
    )
    with pytest.raises(OSError, match=r"3,000,000 edges needs about .* and 5\.0 MiB are") as caught:
        gm.compile_graph(
            folder / "edges.npy",
            paths.out / "g.gl",
            memory="64MiB",
            tmp=paths.tmp,
            **in_folder(WITH_ALL, folder),
        )
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == str(getattr(paths, full))
    assert list(paths.out.iterdir()) == []


def test_source_rows_count_as_space(tmp_path, monkeypatch):
    """36 million bytes do for the lists alone, but not for rows of the source beside them."""
    edges = np.zeros((2, 3_000_000), np.int32)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=40_000_000))
    with pytest.raises(OSError, match="3,000,000 edges needs about 45"):
        gm.compile_graph(edges, tmp_path / "g.gl", num_nodes=9, source_rows=True)
    gm.compile_graph(edges, tmp_path / "g.gl", num_nodes=9)


class Unannounced:
    """Edges that come as a stream, so that nobody knows before how many there are."""

    def __init__(self, folder):
        self._edges = np.load(folder / "edges.npy", mmap_mode="r")

    def __arrow_c_stream__(self, requested_schema=None):
        pa = pytest.importorskip("pyarrow")
        schema = pa.schema({"src": pa.int32(), "dst": pa.int32()})
        step = 100_000
        batches = (
            pa.record_batch(list(self._edges[:, first : first + step]), schema=schema)
            for first in range(0, NUM_EDGES, step)
        )
        reader = pa.RecordBatchReader.from_batches(schema, batches)
        return reader.__arrow_c_stream__(requested_schema)


def test_full_temporary_folder(folder, paths, small_disk):
    with pytest.raises(OSError, match=r"No space left on device|cannot write") as caught:
        gm.compile_graph(Unannounced(folder), paths.out / "g.gl", memory="64MiB", tmp=small_disk)
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == str(small_disk)
    assert list(small_disk.iterdir()) == list(paths.out.iterdir()) == []
    report = gm.compile_graph(Unannounced(folder), paths.out / "g.gl", tmp=small_disk)
    assert (report.num_edges, report.spilled_bytes) == (NUM_EDGES, 0)


LIMITED = """
import resource, sys
import graphmount as gm
folder, out, tmp = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_FSIZE, (8 << 20, 8 << 20))
try:
    gm.compile_graph(folder + "/edges.npy", out, memory="64MiB", tmp=tmp)
except OSError as error:
    print(error.errno, error)
"""


def test_temporary_files_that_may_not_grow(folder, paths):
    result = subprocess.run(
        [sys.executable, "-c", LIMITED, folder, paths.out / "g.gl", paths.tmp],
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.startswith(f"{errno.EFBIG} ")
    assert str(paths.tmp) in result.stdout or str(paths.out) in result.stdout
    assert list(paths.tmp.iterdir()) == list(paths.out.iterdir()) == []


# Ends that come too early


@pytest.mark.parametrize("step", [1, 250, 500, 501, 650, 800, 999, 1000])
def test_an_error_in_progress(step, folder, paths):
    def fail(done, _total):
        if done >= step:
            raise RuntimeError(f"at {done}")

    options = in_folder(WITH_ALL, folder)
    with pytest.raises(RuntimeError, match="at "):
        gm.compile_graph(
            folder / "edges.npy",
            paths.out / "g.gl",
            memory="64MiB",
            tmp=paths.tmp,
            progress=fail,
            **options,
        )
    assert list(paths.tmp.iterdir()) == list(paths.out.iterdir()) == []
    assert open_files(paths.tmp) == []


WRITE_FOREVER = """
import sys
import numpy as np
import graphmount as gm
kind, folder, out, tmp = sys.argv[1:]
keys = np.random.default_rng(0).permutation(100_000)
print("ready", flush=True)
number = 0
while True:
    number += 1
    if kind == "graph":
        report = gm.compile_graph(
            folder + "/edges.npy", out, num_nodes=400_000 + number, memory="64MiB", tmp=tmp
        )
        assert report.spilled_bytes > 0
    else:
        rows = np.full((100_000, 100), number, np.float32)
        gm.compile_features(rows, out, key=keys, memory="8MiB", tmp=tmp)
"""


def start_writing(kind, folder, paths):
    child = subprocess.Popen(
        [
            sys.executable,
            "-c",
            CAN_BE_INTERRUPTED + WRITE_FOREVER,
            kind,
            folder,
            paths.out / kind,
            paths.tmp,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    child.stdout.readline()
    return child


@pytest.mark.skipif(IS_SANITIZED, reason="too slow under a sanitizer")
@pytest.mark.parametrize("kind", ["graph", "features"])
def test_interrupted(kind, folder, paths):
    generator = random.Random(kind)
    for _ in range(2):
        child = start_writing(kind, folder, paths)
        time.sleep(0.1 + generator.random())
        _, errors = interrupt(child)
        assert errors.rstrip().endswith("KeyboardInterrupt")
        assert list(paths.tmp.iterdir()) == []
        assert {path.name for path in paths.out.iterdir()} <= {kind}


@pytest.mark.skipif(IS_SANITIZED, reason="too slow under a sanitizer")
@pytest.mark.parametrize("kind", ["graph", "features"])
def test_killed_at_random_moments(kind, folder, paths, campaign):
    path = paths.out / kind
    generator = random.Random(kind)
    for _ in range(campaign(3, 50)):
        child = start_writing(kind, folder, paths)
        time.sleep(generator.random() * 1.2)
        child.send_signal(signal.SIGKILL)
        child.communicate()
        if path.exists():
            assert gm.verify(path).ok
        assert list(paths.tmp.iterdir()) == []
        # At most the new name of a finished file; see test_atomic_writes.py.
        for leftover in set(paths.out.iterdir()) - {path}:
            assert gm.verify(leftover).ok
            leftover.unlink()
    report = gm.compile_graph(folder / "edges.npy", path, memory="64MiB", tmp=paths.tmp)
    assert gm.Graph(path).num_edges == report.num_edges == NUM_EDGES
    assert list(paths.tmp.iterdir()) == []
