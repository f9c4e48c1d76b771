"""Ctrl-C for the command line: quiet while Python is still importing, and once it runs.

Ctrl-C in the middle of an import would print a traceback of the import. So if this process is the
command `graphmount` or `python -m graphmount`, the signal ends it quietly until the command takes
over. For this, the package imports this module before all others. A process that only imports the
library keeps its own handler.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import contextmanager, suppress
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

#: What a shell says of a program that was ended by Ctrl-C.
INTERRUPTED = 130


def _is_command_line() -> bool:
    """Whether this process was started as `graphmount` or `python -m graphmount`."""
    program = sys.argv[0] if sys.argv else ""
    if program == "-m":  # what it is while the package is imported, before `__main__` is
        return ("-m", "graphmount") in pairwise(sys.orig_argv)
    if os.path.basename(program) != "graphmount":
        return False
    try:
        with open(program, "rb") as file:  # as installers write it
            return b"from graphmount.cli import main" in file.read(4096)
    except OSError:
        return False


def _end_quietly(_signal: int, _frame: FrameType | None) -> None:
    with suppress(OSError):  # the output may be closed
        os.write(2, b"graphmount: interrupted\n")
    os._exit(INTERRUPTED)  # there is nothing to tidy up yet


class _Handler:
    """Raises KeyboardInterrupt once. The second Ctrl-C does nothing, the third ends the process.

    Tidying up takes less than a second; interrupted as well, it would leave files behind.
    """

    def __init__(self) -> None:
        self._count = 0

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self._count += 1
        if self._count == 1:
            signal.default_int_handler(number, frame)
        elif self._count > 2:
            _end_quietly(number, frame)


@contextmanager
def interruptible_once() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt in the block once, and does not disturb what tidies up."""
    before = signal.getsignal(signal.SIGINT)
    ours = (signal.default_int_handler, _end_quietly)
    if threading.current_thread() is not threading.main_thread() or before not in ours:
        yield
        return
    signal.signal(signal.SIGINT, _Handler())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


# If the process was started with the signal ignored, as by a shell in the background, it stays
# ignored.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler and _is_command_line():
    signal.signal(signal.SIGINT, _end_quietly)
