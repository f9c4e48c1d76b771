"""The machine as this process sees it: cores, memory and its limit, pages."""

from __future__ import annotations

import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path

from graphmount._mount.free_memory import physical_bytes
from graphmount._mount.memory_report import memory
from graphmount._support.display import Displayed


@dataclass(frozen=True, kw_only=True, repr=False)
class Machine(Displayed):
    """Facts about a machine; None for what the system does not tell.

    Attributes:
        system: The kernel, its version and the architecture.
        processor: The model of the processor.
        cores: The number of cores that this process may use.
        memory_bytes: The size of the machine's memory.
        available_bytes: How much memory programs could still get without swapping.
        limit_bytes: The memory limit of this process's control group, page cache included; None if
            there is none.
        page_bytes: The size of a page.
        huge_pages: "always", "madvise" (for programs that ask for it) or "never".

    Examples:
        >>> from graphmount.doctor import Machine
        >>> laptop = Machine(cores=8, memory_bytes=16 << 30, limit_bytes=2 << 30)
        >>> laptop.usable_bytes == 2 << 30
        True
    """

    system: str = "unknown"
    processor: str | None = None
    cores: int = 1
    memory_bytes: int | None = None
    available_bytes: int | None = None
    limit_bytes: int | None = None
    page_bytes: int = 4096
    huge_pages: str | None = None

    @property
    def usable_bytes(self) -> int | None:
        """What this process can have: the least of memory, what is available, and the limit."""
        known = (self.memory_bytes, self.available_bytes, self.limit_bytes)
        return min((size for size in known if size is not None), default=None)


def examine_machine() -> Machine:
    """The machine that this process runs on."""
    report = memory()
    return Machine(
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        processor=_processor(),
        cores=_cores(),
        memory_bytes=physical_bytes(),
        available_bytes=report.available_bytes,
        limit_bytes=report.limit_bytes,
        page_bytes=os.sysconf("SC_PAGE_SIZE"),
        huge_pages=_huge_pages(),
    )


def read_fact(path: str | Path) -> str | None:
    """The text of a file of the system, without the space around it; None if it cannot be read."""
    try:
        return Path(path).read_text(errors="replace").strip()
    except OSError:
        return None


def _cores() -> int:
    # macOS has no such call.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _processor() -> str | None:
    found = re.search(r"^model name\s*:\s*(.+)$", read_fact("/proc/cpuinfo") or "", re.MULTILINE)
    return found[1] if found else platform.processor() or None


def _huge_pages() -> str | None:
    """The word in brackets of "always [madvise] never"."""
    found = re.search(r"\[(\w+)\]", read_fact("/sys/kernel/mm/transparent_hugepage/enabled") or "")
    return found[1] if found else None
