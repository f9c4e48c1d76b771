"""Reading the next batch in a thread of its own while the last one is being worked on.

Three batches are alive at once, unless more are asked for: one that is being read, one that waits,
and one in use. While one is handed over, a fourth may be begun. At the end, none is kept. If an
error or Ctrl-C ends the consumer, the thread ends too before control returns. If the system allows
no more threads, that is an `OSError` that says what to do. A child of `fork` does not have the
thread: there, taking an item is refused, and nothing waits for the thread.
"""

from __future__ import annotations

import errno
import os
import threading
from queue import SimpleQueue
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

T = TypeVar("T")


class _Reader(Generic[T]):
    """Moves items to a queue, then None and, if it came to that, the error in `failure`.

    It reads an item for each permit; `SimpleQueue` has no limit, but hands over faster than one
    that has.
    """

    def __init__(self, items: Iterator[T], most: int) -> None:
        self._thread = threading.Thread(target=self._run, name="graphmount-reader", daemon=True)
        self._process = os.getpid()
        self.failure: BaseException | None = None
        self._items = items
        self._ready: SimpleQueue[T | None] = SimpleQueue()
        self._permits: SimpleQueue[None] = SimpleQueue()
        self._is_wanted = True
        for _ in range(most):
            self._permits.put(None)

    def start(self) -> None:
        """Begins to read; a limit on threads is an `OSError`."""
        try:
            self._thread.start()
        except RuntimeError:
            raise OSError(
                errno.EAGAIN,
                f"cannot start a thread ({os.strerror(errno.EAGAIN)}): raise the limit on threads "
                "(ulimit -u, the pids limit of a container) or on memory (ulimit -v), or end other "
                "loops and programs",
            ) from None

    def _run(self) -> None:
        try:
            try:
                while self._may_go_on() and (item := next(self._items, None)) is not None:
                    self._ready.put(item)
                    del item  # or it would be kept while a permit is waited for
            finally:
                # A generator may hold files; they are closed by the thread that runs it.
                getattr(self._items, "close", lambda: None)()
        except BaseException as error:  # noqa: BLE001  (raised again by the consumer)
            self.failure = error
        self._ready.put(None)  # whatever happened, or the consumer would wait forever

    def _may_go_on(self) -> bool:
        self._permits.get()
        return self._is_wanted

    def take(self) -> T | None:
        """The next item; None if there is none."""
        if os.getpid() != self._process:
            raise RuntimeError(
                "this process was forked from the one that reads; begin anew here, for the thread "
                "that reads ahead is not there"
            )
        item = self._ready.get()
        self._permits.put(None)
        return item

    def stop(self) -> None:
        """Returns when the thread has ended; nothing is read after what it is at."""
        self._is_wanted = False
        if os.getpid() != self._process or self._thread.ident is None:
            return  # it is the parent's, or nothing was begun
        self._permits.put(None)
        self._thread.join()
        self._ready = SimpleQueue()


def read_ahead(items: Iterator[T], *, most: int = 2) -> Generator[T]:
    """The same items in the same order, each made while the one before is in use.

    Args:
        items: What to go through; none of them is None. Used by one thread, which is not the
            caller's.
        most: How many may be there, or be read, that the consumer has not taken.

    Raises:
        BaseException: Whatever `items` raises, when its turn has come.
    """
    reader = _Reader(items, most)
    try:
        reader.start()
        while (item := reader.take()) is not None:
            yield item
            item = None  # or it would be kept while the next one is waited for
        if reader.failure is not None:
            raise reader.failure
    finally:
        reader.failure = None  # which knows this frame, and all that its callers hold
        reader.stop()
