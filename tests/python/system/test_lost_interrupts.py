"""Ctrl-C that comes while a destructor runs is not lost."""

from __future__ import annotations

import queue
import signal
import sys
import time

import pytest

from graphmount._support.threads.lost_interrupts import interrupts_come_again

pytestmark = pytest.mark.usefixtures("ctrl_c")


class Interrupted:
    """Ctrl-C comes while it is deleted, and Python drops what that raises."""

    def __del__(self):
        signal.raise_signal(signal.SIGINT)


class Failing:
    """Something else is raised while it is deleted."""

    def __del__(self):
        raise ZeroDivisionError


@pytest.fixture
def dropped(monkeypatch):
    """What Python would have printed."""
    found = []
    monkeypatch.setattr(sys, "unraisablehook", lambda each: found.append(each.exc_type))
    return found


def delete_and_go_on():
    with interrupts_come_again():
        Interrupted()
        for _ in range(3000):
            time.sleep(0.01)


def delete_and_fail():
    with interrupts_come_again():
        Interrupted()
        raise ZeroDivisionError


def test_it_comes_again_soon(dropped):
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        delete_and_go_on()
    assert time.monotonic() - begin < 20
    assert dropped == []


def test_it_wakes_who_waits(dropped):
    def delete_and_wait():
        with interrupts_come_again():
            Interrupted()
            queue.SimpleQueue().get(timeout=30)

    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        delete_and_wait()
    assert time.monotonic() - begin < 20
    assert dropped == []


def test_it_is_raised_at_the_end_if_a_handler_does_nothing_with_the_second(dropped):
    seen = []

    def handle(*_):
        seen.append("Ctrl-C")
        if len(seen) == 1:
            raise KeyboardInterrupt

    def delete_and_go_on():
        with interrupts_come_again():
            Interrupted()
            while len(seen) < 2:
                time.sleep(0.01)

    signal.signal(signal.SIGINT, handle)  # the fixture puts back what was there
    with pytest.raises(KeyboardInterrupt):
        delete_and_go_on()
    assert dropped == []


def test_it_comes_after_a_generator_has_been_deleted(dropped):
    def generator():
        with interrupts_come_again():
            try:
                yield
            finally:
                Interrupted()

    def delete_and_wait():
        with interrupts_come_again():
            each = generator()
            next(each)
            del each
            time.sleep(30)

    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        delete_and_wait()
    assert time.monotonic() - begin < 20
    assert dropped == []


def test_it_comes_at_the_end_if_that_is_sooner(dropped):
    with pytest.raises(KeyboardInterrupt), interrupts_come_again():
        Interrupted()
    time.sleep(0.2)  # and only once
    assert dropped == []


def test_it_comes_once_where_one_is_inside_of_another(dropped):
    with interrupts_come_again():
        with pytest.raises(KeyboardInterrupt), interrupts_come_again():
            Interrupted()
        time.sleep(0.2)
    assert dropped == []


def test_an_error_is_not_replaced(dropped):
    with pytest.raises(ZeroDivisionError):
        delete_and_fail()
    time.sleep(0.2)
    assert dropped == []


def test_other_errors_are_dropped_as_before(dropped):
    with interrupts_come_again():
        Failing()
    assert dropped == [ZeroDivisionError]
    Interrupted()
    assert dropped == [ZeroDivisionError, KeyboardInterrupt]


def test_who_came_later_stays(dropped):
    with interrupts_come_again():
        sys.unraisablehook = mine = dropped.append
    assert sys.unraisablehook is mine


def test_a_hook_that_calls_the_one_before_ends(dropped):
    with interrupts_come_again():
        before = sys.unraisablehook

        def chained(each):
            before(each)

        sys.unraisablehook = chained
    with interrupts_come_again():
        Failing()
    assert dropped == [ZeroDivisionError]
