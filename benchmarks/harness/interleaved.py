"""Interleaved runs: processes that stay alive and work one at a time, a few seconds per turn.

Machines are faster in one minute and slower in the next; what takes turns is compared in the same
minute. Each process may have a memory limit of its own. When its turn comes, it reads a line
"WARM SECONDS", works WARM seconds without the clock and SECONDS with it, and answers with a line of
JSON. When its input ends it prints a summary, as one more line of JSON. Between its turns it must
be idle.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .memcap import CappedRun, run_capped, status_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence


def add_turn_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options for the number of turns and their length."""
    parser.add_argument("--rounds", type=int, help="number of turns for each way")
    parser.add_argument("--seconds", type=float, help="length of each turn")
    parser.add_argument(
        "--warm-seconds", type=float, help="work in each turn before the clock starts"
    )


@dataclass(frozen=True)
class Participant:
    """A process that takes turns: its command, and its memory limit in bytes, if it has one."""

    command: Sequence[str]
    limit: int | None


@dataclass
class Outcome:
    """What a process reported: for each turn, and at the end. Nothing follows after it died."""

    turns: list[dict[str, float]] = field(default_factory=list)
    summary: dict[str, Any] = field(default_factory=dict)
    run: CappedRun | None = None


class _Tickets:
    """Lets threads through one by one, by their numbers."""

    def __init__(self) -> None:
        self._next = 0
        self._changed = threading.Condition()

    def wait(self, number: int) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._next == number)

    def done(self) -> None:
        with self._changed:
            self._next += 1
            self._changed.notify_all()


def _talk(
    process: subprocess.Popen[str],
    tickets: _Tickets,
    numbers: Sequence[int],
    line: str,
    into: Outcome,
) -> str:
    """Gives a process its turns. Returns what it prints after the last one."""
    stdin, stdout = process.stdin, process.stdout
    if stdin is None or stdout is None:
        raise RuntimeError("a participant needs pipes for its input and output")
    for number in numbers:
        tickets.wait(number)
        try:
            # If it has died, its status will say so.
            with contextlib.suppress(OSError):
                stdin.write(line)
                stdin.flush()
                into.turns += [json.loads(said) for said in [stdout.readline()] if said]
        finally:
            tickets.done()
    with contextlib.suppress(OSError):
        stdin.close()
    return stdout.read()


def _run_free(command: Sequence[str], talk: Callable[[subprocess.Popen[str]], str]) -> CappedRun:
    """Runs `command` without a memory limit, and calls `talk` as `run_capped` does."""
    start = time.monotonic()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        stdout = talk(process)
    return CappedRun(
        status=status_of(process),
        seconds=time.monotonic() - start,
        stdout=stdout,
        limit_bytes=None,
        peak_bytes=None,
        anonymous_peak_bytes=None,
        limit_hits=None,
        oom_kills=None,
        is_cold=False,
    )


def run_interleaved(
    participants: dict[str, Participant], *, rounds: int, warm_seconds: float, seconds: float
) -> dict[str, Outcome]:
    """Runs all participants together, one working at a time.

    The first turn does not count: participants set themselves up in it.

    Raises:
        UnavailableError: There is no way to limit memory here, and a participant has a limit.
    """
    tickets = _Tickets()
    outcome = {name: Outcome() for name in participants}

    def run(place: int, name: str) -> None:
        numbers = range(place, (rounds + 1) * len(participants), len(participants))
        line, into, participant = f"{warm_seconds} {seconds}\n", outcome[name], participants[name]

        def talk(process: subprocess.Popen[str]) -> str:
            return _talk(process, tickets, numbers, line, into)

        if participant.limit is None:
            into.run = _run_free(participant.command, talk)
        else:
            into.run = run_capped(participant.command, participant.limit, warm=True, talk=talk)
        into.turns = into.turns[1:]
        if into.run.stdout:
            into.summary = json.loads(into.run.stdout)

    with ThreadPoolExecutor(len(participants)) as pool:
        for future in [pool.submit(run, *item) for item in enumerate(participants)]:
            future.result()
    return outcome
