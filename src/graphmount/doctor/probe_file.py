"""The file that the disk is measured with: written where that is to be done, and never left there.

It has no name from the beginning, so that the system frees it with the process, however that ends.
Its content cannot be compressed, and is a function of the place, so that reads can be checked.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from graphmount import _core
from graphmount._support.sizes import format_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MOST_BYTES = 1 << 30
_LEAST_BYTES = 32 << 20
_PIECE_BYTES = 16 << 20
_SYNC_BYTES = 64 << 20
_FULL_SECONDS = 30.0  # an examination of this length gets the largest file


@dataclass(frozen=True)
class ProbeFile:
    """A file to read from."""

    path: str
    size: int
    key: int | None
    write_bytes_per_second: float | None


@contextmanager
def temporary_probe_file(
    folder: str, *, seconds: float, report: Callable[[float], None]
) -> Iterator[ProbeFile]:
    """Writes a file of up to 1 GiB, less where space or time is short, and forgets it in the end.

    Args:
        folder: Where.
        seconds: Of the whole examination, of which writing takes a quarter at the most.
        report: Called with the share that is done.

    Raises:
        OSError: It cannot be written; with ENOSPC if there is no room.
    """
    size = _wanted_bytes(folder, seconds)
    try:
        file = tempfile.TemporaryFile(dir=folder, prefix=".graphmount-doctor-", buffering=0)  # noqa: SIM115
    except OSError as error:
        message = (
            f"{error.strerror}: the disk is measured with a temporary file in this folder; name "
            "another one"
        )
        raise OSError(error.errno, message, folder) from None
    with file:
        key = secrets.randbits(64)
        written, took = _write(file.fileno(), size, key, seconds / 4, report)
        if written < _LEAST_BYTES:
            raise _no_space(folder, written)
        link = "/proc/self/fd" if sys.platform == "linux" else "/dev/fd"
        yield ProbeFile(f"{link}/{file.fileno()}", written, key, written / max(took, 1e-9))


def _wanted_bytes(folder: str, seconds: float) -> int:
    wanted = int(min(1.0, seconds / _FULL_SECONDS) * _MOST_BYTES)
    free = shutil.disk_usage(folder).free
    # Half of what is free stays so: others may be writing too.
    size = min(max(wanted, 2 * _LEAST_BYTES), free // 2) // _PIECE_BYTES * _PIECE_BYTES
    if size < _LEAST_BYTES:
        raise _no_space(folder, free)
    return size


def _no_space(folder: str, room: int) -> OSError:
    message = (
        f"{os.strerror(errno.ENOSPC)}: measuring the disk needs a temporary file of "
        f"{format_bytes(_LEAST_BYTES)} at least, and there is room for {format_bytes(room)}; make "
        "room, or name another folder of the same disk"
    )
    return OSError(errno.ENOSPC, message, folder)


def _write(
    descriptor: int, size: int, key: int, seconds: float, report: Callable[[float], None]
) -> tuple[int, float]:
    """How much was written, all of it on the disk, and the time that this took."""
    words = np.empty(_PIECE_BYTES // 8, np.uint64)
    written, took, begin = 0, 0.0, time.monotonic()
    while written < size:
        _core.fill_probe_pattern(words, written, key)
        start = time.monotonic()
        try:
            _write_all(descriptor, words.view(np.uint8).data, written)
        except OSError as error:
            # The cause is a quota, or another program that took the space. What was written so far
            # may be enough.
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            break
        written += _PIECE_BYTES
        if written % _SYNC_BYTES == 0 or written == size:
            os.fsync(descriptor)
        took += time.monotonic() - start
        report(written / size)
        is_late = time.monotonic() - begin > seconds
        if is_late and written >= 2 * _LEAST_BYTES:
            break
    os.fsync(descriptor)
    return written, took


def _write_all(descriptor: int, content: memoryview, offset: int) -> None:
    done = 0
    while done < len(content):
        done += os.pwrite(descriptor, content[done:], offset + done)
