"""A lock that several processes hold together, or one alone: an empty file beside what is locked.

A process that is killed holds no lock. A forked child shares what is held together with others, and
never what its parent holds alone.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
#: Descriptors of locks that this process holds alone.
_alone: set[int] = set()


class SharedLock:
    """A lock that is held until `close`, or until nobody has the object any more.

    Args:
        path: The lock file.
        descriptor: Of that file, locked; None if nothing is held.
    """

    def __init__(self, path: str, descriptor: int | None) -> None:
        self.path = path
        self._descriptor = descriptor

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return _retaken, (self.path,)

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of it."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            _alone.discard(descriptor)
            with suppress(OSError):
                os.close(descriptor)

    def remove(self) -> None:
        """Removes the file, which must be held alone, and lets go of it."""
        with suppress(OSError):
            os.unlink(self.path)
        self.close()


def take_lock(path: str, *, alone: bool, waits: bool) -> SharedLock | None:
    """A lock, or None if another process has it and this one does not wait.

    Args:
        path: The lock file, which is made if it is missing.
        alone: Whether nobody else may hold it, too.
        waits: Whether to wait for others.

    Raises:
        OSError: The file cannot be made, or the file system has no locks.
    """
    mode = (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | (0 if waits else fcntl.LOCK_NB)
    while True:
        descriptor = os.open(path, _FLAGS, 0o666)
        try:
            fcntl.flock(descriptor, mode)
            # Who had it before may have removed it between opening and locking it.
            if os.path.samestat(os.fstat(descriptor), os.stat(path, follow_symlinks=False)):
                if alone:
                    _alone.add(descriptor)
                return SharedLock(path, descriptor)
        except BlockingIOError:
            os.close(descriptor)
            return None
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _retaken(path: str) -> SharedLock:
    """How locks unpickle: what is used is used here, too."""
    with suppress(OSError):
        lock = take_lock(path, alone=False, waits=True)
        if lock is not None:
            return lock
    return SharedLock(path, None)


def _let_go_in_child() -> None:
    for descriptor in _alone:
        with suppress(OSError):
            os.close(descriptor)
    _alone.clear()


os.register_at_fork(after_in_child=_let_go_in_child)
