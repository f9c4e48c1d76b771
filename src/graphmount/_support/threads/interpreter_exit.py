"""What happens when the interpreter ends: threads of the core, and those that wait in it, stop.

Daemon threads run on while the interpreter goes away, and one that then comes back from the core
would end the process with an abort. So the core stops them where they leave or enter Python, and
loops end, before Python begins to go away.
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
