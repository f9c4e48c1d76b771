"""The command line: `graphmount COMMAND`. One module for each command, over the public API only.

Importing this imports none of them: the package itself imports `interruption`, before all others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns the exit status.

    Args:
        arguments: What follows the program's name; those of this process if None.

    Returns:
        0 if all is well, 1 if a file is damaged, 2 if something could not be done, 130 after
        Ctrl-C, 141 if nobody reads the output any more.

    Examples:
        >>> from graphmount.cli import main
        >>> import graphmount as gm
        >>> _ = gm.compile_features([[1.0]], "x.gd")
        >>> main(["verify", "x.gd"])
        x.gd: features, 192.0 KiB, no problems
        0
    """
    from graphmount.cli.program import run

    return run(arguments)
