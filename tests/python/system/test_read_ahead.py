"""Reading ahead: the same items, and the errors, in their turn."""

from __future__ import annotations

import threading
import time

import pytest

from graphmount._support.threads.read_ahead import read_ahead


def reader_threads():
    return [thread for thread in threading.enumerate() if thread.name == "graphmount-reader"]


def test_items_and_errors_come_in_their_turn():
    def items():
        yield from range(5)
        raise SystemExit("at the end")  # which would end a thread without a word

    found = []
    with pytest.raises(SystemExit, match="at the end"):
        found.extend(read_ahead(items()))
    assert found == list(range(5))
    assert reader_threads() == []


def test_an_error_in_closing():
    class Items:
        def __init__(self):
            self._left = [3, 2, 1]

        def __iter__(self):
            return self

        def __next__(self):
            if not self._left:
                raise StopIteration
            return self._left.pop()

        def close(self):
            raise OSError("cannot be closed")

    found = []
    with pytest.raises(OSError, match="cannot be closed"):
        found.extend(read_ahead(Items()))
    assert found == [1, 2, 3]


def test_a_consumer_that_stops_ends_the_thread():
    is_closed = threading.Event()

    def items():
        try:
            yield from iter(int, 1)  # without an end
        finally:
            is_closed.set()

    reading = read_ahead(items())
    assert next(reading) == 0
    reading.close()
    assert is_closed.is_set()
    assert reader_threads() == []


def test_few_items_are_alive():
    class Item:
        alive = most = 0

        def __init__(self):
            Item.alive += 1
            Item.most = max(Item.most, Item.alive)

        def __del__(self):
            Item.alive -= 1

    for _ in read_ahead(Item() for _ in range(200)):
        time.sleep(0.0002)  # long enough for the reader to run ahead as far as it may
    assert Item.most in (3, 4)
    del _
    assert Item.alive == 0
