"""What the disk does: reads all over a file, by each way and at several depths, and in order."""

from __future__ import annotations

import os
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from graphmount import _core
from graphmount._support.display import Displayed
from graphmount.doctor.io_uring import IoUring, refusal_here

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphmount.doctor.probe_file import ProbeFile

Way = Literal["uring", "pread", "mapped"]

#: Reads at a time. Threads that wait are no more than the pread reader has.
DEPTHS = (1, 4, 16, 32, 64, 128, 256)
_MOST_PREAD_THREADS = 32
_READ_BYTES = 4096
_SEQUENTIAL_BYTES = 1 << 20
_SEQUENTIAL_DEPTH = 8
_ROUNDS = 3  # in turn, so that a moment when others are busy spoils one figure of each, at most


@dataclass(frozen=True, kw_only=True, repr=False)
class ReadFigure(Displayed):
    """How many reads of 4 KiB, at places all over a file, came in a second.

    Attributes:
        way: How reads were made: "uring", "pread" (threads that wait) or "mapped" (page faults of a
            mapping that is advised "random").
        depth: How many reads ran at a time: in the ring, or in threads.
        reads_per_second: The median of three runs.

    Examples:
        >>> from graphmount.doctor import ReadFigure
        >>> ReadFigure(way="uring", depth=128, reads_per_second=180e3).depth
        128
    """

    way: Way
    depth: int
    reads_per_second: float


@dataclass(frozen=True, kw_only=True, repr=False)
class DiskFigures(Displayed):
    """What was measured of a disk.

    Attributes:
        file: Which file was read: the name of a dataset's table, or "a temporary file".
        file_bytes: The size of the file.
        read_bytes: The size of a scattered read.
        io_uring: Whether io_uring is allowed, and if not, why.
        why_not_direct: None if reads went past the page cache, else why they did not.
        cached_bytes: How much of the file could not be dropped from the page cache; None if
            unknown.
        write_bytes_per_second: How fast the temporary file was written, until it was on the disk;
            None if none was written.
        sequential_bytes_per_second: How fast reads of 1 MiB in order were, eight at a time.
        reads: The figures of scattered reads, by way and depth.

    Examples:
        >>> from graphmount.doctor import DiskFigures, IoUring, ReadFigure
        >>> figures = DiskFigures(
        ...     file="a temporary file", file_bytes=1 << 30, io_uring=IoUring(is_allowed=True),
        ...     sequential_bytes_per_second=2e9, reads=(
        ...         ReadFigure(way="uring", depth=1, reads_per_second=9e3),
        ...         ReadFigure(way="uring", depth=128, reads_per_second=180e3),
        ...     ),
        ... )
        >>> figures.best("uring").depth, figures.best("pread")
        (128, None)
    """

    file: str
    file_bytes: int
    read_bytes: int = _READ_BYTES
    io_uring: IoUring
    why_not_direct: str | None = None
    cached_bytes: int | None = None
    write_bytes_per_second: float | None = None
    sequential_bytes_per_second: float
    reads: tuple[ReadFigure, ...]

    def best(self, way: Way) -> ReadFigure | None:
        """The figure of the depth at which a way is fastest; None if it was not measured.

        Args:
            way: The way of reading: "uring", "pread" or "mapped".

        Examples:
            >>> from graphmount.doctor import DiskFigures, IoUring
            >>> figures = DiskFigures(
            ...     file="x.gd", file_bytes=1 << 30, io_uring=IoUring(is_allowed=False),
            ...     sequential_bytes_per_second=2e9, reads=(),
            ... )
            >>> figures.best("uring") is None
            True
        """
        found = [figure for figure in self.reads if figure.way == way]
        return max(found, key=lambda figure: figure.reads_per_second, default=None)

    @property
    def rows(self) -> ReadFigure | None:
        """The best figure of the way in which graphmount reads rows here."""
        return self.best("uring") or self.best("pread") or self.best("mapped")


def measure_disk(
    file: ProbeFile, *, shown: str, cores: int, seconds: float, report: Callable[[float], None]
) -> DiskFigures:
    """Reads a file for so many seconds.

    Args:
        file: The file.
        shown: What to call it.
        cores: As many threads touch the mapping at a time.
        seconds: For all runs together.
        report: Called with the share that is done.

    Raises:
        OSError: The file cannot be read.
        FileChangedError: It does not hold what was written.
    """
    probe = _core.DiskProbe(os.fsencode(file.path), file.key)
    io_uring = _try_uring(probe)
    runs: list[tuple[Way, int]] = [("uring", depth) for depth in DEPTHS if io_uring.is_allowed]
    runs += [("pread", depth) for depth in DEPTHS if depth <= _MOST_PREAD_THREADS]
    runs += [("mapped", threads) for threads in sorted({1, cores})]
    best: Way = "uring" if io_uring.is_allowed else "pread"
    num_runs = _ROUNDS * (len(runs) + 1) + 1
    each = seconds / num_runs
    _run(probe, best, _SEQUENTIAL_DEPTH, each)  # wakes a disk that sleeps
    found: dict[tuple[Way, int] | None, list[float]] = {}
    for number, run in enumerate([None, *runs] * _ROUNDS):
        report((number + 1) / num_runs)
        way, depth = run or (best, _SEQUENTIAL_DEPTH)
        found.setdefault(run, []).append(_run(probe, way, depth, each, in_order=run is None))
    medians = {run: statistics.median(figures) for run, figures in found.items()}
    return DiskFigures(
        file=shown,
        file_bytes=file.size,
        io_uring=io_uring,
        why_not_direct=probe.why_not_direct,
        cached_bytes=probe.undropped_bytes(),
        write_bytes_per_second=file.write_bytes_per_second,
        sequential_bytes_per_second=medians[None] * _SEQUENTIAL_BYTES,
        reads=tuple(
            ReadFigure(way=way, depth=depth, reads_per_second=medians[way, depth])
            for way, depth in runs
        ),
    )


def _try_uring(probe: _core.DiskProbe) -> IoUring:
    try:
        probe.run("uring", depth=1, read_bytes=_READ_BYTES, in_order=False, seconds=0.01)
    except OSError as error:
        return refusal_here(error.errno or 0)
    return IoUring(is_allowed=True)


def _run(
    probe: _core.DiskProbe, way: Way, depth: int, seconds: float, *, in_order: bool = False
) -> float:
    """Reads in a second."""
    reads, took = probe.run(
        way,
        depth=depth,
        read_bytes=_SEQUENTIAL_BYTES if in_order else _READ_BYTES,
        in_order=in_order,
        seconds=seconds,
    )
    return reads / took
