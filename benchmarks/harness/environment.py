"""Where a benchmark ran: a figure without its machine, disk and versions says nothing."""

from __future__ import annotations

import datetime as dt
import importlib.metadata
import os
import platform
import subprocess
import sys
from pathlib import Path

from graphmount._support.sizes import format_bytes
from graphmount.doctor.disk import examine_disk
from graphmount.doctor.machine import examine_machine

_ROOT = Path(__file__).parents[2]


def environment(folder: str) -> dict[str, object]:
    """Facts about this machine and about the disk that `folder` is on; None where unreadable."""
    machine, disk = examine_machine(), examine_disk(folder)
    return {
        "date": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "command": " ".join(sys.orig_argv),
        "graphmount": _version("graphmount"),
        "git_commit": _git("rev-parse", "HEAD"),
        "git_changed_files": len((_git("status", "--porcelain") or "").splitlines()),
        "python": platform.python_version(),
        "numpy": _version("numpy"),
        "torch": _version("torch"),
        "kernel": machine.system,
        "processor": machine.processor,
        "cores": machine.cores,
        "memory": _size(machine.memory_bytes),
        "memory_available": _size(machine.available_bytes),
        "memory_limit": _size(machine.limit_bytes),
        "load_average": os.getloadavg()[0],
        "disk": disk.source,
        "disk_model": disk.model,
        "disk_scheduler": disk.scheduler,
        "disk_readahead": _size(disk.read_ahead_bytes),
        "file_system": disk.file_system,
        "mount_options": disk.mount_options,
    }


def _size(size: int | None) -> str | None:
    return None if size is None else format_bytes(size)


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
