"""How a measured script works: in turns with other processes, or once, to be checked.

The work is done by a child. Its parent, which has imported nothing heavy, asks it for one step
after the other, and stops it (SIGSTOP) when a turn lasts longer than the others can wait: even in
the middle of a step, which goes on in the next turn. So a step that takes minutes neither holds up
everybody nor is lost: its time is counted over all turns.

Knows only the standard library and NumPy: it runs in the environments of peers.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import signal
import sys
import time
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

#: The exit status of a script whose library says that it cannot do this at all.
CANNOT = 3


class Job(Protocol):
    """What a script does."""

    def step(self) -> dict[str, float]:
        """Takes one batch. Returns counts, which are added up."""

    def check(self) -> dict[str, Any]:
        """Takes one batch and returns arrays that show what it is."""


def own_memory() -> dict[str, int]:
    """Of this process, in bytes: its anonymous memory, and the most that it ever had resident."""
    with open("/proc/self/status") as file:
        table = dict(line.split(":", 1) for line in file)
    names = {"anonymous": "RssAnon", "peak": "VmHWM"}
    return {name: int(table[of].split()[0]) * 1024 for name, of in names.items()}


def disk_read_bytes() -> int:
    """What this process has made the disk deliver so far."""
    with open("/proc/self/io") as file:
        return int(dict(line.split(":") for line in file)["read_bytes"])


class _Worker:
    """The child, as its parent sees it."""

    def __init__(self, make: Callable[[], Job]) -> None:
        asks, self._asking = os.pipe()
        self._answers, answering = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._asking)
            os.close(self._answers)
            os._exit(_work(make, asks, answering))
        os.close(asks)
        os.close(answering)
        self._text = b""
        self._is_asked = self._is_stopped = False
        self.unfinished = 0.0  # seconds that the step under way has had so far

    def step(self, patience: float | None) -> dict[str, float] | None:
        """One step with its seconds; None if it is not done after so many seconds."""
        begun = time.perf_counter()
        if self._is_stopped:
            os.kill(self.pid, signal.SIGCONT)
            self._is_stopped = False
        if not self._is_asked:
            os.write(self._asking, b"\n")
            self._is_asked = True
        while b"\n" not in self._text:
            left = None if patience is None else begun + patience - time.perf_counter()
            ready, _, _ = select.select([self._answers], [], [], left and max(0.0, left))
            if not ready:
                os.kill(self.pid, signal.SIGSTOP)
                _, status = os.waitpid(self.pid, os.WUNTRACED)  # a read under way ends first
                if not os.WIFSTOPPED(status):
                    sys.exit(os.waitstatus_to_exitcode(status) or 1)
                self._is_stopped = True
                self.unfinished += time.perf_counter() - begun
                return None
            piece = os.read(self._answers, 1 << 16)
            if not piece:
                _, status = os.waitpid(self.pid, 0)
                sys.exit(os.waitstatus_to_exitcode(status) or 1)
            self._text += piece
        line, _, self._text = self._text.partition(b"\n")
        self._is_asked = False
        answer: dict[str, float] = json.loads(line)
        if self.unfinished:  # its own clock ran on while it was stopped
            answer["seconds"] = self.unfinished + time.perf_counter() - begun
        self.unfinished = 0.0
        return answer

    def end(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def _work(make: Callable[[], Job], asks: int, answering: int) -> int:
    """What the child does: first it makes the job, then a step whenever it is asked."""
    try:
        job: Job | None = None
        while os.read(asks, 1):
            read, used, start = disk_read_bytes(), time.process_time(), time.perf_counter()
            if job is None:
                job = make()
                counts: dict[str, float] = {}
            else:
                counts = job.step()
            counts["seconds"] = time.perf_counter() - start
            counts["processor"] = time.process_time() - used
            counts["read"] = disk_read_bytes() - read
            os.write(answering, json.dumps(counts).encode() + b"\n")
    except BaseException:  # noqa: BLE001  (whatever it is: the child must not become the parent)
        import traceback

        traceback.print_exc()
        return 1
    return 0


def _take_turn(worker: _Worker, seconds: float, patience: float) -> tuple[int, dict[str, float]]:
    """Steps for some seconds. Returns how many, and sums of what they said."""
    taken, sums = 0, {"seconds": 0.0}
    deadline = time.perf_counter() + patience
    while sums["seconds"] < seconds:
        answer = worker.step(max(0.0, deadline - time.perf_counter()))
        if answer is None:
            break
        taken += 1
        for name, value in answer.items():
            sums[name] = sums.get(name, 0.0) + value
    return taken, sums


def _play(make: Callable[[], Job], patience: float) -> int:
    worker = _Worker(make)
    started: dict[str, float] | None = None
    steps, totals = 0, {"seconds": 0.0}
    for line in sys.stdin:
        warm_seconds, seconds = map(float, line.split())
        if started is None:
            started = worker.step(None)
        for is_timed, length in ((False, warm_seconds), (True, seconds)):
            taken, sums = _take_turn(worker, length, max(length, patience))
            steps += taken
            for name, value in sums.items():
                totals[name] = totals.get(name, 0.0) + value
            if is_timed:
                spent = sums["seconds"]
                each = {f"{name}_per_batch": sums[name] / taken for name in sums if taken}
                rate = taken / spent if taken else 0.0
                print(json.dumps({"batches_per_second": rate, **each}), flush=True)
    worker.end()
    summary = {f"{name}_per_batch": totals[name] / steps for name in totals if steps}
    summary |= {"steps": steps, "all_seconds": totals["seconds"] + worker.unfinished}
    summary |= {"start_up_seconds": started["seconds"] if started else 0.0}
    print(json.dumps(summary))
    return 0


def main(make: Callable[[argparse.Namespace], Job], *, needs: tuple[str, ...] = ()) -> None:
    """Runs a script: `FOLDER --check OUT.npz` to be checked, `FOLDER` to take turns.

    Args:
        make: Makes the job from the options. Not called before it is its turn.
        needs: Options with a value that this script has besides.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--check", metavar="OUT")
    parser.add_argument("--patience", type=float, default=10.0, help="seconds a turn may last")
    parser.add_argument("--threads", type=int, help="if not as many as the library wants")
    for name in needs:
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()
    # DGL asks for a backend where none is set, and writes the answer into the home folder.
    os.environ["DGLBACKEND"] = "pytorch"
    if options.threads is not None:
        os.environ["OMP_NUM_THREADS"] = str(options.threads)
    if options.check is None:
        sys.exit(_play(lambda: make(options), options.patience))
    try:
        job = make(options)
        memory = own_memory()
        shown = job.check()
    except ImportError as error:
        print(json.dumps({"cannot": str(error)}))
        sys.exit(CANNOT)
    import numpy as np

    np.savez(options.check, **shown)
    print(json.dumps(memory))
