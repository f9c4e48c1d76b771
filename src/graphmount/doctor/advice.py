"""Advice from facts: pure functions, which know nothing of the machine that they run on.

Every finding says what was found, with its figure, and what to do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmount._support.sizes import format_bytes
from graphmount.doctor.dataset_advice import about_dataset
from graphmount.doctor.estimate import suggested_memory
from graphmount.doctor.finding import Finding, about, as_option

if TYPE_CHECKING:
    from graphmount.doctor.dataset import DatasetFacts
    from graphmount.doctor.disk import Disk
    from graphmount.doctor.machine import Machine
    from graphmount.doctor.probe import DiskFigures

_LARGE_READ_AHEAD = 256 << 10
_SLOW_READS = 500  # a second, one at a time: more than any spinning disk can do
_CLEARLY = 1.3  # times as fast; less may be chance
_CACHED = 0.05  # of a file: more of it in memory spoils figures


def advise(
    machine: Machine, disk: Disk, figures: DiskFigures, dataset: DatasetFacts | None
) -> tuple[Finding, ...]:
    """All findings, those about the dataset first.

    Args:
        machine: The machine.
        disk: The disk.
        figures: What was measured of it.
        dataset: The dataset, if there is one.
    """
    found = []
    if dataset is not None:
        found += about_dataset(machine, figures, dataset)
    found += [
        _about_uring(disk, figures),
        _about_memory(machine, dataset),
        _about_read_ahead(disk, figures, machine),
        _about_kind(disk, figures),
        _about_direct(disk, figures),
        _about_cached(figures) or _about_fresh_file(disk, figures),
        _about_huge_pages(machine),
    ]
    return tuple(finding for finding in found if finding is not None)


def _about_uring(disk: Disk, figures: DiskFigures) -> Finding | None:
    threads, faults = figures.best("pread"), figures.best("mapped")
    ring = figures.best("uring")
    others = [
        f"{name} {about(figure.reads_per_second)} ({figure.depth} at a time)"
        for name, figure in (("threads with pread", threads), ("page faults of mmap", faults))
        if figure is not None
    ]
    if ring is not None:
        text = (
            f"It is allowed, and gives {about(ring.reads_per_second)} reads/s with {ring.depth} "
            f"in flight; {', '.join(others)}. Loaders and gather() use it by themselves."
        )
        is_slower = threads is not None and (
            threads.reads_per_second > _CLEARLY * ring.reads_per_second
        )
        if is_slower and not disk.is_memory:
            text += " Threads were faster here: try reader='pread'."
        return Finding(subject="io_uring", level="good", text=text)
    refusal = figures.io_uring
    text = f"It is not allowed ({refusal.error}): {refusal.reason}. "
    if threads is not None:
        one = next(figure for figure in figures.reads if figure.way == "pread")
        gain = threads.reads_per_second / max(1e-9, one.reads_per_second)
        text += (
            f"graphmount reads with up to {threads.depth} threads instead, "
            f"{about(threads.reads_per_second)} reads/s, {gain:.0f} times what one gets. A ring "
            "keeps 256 reads in flight with one thread: fast disks give more then, and cores are "
            "left for sampling. "
        )
    text += f"To allow it: {refusal.remedy}." if refusal.remedy else "We know of no remedy."
    return Finding(subject="io_uring", level="act" if refusal.remedy else "note", text=text)


def _about_memory(machine: Machine, dataset: DatasetFacts | None) -> Finding | None:
    memory = suggested_memory(machine, None)
    if memory is None:
        text = "The system does not tell how much memory there is; pass memory= to loaders by hand."
        return Finding(subject="memory", level="note", text=text)
    limit, whole = machine.limit_bytes, machine.memory_bytes
    if limit is not None:
        of_all = "" if whole is None else f" of the machine's {format_bytes(whole)}"
        text = (
            f"The control group of this process may use {format_bytes(limit)}{of_all}, page cache "
            "included; more ends the process."
        )
        if dataset is None:
            text += f" Pass memory='{as_option(memory)}' to loaders, about half."
        return Finding(subject="memory limit", level="act", text=text)
    if dataset is not None:
        return None
    text = (
        f"{format_bytes(machine.usable_bytes or 0)} are to be had now. For tables larger than "
        f"that, pass memory='{as_option(memory)}' to loaders, half of it; --dataset tells more."
    )
    return Finding(subject="memory", level="note", text=text)


def _about_read_ahead(disk: Disk, figures: DiskFigures, machine: Machine) -> Finding | None:
    ahead = disk.read_ahead_bytes
    if ahead is None or ahead < _LARGE_READ_AHEAD or disk.is_memory:
        return None
    sequential = figures.sequential_bytes_per_second
    half = "" if machine.usable_bytes is None else f" ({format_bytes(machine.usable_bytes // 2)})"
    random = figures.best("mapped")
    against = "" if random is None else f", against {about(random.reads_per_second)} without"
    text = (
        f"The system reads {format_bytes(ahead)} around each page that plain mmap touches: at "
        f"{format_bytes(int(sequential))}/s that is about {about(sequential / ahead)} "
        f"scattered rows/s{against}. graphmount's advice='auto' turns it off for files larger than "
        f"half of the memory{half}; numpy.memmap and torch.from_file do not."
    )
    return Finding(subject="read-ahead", level="note", text=text)


def _about_kind(disk: Disk, figures: DiskFigures) -> Finding | None:
    if disk.is_memory:
        text = (
            f"{disk.file_system} is memory, not a disk: the figures are those of copying, and a "
            "dataset here takes memory that training needs. Put it on a disk."
        )
        return Finding(subject="no disk", level="act", text=text)
    singles = [figure.reads_per_second for figure in figures.reads if figure.depth == 1]
    best = figures.rows
    if best is None or not 0 < max(singles, default=0) < _SLOW_READS:
        return None
    reason = (
        "It is a network file system"
        if disk.is_network
        else "That is what a spinning disk does, or a network"
    )
    text = (
        f"A scattered read takes {1000 / max(singles):.1f} ms, and the most there are is "
        f"{about(best.reads_per_second)} a second. {reason}. Copy the dataset to an SSD; if that "
        "cannot be, order='hot', float16 and all the memory= there is will help most."
    )
    return Finding(subject="slow disk", level="act", text=text)


def _about_direct(disk: Disk, figures: DiskFigures) -> Finding | None:
    if figures.why_not_direct is None or disk.is_memory:
        return None
    text = (
        f"{disk.file_system or 'The file system'} does not allow reads past the page cache "
        f"(O_DIRECT: {figures.why_not_direct}). Rows come through the page cache instead, which "
        "copies them twice and pushes out what else is cached."
    )
    return Finding(subject="page cache", level="note", text=text)


def _about_cached(figures: DiskFigures) -> Finding | None:
    cached = figures.cached_bytes
    if cached is None or cached <= _CACHED * figures.file_bytes:
        return None
    text = (
        f"{format_bytes(cached)} of the {format_bytes(figures.file_bytes)} that were read stayed "
        "in memory, because others use the file or because it has no disk: figures of mmap are too "
        "good."
    )
    return Finding(subject="figures", level="note", text=text)


def _about_fresh_file(disk: Disk, figures: DiskFigures) -> Finding | None:
    if figures.write_bytes_per_second is None or disk.is_memory:
        return None
    text = (
        "The file had just been written, and disks and hosts of virtual machines may still have "
        "had it in caches of their own: an old file can be several times slower. --dataset "
        "measures with one."
    )
    return Finding(subject="figures", level="note", text=text)


def _about_huge_pages(machine: Machine) -> Finding | None:
    if machine.huge_pages != "never":
        return None
    text = (
        "They are switched off. Scattered accesses to caches and maps are somewhat slower than "
        "they could be; as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled."
    )
    return Finding(subject="huge pages", level="note", text=text)
