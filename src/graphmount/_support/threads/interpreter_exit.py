"""What happens when the interpreter ends: threads of the core, and those that wait in it, stop.

Daemon threads keep running while the interpreter shuts down. A thread that then returned from the
core would abort the process. So before Python shuts down, the core stops such threads where they
leave or enter Python, and loops end.
"""

from __future__ import annotations

import atexit
import weakref

from graphmount import _core

#: The loops that have threads.
running: weakref.WeakSet[_core.BatchPipeline] = weakref.WeakSet()

_has_begun = False


def has_begun() -> bool:
    """Whether the interpreter ends: other threads may sleep for good."""
    return _has_begun


@atexit.register
def _end() -> None:
    global _has_begun  # noqa: PLW0603
    _has_begun = True
    _core.close_gate()
    for pipeline in _all_running():
        pipeline.stop()


def _all_running() -> list[_core.BatchPipeline]:
    while True:
        try:
            return list(running)
        except RuntimeError:  # a thread that was not stopped has added one meanwhile
            continue
