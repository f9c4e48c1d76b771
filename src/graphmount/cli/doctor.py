"""`graphmount doctor [DIR]`: what this machine can do, and advice in plain words."""

from __future__ import annotations

import argparse
import dataclasses
import errno
import json
import os
from typing import TYPE_CHECKING

from graphmount._support.files.regular_files import require_replaceable
from graphmount._support.files.text_output import write_text
from graphmount._support.sizes import format_bytes
from graphmount.cli.output import table
from graphmount.doctor import DatasetFacts, MachineReport, ReadFigure, examine

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

_WAYS = {"uring": "io_uring", "pread": "threads, pread", "mapped": "page faults, mmap"}
_MARKS = {"good": ("+", "green"), "note": ("-", "cyan"), "act": ("!", "yellow")}


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "doctor",
        help="find out what this machine can do, and get advice",
        description="Shows cores, memory and its limit, the disk and how fast it reads by mmap, "
        "pread and io_uring, and gives advice. Writes a temporary file of up to 1 GiB, which is "
        "gone afterwards; or reads a table of the dataset, and writes nothing.",
    )
    parser.add_argument(
        "folder",
        nargs="?",
        metavar="DIR",
        help="where to measure the disk; that of the dataset, or the current folder, by default",
    )
    parser.add_argument(
        "--dataset", metavar="PATH", help="the folder of a dataset to give advice for"
    )
    parser.add_argument("--json", metavar="FILE", help="write all facts and figures to this file")
    parser.add_argument(
        "--seconds", type=_seconds, default=30.0, metavar="N", help="how long to take (30)"
    )
    parser.add_argument("--no-progress", action="store_true", help="show no progress bar")
    parser.set_defaults(run=_run)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0.1 <= seconds <= 3600:
        raise argparse.ArgumentTypeError(f"{text!r} is not from 0.1 to 3600 seconds")
    return seconds


def _run(options: argparse.Namespace) -> int:
    if options.json is not None:
        _require_writable(options.json)  # rather than half a minute later
    report = examine(
        options.folder,
        dataset=options.dataset,
        seconds=options.seconds,
        progress=False if options.no_progress else None,
    )
    if options.json is not None:
        write_text(options.json, json.dumps(dataclasses.asdict(report), indent=2) + "\n")
    from rich.console import Console

    _show(report, Console(highlight=False))
    return 0


def _require_writable(path: str) -> None:
    folder = os.path.dirname(os.path.abspath(path))
    place = path if os.path.exists(path) else folder
    if not os.path.exists(folder):
        raise FileNotFoundError(errno.ENOENT, "No such folder", folder)
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, "--json takes a file, and this is a folder", path)
    require_replaceable(path)
    if not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, "Cannot write here", path)


def _show(report: MachineReport, console: Console) -> None:
    from rich.padding import Padding

    for title, rows in (("Machine", _machine_rows(report)), ("\nDisk", _disk_rows(report))):
        console.print(title, style="bold")
        console.print(table(rows, wraps=True))
    _show_reads(report, console)
    if report.dataset is not None:
        _show_dataset(report.dataset, console)
    console.print("\nAdvice", style="bold")
    for finding in report.findings:
        mark, color = _MARKS[finding.level]
        line = console.render_str(f"[{color}]{mark}[/] [bold]{finding.subject}:[/] ")
        line.append(finding.text)
        console.print(Padding(line, (0, 2)))
    console.print(f"\nThis took {report.seconds:.0f} s.")


def _machine_rows(report: MachineReport) -> list[tuple[str, str]]:
    machine = report.machine
    limit = machine.limit_bytes
    memory = (
        f"{format_bytes(machine.memory_bytes)}, {format_bytes(machine.available_bytes)} available, "
        + ("no limit" if limit is None else f"limit {format_bytes(limit)}")
    )
    return [
        ("system", machine.system),
        ("processor", f"{machine.processor or 'unknown'}, {machine.cores} cores for this process"),
        ("memory", f"{memory} by control groups"),
        (
            "pages",
            f"{format_bytes(machine.page_bytes)}, huge pages: {machine.huge_pages or 'unknown'}",
        ),
        ("io_uring", _uring(report)),
    ]


def _uring(report: MachineReport) -> str:
    found = report.figures.io_uring
    return "allowed" if found.is_allowed else f"not allowed ({found.error}): {found.reason}"


def _disk_rows(report: MachineReport) -> list[tuple[str, str]]:
    disk, figures = report.disk, report.figures
    direct = figures.why_not_direct
    past = "past the page cache" if direct is None else f"through the page cache ({direct})"
    written = figures.write_bytes_per_second
    rates = f"read {_rate(figures.sequential_bytes_per_second)}"
    if written is not None:
        rates += f", written {_rate(written)}"
    return [
        ("folder", disk.folder),
        ("device", f"{disk.source or 'unknown'}, model: {disk.model or 'unknown'}"),
        (
            "file system",
            f"{disk.file_system or 'unknown'} ({disk.mount_options or 'options unknown'})",
        ),
        ("space", f"{format_bytes(disk.free_bytes)} of {format_bytes(disk.total_bytes)} free"),
        ("read-ahead", format_bytes(disk.read_ahead_bytes)),
        ("measured with", f"{figures.file}, {format_bytes(figures.file_bytes)}, {past}"),
        ("in order", rates),
    ]


def _show_reads(report: MachineReport, console: Console) -> None:
    figures = report.figures.reads
    depths = sorted({figure.depth for figure in figures})
    console.print("\nScattered reads of 4 KiB in a second", style="bold")
    rows = [(str(depth), *(_reads(figures, way, depth) for way in _WAYS)) for depth in depths]
    console.print(table(rows, header=("at a time", *_WAYS.values()), right=range(4), wraps=True))


def _reads(figures: Iterable[ReadFigure], way: str, depth: int) -> str:
    for figure in figures:
        if (figure.way, figure.depth) == (way, depth):
            return f"{figure.reads_per_second:,.0f}"
    return ""


def _show_dataset(facts: DatasetFacts, console: Console) -> None:
    console.print()
    console.print(f"Dataset {facts.path}", style="bold", markup=False, soft_wrap=True)
    lists = ("neighbor lists", "", "", "", format_bytes(facts.list_bytes))
    rows = [
        (
            f"{each.name} of edges" if each.of_edges else each.name,
            f"{each.rows:,}",
            format_bytes(each.row_bytes),
            each.dtype,
            format_bytes(each.table_bytes),
        )
        for each in facts.tables
    ]
    header = ("table", "rows", "one row", "dtype", "size")
    console.print(table([*rows, lists], header=header, right=(1, 2, 4), wraps=True))


def _rate(bytes_per_second: float) -> str:
    return f"{bytes_per_second / 1e6:,.0f} MB/s"
