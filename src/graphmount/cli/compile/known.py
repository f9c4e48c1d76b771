"""`graphmount compile known DIR OUT`: the folder of a known dataset to a dataset of graphmount.

The command is also called `ogb`, which was the first to be known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmount._compile.dataset.from_layout import compile_layout, compile_typed_layout
from graphmount._sources.layouts.recognition import find_layout
from graphmount._sources.layouts.typed import find_typed_layout
from graphmount.cli.compile import messages
from graphmount.cli.compile import options as shared
from graphmount.cli.output import note

if TYPE_CHECKING:
    import argparse

    import graphmount as gm
    from graphmount._sources.layouts.typed import TypedLayout

_DATASET = """
--order --dtype
--label-dtype NAME    how to store labels (default: as they are)
--label-nan NUMBER    what to put in the place of labels that are NaN, such as -1; or keep (the
                      default), or error
--neighbors --overwrite
"""
_TYPES = """
--reverse {all,merge,none} which relations to store the other way round too: all (the default);
                      merge: all, but edges within one type run both ways instead
--one-type            of MAG240M and IGB, the papers and their citations alone
"""
_REVERSE = {"all": True, "merge": "merge", "none": False}


def add_to(kinds: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command to the parser."""
    parser = kinds.add_parser(
        "known",
        aliases=["ogb"],
        help="the folder of a known dataset: OGB, MAG240M, IGB, RelBench",
        usage="graphmount compile known [OPTIONS] DIR OUT",
        description="Compiles the folder of a known dataset, as its own library made it: graph, "
        "features, labels, splits and times, with all node types. Known are OGB (as "
        "dataset/ogbn_arxiv, or ogbn_mag), MAG240M, IGB, and RelBench of version 3. "
        "Notes on what is in it go to standard error, and into dataset.json.",
    )
    parser.add_argument("folder", metavar="DIR", help="the folder of the dataset")
    parser.add_argument("out", metavar="OUT", help="the folder to write")
    shared.add_options(parser, "the dataset", _DATASET)
    shared.add_options(parser, "many node types", _TYPES)
    shared.add_options(parser, "the work", "--memory --tmp --json --no-progress")
    parser.set_defaults(compile=_compile)


def _compile(options: argparse.Namespace) -> int:
    given = shared.arguments_of(options)
    reverse = shared.taken(given, "reverse")
    typed = None if options.one_type else find_typed_layout(options.folder)
    if typed is not None:
        if reverse:
            given["reverse"] = _REVERSE[reverse["reverse"]]
        return _compile_types(typed, options, given)
    layout = find_layout(options.folder)
    if reverse:
        raise ValueError(f"{layout.folder} is compiled as one node type; leave --reverse out")
    _show_notes(layout.kind, layout.folder, layout.notes, options)
    done = compile_layout(layout, options.out, **given)
    facts = [] if layout.features is None else ["features 'x'"]
    facts += ["labels"] if layout.labels else []
    facts += ["splits"] if layout.splits else []
    messages.show(done, facts, as_json=options.json)
    return 0


def _compile_types(
    layout: TypedLayout, options: argparse.Namespace, given: dict[str, object]
) -> int:
    _show_notes(layout.kind, layout.folder, layout.notes, options)
    done: gm.CompiledDataset = compile_typed_layout(layout, options.out, **given)  # type: ignore[arg-type]
    facts = [messages.count(len(layout.nodes), "node type")]
    for name, nodes in layout.nodes.items():
        parts = {"features": nodes.features, "labels": nodes.labels, "times": nodes.timestamps}
        own = [part for part, table in parts.items() if table is not None]
        own += ["splits"] if nodes.splits else []
        if own:
            facts.append(f"{' and '.join(own)} of {name!r}")
    messages.show(done, facts, as_json=options.json)
    return 0


def _show_notes(
    kind: str, folder: str, notes: tuple[str, ...], options: argparse.Namespace
) -> None:
    if options.json:
        return
    note(f"{kind}: {folder}")
    for line in notes:
        note(f"  {line}")
