"""How much memory there is for this process: limits of control groups, and what is free now.

Both versions of control groups are read, and all groups on the way up: the tightest counts. Pages
of files that the system keeps in memory count as free, since it gives them up when memory is
wanted.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, kw_only=True)
class FreeMemory:
    """What could be taken now without swapping.

    Attributes:
        num_bytes: How much that is.
        place: Whose memory is short: "on the machine" or "in the control group".
    """

    num_bytes: int
    place: str


@dataclass(frozen=True)
class _Version:
    """Where a version of control groups has its files, and what they are called."""

    root: Path
    limit: str
    usage: str
    cached: tuple[str, ...]


_V1 = _Version(
    Path("/sys/fs/cgroup/memory"),
    "memory.limit_in_bytes",
    "memory.usage_in_bytes",
    ("total_inactive_file", "total_active_file"),
)
_V2 = _Version(
    Path("/sys/fs/cgroup"), "memory.max", "memory.current", ("inactive_file", "active_file")
)


def free_memory() -> FreeMemory:
    """What this process could take now, of the machine and of its control groups."""
    available = read_table("/proc/meminfo").get("MemAvailable")
    # If the system does not say, assume half of all memory.
    free = FreeMemory(
        num_bytes=physical_bytes() // 2 if available is None else available, place="on the machine"
    )
    for folder, version in _groups():
        left = _left_in(folder, version)
        if left is not None and left < free.num_bytes:
            free = FreeMemory(num_bytes=left, place="in the control group")
    return free


def group_limit() -> int | None:
    """The tightest memory limit of this process's control group or one above it (v1 and v2)."""
    limits = (_read_limit(folder / version.limit) for folder, version in _groups())
    return min((limit for limit in limits if limit is not None), default=None)


def physical_bytes() -> int:
    """All of the machine's memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def read_table(path: str | Path) -> dict[str, int]:
    """Entries like "RssAnon:  1234 kB" or "active_file 1234" of a file; empty if there is none."""
    text = _read(path)
    table = {}
    for line in text.splitlines():
        name, *words = line.replace(":", " ").split()[:3] or [""]
        if words and words[0].isdigit():
            table[name] = int(words[0]) * (1024 if words[-1] == "kB" else 1)
    return table


def _groups() -> Iterator[tuple[Path, _Version]]:
    """The folders of this process's control groups of memory, each with all that are above it."""
    for entry in _read("/proc/self/cgroup").splitlines():
        _, controllers, group = entry.split(":", 2)
        if controllers == "":
            version = _V2
        elif "memory" in controllers.split(","):
            version = _V1
        else:
            continue
        folder = version.root / group.lstrip("/")
        for place in (folder, *folder.parents):
            if place.is_relative_to(version.root):
                yield place, version


def _left_in(folder: Path, version: _Version) -> int | None:
    """What may still be taken in a group; None if it has no limit, or does not tell."""
    limit, usage = _read_limit(folder / version.limit), _read(folder / version.usage).strip()
    if limit is None or not usage.isdigit():
        return limit
    table = read_table(folder / "memory.stat")
    cached = sum(table.get(name, 0) for name in version.cached)
    return min(limit, max(0, limit - int(usage) + cached))


def _read_limit(path: Path) -> int | None:
    text = _read(path).strip()
    # "No limit" is the word max in v2 and a number close to 2**63 in v1.
    return int(text) if text.isdigit() and int(text) < physical_bytes() else None


def _read(path: str | Path) -> str:
    """The text of a file of the system; empty where there is none."""
    try:
        return Path(path).read_text()
    except OSError:
        return ""
