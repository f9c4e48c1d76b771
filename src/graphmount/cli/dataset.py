"""`graphmount dataset …`: add a table, labels or a split to a dataset, or remove one."""

from __future__ import annotations

import argparse
import dataclasses
from typing import TYPE_CHECKING, Any

import graphmount as gm
from graphmount._dataset.dataset import open_one_type
from graphmount.cli.compile import options as shared

if TYPE_CHECKING:
    from collections.abc import Callable

_EXAMPLES = """examples:
  graphmount dataset add-features papers emb emb.npy --dtype float16
  graphmount dataset set-labels papers labels.csv --key id --columns label
  graphmount dataset set-split papers fold1 fold1.txt
  graphmount dataset remove papers emb
"""
_TABLE = """
--key --columns --dtype --missing --repeated --nan --quantize --delimiter --header --comments
--shape --source-dtype --member
"""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "dataset",
        help="add a table, labels or a split to a dataset, or remove one",
        description="Changes a dataset without compiling the rest again. The change is there\n"
        "complete or not at all; who has the dataset open keeps what was there.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    kinds = parser.add_subparsers(metavar="CHANGE", required=True)
    _add_table(kinds, "add-features", "add a table of the nodes", _add_features)
    _add_table(kinds, "add-edge-features", "add a table of the edges", _add_edge_features)
    _add_table(kinds, "set-labels", "give the nodes labels", _set_labels, has_name=False)
    split = _add(kinds, "set-split", "give a split its nodes", _set_split)
    split.add_argument("name", metavar="NAME", help="the name of the split")
    split.add_argument("source", metavar="SOURCE", help="a file with one column of ids")
    split.add_argument(
        "--ids",
        choices=["external", "internal"],
        default="external",
        help="whose ids they are: of the source (the default), or of the dataset",
    )
    gone = _add(kinds, "remove", "remove a table, a split or the labels", _remove)
    gone.add_argument("name", metavar="NAME", help="its name; 'labels' for the labels")
    gone.add_argument(
        "--kind",
        choices=["features", "edge_features", "splits", "labels"],
        help="what it is, if several have the name",
    )


def _add(
    kinds: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    text: str,
    change: Callable[[gm.Dataset, argparse.Namespace], str],
) -> argparse.ArgumentParser:
    parser = kinds.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
    parser.add_argument("folder", metavar="DATASET", help="the folder of the dataset")
    parser.set_defaults(run=_run, change=change)
    return parser


def _add_table(
    kinds: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    text: str,
    change: Callable[[gm.Dataset, argparse.Namespace], str],
    *,
    has_name: bool = True,
) -> None:
    parser = _add(kinds, name, text, change)
    if has_name:
        parser.add_argument("name", metavar="NAME", help="the name of the table")
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help="where the rows are")
    shared.add_options(parser, "the table", _TABLE)
    replaces = "--overwrite" if has_name else ""
    shared.add_options(parser, "the work", f"{replaces} --memory --tmp --no-progress")


def _run(options: argparse.Namespace) -> int:
    """Makes the change, each of which says what it has done."""
    done = options.change(open_one_type(options.folder, "changing a dataset"), options)
    print(f"{options.folder}: {done}")
    return 0


def _arguments(options: argparse.Namespace) -> dict[str, Any]:
    """The table, and how the work is done."""
    given = shared.arguments_of(options)
    of_table = shared.taken(given, *(field.name for field in dataclasses.fields(gm.Table)))
    return given | {"source": gm.Table(source=shared.source_of(options), **of_table)}


def _add_features(dataset: gm.Dataset, options: argparse.Namespace) -> str:
    dataset.add_features(options.name, **_arguments(options))
    return f"features {options.name!r} added"


def _add_edge_features(dataset: gm.Dataset, options: argparse.Namespace) -> str:
    dataset.add_edge_features(options.name, **_arguments(options))
    return f"edge_features {options.name!r} added"


def _set_labels(dataset: gm.Dataset, options: argparse.Namespace) -> str:
    dataset.set_labels(**_arguments(options))
    return "labels set"


def _set_split(dataset: gm.Dataset, options: argparse.Namespace) -> str:
    dataset.set_split(options.name, options.source, ids=options.ids)
    return f"split {options.name!r} set"


def _remove(dataset: gm.Dataset, options: argparse.Namespace) -> str:
    dataset.remove(options.name, kind=options.kind)
    return f"{options.name!r} removed"
