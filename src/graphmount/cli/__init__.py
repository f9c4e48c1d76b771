"""The command line: `graphmount COMMAND`. One module for each command, over the public API only."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

import graphmount
from graphmount.cli import bench, doctor, info, verify
from graphmount.cli import compile as compiling

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns the exit status.

    Args:
        arguments: What follows the program's name; those of this process if None.

    Returns:
        0 if all is well, 1 if a file is damaged, 2 if something could not be done.

    Examples:
        >>> from graphmount.cli import main
        >>> import graphmount as gm
        >>> _ = gm.compile_features([[1.0]], "x.gd")
        >>> main(["verify", "x.gd"])
        x.gd: features, 192.0 KiB, no problems
        0
    """
    parser = argparse.ArgumentParser(
        prog="graphmount", description="Graphs and feature tables that are mounted, not loaded."
    )
    parser.add_argument(
        "--version", action="version", version=f"graphmount {graphmount.__version__}"
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in (compiling, info, verify, doctor, bench):
        command.add_to(commands)
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except (graphmount.errors.GraphmountError, OSError) as error:
        print(f"graphmount: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("graphmount: interrupted", file=sys.stderr)
        return 130
