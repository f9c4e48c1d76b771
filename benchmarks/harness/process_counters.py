"""What the kernel counts for this process: its memory, and what it reads and writes on disk.

Memory comes from /proc/self/smaps_rollup, which is exact; the totals in /proc/self/status lag by up
to some hundred KiB, as much as some benchmarks measure.
"""

from __future__ import annotations


def process_memory() -> dict[str, int]:
    """Anonymous and all resident memory of this process in bytes."""
    with open("/proc/self/smaps_rollup") as file:
        table = dict(line.split(":", 1) for line in file.readlines()[1:])
    return {
        "anonymous": int(table["Anonymous"].split()[0]) * 1024,
        "resident": int(table["Rss"].split()[0]) * 1024,
    }


def disk_bytes() -> tuple[int, int]:
    """Bytes that this process and its ended children have read from disk, and written to it."""
    with open("/proc/self/io") as file:
        table = dict(line.split(":") for line in file)
    return int(table["read_bytes"]), int(table["write_bytes"])


def disk_read_bytes() -> int:
    """Bytes that this process and its ended children have read from disk."""
    return disk_bytes()[0]
