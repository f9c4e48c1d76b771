"""Ctrl-C while a destructor runs: Python prints it there and drops it. Here it comes again.

Libraries whose destructors take long, such as Ray's, would keep it to themselves otherwise, and the
work that was to end goes on. What comes again is the signal, so that it also wakes a thread that
waits: a handler of the user's sees it a second time.
"""

from __future__ import annotations

import signal
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
        self.before = self.look = sys.unraisablehook


_watch = _Watch()


class interrupts_come_again:  # noqa: N801  (a context manager, as those of contextlib)
    """Raises a `KeyboardInterrupt` that a destructor has dropped: soon, or at the end of this."""

    def __enter__(self) -> None:
        with _watch.lock:
            if _watch.uses == 0:
                _watch.is_lost = False
                _watch.before = sys.unraisablehook
                _watch.look = sys.unraisablehook = _looking(_watch.before)
            _watch.uses += 1

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        is_main = threading.current_thread() is threading.main_thread()
        with _watch.lock:
            _watch.uses -= 1
            if _watch.uses == 0 and sys.unraisablehook is _watch.look:
                sys.unraisablehook = _watch.before
            # A generator that is deleted has nobody to raise it to: it comes again after that.
            is_taken = is_main and _watch.is_lost and not isinstance(error, GeneratorExit)
            if is_taken:
                _watch.is_lost = False
        if is_taken and error is None:
            raise KeyboardInterrupt


def _looking(before: Callable[[Any], object]) -> Callable[[Any], object]:
    """What Python is to call with an exception that it drops: `before`, but for Ctrl-C."""

    def look(unraisable: Any) -> None:  # noqa: ANN401
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            before(unraisable)
            return
        _watch.is_lost = True
        again = threading.Timer(_PAUSE, _come_again)
        again.daemon = True
        again.start()

    return look


def _come_again() -> None:
    with _watch.lock:
        if not _watch.is_lost:
            return
        # It may be lost once more, or a handler may do nothing: then it is raised at the end.
        _watch.is_lost = _watch.uses > 0
        main = threading.main_thread().ident
        if main is not None:
            signal.pthread_kill(main, signal.SIGINT)
