"""Reading the next batch in a thread of its own while the last one is being worked on.

At most three batches are alive at once: one that is being read, one that waits, and one in use.
Whatever ends the consumer, an error or Ctrl-C, ends the thread too before the control returns.
"""

from __future__ import annotations

import threading
from queue import Empty, Full, Queue
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

T = TypeVar("T")

_POLL_SECONDS = 0.05


class _Reader(threading.Thread, Generic[T]):
    """Moves items to a queue, then None and, if it came to that, the error in `failure`."""

    def __init__(self, items: Iterator[T]) -> None:
        super().__init__(name="graphmount-reader", daemon=True)
        self.queue: Queue[T | None] = Queue(maxsize=1)
        self.failure: BaseException | None = None
        self._items = items
        self._is_wanted = True

    def run(self) -> None:
        try:
            try:
                for item in self._items:
                    if not self._put(item):
                        break
            finally:
                # A generator may hold files; they are closed by the thread that runs it.
                getattr(self._items, "close", lambda: None)()
        except BaseException as error:  # noqa: BLE001  (raised again by the consumer)
            self.failure = error
        self._put(None)  # whatever happened, or the consumer would wait forever

    def _put(self, item: T | None) -> bool:
        while self._is_wanted:
            try:
                self.queue.put(item, timeout=_POLL_SECONDS)
            except Full:
                continue
            return True
        return False

    def stop(self) -> None:
        """Returns when the thread has ended; nothing is read after what it is at."""
        self._is_wanted = False
        while self.is_alive():
            try:
                self.queue.get_nowait()
            except Empty:
                self.join(_POLL_SECONDS)


def read_ahead(items: Iterator[T]) -> Generator[T]:
    """The same items in the same order, each made while the one before is in use.

    Args:
        items: What to go through; none of them is None. Used by one thread, which is not the
            caller's.

    Raises:
        BaseException: Whatever `items` raises, when its turn has come.
    """
    reader = _Reader(items)
    reader.start()
    try:
        while (item := reader.queue.get()) is not None:
            yield item
            item = None  # or it would be kept while the next one is waited for
        if reader.failure is not None:
            raise reader.failure
    finally:
        reader.stop()
