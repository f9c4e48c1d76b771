"""`graphmount info FILE…`: what is in a file or dataset, as a table, as JSON or as a page."""

from __future__ import annotations

import functools
import json
import os
from typing import TYPE_CHECKING, Any

import graphmount as gm
from graphmount.cli.info.facts import dataset_facts, facts_of_files, file_facts
from graphmount.cli.output import complain

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable


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

    def add(find: Callable[[], dict[str, Any]]) -> None:
        nonlocal status
        try:
            facts.append(find())
        except (gm.errors.GraphmountError, OSError) as error:
            # The other files are still worth a look.
            complain(error)
            status = 2

    for path in files:
        if not os.path.isdir(path):
            add(functools.partial(file_facts, path))
            continue
        datasets: list[gm.Dataset | gm.TypedDataset] = []
        add(functools.partial(_open_dataset, path, datasets))
        for dataset in datasets:
            for find in facts_of_files(dataset):
                add(find)
    return facts, status


def _open_dataset(path: str, opened: list[gm.Dataset | gm.TypedDataset]) -> dict[str, Any]:
    """What is known of a dataset, which is added to those that are open."""
    dataset = gm.Dataset(path)
    opened.append(dataset)
    return dataset_facts(dataset)


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
        # Means of class numbers and of node ids say nothing.
        if file["kind"] != "features" or file.get("class_counts") or file.get("role") == "splits":
            continue
        try:
            file["columns"] = summary_of(file["path"], file.get("column_names", ()))
        except (gm.errors.GraphmountError, OSError) as error:
            complain(error)
            status = 2
    if not facts:
        return status  # and every reason has been given
    write_text(target, to_html(facts))
    print(f"{target}: what is in {', '.join(files)}")
    return status
