"""Where the bytes are: process memory, page cache and disk, in one report.

A mounted file costs a process no memory of its own, but its pages fill the page cache, and a report
that leaves them out hides what the machine is doing.
"""

from __future__ import annotations

import functools
import resource
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphmount._mount.free_memory import group_limit, physical_bytes, read_table
from graphmount._support.display import Displayed
from graphmount._support.sizes import format_bytes

if TYPE_CHECKING:
    from graphmount._mount.handle import Handle


@dataclass(frozen=True, kw_only=True, repr=False)
class FileMemory(Displayed):
    """How much of one mounted file is in memory.

    Attributes:
        path: The file.
        file_bytes: Its size.
        resident_bytes: What the page cache holds of it, whoever read it; None where the system
            cannot tell. The kernel gives these pages up when it needs the memory.

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_features([[1.0, 2.0]], "x.gd")
        >>> (file,) = gm.memory(gm.FeatureStore("x.gd")).files
        >>> file.file_bytes
        196608
    """

    path: str
    file_bytes: int
    resident_bytes: int | None


@dataclass(frozen=True, kw_only=True, repr=False)
class MemoryReport(Displayed):
    """Memory of this process, of the files it has mounted, and of the machine.

    Fields are None where the system does not tell. Printing a report shows it as a table.

    Attributes:
        anonymous_bytes: Memory that is this process's own: heap, stacks, private copies.
        mapped_bytes: Pages of files that this process has touched through mappings (program code
            included). They are in the page cache as well and are counted there too.
        peak_bytes: The most that anonymous and mapped memory together have been.
        disk_read_bytes: What this process has made the disk deliver, by faults or by reads.
        available_bytes: What the machine could still give out without swapping.
        limit_bytes: The memory limit of this process's control group, page cache included; None if
            there is none.
        files: One entry for each handle given to `memory`.

    Examples:
        >>> import graphmount as gm
        >>> report = gm.memory()
        >>> report.peak_bytes > 0
        True
    """

    anonymous_bytes: int | None
    mapped_bytes: int | None
    peak_bytes: int | None
    disk_read_bytes: int | None
    available_bytes: int | None
    limit_bytes: int | None
    files: tuple[FileMemory, ...]

    def __str__(self) -> str:
        rows = [
            ("process memory of its own", self.anonymous_bytes),
            ("mapped file pages touched", self.mapped_bytes),
            ("peak of both", self.peak_bytes),
            ("read from disk", self.disk_read_bytes),
            ("available on the machine", self.available_bytes),
        ]
        if self.limit_bytes is not None:
            rows.append(("limit of the control group", self.limit_bytes))
        width = max(len(name) for name, _ in rows)
        lines = [f"{name:<{width}}  {format_bytes(size):>10}" for name, size in rows]
        for file in self.files:
            resident, size = format_bytes(file.resident_bytes), format_bytes(file.file_bytes)
            lines.append(f"{file.path}: {resident} of {size} in the page cache")
        return "\n".join(lines)


def memory(*handles: Handle[Any]) -> MemoryReport:
    """Reports process memory and, for each mounted file given, what the page cache holds of it.

    Args:
        *handles: `Graph` and `FeatureStore` objects.

    Returns:
        A `MemoryReport`.

    Raises:
        ClosedError: A handle has been closed.

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_features([[1.0, 2.0], [3.0, 4.0]], "x.gd")
        >>> x = gm.FeatureStore("x.gd")
        >>> print(str(gm.memory(x)).splitlines()[0].split("  ")[0])
        process memory of its own
    """
    for handle in handles:
        if not hasattr(handle, "resident_bytes"):
            raise TypeError(f"memory takes mounted graphs and features, not {handle!r}")
    status = read_table("/proc/self/status")
    peak = status.get("VmHWM", _peak_by_getrusage())
    return MemoryReport(
        anonymous_bytes=status.get("RssAnon"),
        mapped_bytes=status.get("RssFile"),
        peak_bytes=peak,
        disk_read_bytes=read_table("/proc/self/io").get("read_bytes"),
        available_bytes=read_table("/proc/meminfo").get("MemAvailable"),
        limit_bytes=group_limit(),
        files=tuple(
            FileMemory(
                path=handle.path,
                file_bytes=handle.file_bytes,
                resident_bytes=handle.resident_bytes(),
            )
            for handle in handles
        ),
    )


def _peak_by_getrusage() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


@functools.cache
def usable_bytes() -> int:
    """How much memory this process could use at most, as it was when first asked."""
    return min(physical_bytes(), group_limit() or sys.maxsize)
