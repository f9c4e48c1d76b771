"""A lock between processes: an empty file beside what is locked, held alone or by several.

Files of others are never touched: no link is followed, nothing is emptied, and only an empty
regular file, such as these locks, is removed. A killed process holds no lock, even if its file is
still there. A forked child shares a lock that several processes may hold. It never shares a lock
that its parent holds alone, because the child may live longer than the parent needs the lock.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import weakref
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class LockFile:
    """A lock that is held until `close`, or until the object is deleted.

    Args:
        path: The lock file.
        descriptor: Of that file; None if nothing is held.
        is_alone: Whether no other process may hold it at the same time.
    """

    def __init__(self, path: str, descriptor: int | None, *, is_alone: bool = False) -> None:
        self.path = path
        self._descriptor = descriptor
        self._is_alone = is_alone
        if is_alone:
            _alone.add(self)

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return _retaken, (self.path,)

    def __del__(self) -> None:
        self.close()

    def close(self, *, unlocks: bool = True) -> None:
        """Releases the lock. A child process only closes the descriptor that it inherited."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            with suppress(OSError):
                if self._is_alone and unlocks:  # closing leaves it to children forked unseen
                    fcntl.flock(descriptor, fcntl.LOCK_UN)
            with suppress(OSError):
                os.close(descriptor)

    def remove(self) -> None:
        """Removes the file, if this process holds the lock alone, and releases the lock."""
        if self._descriptor is not None and _is_at(self._descriptor, self.path):
            with suppress(OSError):  # which would hide why we are leaving
                os.unlink(self.path)
        self.close()


#: The locks that this process holds alone.
_alone: weakref.WeakSet[LockFile] = weakref.WeakSet()


def take_lock(path: str, *, alone: bool, waits: bool) -> LockFile | None:
    """A lock, or None if another process has it and this one does not wait.

    Args:
        path: The lock file, which is made if it is missing.
        alone: Whether no other process may hold it at the same time.
        waits: Whether to wait for others.

    Raises:
        FileExistsError: Something that is no lock has this name.
        OSError: The file cannot be made, or the file system has no locks.
    """
    mode = (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | (0 if waits else fcntl.LOCK_NB)
    while True:
        descriptor = _open(path)
        lock = LockFile(path, descriptor, is_alone=alone)
        try:
            fcntl.flock(descriptor, mode)
        except BlockingIOError:
            return None
        # The process that held it before may have removed the file after it was opened here.
        if _is_at(descriptor, path):
            return lock


@contextmanager
def locked(path: str, *, busy: str) -> Iterator[None]:
    """Holds a lock alone. The process that took it releases and removes it at the end.

    Args:
        path: The lock file.
        busy: The message if another process has the lock.

    Raises:
        BlockingIOError: Another process has it.
        FileExistsError: Something that is no lock has this name.
        OSError: No file can be made there.
    """
    lock = take_lock(path, alone=True, waits=False)
    if lock is None:
        raise BlockingIOError(busy)
    try:
        yield
    finally:
        lock.remove()


def _open(path: str) -> int:
    """A descriptor of the lock file, which is empty, and nobody else's."""
    try:
        descriptor = os.open(path, _FLAGS, 0o666)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
            raise
    else:
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode) and status.st_size == 0 and status.st_nlink <= 1:
            return descriptor
        os.close(descriptor)
    message = (
        "This name is needed for a lock, and what has it is none of graphmount's; move it away"
    )
    raise FileExistsError(errno.EEXIST, message, path)  # a link, a folder, a socket, a file


def _is_at(descriptor: int, path: str) -> bool:
    """Whether the file that is open is the one at the path."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except OSError:
        return False


def _retaken(path: str) -> LockFile:
    """Unpickles a lock: it is taken again in this process."""
    with suppress(OSError):
        lock = take_lock(path, alone=False, waits=True)
        if lock is not None:
            return lock
    return LockFile(path, None)


def _let_go_in_child() -> None:
    """In a child: closes inherited locks. They would be held while any process has them open."""
    for lock in list(_alone):
        lock.close(unlocks=False)


os.register_at_fork(after_in_child=_let_go_in_child)
