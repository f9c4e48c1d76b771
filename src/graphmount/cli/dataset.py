"""`graphmount dataset …`: add a table, labels, times or a split to a dataset, or remove one.

In a dataset of many node types, `--type` says whose table it is, and `--relation` whose edges.
"""

from __future__ import annotations

import argparse
import dataclasses
from typing import TYPE_CHECKING, Any

import graphmount as gm
from graphmount._support.shown import shown
from graphmount.cli.compile import options as shared

if TYPE_CHECKING:
    from collections.abc import Callable

_EXAMPLES = """examples:
  graphmount dataset add-features papers emb emb.npy --dtype float16
  graphmount dataset set-labels papers labels.csv --key id --columns label
  graphmount dataset set-split papers fold1 fold1.txt
  graphmount dataset remove papers emb
  graphmount dataset add-features mag emb emb.npy --type author
  graphmount dataset add-edge-features mag since since.npy --relation author,writes,paper
"""
_TABLE = """
--key --columns --dtype --missing --repeated --nan --quantize --delimiter --header --comments
--shape --source-dtype --member
"""


_TYPE = "--type NAME           of a dataset of many node types: whose nodes"
_RELATION = "--relation SRC,NAME,DST of a dataset of many node types: whose edges"


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "dataset",
        help="add a table, labels, times or a split to a dataset, or remove one",
        description="Changes a dataset without compiling the rest again. The change is there\n"
        "complete or not at all; who has the dataset open keeps what was there.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    kinds = parser.add_subparsers(metavar="CHANGE", required=True)
    _add_table(kinds, "add-features", "add a table of the nodes", _add_features)
    _add_table(
        kinds, "add-edge-features", "add a table of the edges", _add_edge_features, of=_RELATION
    )
    _add_table(kinds, "set-labels", "give the nodes labels", _set_labels, has_name=False)
    _add_table(
        kinds,
        "set-timestamps",
        "give the nodes of a type times",
        _set_timestamps,
        has_name=False,
    )
    split = _add(kinds, "set-split", "give a split its nodes", _set_split)
    split.add_argument("name", metavar="NAME", help="the name of the split")
    split.add_argument("source", metavar="SOURCE", help="a file with one column of ids")
    split.add_argument(
        "--ids",
        choices=["external", "internal"],
        default="external",
        help="whose ids they are: of the source (the default), or of the dataset",
    )
    shared.add_options(split, "many node types", _TYPE)
    gone = _add(kinds, "remove", "remove a table, a split, the labels or the times", _remove)
    gone.add_argument(
        "name", metavar="NAME", help="its name; 'labels' for the labels, 'timestamps' for the times"
    )
    gone.add_argument(
        "--kind",
        choices=["features", "edge_features", "splits", "labels", "timestamps"],
        help="what it is, if several have the name",
    )
    shared.add_options(gone, "many node types", f"{_TYPE}\n{_RELATION}")


def _add(
    kinds: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    text: str,
    change: Callable[[Any, argparse.Namespace], str],
) -> argparse.ArgumentParser:
    parser = kinds.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
    parser.add_argument("folder", metavar="DATASET", help="the folder of the dataset")
    parser.set_defaults(run=_run, change=change, type=None, relation=None)
    return parser


def _add_table(
    kinds: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    text: str,
    change: Callable[[Any, argparse.Namespace], str],
    *,
    has_name: bool = True,
    of: str = _TYPE,
) -> None:
    parser = _add(kinds, name, text, change)
    if has_name:
        parser.add_argument("name", metavar="NAME", help="the name of the table")
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help="where the rows are")
    shared.add_options(parser, "the table", _TABLE)
    shared.add_options(parser, "many node types", of)
    replaces = "--overwrite" if has_name else ""
    shared.add_options(parser, "the work", f"{replaces} --memory --tmp --no-progress")


def _run(options: argparse.Namespace) -> int:
    """Makes the change, each of which says what it has done."""
    changed, of = _changed(gm.Dataset(options.folder), options)
    print(f"{options.folder}: {options.change(changed, options)}{of}")
    return 0


def _changed(
    dataset: gm.Dataset | gm.TypedDataset, options: argparse.Namespace
) -> tuple[gm.Dataset | gm.NodeType | gm.Relation, str]:
    """What is changed: a dataset of one type, a node type, or a relation; and how it is called."""
    if not isinstance(dataset, gm.TypedDataset):
        for flag in ("type", "relation"):
            if getattr(options, flag) is not None:
                raise ValueError(f"{dataset.path} has one node type; leave --{flag} out")
        if options.change is _set_timestamps:
            raise ValueError(f"{dataset.path} has one node type, whose nodes have no times")
        return dataset, ""
    of_edges = options.change is _add_edge_features
    if options.type is not None and options.relation is not None:
        raise ValueError("--type and --relation are both there; give one of them")
    if options.relation is not None:
        relation = tuple(options.relation.split(","))
        if len(relation) != 3 or relation not in dataset.edge_types:
            there = ", ".join(",".join(one) for one in dataset.edge_types)
            raise ValueError(
                f"{dataset.path} has no relation {shown(options.relation)}; there are {there}"
            )
        return dataset.edges[relation], f" for {options.relation}"
    types = ", ".join(dataset.node_types)
    if options.type is None:
        relations = ", ".join(",".join(one) for one in dataset.edge_types)
        needed = f"--relation, one of {relations}" if of_edges else f"--type, one of {types}"
        raise ValueError(f"{dataset.path} has many node types; say which by {needed}")
    if options.type not in dataset.node_types:
        raise ValueError(
            f"{dataset.path} has no node type {shown(options.type)}; there are {types}"
        )
    return dataset.nodes[options.type], f" for {options.type}"


def _arguments(options: argparse.Namespace) -> dict[str, Any]:
    """The table, and how the work is done."""
    given = shared.arguments_of(options)
    of_table = shared.taken(given, *(field.name for field in dataclasses.fields(gm.Table)))
    return given | {"source": gm.Table(source=shared.source_of(options), **of_table)}


def _add_features(changed: gm.Dataset | gm.NodeType, options: argparse.Namespace) -> str:
    changed.add_features(options.name, **_arguments(options))
    return f"features {options.name!r} added"


def _add_edge_features(changed: gm.Dataset | gm.Relation, options: argparse.Namespace) -> str:
    if isinstance(changed, gm.Relation):
        changed.add_features(options.name, **_arguments(options))
    else:
        changed.add_edge_features(options.name, **_arguments(options))
    return f"edge_features {options.name!r} added"


def _set_labels(changed: gm.Dataset | gm.NodeType, options: argparse.Namespace) -> str:
    changed.set_labels(**_arguments(options))
    return "labels set"


def _set_timestamps(changed: gm.NodeType, options: argparse.Namespace) -> str:
    changed.set_timestamps(**_arguments(options))
    return "timestamps set"


def _set_split(changed: gm.Dataset | gm.NodeType, options: argparse.Namespace) -> str:
    changed.set_split(options.name, options.source, ids=options.ids)
    return f"split {options.name!r} set"


def _remove(changed: Any, options: argparse.Namespace) -> str:  # noqa: ANN401
    if isinstance(changed, gm.Relation):
        if options.kind not in (None, "edge_features"):
            raise ValueError(f"a relation has no {options.kind}, only edge_features")
        changed.remove(options.name)
    else:
        changed.remove(options.name, kind=options.kind)
    return f"{options.name!r} removed"
