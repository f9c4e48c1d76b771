"""A file appears complete or not at all: errors, full disks, interrupts, SIGKILL at any moment."""

from __future__ import annotations

import errno
import os
import random
import signal
import stat
import subprocess
import sys
import time

import numpy as np
import pytest
from interrupting import CAN_BE_INTERRUPTED, interrupt
from run_mode import IS_SANITIZED

import graphmount as gm

WRITE_FOREVER = """
import sys
import numpy as np
import graphmount as gm
kind, path = sys.argv[1:]
generator = np.random.default_rng(0)
edges = generator.integers(0, 20_000, (2, 200_000))
text = path + ".csv"
np.savetxt(text, np.ones((50_000, 8)), "%d", ",")
print("ready", flush=True)
while True:
    number = int(generator.integers(1, 100))
    if kind == "graph":
        gm.compile_graph(edges, path, num_nodes=20_000 + number)
    elif kind == "text":
        gm.compile_features(text, path)
    else:
        gm.compile_features(np.full((100_000, 8), number, np.float32), path)
"""


@pytest.mark.parametrize("kind", ["graph", "features", "text"])
def test_killed_at_random_moments(kind, tmp_path, campaign):
    path = tmp_path / "out"
    generator = random.Random(kind)
    for _ in range(campaign(5, 50)):
        child = subprocess.Popen(
            [sys.executable, "-c", WRITE_FOREVER, kind, path],
            stdout=subprocess.PIPE,
        )
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(generator.random() * 0.3)
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        if path.exists():
            assert gm.verify(path).ok
        # At most the new name of a finished file is there besides, if the kill fell between naming
        # and renaming it.
        for leftover in set(tmp_path.iterdir()) - {path, path.with_suffix(".csv")}:
            assert gm.verify(leftover).ok
            leftover.unlink()
    gm.compile_features([[1.0]], path)  # the next run succeeds
    assert gm.FeatureStore(path).shape == (1, 1)


def test_error_leaves_what_was_there(tmp_path):
    gm.compile_features([[1.0], [2.0]], tmp_path / "x.gd")
    before = (tmp_path / "x.gd").read_bytes()
    with pytest.raises(gm.errors.SourceError):
        gm.compile_features([[1e300]], tmp_path / "x.gd", dtype="float32")
    with pytest.raises(gm.errors.SourceError):
        gm.compile_graph(([-1], [0]), tmp_path / "x.gd")
    assert (tmp_path / "x.gd").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["x.gd"]


def test_missing_folder(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        gm.compile_features([1], tmp_path / "no" / "x.gd")
    assert caught.value.filename == str(tmp_path / "no" / "x.gd")


def test_folder_in_the_way(tmp_path):
    with pytest.raises(IsADirectoryError):
        gm.compile_graph(([0], [1]), tmp_path)


def test_special_file_in_the_way(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="cannot replace a special file"):
        gm.compile_features([1], tmp_path / "pipe")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_link_is_followed(tmp_path):
    (tmp_path / "far").mkdir()
    link = tmp_path / "link.gd"
    link.symlink_to(tmp_path / "far" / "x.gd")
    report = gm.compile_features([1], link)
    assert link.is_symlink()
    assert report.path == str(tmp_path / "far" / "x.gd")
    assert len(gm.FeatureStore(link)) == 1


def test_permissions_follow_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        gm.compile_features([1], tmp_path / "x.gd")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "x.gd").stat().st_mode) == 0o640


class ManyEdges:
    """A million edges that come as a stream, so that nobody knows how many there are."""

    def __arrow_c_stream__(self, requested_schema=None):
        pa = pytest.importorskip("pyarrow")
        batch = pa.record_batch({"src": np.arange(100_000), "dst": np.arange(100_000)})
        reader = pa.RecordBatchReader.from_batches(batch.schema, iter([batch] * 10))
        return reader.__arrow_c_stream__(requested_schema)


def test_full_disk(small_disk, tmp_path):
    with pytest.raises(OSError, match=r"2,000,000 rows needs about 1.9 MiB here") as caught:
        gm.compile_features(np.zeros(2_000_000, np.uint8), small_disk / "x.gd")
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == str(small_disk)
    with pytest.raises(OSError, match=r"300,000 edges needs about .* and 1.0 MiB are") as caught:
        gm.compile_graph(np.zeros((2, 300_000), int), small_disk / "g.gl")
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == str(small_disk)
    with pytest.raises(OSError, match="No space left on device"):  # nobody knew how many edges
        gm.compile_graph(ManyEdges(), small_disk / "g.gl")
    (tmp_path / "x.csv").write_text("1,2,3,4\n" * 100_000)
    with pytest.raises(OSError, match="No space left on device"):  # nor how many rows
        gm.compile_features(tmp_path / "x.csv", small_disk / "x.gd")
    assert list(small_disk.iterdir()) == []
    gm.compile_features([1], small_disk / "x.gd")
    assert gm.verify(small_disk / "x.gd").ok


def test_interrupt(tmp_path):
    """Ctrl-C during a long compilation ends it, and nothing is left behind."""
    if IS_SANITIZED:
        pytest.skip("too slow under a sanitizer")
    code = """
import sys
import numpy as np
import graphmount as gm
edges = np.random.default_rng(0).integers(0, 1_000_000, (2, 5_000_000))
print("ready", flush=True)
try:
    while True:
        gm.compile_graph(edges, sys.argv[1])
except KeyboardInterrupt:
    print("interrupted")
"""
    child = subprocess.Popen(
        [sys.executable, "-c", CAN_BE_INTERRUPTED + code, tmp_path / "g.gl"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    child.stdout.readline()
    time.sleep(0.3)
    out, _ = interrupt(child)
    assert out == "interrupted\n"
    assert {path.name for path in tmp_path.iterdir()} <= {"g.gl"}
