"""Facts about machine and disk, and the probe of a disk against its twin."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

import graphmount as gm
from graphmount import _core
from graphmount.doctor.disk import examine_disk
from graphmount.doctor.machine import examine_machine

MIB = 1 << 20


def pattern_twin(count, offset, key):
    """The pattern by its definition, a word at a time, in Python's own numbers."""
    mask = (1 << 64) - 1

    def mixed(bits):
        bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9 & mask
        bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB & mask
        return bits ^ (bits >> 31)

    first = offset // 8
    return [mixed(key ^ ((i + 1) * 0xD1342543DE82EF95 & mask)) for i in range(first, first + count)]


def test_machine():
    found = examine_machine()
    assert found.cores >= 1
    assert found.memory_bytes > 1 << 20
    assert found.page_bytes in (4096, 16384, 65536)
    assert found.usable_bytes <= found.memory_bytes
    if sys.platform == "linux":
        assert found.system.startswith("Linux ")
        assert found.available_bytes <= found.memory_bytes
        assert found.cores == len(os.sched_getaffinity(0))


def test_disk(tmp_path):
    found = examine_disk(tmp_path)
    assert found.folder == os.path.realpath(tmp_path)
    assert 0 < found.free_bytes <= found.total_bytes
    if sys.platform == "linux":
        assert found.file_system
        assert "rw" in found.mount_options.split(",")
    if os.path.isdir("/proc/self") and sys.platform == "linux":
        assert examine_disk("/proc/self").file_system == "proc"
    with pytest.raises(FileNotFoundError):
        examine_disk(tmp_path / "nothing")


def test_a_system_that_tells_nothing(tmp_path, monkeypatch):
    def refuse(path, *_, **__):
        raise FileNotFoundError(str(path))

    monkeypatch.setattr(Path, "read_text", refuse)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    machine, disk = examine_machine(), examine_disk(tmp_path)
    assert machine.available_bytes is None
    assert machine.limit_bytes is None
    assert machine.huge_pages is None
    assert machine.cores == os.cpu_count()
    assert disk.file_system is None
    assert disk.read_ahead_bytes is None
    assert disk.free_bytes > 0


def test_mount_points_with_spaces(tmp_path, monkeypatch):
    from graphmount.doctor import disk

    place = tmp_path / "two words"
    place.mkdir()
    listed = f"/dev/a / ext4 rw 0 0\n/dev/b {tmp_path}/two\\040words xfs rw,noatime 0 0\n"
    monkeypatch.setattr(disk, "read_fact", lambda path: listed if "mounts" in str(path) else None)
    found = examine_disk(place)
    assert (found.source, found.file_system, found.mount_options) == ("/dev/b", "xfs", "rw,noatime")
    assert examine_disk(tmp_path).source == "/dev/a"


def test_pattern_against_its_twin():
    words = np.empty(1000, np.uint64)
    key = 0xFEDCBA9876543210
    _core.fill_probe_pattern(words, 4096, key)
    assert words.tolist() == pattern_twin(1000, 4096, key)


@pytest.mark.parametrize("way", ["uring", "pread", "mapped"])
def test_probe_checks_what_it_reads(tmp_path, way):
    size, key = 4 * MIB, 7
    words = np.empty(size // 8, np.uint64)
    _core.fill_probe_pattern(words, 0, key)
    words.tofile(tmp_path / "file")
    probe = _core.DiskProbe(os.fsencode(tmp_path / "file"), key)
    options = {"depth": 4, "read_bytes": 4096, "in_order": False}
    try:
        reads, took = probe.run(way, seconds=0.05, **options)
    except OSError as error:
        pytest.skip(f"no {way} here: {error}")
    assert reads > 0
    assert took > 0
    if way == "mapped":
        assert probe.run(way, seconds=60, **options)[0] == size // 4096
    with pytest.raises(gm.errors.FileChangedError, match="is not what was written there"):
        _core.DiskProbe(os.fsencode(tmp_path / "file"), key + 1).run(way, seconds=1, **options)
    with pytest.raises(ValueError, match="way is 'mapped', 'pread' or 'uring', not 'mmap'"):
        probe.run("mmap", seconds=1, **options)
