"""Runs a command with a limit on its memory, page cache included, so that little can stay cached.

    python benchmarks/harness/memcap.py 512M -- python train.py

The command runs in a memory control group of its own (v1 or v2, needs root or a delegated group),
without swap. It starts cold: the page cache is dropped first, since pages that somebody else has
read already would be charged to nobody (`--warm` keeps them). The kernel enforces the limit, so a
peak below it proves nothing: look at the anonymous memory, which is the process's own, and at the
OOM kills. The exit status is the command's (128 + signal where one ended it), or 125 if it could
not be run as asked.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

#: The exit status that says "memcap could not", as `timeout` and `docker run` have it.
UNAVAILABLE_STATUS = 125

_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
_SAMPLE_SECONDS = 0.01


class UnavailableError(RuntimeError):
    """Control groups or drop_caches are not to be had here; the message says which and why."""


@dataclass(frozen=True, kw_only=True)
class CappedRun:
    """What a command did within its limit. None: this kernel does not tell.

    Attributes:
        status: Exit status of the command, 128 + signal where one ended it.
        seconds: How long it ran.
        stdout: What it printed, if that was to be kept.
        limit_bytes: The limit; None: without one.
        peak_bytes: The most memory it was charged for, page cache included.
        anonymous_peak_bytes: The most anonymous memory seen by looking every 10 ms.
        limit_hits: How often the limit made the kernel reclaim memory.
        oom_kills: Processes killed for want of memory.
        is_cold: Whether the page cache was dropped before.
    """

    status: int
    seconds: float
    stdout: str
    limit_bytes: int | None
    peak_bytes: int | None
    anonymous_peak_bytes: int | None
    limit_hits: int | None
    oom_kills: int | None
    is_cold: bool


def parse_size(text: str) -> int:
    """The number of bytes in "512M", "2G", "1.5GiB" or "4096"; units are powers of 1024."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size; write 512M or 4GiB")
    return int(float(match[1]) * (1 << _UNITS[match[2].upper()]))


def drop_caches() -> None:
    """Empties the page cache of the machine, after writing out what is dirty."""
    os.sync()
    try:
        Path("/proc/sys/vm/drop_caches").write_text("3\n")
    except OSError as error:
        raise UnavailableError(
            f"cannot drop the page cache ({error.strerror}); run as root, or keep it warm"
        ) from error


def run_capped(
    command: Sequence[str],
    limit: int,
    *,
    warm: bool = False,
    keep_stdout: bool = False,
    talk: Callable[[subprocess.Popen[str]], str] | None = None,
) -> CappedRun:
    """Runs `command` with at most `limit` bytes of memory, page cache included.

    Args:
        command: The program and its arguments.
        limit: In bytes.
        warm: Keep the page cache as it is.
        keep_stdout: Return what the command prints.
        talk: Has the process, with pipes to its input and output, until it lets go of it; what it
            returns counts as what the command printed.

    Raises:
        UnavailableError: There is no writable memory control group, or no way to start cold.
    """
    with limited_group(limit) as group:
        if not warm:
            drop_caches()
        # The shell joins the group before it becomes the command: nothing runs outside.
        join = f'echo $$ > "$0/cgroup.procs" || exit {UNAVAILABLE_STATUS}; exec "$@"'
        start = time.monotonic()
        with AnonymousPeak(group) as anonymous:
            process = subprocess.Popen(
                ["/bin/sh", "-c", join, str(group), *command],
                stdin=subprocess.PIPE if talk else None,
                stdout=subprocess.PIPE if keep_stdout or talk else None,
                text=True,
            )
            if talk:
                stdout = talk(process)
                process.wait()
            else:
                stdout, _ = process.communicate()
        seconds = time.monotonic() - start
        events = _events(group)
        peak = _read_number(group, "memory.peak", "memory.max_usage_in_bytes")
        hits = events.get("max", _read_number(group, "memory.failcnt"))
        return CappedRun(
            status=status_of(process),
            seconds=seconds,
            stdout=stdout or "",
            limit_bytes=limit,
            peak_bytes=peak,
            anonymous_peak_bytes=anonymous.peak_bytes,
            limit_hits=hits,
            oom_kills=events.get("oom_kill"),
            is_cold=not warm,
        )


def status_of(process: subprocess.Popen[str]) -> int:
    """How a process ended: 128 + signal where one ended it."""
    code = process.returncode
    return code if code >= 0 else 128 - code


def oom_kills(group: Path) -> int | None:
    """How many processes of a group were killed for want of memory; None if nobody tells."""
    return _events(group).get("oom_kill")


def _events(group: Path) -> dict[str, int]:
    return _read_table(group / "memory.events") or _read_table(group / "memory.oom_control")


class AnonymousPeak:
    """Looks at a group's anonymous memory again and again: the kernel keeps no peak of it.

    Args:
        group: The folder of the group.
        shared: Count memory that processes share, such as that in `/dev/shm`, too.
    """

    def __init__(self, group: Path, *, shared: bool = False) -> None:
        self.peak_bytes: int | None = None
        self._group = group
        self._is_shared_counted = shared
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self) -> None:
        while not self._done.wait(_SAMPLE_SECONDS):
            table = _read_table(self._group / "memory.stat")
            now = table.get("anon", table.get("total_rss"))
            if now is not None:
                if self._is_shared_counted:
                    now += table.get("total_shmem", table.get("shmem", 0))
                self.peak_bytes = max(now, self.peak_bytes or 0)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()


@contextlib.contextmanager
def limited_group(limit: int) -> Iterator[Path]:
    """A control group with this limit and no swap, removed with all that runs in it.

    Raises:
        UnavailableError: There is no writable memory control group.
    """
    group = _make_group()
    try:
        try:
            _write_first(group, limit, "memory.max", "memory.limit_in_bytes")
        except OSError as error:
            raise UnavailableError(f"cannot limit {group} to {limit} bytes: {error}") from error
        no_swap = {"memory.swap.max": 0, "memory.swappiness": 0}
        if len(Path("/proc/swaps").read_text().splitlines()) > 1:
            no_swap["memory.memsw.limit_in_bytes"] = limit  # at the price of counting no hits
        for name, value in no_swap.items():
            with contextlib.suppress(OSError):  # a kernel without swap accounting has no such file
                (group / name).write_text(str(value))
        yield group
    finally:
        _remove(group)


def _make_group() -> Path:
    name = f"graphmount-memcap-{os.getpid()}-{time.monotonic_ns()}"
    reasons = []
    for parent, is_v2 in _places():
        try:
            if is_v2 and "memory" not in (parent / "cgroup.subtree_control").read_text().split():
                (parent / "cgroup.subtree_control").write_text("+memory")
            group = parent / name
            group.mkdir()
        except OSError as error:
            reasons.append(f"{parent}: {error.strerror}")
            continue
        if any((group / file).exists() for file in ("memory.max", "memory.limit_in_bytes")):
            return group
        group.rmdir()
        reasons.append(f"{parent}: no memory controller")
    raise UnavailableError(
        "no writable memory control group here; run as root on a machine or in a container that "
        f"has one ({'; '.join(reasons) or 'none is mounted'})"
    )


def _places() -> Iterator[tuple[Path, bool]]:
    """Folders in which a group might be made: where they are mounted, then where we are."""
    try:
        mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
        own = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    except OSError:
        return
    for _, folder, kind, options, *_ in mounts:
        is_v2 = kind == "cgroup2"
        if not is_v2 and (kind != "cgroup" or "memory" not in options.split(",")):
            continue
        root = Path(folder)
        yield root, is_v2
        for _, controllers, path in own:
            if controllers == "" if is_v2 else "memory" in controllers.split(","):
                place = root / path.lstrip("/")
                while place != root and place.is_relative_to(root):
                    yield place, is_v2
                    place = place.parent


def _remove(group: Path) -> None:
    for _ in range(50):
        with contextlib.suppress(OSError):
            for line in (group / "cgroup.procs").read_text().split():
                os.kill(int(line), signal.SIGKILL)  # what the command left behind
        with contextlib.suppress(OSError):
            group.rmdir()
            return
        time.sleep(0.1)
    print(f"memcap: could not remove {group}", file=sys.stderr)


def _write_first(group: Path, value: int, *names: str) -> None:
    next(group / name for name in names if (group / name).exists()).write_text(str(value))


def _read_number(group: Path, *names: str) -> int | None:
    for name in names:
        with contextlib.suppress(OSError, ValueError):
            return int((group / name).read_text())
    return None


def _read_table(path: Path) -> dict[str, int]:
    try:
        words = [line.split() for line in path.read_text().splitlines()]
    except OSError:
        return {}
    return {pair[0]: int(pair[1]) for pair in words if len(pair) == 2 and pair[1].isdigit()}


def _shown(size: int | None) -> str:
    return "unknown" if size is None else f"{size / (1 << 20):.1f} MiB"


def main() -> int:
    parser = argparse.ArgumentParser(description="Run a command with a limit on its memory.")
    parser.add_argument("limit", type=parse_size, help="such as 512M or 2GiB")
    parser.add_argument("--warm", action="store_true", help="keep the page cache as it is")
    parser.add_argument("command", nargs="+", help="after --")
    options = parser.parse_args()
    try:
        run = run_capped(options.command, options.limit, warm=options.warm)
    except UnavailableError as error:
        print(f"memcap: {error}", file=sys.stderr)
        return UNAVAILABLE_STATUS
    hits = "unknown" if run.limit_hits is None else run.limit_hits
    print(
        f"memcap: limit {_shown(run.limit_bytes)}, peak {_shown(run.peak_bytes)}, "
        f"anonymous peak {_shown(run.anonymous_peak_bytes)} (sampled), "
        f"limit hits {hits}, OOM kills {run.oom_kills}, "
        f"{'cold' if run.is_cold else 'warm'} start, {run.seconds:.2f} s, status {run.status}",
        file=sys.stderr,
    )
    return run.status


if __name__ == "__main__":
    sys.exit(main())
