"""A lock that is always free in a child of `fork`, no matter who held it in the parent.

The thread that held it does not exist in the child, where an ordinary lock would be held for ever.
The data that it guards may be half changed then, so `on_fork` says how to reset it.
"""

from __future__ import annotations

import os
import threading
import weakref

from graphmount._support.threads import interpreter_exit as _interpreter_exit

# How long to wait for a thread that may sleep for ever, because the interpreter ends.
_PATIENCE_AT_EXIT = 2.0


class ProcessLock:
    """A lock for one thread at a time, which may take it more than once.

    Examples:
        >>> from graphmount._support.threads.process_lock import ProcessLock
        >>> lock = ProcessLock()
        >>> with lock, lock:
        ...     pass
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _locks.add(self)

    def __enter__(self) -> None:
        if not _interpreter_exit.has_begun():
            self._lock.acquire()
        elif not self._lock.acquire(timeout=_PATIENCE_AT_EXIT):
            raise RuntimeError("the interpreter ends, and another thread is using this object")

    def __exit__(self, *_error: object) -> None:
        self._lock.release()

    def renew(self) -> None:
        """Frees the lock, whoever has it: the only thread of a child does."""
        self._lock = threading.RLock()


_locks: weakref.WeakSet[ProcessLock] = weakref.WeakSet()


def _renew_all() -> None:
    for lock in list(_locks):
        lock.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
