"""The memory report, and that mounting takes none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from run_mode import IS_SANITIZED

import graphmount as gm


def test_report(features_path, graph_path):
    store, graph = gm.FeatureStore(features_path), gm.Graph(graph_path)
    report = gm.memory(store, graph)
    assert [file.path for file in report.files] == [store.path, graph.path]
    assert report.files[0].file_bytes == features_path.stat().st_size
    assert report.files[0].resident_bytes == store.resident_bytes()
    assert report.peak_bytes > 0
    assert store.memory().files == report.files[:1]
    text = str(report)
    assert f"{features_path}: " in text
    assert "in the page cache" in text
    with pytest.raises(TypeError, match="not 3"):
        gm.memory(3)
    if sys.platform == "linux":
        assert report.anonymous_bytes > 1 << 20
        assert report.mapped_bytes > 0
        assert report.peak_bytes >= report.anonymous_bytes
        assert report.available_bytes > 0
        assert report.disk_read_bytes is None or report.disk_read_bytes >= 0


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_anonymous_memory_is_told_from_mapped(tmp_path):
    if IS_SANITIZED:
        pytest.skip("sanitizers have memory of their own")
    gm.compile_features(np.ones((48 << 10, 256), np.float32), tmp_path / "x.gd")  # 48 MiB
    # In a process of its own: here, the copy might fit into memory that was freed before.
    code = """
import sys
import numpy as np
import graphmount as gm
before = gm.memory()
view = gm.FeatureStore(sys.argv[1]).numpy()
view.sum()
touched = gm.memory()
copy = np.array(view)
copied = gm.memory()
print(touched.mapped_bytes - before.mapped_bytes)
print(touched.anonymous_bytes - before.anonymous_bytes)
print(copied.anonymous_bytes - touched.anonymous_bytes)
"""
    result = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "x.gd"], capture_output=True, text=True, check=True
    )
    mapped, anonymous, copied = map(int, result.stdout.split())
    assert mapped > 47 << 20
    assert anonymous < 8 << 20
    assert copied > 47 << 20


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_mounting_takes_no_memory(tmp_path):
    """A file of 1 GiB (mostly a hole) adds under 1 MiB to the process, views included."""
    if IS_SANITIZED:
        pytest.skip("sanitizers have memory of their own for mappings")
    path = tmp_path / "x.gd"
    gm.compile_features(np.broadcast_to(np.float32(0), (1 << 20, 256)), path)
    code = """
import sys
import graphmount as gm
gm.FeatureStore(sys.argv[2])  # what the first use of anything costs
before = gm.memory()
store = gm.FeatureStore(sys.argv[1])
view = store.numpy()
after = gm.memory()
print(after.anonymous_bytes - before.anonymous_bytes, after.mapped_bytes - before.mapped_bytes)
"""
    gm.compile_features([[1.0]], tmp_path / "small.gd")
    result = subprocess.run(
        [sys.executable, "-c", code, path, tmp_path / "small.gd"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert all(int(number) < 1 << 20 for number in result.stdout.split())


def test_control_group_limit(monkeypatch):
    """Both versions of control groups, the tightest limit on the way up, and none."""
    from graphmount._mount import free_memory

    limits = {
        "/proc/self/cgroup": "0::/a/b\n4:cpu,memory:/job\n",
        "/sys/fs/cgroup/a/b/memory.max": "max\n",
        "/sys/fs/cgroup/a/memory.max": "5000000\n",
        "/sys/fs/cgroup/memory/job/memory.limit_in_bytes": "9223372036854771712\n",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes": "6000000\n",
    }

    def read_text(path):
        try:
            return limits[str(path)]
        except KeyError:
            raise FileNotFoundError(str(path)) from None

    monkeypatch.setattr(Path, "read_text", read_text)
    assert free_memory.group_limit() == 5_000_000
    del limits["/sys/fs/cgroup/a/memory.max"]
    assert free_memory.group_limit() == 6_000_000
    limits.clear()
    assert free_memory.group_limit() is None
    report = gm.memory()  # a system without /proc
    assert report.anonymous_bytes is None
    assert report.peak_bytes > 0
    assert "unknown" in str(report)
