"""`graphmount compile ogb DIR OUT`: the folder of a known dataset to a dataset of graphmount."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmount._compile.dataset.from_layout import compile_layout
from graphmount._sources.layouts.recognition import find_layout
from graphmount.cli.compile import messages
from graphmount.cli.compile import options as shared
from graphmount.cli.output import note

if TYPE_CHECKING:
    import argparse


_DATASET = """
--order --dtype
--label-dtype NAME    how to store labels (default: as they are)
--label-nan NUMBER    what to put in the place of labels that are NaN, such as -1; or keep (the
                      default), or error
--neighbors --overwrite
"""


def add_to(kinds: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command to the parser."""
    parser = kinds.add_parser(
        "ogb",
        help="the folder of a known dataset: OGB, MAG240M, IGB",
        usage="graphmount compile ogb [OPTIONS] DIR OUT",
        description="Compiles the folder of a known dataset, as its own library made it: graph, "
        "features, labels and splits, in one order. Known are OGB (as dataset/ogbn_arxiv), "
        "MAG240M and IGB; of those with several kinds of nodes, papers and citations are taken. "
        "Notes on what is in it go to standard error, and into dataset.json.",
    )
    parser.add_argument("folder", metavar="DIR", help="the folder of the dataset")
    parser.add_argument("out", metavar="OUT", help="the folder to write")
    shared.add_options(parser, "the dataset", _DATASET)
    shared.add_options(parser, "the work", "--memory --tmp --json --no-progress")
    parser.set_defaults(compile=_compile)


def _compile(options: argparse.Namespace) -> int:
    layout = find_layout(options.folder)
    if not options.json:
        note(f"{layout.kind}: {layout.folder}")
        for line in layout.notes:
            note(f"  {line}")
    done = compile_layout(layout, options.out, **shared.arguments_of(options))
    facts = [] if layout.features is None else ["features 'x'"]
    facts += ["labels"] if layout.labels else []
    facts += ["splits"] if layout.splits else []
    messages.show(done, facts, as_json=options.json)
    return 0
