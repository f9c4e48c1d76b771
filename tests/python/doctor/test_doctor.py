"""The examination: what it measures, files that go away, refusals, and the command."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from interrupting import CAN_BE_INTERRUPTED, interrupt
from run_mode import SUPPORT

from graphmount.cli import main
from graphmount.doctor import examine, probe_file

QUICK = 0.5
MIB = 1 << 20


@dataclass
class Usage:
    """What shutil.disk_usage gives."""

    total: int
    free: int


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
        cwd=SUPPORT,
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
