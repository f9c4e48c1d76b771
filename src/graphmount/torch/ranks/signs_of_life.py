"""Signs of life: how the processes of a training know who of them has ended, and why.

Every process counts up a number in the store of torch.distributed, twice a second, and leaves a
note there when it ends. If work in common fails, the others look: who failed by itself has said so,
who was killed counts no more and has left no note. Who only failed because of others says whose
fault it is. If the machine of the store is cut off, asking it may never return, so whatever is
asked at the end has a time limit.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from graphmount.torch.ranks.in_time import in_time

if TYPE_CHECKING:
    from collections.abc import Callable

_Result = TypeVar("_Result")

#: Seconds between signs.
_INTERVAL = 0.5
#: A process that gives no sign for so many seconds has ended, or is stuck.
_SILENCE = 3.0
#: How many seconds each of the calls below takes at most, even if the store never answers.
_LIMIT = 4 * _SILENCE


@dataclass(frozen=True, kw_only=True)
class Ended:
    """A process that others waited for in vain.

    Attributes:
        rank: Its number.
        how: What is known of its end, as the second half of a sentence.
    """

    rank: int
    how: str


class SignsOfLife:
    """The signs of this process, and what it sees of others.

    Args:
        store: Where signs are, with a connection that nothing else uses.
        rank: The number of this process.
        world_size: How many there are.
    """

    def __init__(self, store: Any, rank: int, world_size: int) -> None:  # noqa: ANN401
        self._store = store
        self._rank = rank
        self._others = [each for each in range(world_size) if each != rank]
        self._lock = threading.Lock()
        self._ends = threading.Event()
        self._is_cut_off = False
        place = {"host": socket.gethostname(), "process": os.getpid(), "space": _process_space()}
        self._set("place", json.dumps(place))
        self._set("sign", "0")
        self._thread = threading.Thread(
            target=self._count, name="graphmount signs of life", daemon=True
        )
        self._thread.start()

    def end(self, note: str) -> None:
        """Leaves a note, and gives no more signs."""
        self._ends.set()
        # The store may be gone with the rank that had it.
        with contextlib.suppress(Exception):
            self._ask(lambda: self._leave(note))

    def end_because_of(self, ended: Ended) -> None:
        """Ends, and tells others whose fault it is."""
        self._ends.set()
        with contextlib.suppress(Exception):
            self._ask(lambda: self._leave_because_of(ended))

    def who_ended(self) -> Ended | None:
        """A process that ended, or gives no signs; None if all others wait as this one does.

        It takes as long as it takes to know, up to a limit.
        """
        try:
            return self._ask(self._look)
        except Exception:  # noqa: BLE001  (of the store, whatever torch's version makes of it)
            return Ended(
                rank=0, how="ended, or cannot be reached: it has what all ranks know of each other"
            )

    def _ask(self, call: Callable[[], _Result]) -> _Result:
        """Calls something that asks the store, unless that did not answer before."""
        if self._is_cut_off:
            raise TimeoutError("the store did not answer before")
        try:
            return in_time(call, _LIMIT)
        except TimeoutError:
            self._is_cut_off = True
            raise

    def _leave(self, note: str) -> None:
        self._thread.join(_SILENCE)
        self._set("note", note)

    def _leave_because_of(self, ended: Ended) -> None:
        self._set("found", json.dumps([ended.rank, ended.how]))
        self._leave("")
        # The first rank may have the store, which others need to know what happened.
        until = time.monotonic() + 2 * _SILENCE
        others = [rank for rank in self._others if rank != ended.rank]
        while self._rank == 0 and time.monotonic() < until:
            if all(self._get("note", rank) is not None for rank in others):
                return
            time.sleep(_INTERVAL / 5)

    def _look(self) -> Ended | None:
        begin = time.monotonic()
        before = {other: self._get("sign", other) for other in self._others}
        silent = set(self._others)
        while True:
            for other in self._others:
                found = self._get("found", other)
                if found is not None:
                    rank, how = json.loads(found)
                    return Ended(rank=rank, how=how)
                note = self._get("note", other)
                if note is not None and note:
                    return Ended(rank=other, how=note)
            silent = {
                other
                for other in silent
                if self._get("sign", other) == before[other] and self._get("note", other) is None
            }
            for other in silent:
                if _is_gone(self._get("place", other)):
                    return Ended(rank=other, how=f"{self._place_of(other)} is gone")
            if not silent:
                return None
            if time.monotonic() - begin > _SILENCE:
                first = min(silent)
                return Ended(rank=first, how=f"{self._place_of(first)} gives no sign of life")
            time.sleep(_INTERVAL / 5)

    def _place_of(self, rank: int) -> str:
        text = self._get("place", rank)
        if text is None:
            return "was never there, and"
        place = json.loads(text)
        return f"(process {place['process']} on {place['host']})"

    def _count(self) -> None:
        count = 0
        while not self._ends.wait(_INTERVAL):
            count += 1
            # If the store is gone, the training fails by itself.
            with contextlib.suppress(Exception):
                self._set("sign", str(count))

    def _set(self, what: str, text: str) -> None:
        with self._lock:
            self._store.set(f"{what}/{self._rank}", text)

    def _get(self, what: str, rank: int) -> str | None:
        name = f"{what}/{rank}"
        with self._lock:  # reading what is not there would wait for it
            return bytes(self._store.get(name)).decode() if self._store.check([name]) else None


def _process_space() -> str | None:
    """What tells where the numbers of processes mean the same ones; None if that is unknown."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()
        return f"{boot.strip()} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return None


def _is_gone(place: str | None) -> bool:
    """Whether a process has ended for sure, which only its own machine knows."""
    if place is None or not Path("/proc/self/stat").exists():
        return False
    known = json.loads(place)
    if known["space"] is None or known["space"] != _process_space():
        return False
    try:
        # The state comes after the name, which is in brackets and may have any character.
        state = Path(f"/proc/{known['process']}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return state in ("Z", "X")
