"""The program `graphmount`: reads the command line, runs a command, and ends as programs should."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, NoReturn

import graphmount
from graphmount.cli import bench, cache, dataset, doctor, info, output, verify
from graphmount.cli import compile as compiling
from graphmount.cli.interruption import INTERRUPTED, interruptible_once

if TYPE_CHECKING:
    from collections.abc import Sequence

    from _typeshed import SupportsWrite

#: The errors that a wrong command line or a wrong file can cause. Any other error is a mistake of
#: ours, and shows a traceback.
_USER_ERRORS = (
    graphmount.errors.GraphmountError,
    OSError,
    ValueError,
    TypeError,
    OverflowError,
    ImportError,
    MemoryError,
    RecursionError,
)


class _Parser(argparse.ArgumentParser):
    """A parser with brief messages that reports it if help cannot be written."""

    def error(self, message: str) -> NoReturn:
        super().error(output.shortened(message))

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        stream = file or sys.stderr
        if message and stream is not None:
            stream.write(message)


def run(arguments: Sequence[str] | None) -> int:
    """Runs a command and returns the exit status: see `graphmount.cli.main`."""
    parser = _Parser(
        prog="graphmount", description="Graphs and feature tables that are mounted, not loaded."
    )
    parser.add_argument(
        "--version", action="version", version=f"graphmount {graphmount.__version__}"
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in (compiling, dataset, info, verify, doctor, cache, bench):
        command.add_to(commands)
    output.accept_all_characters()
    try:
        with interruptible_once():
            return output.finish(_run(parser, arguments))
    except BrokenPipeError:
        return output.end_of_pipe()
    except OSError as error:
        return output.cannot_write(error)
    except KeyboardInterrupt:
        output.complain("interrupted")
        return output.finish(INTERRUPTED)
    except SystemExit as end:
        # argparse, when it has said how to use it; or rich, at a closed pipe.
        if isinstance(end.__context__, BrokenPipeError):
            return output.end_of_pipe()
        status = end.code if isinstance(end.code, int) else 0
        if (flushed := output.finish(status)) != status:
            return flushed
        raise


def _run(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> int:
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except _USER_ERRORS as error:
        if isinstance(error, OSError) and output.is_of_output(error):
            raise
        output.complain(error)
        return 2
