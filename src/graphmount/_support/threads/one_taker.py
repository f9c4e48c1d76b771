"""An iterator that one thread at a time may take from: others are refused, and change nothing."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Generator

T = TypeVar("T")


class OneTaker(Generic[T]):
    """The items of a generator, for one thread at a time.

    Two threads may share it if they take turns. A child of `fork` has a copy of it, which goes on
    if the items can be made there.

    Examples:
        >>> from graphmount._support.threads.one_taker import OneTaker
        >>> list(OneTaker(number for number in range(3)))
        [0, 1, 2]
    """

    def __init__(self, items: Generator[T]) -> None:
        self._items: Generator[T] = items
        self._process = os.getpid()
        self._is_taken = threading.Lock()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> T:
        if self._process != os.getpid():
            self._begin_in_child()
        if not self._is_taken.acquire(blocking=False):
            raise RuntimeError(
                "another thread is taking a batch from this loop; take batches in one thread, or "
                "let each thread have a loader of its own"
            )
        try:
            return next(self._items)
        finally:
            self._is_taken.release()

    def close(self) -> None:
        """Ends the loop: there are no more items.

        Raises:
            RuntimeError: Another thread is taking one.
        """
        if self._is_taken.locked():
            raise RuntimeError("another thread is taking a batch from this loop; wait for it first")
        self._items.close()

    def _begin_in_child(self) -> None:
        items: Any = self._items
        if getattr(items, "gi_running", False):
            raise RuntimeError(
                "this process was forked while another thread was taking a batch from this loop; "
                "begin a loop of its own here"
            )
        self._is_taken = threading.Lock()
        self._process = os.getpid()
