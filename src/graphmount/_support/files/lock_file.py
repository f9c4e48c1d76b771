"""A lock between processes: an empty file beside what is locked, there as long as it is held.

Nothing of a stranger is touched: no link is followed, nothing is emptied, and only an empty regular
file is removed, which is what such locks are. A process that is killed holds no lock, whatever it
leaves behind; nor does a forked child, which may live longer than its parent holds the lock.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The descriptors of all locks that this process holds.
_held: set[int] = set()


@contextmanager
def locked(path: str, *, busy: str) -> Iterator[None]:
    """Holds a lock; it is let go of in the end, by the process that took it.

    Args:
        path: The lock file.
        busy: The message if another process has the lock.

    Raises:
        BlockingIOError: Another process has it.
        FileExistsError: Something that is no lock has this name.
        OSError: No file can be made there.
    """
    descriptor = _take(path, busy)
    process = os.getpid()
    _held.add(descriptor)
    try:
        yield
    finally:
        if os.getpid() == process:
            _held.discard(descriptor)
            if _is_at(descriptor, path):
                with suppress(OSError):  # which would hide why we are leaving
                    os.unlink(path)
            # Closing is not enough: a child may have been forked while nobody looked.
            with suppress(OSError):  # closing lets go of it as well, if nobody else has it
                fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)


def _take(path: str, busy: str) -> int:
    while True:
        descriptor = _open(path)
        try:
            _require_lock(os.fstat(descriptor), path)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise BlockingIOError(busy) from None
            # Who had it before may have removed it between opening and locking it.
            if _is_at(descriptor, path):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _open(path: str) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        return os.open(path, flags, 0o666)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO):  # a link, a folder, a socket
            raise _in_the_way(path) from None
        raise


def _require_lock(status: os.stat_result, path: str) -> None:
    if not stat.S_ISREG(status.st_mode) or status.st_size > 0 or status.st_nlink > 1:
        raise _in_the_way(path)


def _in_the_way(path: str) -> FileExistsError:
    message = (
        "This name is needed for a lock, and what has it is none of graphmount's; move it away"
    )
    return FileExistsError(errno.EEXIST, message, path)


def _is_at(descriptor: int, path: str) -> bool:
    """Whether the file that is open is the one at the path."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except OSError:
        return False


def _let_go_in_child() -> None:
    """A lock that is inherited is held as long as anybody has it open."""
    for descriptor in _held:
        with suppress(OSError):
            os.close(descriptor)
    _held.clear()


os.register_at_fork(after_in_child=_let_go_in_child)
