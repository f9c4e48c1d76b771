"""Cold and warm files: throwing a file out of the page cache, and checking that it is out."""

from __future__ import annotations

import ctypes
import os
import time

_CACHESTAT = 451  # the number of the system call, the same on every architecture
_PIECE_BYTES = 1 << 20
_EVICT_TRIALS = 50


def evict(path: str) -> None:
    """Writes out and evicts the pages of one file. Needs no rights, and spares everybody else.

    Raises:
        RuntimeError: Pages stayed, as those that some process has mapped do.
    """
    for _ in range(_EVICT_TRIALS):
        with open(path, "rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        # Pages that a processor has in hand for the moment stay; they go at the next trial.
        resident = resident_bytes(path)
        if resident is None or resident <= os.path.getsize(path) // 100:
            return
        time.sleep(0.01)
    raise RuntimeError(f"{path}: {resident} bytes stay in the page cache; who has it mapped?")


def warm_up(path: str) -> None:
    """Reads the whole file, so that it is in the page cache if it fits."""
    buffer = bytearray(_PIECE_BYTES)
    with open(path, "rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


def resident_bytes(path: str) -> int | None:
    """How much of the file is in the page cache; None where the kernel cannot tell (before 6.5).

    Asks cachestat(2) itself rather than graphmount: a benchmark does not take its word for it.
    """
    span = (ctypes.c_uint64 * 2)(0, 0)  # from 0 to the end
    counts = (ctypes.c_uint64 * 5)()  # cached, dirty, in writeback, evicted, recently evicted
    with open(path, "rb") as file:
        failed = ctypes.CDLL(None).syscall(
            ctypes.c_long(_CACHESTAT), file.fileno(), span, counts, ctypes.c_uint(0)
        )
    return None if failed else int(counts[0]) * os.sysconf("SC_PAGE_SIZE")
