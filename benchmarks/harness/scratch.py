"""The folder that benchmark files go to: outside the clone, with room enough, gone afterwards."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_SPARE_BYTES = 1 << 30


def free_bytes(parent: str | None) -> int:
    """What is free in `parent`, which is made if it is missing, or where temporary files go."""
    where = parent or tempfile.gettempdir()
    os.makedirs(where, exist_ok=True)
    return shutil.disk_usage(where).free


@contextlib.contextmanager
def scratch_folder(parent: str | None, needed_bytes: int) -> Iterator[str]:
    """A new folder in `parent` (or where temporary files go), removed with all that is in it.

    `parent` is made if it is missing. Exits with a message if less than 1 GiB would be left free.
    """
    where, free = parent or tempfile.gettempdir(), free_bytes(parent)
    if free < needed_bytes + _SPARE_BYTES:
        sys.exit(
            f"{where} has {free / 2**30:.1f} GiB free; this needs {needed_bytes / 2**30:.1f} GiB "
            "and 1 GiB to spare. Choose another place by --folder, or smaller files by --quick."
        )
    with tempfile.TemporaryDirectory(prefix="graphmount-bench-", dir=where) as folder:
        yield folder


def require_memory(needed_bytes: int, purpose: str) -> None:
    """Exits with a message if the machine has not that much memory to give out."""
    with open("/proc/meminfo") as file:
        table = dict(line.split(":", 1) for line in file)
    available = int(table["MemAvailable"].split()[0]) * 1024
    if available < needed_bytes:
        sys.exit(
            f"{purpose} takes about {needed_bytes / 2**30:.1f} GiB of memory, and "
            f"{available / 2**30:.1f} GiB are available. Choose smaller files by --quick."
        )
