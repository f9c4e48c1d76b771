"""Processes that work in turns of a few seconds each, all of them alive, each with its own limit.

Machines are faster in one minute and slower in the next. What is compared in turns is compared in
the same minute. A process reads "WARM SECONDS" from its input when it is its turn, works so many
seconds without and then with the clock, and answers with a line of JSON; at the end of its input it
says goodbye with another. It must be idle between its turns.
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


def add_turns(parser: argparse.ArgumentParser) -> None:
    """The options that say how many turns there are, and how long."""
    parser.add_argument("--rounds", type=int, help="turns of each way")
    parser.add_argument("--seconds", type=float, help="of each turn")
    parser.add_argument("--warm-seconds", type=float, help="of each turn before the clock runs")


@dataclass(frozen=True)
class Player:
    """A process that takes turns: what to run, and how much memory it may have, if not all."""

    command: Sequence[str]
    limit: int | None


@dataclass
class Played:
    """What a process said: in each turn, and at the end; nothing more after it died."""

    turns: list[dict[str, float]] = field(default_factory=list)
    goodbye: dict[str, Any] = field(default_factory=dict)
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
    into: Played,
) -> str:
    """Asks a process whenever it is its turn. Returns what it says when it is asked no more."""
    stdin, stdout = process.stdin, process.stdout
    if stdin is None or stdout is None:
        raise RuntimeError("a player needs pipes")
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
    """Runs `command` without a limit, and lets `talk` have it as `run_capped` does."""
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


def play(
    players: dict[str, Player], *, rounds: int, warm_seconds: float, seconds: float
) -> dict[str, Played]:
    """Runs all players together, one working at a time.

    A first turn, which does not count, is for what players set up when they begin.

    Raises:
        UnavailableError: There is no way to limit memory here, and a player has a limit.
    """
    tickets = _Tickets()
    played = {name: Played() for name in players}

    def run(place: int, name: str) -> None:
        numbers = range(place, (rounds + 1) * len(players), len(players))
        line, into, player = f"{warm_seconds} {seconds}\n", played[name], players[name]

        def talk(process: subprocess.Popen[str]) -> str:
            return _talk(process, tickets, numbers, line, into)

        if player.limit is None:
            into.run = _run_free(player.command, talk)
        else:
            into.run = run_capped(player.command, player.limit, warm=True, talk=talk)
        into.turns = into.turns[1:]
        if into.run.stdout:
            into.goodbye = json.loads(into.run.stdout)

    with ThreadPoolExecutor(len(players)) as pool:
        for future in [pool.submit(run, *item) for item in enumerate(players)]:
            future.result()
    return played
