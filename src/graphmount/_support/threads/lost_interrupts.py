"""Ctrl-C while a destructor runs: Python prints it there and drops it. Here it comes again.

Libraries whose destructors take long, such as Ray's, would keep it to themselves otherwise, and the
work that was to end goes on.
"""

from __future__ import annotations

import _thread
import sys
import threading
from typing import TYPE_CHECKING, Any

from graphmount._support.threads.process_lock import ProcessLock

if TYPE_CHECKING:
    from collections.abc import Callable

#: After so many seconds it comes again: the destructor may have ended by then.
_PAUSE = 0.05


class _Watch:
    """What is in place while somebody is inside of `interrupts_come_again`."""

    def __init__(self) -> None:
        self.lock = ProcessLock()
        self.uses = 0
        self.is_lost = False
        self.before: Callable[[Any], object] = sys.unraisablehook


_watch = _Watch()


class interrupts_come_again:  # noqa: N801  (a context manager, as those of contextlib)
    """Raises a `KeyboardInterrupt` that a destructor has dropped: soon, or at the end of this."""

    def __enter__(self) -> None:
        with _watch.lock:
            if _watch.uses == 0:
                _watch.before = sys.unraisablehook
                sys.unraisablehook = _look
            _watch.uses += 1

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        with _watch.lock:
            _watch.uses -= 1
            if _watch.uses == 0 and sys.unraisablehook is _look:
                sys.unraisablehook = _watch.before
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and _take() and error is None:
            raise KeyboardInterrupt


def _take() -> bool:
    """Whether one was lost; the next who asks is told that none was."""
    with _watch.lock:
        found, _watch.is_lost = _watch.is_lost, False
        return found


def _look(unraisable: Any) -> None:  # noqa: ANN401
    """What Python calls with an exception that it drops."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        _watch.before(unraisable)
        return
    _watch.is_lost = True
    again = threading.Timer(_PAUSE, _come_again)
    again.daemon = True
    again.start()


def _come_again() -> None:
    if _take():
        _thread.interrupt_main()
