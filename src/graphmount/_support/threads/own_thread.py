"""A thread of Python that works for one object, in one process.

A limit on threads is an `OSError` that says what to do. A child of `fork` has not the thread: what
needs it is refused there, and nothing waits for it.
"""

from __future__ import annotations

import errno
import os
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class OwnThread:
    """Runs a function in a daemon thread.

    Args:
        work: What to run. It raises nothing.
        name: Of the thread.

    Examples:
        >>> from graphmount._support.threads.own_thread import OwnThread
        >>> found = []
        >>> thread = OwnThread(lambda: found.append(7), name="finder")
        >>> thread.start()
        >>> thread.join()
        >>> found
        [7]
    """

    def __init__(self, work: Callable[[], None], *, name: str) -> None:
        self._thread = threading.Thread(target=work, name=name, daemon=True)
        self._process = os.getpid()

    def start(self) -> None:
        """Begins.

        Raises:
            OSError: The system gives no more threads.
        """
        try:
            self._thread.start()
        except RuntimeError:
            raise OSError(
                errno.EAGAIN,
                f"cannot start a thread ({os.strerror(errno.EAGAIN)}): raise the limit on threads "
                "(ulimit -u, the pids limit of a container) or on memory (ulimit -v), or end other "
                "loops and programs",
            ) from None

    def require_here(self) -> None:
        """Refuses to go on in a child of `fork`.

        Raises:
            RuntimeError: This is one.
        """
        if os.getpid() != self._process:
            raise RuntimeError(
                "this process was forked from the one that reads; begin anew here, for the thread "
                "that reads ahead is not there"
            )

    @property
    def has_started(self) -> bool:
        """Whether there is, or was, a thread in this process."""
        return os.getpid() == self._process and self._thread.ident is not None

    def join(self) -> None:
        """Returns when the work is done; at once where there is no thread."""
        if self.has_started:
            self._thread.join()
