"""The examination: all there is to say of a machine, a disk and perhaps a dataset."""

from __future__ import annotations

import errno
import os
import time
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphmount._dataset.dataset import Dataset, open_one_type
from graphmount._support.display import Displayed
from graphmount._support.progress import reporting
from graphmount.doctor.advice import advise
from graphmount.doctor.dataset_examination import examine_dataset, largest_table
from graphmount.doctor.disk import Disk, examine_disk
from graphmount.doctor.estimate import Estimate, estimate, suggested_memory
from graphmount.doctor.machine import Machine, examine_machine
from graphmount.doctor.probe import DiskFigures, measure_disk
from graphmount.doctor.probe_file import ProbeFile, temporary_probe_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from graphmount._support.progress import ProgressOption
    from graphmount.doctor.dataset import DatasetFacts
    from graphmount.doctor.finding import Finding

_LEAST_TABLE_BYTES = 256 << 20  # smaller ones say little about a disk
_READING_SHARE = 0.6  # of the time; a quarter is for writing
_SAMPLING_SHARE = 0.15  # at least


@dataclass(frozen=True, kw_only=True, repr=False)
class MachineReport(Displayed):
    """What a machine can do, and what to do about it.

    Attributes:
        machine: The machine: cores, memory, pages.
        disk: The disk where the figures were measured.
        figures: What was measured.
        dataset: The dataset, if one was given; else None.
        estimate: How many batches a second the dataset should give with the suggested memory; None
            without a dataset.
        findings: The advice, in plain words.
        seconds: How long the examination took.

    Examples:
        >>> from graphmount.doctor import examine
        >>> report = examine(".", seconds=1)
        >>> report.machine.cores >= 1, report.disk.folder == os.getcwd()
        (True, True)
    """

    machine: Machine
    disk: Disk
    figures: DiskFigures
    dataset: DatasetFacts | None
    estimate: Estimate | None
    findings: tuple[Finding, ...]
    seconds: float


def examine(
    folder: str | os.PathLike[str] | None = None,
    *,
    dataset: str | os.PathLike[str] | None = None,
    seconds: float = 30.0,
    progress: ProgressOption = None,
) -> MachineReport:
    """Finds out what this machine can do: `graphmount doctor` in Python.

    The disk is measured with a temporary file of 1 GiB in the folder, or less if space or time is
    short. The file has no name, so it is gone whatever happens. If a dataset is given and no
    folder, and one of its tables is large, that table is read instead and nothing is written; it is
    dropped from the page cache first.

    Args:
        folder: The folder to measure in. If None, the folder of the dataset, or the current folder.
        dataset: The path of a dataset to give advice for; none if None.
        seconds: About how long the examination may take.
        progress: A callback of (done, total); True or False to show a progress bar or not. None
            shows one if standard error is a terminal.

    Raises:
        OSError: There is no such folder or dataset, or no file can be written there; with ENOSPC if
            there is no room.
        ValueError: `seconds` is not from 0.1 to 3600.

    Examples:
        >>> from graphmount.doctor import examine
        >>> report = examine(".", seconds=1)
        >>> report.figures.rows.reads_per_second > 0
        True
    """
    if not 0.1 <= seconds <= 3600:
        raise ValueError(f"seconds={seconds!r} is not from 0.1 to 3600")
    begin = time.monotonic()
    opened = None if dataset is None else open_one_type(dataset, "examining a dataset")
    place = _place(folder, opened)
    machine, disk = examine_machine(), examine_disk(place)
    with reporting(progress, "examining", in_bytes=False, shows_rate=False) as report:
        stage = _stages(report)
        table = None if opened is None or folder is not None else _readable_table(opened)
        if table is None:
            probed: AbstractContextManager[ProbeFile] = temporary_probe_file(
                place, seconds=seconds, report=stage(0.0, 0.25)
            )
        else:
            probed = nullcontext(table)
        with probed as file:
            figures = measure_disk(
                file,
                shown="a temporary file" if table is None else table.path,
                cores=machine.cores,
                seconds=_READING_SHARE * seconds,
                report=stage(0.25, 0.85),
            )
        facts = None
        if opened is not None:
            left = seconds - (time.monotonic() - begin)
            facts = examine_dataset(
                opened,
                usable_bytes=machine.usable_bytes,
                seconds=max(left, _SAMPLING_SHARE * seconds),
                report=stage(0.85, 1.0),
            )
    memory = None if facts is None else suggested_memory(machine, facts)
    return MachineReport(
        machine=machine,
        disk=disk,
        figures=figures,
        dataset=facts,
        estimate=None if facts is None or memory is None else estimate(figures, facts, memory),
        findings=advise(machine, disk, figures, facts),
        seconds=time.monotonic() - begin,
    )


def _place(folder: str | os.PathLike[str] | None, dataset: Dataset | None) -> str:
    if folder is None:
        return os.getcwd() if dataset is None else dataset.path
    place = os.path.realpath(folder)
    if not os.path.exists(place):
        raise FileNotFoundError(errno.ENOENT, "No such folder", os.fspath(folder))
    if not os.path.isdir(place):
        raise NotADirectoryError(
            errno.ENOTDIR, "Not a folder; name the one to measure in", os.fspath(folder)
        )
    return place


def _readable_table(dataset: Dataset) -> ProbeFile | None:
    """The largest table, if it says something about the disk: large, and all of it there."""
    store = largest_table(dataset)
    if store is None or store.file_bytes < _LEAST_TABLE_BYTES:
        return None
    blocks = getattr(os.stat(store.path), "st_blocks", None)
    if blocks is not None and blocks * 512 < store.file_bytes * 9 // 10:
        return None  # holes are not read from the disk
    return ProbeFile(store.path, store.file_bytes, None, None)


def _stages(
    report: Callable[[int, int], None] | None,
) -> Callable[[float, float], Callable[[float], None]]:
    """What gives the report of one stage, from and to which share of the whole it goes."""

    def stage(first: float, last: float) -> Callable[[float], None]:
        def tell(done: float) -> None:
            if report is not None:
                report(int(1000 * (first + done * (last - first))), 1000)

        return tell

    return stage
