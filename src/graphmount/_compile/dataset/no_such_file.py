"""Names of columns where files are expected: what to write instead.

People write `labels="team"` for a column of a file that they have named elsewhere. Nothing tells
which file that is, so the message says how a column is given.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from graphmount._support.shown import shown

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def advising_on_columns(source: object, advice: str) -> Iterator[None]:
    """Says how a column is given, if there is no file of a name that may be one of a column.

    Args:
        source: What was given as the path of a file, or a list of them.
        advice: What to do, with braces for the table of that column.
    """
    try:
        yield
    except FileNotFoundError as error:
        names = list(source) if isinstance(source, list | tuple) else [source]
        if not names or not all(map(may_be_column, names)):
            raise
        table = f"gm.Table(source=…, key=…, columns={shown(names)})"
        raise FileNotFoundError(
            error.errno,
            f"there is no such file; if this is a column of a table, {advice.format(table)}, where "
            "source= is the table and key= its column of node ids (leave key= out if rows are in "
            "the order of the nodes)",
            error.filename,
        ) from None


def may_be_column(name: object) -> bool:
    """Whether this is no path, and has no ending as files have.

    Args:
        name: What was given as the path of a file.
    """
    return isinstance(name, str) and os.path.basename(name) == name and "." not in name
