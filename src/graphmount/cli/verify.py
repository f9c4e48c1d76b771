"""`graphmount verify FILE…`: check every checksum and every rule of the format."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from typing import TYPE_CHECKING, Any

import graphmount as gm
from graphmount._sizes import format_bytes
from graphmount.cli.dataset_files import check_together, files_of

if TYPE_CHECKING:
    import argparse


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "verify",
        help="check every checksum and every rule of the format",
        description="Reads whole files and checks every checksum and every rule of the format. "
        "Says exactly what is wrong where; exit status 1 if anything is. Of a dataset, checks all "
        "files, and that they belong together.",
    )
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="a .gl or .gd file, or the folder of a dataset"
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument("--no-progress", action="store_true", help="show no progress bar")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    found: list[dict[str, Any]] = []
    status = 0
    waiting = list(options.files)
    while waiting:
        path = waiting.pop(0)
        try:
            if os.path.isdir(path):
                dataset = gm.Dataset(path)
                waiting = files_of(dataset) + waiting
                check_together(dataset)
                continue
            result = gm.verify(path, progress=False if options.no_progress else None)
        except (gm.errors.GraphmountError, OSError) as error:
            # The other files are still worth a look. Those that are mixed up can be read.
            status = max(status, 1 if isinstance(error, gm.errors.OrderError) else 2)
            found.append({"path": path, "error": str(error)})
            print(f"graphmount: {error}", file=sys.stderr)
            continue
        status = max(status, 0 if result.ok else 1)
        found.append(dataclasses.asdict(result) | {"ok": result.ok})
        if not options.json:
            _show(result)
    if options.json:
        print(json.dumps(found, indent=2))
    return status


def _show(result: gm.Verification) -> None:
    problems = {0: "no problems", 1: "1 problem"}.get(
        result.num_problems, f"{result.num_problems:,} problems"
    )
    print(f"{result.path}: {result.kind}, {format_bytes(result.file_bytes)}, {problems}")
    for problem in result.problems:
        print(f"  {problem}")
    if result.num_problems > len(result.problems):
        print(f"  and {result.num_problems - len(result.problems):,} more")
