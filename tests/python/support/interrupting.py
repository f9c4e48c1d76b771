"""Ctrl-C for a child process: what it must run first, and how to send it."""

from __future__ import annotations

import signal

#: Put in front of a script that is to be interrupted. A shell that starts the tests in the
#: background has this signal ignored, and children inherit that.
CAN_BE_INTERRUPTED = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
"""


def interrupt(child):
    """Sends Ctrl-C and returns what the child says until its end; it does not outlive the test."""
    child.send_signal(signal.SIGINT)
    try:
        return child.communicate(timeout=60)
    finally:
        child.kill()
