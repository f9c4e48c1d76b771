"""`graphmount dataset …`: add a table, labels or a split to a dataset, or remove one."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import graphmount as gm
from graphmount.cli.compile import options as shared

if TYPE_CHECKING:
    from collections.abc import Callable

_EXAMPLES = """examples:
  graphmount dataset add-features papers emb emb.npy --dtype float16
  graphmount dataset set-labels papers labels.csv --key id --columns label
  graphmount dataset set-split papers fold1 fold1.txt
  graphmount dataset remove papers emb
"""
_TABLE = f"""
--key COLUMN          the column that says which node a row belongs to (default: rows are in the
                      order of the source)
--columns A,B,...     the columns to take: names, numbers from 0 on, ranges as 3-7 (default: all)
--dtype NAME          how to store values: float16, bfloat16, float32, int8, int64, ...
                      (default: as they are)
--missing NUMBER      the value for nodes without a row (default: error)
--repeated {{error,first,last}} which of several rows of one node to keep (default: error)
--nan NUMBER          what to put in the place of NaN; or keep (the default), or error
--quantize {{column}}   store int8, with a scale for each column
{shared.TEXT}
--shape N,COLUMNS     of a binary file without a header; one size may be -1 (write --shape=-1,...)
--source-dtype NAME   of a binary file without a header
--member NAME         of an .npz file with several arrays
"""
_WORK = """
--overwrite    replace the table of this name, if there is one
--memory SIZE  how much memory to use, such as 8GiB (default: 2GiB)
--tmp FOLDER   where temporary files go (default: beside the dataset)
--no-progress  show no progress bar
"""
#: Options of the work; all others are those of a `Table`.
_WORK_NAMES = ("overwrite", "memory", "tmp")
_NO_OPTIONS = {*_WORK_NAMES, "run", "folder", "name", "sources", "no_progress"}


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
    run: Callable[[argparse.Namespace], int],
) -> argparse.ArgumentParser:
    parser = kinds.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
    parser.add_argument("folder", metavar="DATASET", help="the folder of the dataset")
    parser.set_defaults(run=run)
    return parser


def _add_table(
    kinds: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    text: str,
    run: Callable[[argparse.Namespace], int],
    *,
    has_name: bool = True,
) -> None:
    parser = _add(kinds, name, text, run)
    if has_name:
        parser.add_argument("name", metavar="NAME", help="the name of the table")
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help="where the rows are")
    shared.add_options(parser, "the table", _TABLE)
    work = _WORK if has_name else _WORK.replace(_WORK.split("\n")[1] + "\n", "")
    shared.add_options(parser, "the work", work)


def _table(options: argparse.Namespace) -> gm.Table:
    given = {
        name: value
        for name, value in vars(options).items()
        if name not in _NO_OPTIONS and value is not None
    }
    return gm.Table(source=shared.source_of(options), **given)


def _work(options: argparse.Namespace) -> dict[str, Any]:
    given = {name: getattr(options, name, None) for name in _WORK_NAMES}
    chosen = {name: value for name, value in given.items() if value is not None}
    return chosen | {"progress": False if options.no_progress else None}


def _add_features(options: argparse.Namespace) -> int:
    dataset = gm.Dataset(options.folder)
    dataset.add_features(options.name, _table(options), **_work(options))
    return _say(options, f"features {options.name!r} added")


def _add_edge_features(options: argparse.Namespace) -> int:
    dataset = gm.Dataset(options.folder)
    dataset.add_edge_features(options.name, _table(options), **_work(options))
    return _say(options, f"edge_features {options.name!r} added")


def _set_labels(options: argparse.Namespace) -> int:
    gm.Dataset(options.folder).set_labels(_table(options), **_work(options))
    return _say(options, "labels set")


def _set_split(options: argparse.Namespace) -> int:
    gm.Dataset(options.folder).set_split(options.name, options.source, ids=options.ids)
    return _say(options, f"split {options.name!r} set")


def _remove(options: argparse.Namespace) -> int:
    gm.Dataset(options.folder).remove(options.name, kind=options.kind)
    return _say(options, f"{options.name!r} removed")


def _say(options: argparse.Namespace, what: str) -> int:
    print(f"{options.folder}: {what}")
    return 0
