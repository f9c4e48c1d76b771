"""Properties that all threads see alike, and that no child of fork waits for."""

from __future__ import annotations

import os
import signal
import sys
import threading

import pytest

import graphmount as gm
from graphmount._support.threads.shared_property import shared_property


class Slow:
    def __init__(self):
        self.both_compute = threading.Barrier(2)

    @shared_property
    def value(self):
        """A list of its own."""
        self.both_compute.wait(60)
        return []


def test_threads_get_the_same_value():
    slow, values = Slow(), []
    threads = [threading.Thread(target=lambda: values.append(slow.value)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(values) == 2
    assert values[0] is values[1]
    assert slow.value is values[0]
    assert Slow.value.__doc__ == "A list of its own."


def test_threads_get_the_same_handles(loader_folder):
    dataset = gm.Dataset(loader_folder / "hot")
    names = ("graph", "features", "edge_features", "labels", "splits")
    ready = threading.Barrier(4)
    found = []

    def ask():
        ready.wait(60)
        found.append([getattr(dataset, name) for name in names])

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({tuple(map(id, values)) for values in found}) == 1


class Opened:
    """Opens once in a thread that does not come to an end, and then at once."""

    def __init__(self):
        self.is_inside, self.may_go_on = threading.Event(), threading.Event()

    @shared_property
    def value(self):
        if not self.is_inside.is_set():
            self.is_inside.set()
            assert self.may_go_on.wait(60)
        return 7


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_child_does_not_wait_for_a_thread_of_its_parent():
    """Which is in the middle of computing the value, and not there in the child."""
    opened = Opened()
    thread = threading.Thread(target=lambda: opened.value)
    thread.start()
    assert opened.is_inside.wait(60)
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        os._exit(0 if opened.value == 7 else 1)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    opened.may_go_on.set()
    thread.join()
    assert status == 0
