"""The disk that a folder is on, and how it is mounted. What nobody tells is None."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from graphmount._support.display import Displayed
from graphmount.doctor.machine import read_fact


@dataclass(frozen=True, kw_only=True, repr=False)
class Disk(Displayed):
    """Facts about the disk of a folder; None for what the system does not tell.

    Attributes:
        folder: The path of the folder.
        source: What is mounted there: a device, or a name.
        model: The model of the device; virtual disks have only a driver.
        file_system: The type of the file system.
        mount_options: The options of the mount, as the system lists them.
        scheduler: The I/O schedulers of the device; the one in brackets is in use.
        is_rotational: Whether the device says that it is a spinning disk. Virtual disks often say
            so wrongly.
        read_ahead_bytes: How much the system reads around a page that a program touches.
        total_bytes: The size of the file system.
        free_bytes: How much this user may still write.

    Examples:
        >>> from graphmount.doctor import Disk
        >>> Disk(folder="/data", file_system="nfs4").is_network
        True
    """

    folder: str
    source: str | None = None
    model: str | None = None
    file_system: str | None = None
    mount_options: str | None = None
    scheduler: str | None = None
    is_rotational: bool | None = None
    read_ahead_bytes: int | None = None
    total_bytes: int | None = None
    free_bytes: int | None = None

    @property
    def is_memory(self) -> bool:
        """Whether files here are in memory, and on no disk."""
        return self.file_system in ("tmpfs", "ramfs", "devtmpfs")

    @property
    def is_network(self) -> bool:
        """Whether another machine has the disk."""
        kinds = ("nfs", "cifs", "smb", "lustre", "ceph", "gpfs", "beegfs", "9p", "fuse.s3", "afs")
        return (self.file_system or "").startswith(kinds)


def examine_disk(folder: str | os.PathLike[str]) -> Disk:
    """The disk that a folder is on.

    Raises:
        OSError: There is no such folder.
    """
    place = os.path.realpath(folder)
    device = os.stat(place).st_dev
    numbers = f"{os.major(device)}:{os.minor(device)}"
    block = Path(f"/sys/dev/block/{numbers}").resolve()
    if (block / "partition").exists():
        block = block.parent
    source, file_system, mount_options = _mount_of(place)
    rotational = read_fact(block / "queue/rotational")
    # File systems without a device of their own still have a read-ahead.
    read_ahead = read_fact(block / "queue/read_ahead_kb") or read_fact(
        f"/sys/class/bdi/{numbers}/read_ahead_kb"
    )
    usage = shutil.disk_usage(place)
    return Disk(
        folder=place,
        source=source,
        model=_model_of(block),
        file_system=file_system,
        mount_options=mount_options,
        scheduler=read_fact(block / "queue/scheduler"),
        is_rotational=None if rotational is None else rotational == "1",
        read_ahead_bytes=int(read_ahead) * 1024 if read_ahead and read_ahead.isdigit() else None,
        total_bytes=usage.total,
        free_bytes=usage.free,
    )


def _model_of(block: Path) -> str | None:
    model = read_fact(block / "device/model")
    if model:
        return model
    # A volume is made of disks; virtual disks have no model, but a driver.
    for part in sorted(block.glob("slaves/*")):
        device = part.resolve()
        return _model_of(device.parent if (device / "partition").exists() else device)
    driver = (block / "device/driver").resolve()
    return f"none ({driver.name})" if driver.is_dir() else None


def _mount_of(place: str) -> tuple[str | None, str | None, str | None]:
    """Source, type and options of the file system that holds a folder."""
    found: tuple[str, str | None, str | None, str | None] = ("", None, None, None)
    for line in (read_fact("/proc/self/mounts") or "").splitlines():
        source, point, kind, options, *_ = map(_unescaped, line.split())
        is_above = os.path.commonpath([point, place]) == point
        if is_above and len(point) >= len(found[0]):
            found = (point, source, kind, options)
    return found[1:]


def _unescaped(word: str) -> str:
    r"""As it is: the system writes a space as \040."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), word)
