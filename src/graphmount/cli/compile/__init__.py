"""`graphmount compile WHAT`: sources of any kind to files that are mounted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmount.cli.compile import dataset, features, graph, known
from graphmount.cli.compile.messages import with_flags
from graphmount.cli.output import complain, is_of_output, words_of
from graphmount.errors import GraphmountError

if TYPE_CHECKING:
    import argparse


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "compile",
        help="compile a graph, features or a whole dataset",
        description="Compiles sources of any kind to files that are mounted, not loaded. "
        "`graphmount compile WHAT --help` shows the options.",
    )
    kinds = parser.add_subparsers(metavar="WHAT", required=True)
    for kind in (graph, features, dataset, known):
        kind.add_to(kinds)
    # Set here, as the parsers of the kinds override what they have themselves.
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    try:
        return int(options.compile(options))
    except (GraphmountError, OSError, ValueError, TypeError, ImportError) as error:
        if isinstance(error, OSError) and is_of_output(error):
            raise
        words = words_of(error)
        if getattr(options, "has_flags", True):
            # Functions say what is wrong in terms of their arguments; here these are flags.
            words = with_flags(words)
        complain(words.replace("overwrite=True", "--overwrite"))
        return 2
