"""`graphmount bench NAME…`: how fast graphmount is here, next to others; a report of it."""

from __future__ import annotations

import datetime as dt
import importlib
import os
import shlex
import sys
from typing import TYPE_CHECKING, Any

import graphmount as gm

if TYPE_CHECKING:
    import argparse

_ABOUT = """Runs benchmarks and writes their figures (results.json) and a report for a browser
(report.html). Every comparison is with peers that are installed, in the same run, and checks the
answers before it believes the times.

  graphmount bench all --quick           everything, with small files: less than ten minutes
  graphmount bench loader                one of them in full
  graphmount bench list                  which there are
  graphmount bench compare A.json B.json what got better or worse from A to B
  graphmount bench report A.json         the report again, and its plots as SVG files
  graphmount bench peers                 which peers there are
  graphmount bench peers graphbolt       an environment for one that needs versions of its own
"""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command to the parser."""
    from argparse import RawDescriptionHelpFormatter

    parser = commands.add_parser(
        "bench",
        help="measure, compare with others, and write a report",
        description=_ABOUT,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="+", metavar="NAME", help="what to run, or what to do")
    parser.add_argument("--quick", action="store_true", help="small files, few rounds")
    parser.add_argument(
        "--out", metavar="DIR", help="where results go (default: a new folder here)"
    )
    parser.add_argument("--folder", metavar="DIR", help="where to make files (default: temporary)")
    parser.add_argument(
        "--share", type=float, default=0.1, help="compare: changes below this share do not count"
    )
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    if sys.platform != "linux":
        raise OSError("the benchmarks ask /proc about memory and disks, which only Linux has")
    first, *rest = options.names
    try:
        action = _ACTIONS.get(first, _run_benchmarks)
        return action(options, options.names if action is _run_benchmarks else rest)
    except ValueError as error:
        raise gm.errors.GraphmountError(str(error)) from None


def _module(name: str) -> Any:  # noqa: ANN401  (installed beside the package, not part of it)
    try:
        return importlib.import_module(f"graphmount.benchmarks.{name}")
    except ModuleNotFoundError as error:
        raise OSError(f"this installation has no benchmarks ({error}); use a clone") from None


def _run_benchmarks(options: argparse.Namespace, names: list[str]) -> int:
    entries = _module("catalog").entries_of(names)
    now = dt.datetime.now(dt.UTC).strftime("%Y%m%d-%H%M%S")
    out = options.out or f"graphmount-bench-{now}"
    command = shlex.join(["graphmount", "bench", *names, *(["--quick"] if options.quick else [])])
    status: int = _module("suite").run_suite(
        entries, out, quick=options.quick, folder=options.folder, command=command
    )
    return status


def _list(_: argparse.Namespace, names: list[str]) -> int:
    _take(names, 0, "list")
    from rich.console import Console
    from rich.table import Table

    table = Table("name", "benchmarks", "what they show")
    for name, entries in _module("catalog").GROUPS.items():
        for place, entry in enumerate(entries):
            table.add_row("" if place else name, entry.name, entry.shows)
    Console().print(table)
    return 0


def _compare(options: argparse.Namespace, names: list[str]) -> int:
    before, after = _take(names, 2, "compare BEFORE.json AFTER.json")
    status: int = _module("report.compare").compare(before, after, share=options.share)
    return status


def _report(options: argparse.Namespace, names: list[str]) -> int:
    (path,) = _take(names, 1, "report RESULTS.json")
    results = _module("report.results").read_results(path)
    out = options.out or os.path.dirname(os.path.abspath(path))
    os.makedirs(out, exist_ok=True)
    _module("report.page").write_report(results, os.path.join(out, "report.html"))
    written = _module("report.plot_files").write_plots(results, os.path.join(out, "plots"))
    print(f"{os.path.join(out, 'report.html')}, and {written} plots beside it")
    if why := _module("report.canvas").why_no_charts():
        print(f"note: there are {why}")
    return 0


def _take(names: list[str], count: int, usage: str) -> list[str]:
    if len(names) != count:
        raise ValueError(f"usage: graphmount bench {usage}")
    return names


def _peers(options: argparse.Namespace, names: list[str]) -> int:
    where = [] if options.folder is None else ["--folder", options.folder]
    status: int = _module("peers.__main__").main([*names, *where])
    return status


_ACTIONS = {"list": _list, "compare": _compare, "report": _report, "peers": _peers}
