"""A lock between processes: an empty file beside what is locked, held alone or by several.

Nothing of a stranger is touched: no link is followed, nothing is emptied, and only an empty regular
file is removed, which is what such locks are. A process that is killed holds no lock, whatever it
leaves behind. A forked child shares what is held together with others, and never what its parent
holds alone, since it may live longer than its parent holds that.
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
    """A lock that is held until `close`, or until nobody has the object any more.

    Args:
        path: The lock file.
        descriptor: Of that file; None if nothing is held.
        is_alone: Whether nobody else may hold it, too.
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
        """Lets go of it; a child only closes what it has inherited of its parent's."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            with suppress(OSError):
                if self._is_alone and unlocks:  # closing leaves it to children forked unseen
                    fcntl.flock(descriptor, fcntl.LOCK_UN)
            with suppress(OSError):
                os.close(descriptor)

    def remove(self) -> None:
        """Removes the file, if it is held alone here, and lets go of it."""
        if self._descriptor is not None and _is_at(self._descriptor, self.path):
            with suppress(OSError):  # which would hide why we are leaving
                os.unlink(self.path)
        self.close()


#: Those that this process holds alone.
_alone: weakref.WeakSet[LockFile] = weakref.WeakSet()


def take_lock(path: str, *, alone: bool, waits: bool) -> LockFile | None:
    """A lock, or None if another process has it and this one does not wait.

    Args:
        path: The lock file, which is made if it is missing.
        alone: Whether nobody else may hold it, too.
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
        # Who had it before may have removed it between opening and locking it.
        if _is_at(descriptor, path):
            return lock


@contextmanager
def locked(path: str, *, busy: str) -> Iterator[None]:
    """Holds a lock alone; it is let go of and removed in the end, by the process that took it.

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
    """How locks unpickle: what is used is used here, too."""
    with suppress(OSError):
        lock = take_lock(path, alone=False, waits=True)
        if lock is not None:
            return lock
    return LockFile(path, None)


def _let_go_in_child() -> None:
    """A lock that is inherited is held as long as anybody has it open."""
    for lock in list(_alone):
        lock.close(unlocks=False)


os.register_at_fork(after_in_child=_let_go_in_child)
