"""What commands write to, whatever it is: a pipe that was closed, a full disk, a plain terminal.

A character that the terminal does not know is written as an escape and never makes a command fail.
If the reader closes a pipe, the command ends quietly, as others do. Output that cannot be written
for another reason is an error.
"""

from __future__ import annotations

import errno
import io
import os
import re
import sys
from typing import TYPE_CHECKING, Any, TextIO

from graphmount._dataset.description_fields import DESCRIPTION
from graphmount._support.files.near_names import near_path

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

#: What a shell says of a program that wrote into a closed pipe: 128 and the number of SIGPIPE.
CLOSED_PIPE = 141

#: Longer messages are shortened: what they quote would hide what they say.
_MOST_CHARACTERS = 1000
#: What errors say of a path that is read; one to be written into has other words.
_NOT_THERE = re.compile("(cannot open: )?No such file or directory|there is no such")
_WRITE_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EBADF, errno.EPIPE)


def accept_all_characters() -> None:
    """Lets both streams write any text: file names need not be UTF-8, nor do terminals know it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def note(line: str) -> None:
    """Says something on standard error; whether anybody reads it does not matter.

    Args:
        line: What to say.
    """
    try:
        print(line, file=sys.stderr, flush=True)
    except (OSError, ValueError):  # closed, or full
        _discard(sys.stderr)


def complain(problem: object) -> None:
    """Says on standard error what is wrong; for a path that is not there, which one may be meant.

    Args:
        problem: What is wrong: words, or an error.
    """
    note(f"graphmount: {shortened(words_of(problem))}")


def words_of(problem: object) -> str:
    """What is wrong, in words.

    Args:
        problem: Words, or an error.
    """
    if isinstance(problem, MemoryError):
        return f"not enough memory{': ' if str(problem) else ''}{problem}"
    words = str(problem) or type(problem).__name__
    if not isinstance(problem, FileNotFoundError) or not _NOT_THERE.match(problem.strerror or ""):
        return words
    path = problem.filename
    near = near_path(path, marker=DESCRIPTION) if isinstance(path, str | bytes) else None
    return words if near is None else f"{words}; did you mean {near!r}?"


def shortened(message: str) -> str:
    """A message without its middle, if what the user gave made it longer than anyone reads.

    Args:
        message: What to say.
    """
    if len(message) <= _MOST_CHARACTERS:
        return message
    half = _MOST_CHARACTERS // 2
    return f"{message[:half]} ... {message[-half:]}"


def finish(status: int) -> int:
    """Writes what is still to be written, and says with which status to end.

    Args:
        status: What it is if all could be written.
    """
    if sys.stdout is None:  # it was closed before Python started
        return status
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return end_of_pipe()
    except OSError as error:
        return cannot_write(error)
    return status


def is_of_output(error: OSError) -> bool:
    """Whether writing the output raised this: errors about files name them.

    Args:
        error: What a command raised.
    """
    return error.filename is None and error.errno in _WRITE_ERRORS


def cannot_write(error: OSError) -> int:
    """Says why the output is not there, and gives the status of a command for which it is not.

    Args:
        error: What writing it raised.
    """
    _discard(sys.stdout)
    _discard(sys.stderr, only_if_broken=True)
    complain(f"cannot write the output: {error.strerror or error}")
    return 2


def end_of_pipe() -> int:
    """The status of a command whose output nobody wants any more."""
    _discard(sys.stdout)
    _discard(sys.stderr, only_if_broken=True)
    return CLOSED_PIPE


def _discard(stream: TextIO | None, *, only_if_broken: bool = False) -> None:
    """Discards the rest of a stream. Otherwise Python would try again at exit, and complain."""
    if stream is None:
        return
    try:
        if only_if_broken:
            stream.flush()
            return
    except (OSError, ValueError):
        pass
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, stream.fileno())
        finally:
            os.close(nowhere)
        stream.flush()
    except (OSError, ValueError):  # a stream of another program, as in a notebook
        pass


def table(
    rows: Sequence[Sequence[str]],
    *,
    header: Sequence[str] | None = None,
    right: Collection[int] = (),
    wraps: bool = False,
) -> Any:  # noqa: ANN401  (of rich, which is imported only when something is shown)
    """Rows as a table without lines, for a console of rich.

    Args:
        rows: What to show, as it is.
        header: The names of the columns.
        right: The numbers of the columns whose text stands at their right.
        wraps: Whether long text goes on in the next line.
    """
    from rich.table import Table
    from rich.text import Text

    made = Table(box=None, show_header=header is not None, padding=(0, 2, 0, 0))
    for number in range(len(rows[0]) if rows else 0):
        made.add_column(
            header[number] if header else "",
            justify="right" if number in right else "left",
            no_wrap=not wraps,
            overflow="fold" if wraps else "ellipsis",
        )
    for row in rows:
        made.add_row(*map(Text, row))
    return made
