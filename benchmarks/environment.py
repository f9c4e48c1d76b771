"""Where a benchmark ran: a figure without its machine, disk and versions says nothing."""

from __future__ import annotations

import datetime as dt
import importlib.metadata
import os
import platform
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parents[1]


def environment(folder: str) -> dict[str, object]:
    """Facts about this machine and about the disk that `folder` is on; None where unreadable."""
    memory = _table("/proc/meminfo")
    return {
        "date": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "command": " ".join(sys.orig_argv),
        "graphmount": _version("graphmount"),
        "git_commit": _git("rev-parse", "HEAD"),
        "git_changed_files": len((_git("status", "--porcelain") or "").splitlines()),
        "python": platform.python_version(),
        "numpy": _version("numpy"),
        "torch": _version("torch"),
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "processor": _table("/proc/cpuinfo").get("model name"),
        "cores": len(os.sched_getaffinity(0)),
        "memory": memory.get("MemTotal"),
        "memory_available": memory.get("MemAvailable"),
        "load_average": os.getloadavg()[0],
        **_disk(folder),
    }


def _disk(folder: str) -> dict[str, object]:
    device = os.stat(folder).st_dev
    block = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}").resolve()
    if (block / "partition").exists():
        block = block.parent
    source, file_system = _mount_of(folder)
    return {
        "disk": source,
        "disk_model": _text(block / "device/model") or _driver_of(block),
        "disk_scheduler": _text(block / "queue/scheduler"),
        "disk_readahead": _kibibytes(_text(block / "queue/read_ahead_kb")),
        "file_system": file_system,
    }


def _driver_of(block: Path) -> str | None:
    """Virtual disks have no model, but a driver."""
    driver = (block / "device/driver").resolve()
    return f"none ({driver.name})" if driver.is_dir() else None


def _mount_of(folder: str) -> tuple[str | None, str | None]:
    """Source and type of the file system that holds `folder`."""
    place = os.path.realpath(folder)
    found: tuple[str, str | None, str | None] = ("", None, None)
    for line in (_text(Path("/proc/self/mounts")) or "").splitlines():
        source, point, kind, *_ = line.split()
        is_above = os.path.commonpath([point, place]) == point
        if is_above and len(point) >= len(found[0]):
            found = (point, source, kind)
    return found[1], found[2]


def _kibibytes(text: str | None) -> str | None:
    return None if text is None else f"{text} KiB"


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _git(*arguments: str) -> str | None:
    try:
        run = subprocess.run(
            ["git", "-C", str(_ROOT), *arguments],  # noqa: S607  (whichever git there is)
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return run.stdout.strip()


def _text(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None


def _table(path: str) -> dict[str, str]:
    lines = (_text(Path(path)) or "").splitlines()
    pairs = (line.split(":", 1) for line in lines if ":" in line)
    return {name.strip(): value.strip() for name, value in pairs}
