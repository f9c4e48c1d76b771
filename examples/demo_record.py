"""What happens over time in one process of `make demo`: written down so that a kill loses nothing.

A thread looks twice a second and appends a line to a file, so the file says how far a process came
that did not live to tell. Every few seconds it prints a line as well.
"""

from __future__ import annotations

import json
import threading
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Self

import graphmount as gm

if TYPE_CHECKING:
    from pathlib import Path

_LOOK_SECONDS = 0.5
_PRINT_SECONDS = 5.0


@dataclass(frozen=True, kw_only=True)
class Moment:
    """How things stood at one moment.

    Attributes:
        seconds: Since the process was started.
        stage: What it was doing.
        batches: How many batches it had trained on.
        process_bytes: Its own memory.
        cached_bytes: What the page cache held of the dataset.
    """

    seconds: float
    stage: str
    batches: int
    process_bytes: int
    cached_bytes: int

    def __str__(self) -> str:
        return (
            f"{self.seconds:5.0f} s: {self.stage}, {self.batches:,} batches so far; memory: "
            f"{self.process_bytes >> 20:,} MiB its own, {self.cached_bytes >> 20:,} MiB page cache"
        )


class Record:
    """Writes moments to a file until it is left.

    Args:
        path: Where to; one JSON object on each line.
        dataset: Whose files to look for in the page cache.
        started: When the process was started, by `time.time`.
    """

    def __init__(self, path: Path, dataset: gm.Dataset, *, started: float) -> None:
        self.batches = 0
        self._stage = "starting"
        self._file = path.open("w", buffering=1)  # by lines
        self._handles = (dataset.graph, dataset.features["x"])
        self._started = started
        self._printed = time.monotonic()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def enter(self, stage: str) -> None:
        """Notes that something else is being done from now on."""
        self._stage = stage
        print(self._look(), flush=True)

    def __enter__(self) -> Self:
        self._look()  # from here on, imports are done
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        self._look()
        self._file.close()

    def _watch(self) -> None:
        while not self._done.wait(_LOOK_SECONDS):
            now = self._look()
            if time.monotonic() - self._printed > _PRINT_SECONDS:
                self._printed = time.monotonic()
                print(now, flush=True)

    def _look(self) -> Moment:
        memory = gm.memory(*self._handles)
        now = Moment(
            seconds=time.time() - self._started,
            stage=self._stage,
            batches=self.batches,
            process_bytes=memory.anonymous_bytes or memory.peak_bytes or 0,
            cached_bytes=sum(file.resident_bytes or 0 for file in memory.files),
        )
        self._file.write(json.dumps(asdict(now)) + "\n")
        return now


def read_moments(path: Path) -> list[Moment]:
    """The moments of a file; none if the process did not get so far as to open it."""
    if not path.exists():
        return []
    # A kill may have cut the last line.
    lines = [line for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]
    return [Moment(**json.loads(line)) for line in lines]
