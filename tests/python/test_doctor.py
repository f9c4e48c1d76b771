"""The examination: facts, the probe against its twin, files that go away, and the command."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from interrupting import CAN_BE_INTERRUPTED, interrupt

import graphmount as gm
from graphmount import _core
from graphmount.cli import main
from graphmount.doctor import examine, probe_file
from graphmount.doctor.dataset_examination import examine_dataset
from graphmount.doctor.disk import examine_disk
from graphmount.doctor.estimate import bytes_under_way
from graphmount.doctor.machine import examine_machine

QUICK = 0.5
MIB = 1 << 20


@dataclass
class Usage:
    """What shutil.disk_usage gives."""

    total: int
    free: int


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
    with pytest.raises(ValueError, match="called mmap"):
        probe.run("mmap", seconds=1, **options)


def test_examine(tmp_path):
    done = []
    report = examine(tmp_path, seconds=QUICK, progress=lambda *now: done.append(now))
    assert list(tmp_path.iterdir()) == []
    figures = report.figures
    assert figures.file == "a temporary file"
    assert figures.file_bytes == 64 * MIB
    assert figures.sequential_bytes_per_second > 0
    assert figures.write_bytes_per_second > 0
    depths = {way: [f.depth for f in figures.reads if f.way == way] for way in ("uring", "pread")}
    assert depths["pread"] == [1, 4, 16, 32]
    assert depths["uring"] == ([1, 4, 16, 32, 64, 128, 256] if figures.io_uring.is_allowed else [])
    assert {f.depth for f in figures.reads if f.way == "mapped"} == {1, report.machine.cores}
    assert all(figure.reads_per_second > 0 for figure in figures.reads)
    assert figures.rows.way == ("uring" if figures.io_uring.is_allowed else "pread")
    assert report.dataset is None
    assert report.estimate is None
    assert "io_uring" in [finding.subject for finding in report.findings]
    assert done == sorted(done)
    assert done[-1][0] <= done[-1][1] == 1000
    json.dumps(dataclasses.asdict(report))


def test_what_is_refused(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    for seconds in (0, -1, 1e9, float("nan")):
        with pytest.raises(ValueError, match=r"not from 0\.1 to 3600"):
            examine(tmp_path, seconds=seconds)
    with pytest.raises(NotADirectoryError, match="Not a folder"):
        examine(tmp_path / "file")
    with pytest.raises(FileNotFoundError, match="No such folder"):
        examine(tmp_path / "nothing")
    with pytest.raises(FileNotFoundError):
        examine(dataset=tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(total=100 * MIB, free=50 * MIB))
    with pytest.raises(OSError, match=r"room for 50\.0 MiB; make room") as caught:
        examine(tmp_path, seconds=QUICK)
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == str(tmp_path)
    # Little room makes a small file.
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(total=100 * MIB, free=100 * MIB))
    assert examine(tmp_path, seconds=QUICK).figures.file_bytes == 48 * MIB


def test_a_disk_that_fills_up(tmp_path, monkeypatch):
    write = os.pwrite

    def full_after(limit):
        def pwrite(descriptor, content, offset):
            if offset + len(content) > limit:
                raise OSError(errno.ENOSPC, "No space left on device")
            return write(descriptor, content, offset)

        monkeypatch.setattr(os, "pwrite", pwrite)

    full_after(40 * MIB)
    assert examine(tmp_path, seconds=QUICK).figures.file_bytes == 32 * MIB
    full_after(20 * MIB)
    with pytest.raises(OSError, match=r"there is room for 16\.0 MiB"):
        examine(tmp_path, seconds=QUICK)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_may_not_be_written_to(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(
            errno.EACCES, "Permission denied", "secret"
        )  # root may write anywhere

    monkeypatch.setattr(probe_file.tempfile, "TemporaryFile", refuse)
    with pytest.raises(PermissionError, match="with a temporary file in this folder; name another"):
        examine(tmp_path, seconds=QUICK)


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="needs a tmpfs")  # noqa: S108
def test_tmpfs():
    if shutil.disk_usage("/dev/shm").free < 256 * MIB:  # noqa: S108
        pytest.skip("needs 256 MiB")
    report = examine("/dev/shm", seconds=QUICK)  # noqa: S108
    if report.disk.file_system != "tmpfs":
        pytest.skip("not a tmpfs")
    assert "no disk" in [finding.subject for finding in report.findings]


def run_script(code, *arguments):
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parent,
        timeout=120,
    )


@pytest.mark.skipif(sys.platform != "linux", reason="needs seccomp")
@pytest.mark.parametrize("code", [errno.EPERM, errno.ENOSYS])
def test_io_uring_that_is_refused(tmp_path, code):
    script = f"""
import sys
from refused_calls import IO_URING_SETUP, refuse
from graphmount.cli import main
try:
    refuse(IO_URING_SETUP, {code})
except OSError:
    sys.exit(77)
sys.exit(main(["doctor", sys.argv[1], "--seconds", "0.5", "--json", sys.argv[2]]))
"""
    result = run_script(script, tmp_path, tmp_path / "report.json")
    if result.returncode == 77:
        pytest.skip("filters may not be set here")
    assert result.returncode == 0, result.stderr
    name = errno.errorcode[code]
    printed = " ".join(result.stdout.split())
    assert f"not allowed ({name})" in printed
    report = json.loads((tmp_path / "report.json").read_text())
    refusal = report["figures"]["io_uring"]
    assert not refusal["is_allowed"]
    setting = Path("/proc/sys/kernel/io_uring_disabled")
    if not setting.exists() or setting.read_text().strip() == "0":
        assert "seccomp" in refusal["reason"]
    assert {read["way"] for read in report["figures"]["reads"]} == {"pread", "mapped"}


def test_interrupted(tmp_path):
    """Ctrl-C in the middle of it: the status says so, and no file is left."""
    script = f"""{CAN_BE_INTERRUPTED}
import sys
from graphmount.cli import main
sys.exit(main(["doctor", sys.argv[1], "--seconds", "60"]))
"""
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stderr=subprocess.PIPE, text=True
    ) as child:
        deadline = time.monotonic() + 60
        while not has_probe_file(child.pid, tmp_path) and time.monotonic() < deadline:
            time.sleep(0.02)
        _, said = interrupt(child)
    assert child.returncode == 130, said
    assert "graphmount: interrupted" in said
    assert list(tmp_path.iterdir()) == []


def has_probe_file(pid, folder):
    """Whether a process has begun to write to a file there; without /proc, after a while."""
    links = Path(f"/proc/{pid}/fd")
    if not links.is_dir():
        time.sleep(2)
        return True
    for link in links.iterdir():
        try:
            if os.readlink(link).startswith(str(folder)) and link.stat().st_size > 0:
                return True
        except OSError:
            continue
    return False


@pytest.fixture(scope="module")
def skewed(tmp_path_factory):
    """Datasets of 20,000 nodes of which some are in many lists, hot first and as given."""
    generator = np.random.default_rng(5)
    num_nodes, num_edges = 20_000, 200_000
    src = (generator.random(num_edges) ** 4 * num_nodes).astype(np.int64)
    src = generator.permutation(num_nodes)[src]
    dst = generator.integers(0, num_nodes, num_edges)
    x = np.zeros((num_nodes, 16), np.float32)
    folder = tmp_path_factory.mktemp("skewed")
    for order in ("hot", "given"):
        gm.compile_dataset(
            folder / order,
            edges=(src, dst),
            num_nodes=num_nodes,
            features={"x": x},
            edge_features={"e": np.zeros((num_edges, 2), np.int8)},
            splits={"train": np.arange(0, num_nodes, 4)},
            order=order,
        )
    return folder


def look_at(path, *, usable_bytes=None, seconds=60):
    return examine_dataset(
        gm.Dataset(path), usable_bytes=usable_bytes, seconds=seconds, report=lambda _: None
    )


@pytest.mark.parametrize("order", ["hot", "given"])
def test_dataset_facts_against_counting(skewed, order):
    dataset = gm.Dataset(skewed / order)
    facts = look_at(skewed / order)
    assert (facts.num_nodes, facts.is_hot_first) == (20_000, order == "hot")
    assert [(t.name, t.rows, t.row_bytes, t.dtype, t.of_edges) for t in facts.tables] == [
        ("x", 20_000, 64, "float32", False),
        ("e", 200_000, 2, "int8", True),
    ]
    lists = dataset.graph.neighbor_lists("in")
    assert facts.list_bytes == lists.indptr.nbytes + lists.indices.nbytes
    assert facts.batch.num_seeds == 1024
    # The twin: batches like these, nodes ranked by how often they are in lists.
    appearances = np.bincount(lists.indices, minlength=20_000)
    hottest = np.argsort(-appearances, kind="stable")
    generator = np.random.default_rng(1)
    train = dataset.splits["train"]
    batches = [
        dataset.graph.sample_neighbors(generator.choice(train, 1024, replace=False), [15, 10, 5])
        for _ in range(8)
    ]
    assert facts.batch.num_nodes == pytest.approx(
        np.mean([len(batch.nodes) for batch in batches]), rel=0.03
    )
    for cached in (0.05, 0.25, 0.5):
        is_hot = np.zeros(20_000, bool)
        is_hot[hottest[: int(cached * 20_000)]] = True
        served = np.mean([is_hot[batch.nodes].mean() for batch in batches])
        assert facts.served_share(cached) == pytest.approx(served, abs=0.03)
        if order == "hot":
            curve = dict(facts.appearances)
            nearest = min(curve, key=lambda share, to=cached: abs(share - to))
            first = lists.indices < round(nearest * 20_000)
            assert curve[nearest] == pytest.approx(first.mean())
    assert facts.served_share(0) == 0
    assert facts.served_share(1) == 1


def test_batches_that_do_not_fit(skewed):
    """Fewer seeds where batches under way would take more than half of the memory, or the time."""
    whole = look_at(skewed / "hot")
    assert (whole.batch.num_seeds, whole.batch.smaller_because) == (1024, None)
    needed = bytes_under_way(whole.batch, 64)
    assert needed > 5 * 64 * whole.batch.num_nodes
    less = look_at(skewed / "hot", usable_bytes=2 * needed - needed // 10)
    assert (less.batch.num_seeds, less.batch.smaller_because) == (256, "memory")
    assert bytes_under_way(less.batch, 64) < needed
    short = look_at(skewed / "hot", seconds=1e-9)
    assert (short.batch.num_seeds, short.batch.smaller_because) == (16, "time")


def test_datasets_that_tell_less(tmp_path):
    edges = ([0, 1, 2], [1, 2, 0])
    gm.compile_dataset(tmp_path / "in", edges=edges, neighbors="in", order="given")
    gm.compile_dataset(tmp_path / "out", edges=edges, neighbors="out", order="given")
    gm.compile_dataset(tmp_path / "none", edges=([], []), num_nodes=0, splits={"train": []})
    for name in ("in", "out"):
        facts = look_at(tmp_path / name)
        assert (facts.batch.num_seeds, facts.batch.smaller_because) == (3, "seeds")
        assert facts.served is None
        assert facts.served_share(0.25) == 0.25
    facts = look_at(tmp_path / "none")
    assert facts.batch is None


def test_command_for_a_dataset(skewed, tmp_path, capsys):
    out = tmp_path / "report.json"
    arguments = ["doctor", "--dataset", str(skewed / "hot"), "--seconds", "0.5", "--json", str(out)]
    assert main(arguments) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    text = captured.out
    for part in (
        "Machine\n",
        "Scattered reads of 4 KiB in a second",
        "io_uring",
        "page faults, mmap",
        "neighbor lists",
        "Advice\n",
        "everything fits",
    ):
        assert part in text
    assert re.search(r"x +20,000 +64 B +float32 +1\.2 MiB", text)
    report = json.loads(out.read_text())
    assert report["dataset"]["batch"]["num_seeds"] in (16, 64, 256, 1024)
    assert report["figures"]["file"] == "a temporary file"
    assert report["disk"]["folder"] == os.path.realpath(skewed / "hot")
    assert report["estimate"]["disk_seconds"] == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.json"]


def test_a_large_table_is_read_and_nothing_is_written(tmp_path, monkeypatch):
    from graphmount.doctor import examination

    x = np.random.default_rng(0).random((1 << 15, 64))  # 16 MiB
    gm.compile_dataset(tmp_path / "d", edges=([0], [1]), num_nodes=1 << 15, features={"x": x})
    path = os.path.realpath(tmp_path / "d/features/x.gd")
    monkeypatch.setattr(examination, "_LEAST_TABLE_BYTES", 16 * MIB)
    monkeypatch.setattr(examination, "temporary_probe_file", None)
    report = examine(dataset=tmp_path / "d", seconds=QUICK)
    assert report.figures.file == path
    assert report.figures.write_bytes_per_second is None
    monkeypatch.undo()
    # Who names a folder wants to know about that one.
    monkeypatch.setattr(examination, "_LEAST_TABLE_BYTES", 16 * MIB)
    report = examine(tmp_path, dataset=tmp_path / "d", seconds=QUICK)
    assert report.figures.file == "a temporary file"
    # A file that is mostly holes says nothing about a disk.
    zeros = np.broadcast_to(np.float32(0), (1 << 20, 16))
    gm.compile_dataset(tmp_path / "z", edges=([0], [1]), num_nodes=1 << 20, features={"x": zeros})
    with open(tmp_path / "z/features/x.gd", "r+b") as file:
        size = os.path.getsize(file.name)
        start = file.read(1 << 16)
        file.truncate(0)
        file.seek(0)
        file.write(start)
        file.truncate(size)
    if os.stat(tmp_path / "z/features/x.gd").st_blocks * 512 < size // 2:
        report = examine(dataset=tmp_path / "z", seconds=QUICK)
        assert report.figures.file == "a temporary file"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "No such folder"),
        (["--dataset", "."], "dataset.json"),
        (["--json", "nothing/report.json"], "No such folder"),
        (["--json", "."], "takes a file"),
    ],
)
def test_command_refuses(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["doctor", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_command_refuses_odd_seconds(capsys):
    for seconds in ("0", "many"):
        with pytest.raises(SystemExit):
            main(["doctor", "--seconds", seconds])
        assert "is not from 0.1 to 3600" in capsys.readouterr().err
