"""`graphmount info FILE…`: what is in a file or dataset, as a table, as JSON or as a page."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import graphmount as gm
from graphmount.cli.info.facts import dataset_facts, file_facts, files_of
from graphmount.cli.output import complain

if TYPE_CHECKING:
    import argparse


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "info",
        help="show what is in a file or dataset",
        description="Shows counts, dtypes, sections, sizes and the distribution of degrees; of the "
        "folder of a dataset, its description and then all of its files.",
    )
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="a .gl or .gd file, or the folder of a dataset"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the facts as JSON")
    form.add_argument(
        "--html",
        metavar="PAGE",
        help="write the facts, plots of degrees and a summary of features to PAGE.html; "
        "needs matplotlib",
    )
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    if options.html is not None:
        return _write_page(options.files, options.html)
    facts, status = _facts_of(options.files)
    if options.json:
        print(json.dumps(facts, indent=2))
        return status
    from rich.console import Console  # not needed for --json

    from graphmount.cli.info.terminal import show

    console = Console(highlight=False)
    for number, file in enumerate(facts):
        if number:
            console.print()
        show(file, console)
    return status


def _facts_of(files: list[str]) -> tuple[list[dict[str, Any]], int]:
    """What is in each file, those of datasets too, and the exit status."""
    facts: list[dict[str, Any]] = []
    status = 0
    waiting = list(files)
    while waiting:
        path = waiting.pop(0)
        try:
            if os.path.isdir(path):
                dataset = gm.Dataset(path)
                waiting = files_of(dataset) + waiting
                facts.append(dataset_facts(dataset))
            else:
                facts.append(file_facts(path))
        except (gm.errors.GraphmountError, OSError) as error:
            # The other files are still worth a look.
            complain(error)
            status = 2
    return facts, status


def _write_page(files: list[str], target: str) -> int:
    from graphmount._support.files.text_output import write_text
    from graphmount.cli.info.charts import require_matplotlib
    from graphmount.cli.info.columns import summary_of
    from graphmount.cli.info.page import to_html

    if not target.lower().endswith((".html", ".htm")):
        # So that a mistyped command does not replace the data.
        raise ValueError(f"--html {target}: the name of the page must end in .html")
    require_matplotlib()
    facts, status = _facts_of(files)
    for file in facts:
        if file["kind"] != "features":
            continue
        try:
            file["columns"] = summary_of(file["path"])
        except (gm.errors.GraphmountError, OSError) as error:
            complain(error)
            status = 2
    if not facts:
        return status  # and every reason has been given
    write_text(target, to_html(facts))
    print(f"{target}: what is in {', '.join(files)}")
    return status
