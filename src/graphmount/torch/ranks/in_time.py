"""Calls that may never return, such as those to a machine that is cut off, with a time limit."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_Result = TypeVar("_Result")


def in_time(call: Callable[[], _Result], seconds: float) -> _Result:
    """What a call returns or raises, if it ends in time.

    It runs in a thread of its own. If the time is over, the thread is left to itself: it does not
    keep the process from ending.

    Args:
        call: What to call.
        seconds: How long to wait for it.

    Raises:
        TimeoutError: It has not ended in time.
    """
    results: list[_Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:  # noqa: BLE001  (raised where it is waited for)
            errors.append(error)

    thread = threading.Thread(target=run, name="graphmount call with a time limit", daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not results:
        raise TimeoutError(f"a call did not end within {seconds:g} s")
    return results[0]
