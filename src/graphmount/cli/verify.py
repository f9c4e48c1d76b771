"""`graphmount verify FILE…`: check every checksum and every rule of the format.

For a dataset, problems of files come first, then those of the folder as a whole.
"""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import graphmount as gm
from graphmount._support.sizes import format_bytes
from graphmount.cli.output import complain

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
    for path in options.files:
        try:
            result = gm.verify(path, progress=False if options.no_progress else None)
        except (gm.errors.GraphmountError, OSError) as error:
            # The other files are still worth a look.
            status = 2
            found.append({"path": path, "error": str(error)})
            complain(error)
            continue
        status = max(status, 0 if result.ok else 1)
        for part in (*result.files, result):
            found.append(_facts(part))
            if not options.json:
                _show(part)
    if options.json:
        print(json.dumps(found, indent=2))
    return status


def _facts(result: gm.Verification) -> dict[str, Any]:
    """As JSON; the files of a dataset stand beside it."""
    return dataclasses.asdict(dataclasses.replace(result, files=())) | {"ok": result.ok}


def _show(result: gm.Verification) -> None:
    problems = {0: "no problems", 1: "1 problem"}.get(
        result.num_problems, f"{result.num_problems:,} problems"
    )
    print(f"{result.path}: {result.kind}, {format_bytes(result.file_bytes)}, {problems}")
    # The problems of a dataset's files were shown with the files.
    count = result.num_problems - sum(file.num_problems for file in result.files)
    for problem in result.problems[:count]:
        print(f"  {problem}")
    if count > len(result.problems):
        print(f"  and {count - len(result.problems):,} more")
