"""Leaving out, or refusing, the rows of a record batch that cannot be read.

Messages name the file, the column and the row, counted from 0 in the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount._sources.arrow.columns import plain
from graphmount._sources.arrow.tables import pyarrow, unreadable
from graphmount._sources.contract.batches import MOST_EXAMPLES
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from graphmount._sources.arrow.columns import BadRows
    from graphmount._sources.arrow.tables import ArrowTable
    from graphmount._sources.contract.batches import Skipped
    from graphmount._sources.contract.tables import OnError


class CheckedColumns:
    """Columns of a table, without the rows in which one of them is bad.

    Args:
        table: The table.
        columns: For each column its number, and what finds its bad rows. One may serve twice, as a
            weight and a time, say; it is read once.
        on_error: "raise", or "skip" to leave bad rows out.
    """

    def __init__(
        self,
        table: ArrowTable,
        columns: Sequence[tuple[int, Callable[[Any], BadRows | None]]],
        *,
        on_error: OnError,
    ) -> None:
        self._table = table
        self._places = [place for place, _ in columns]
        self._checks = [check for _, check in columns]
        self._on_error = on_error

    def batches(self, num_rows: int, skipped: Skipped) -> Iterator[tuple[list[Any], int]]:
        """Plain columns of at most `num_rows` rows, and how much of the table has been read.

        What is left out is counted in `skipped`.

        Raises:
            SourceError: A row is bad, and bad rows are not to be left out; or Arrow cannot read it.
        """
        distinct = sorted(set(self._places))
        where = [distinct.index(place) for place in self._places]
        first_row = self._table.first_row
        for batch, done in self._table.batches(distinct, num_rows):
            try:
                columns = self._clean(batch.select(where), first_row, skipped)
            except pyarrow().ArrowException as error:
                raise unreadable(self._table.name, error) from error
            first_row += batch.num_rows
            yield columns, done

    def _clean(self, batch: Any, first_row: int, skipped: Skipped) -> list[Any]:  # noqa: ANN401
        columns = [plain(column) for column in batch.columns]
        rows = np.arange(first_row, first_row + batch.num_rows)
        # Checked once more after rows were left out: values are checked only if none is missing.
        while found := self._find(columns):
            bad = np.zeros(len(rows), np.bool_)
            for _, some in found:
                bad |= some.rows
            skipped.add(int(bad.sum()), self._messages(columns, rows, found, bad))
            keep = pyarrow().array(~bad)
            columns = [column.filter(keep) for column in columns]
            rows = rows[~bad]
        return columns

    def _find(self, columns: list[Any]) -> list[tuple[int, BadRows]]:
        return [
            (number, some)
            for number, check in enumerate(self._checks)
            if (some := check(columns[number])) is not None
        ]

    def _messages(
        self,
        columns: list[Any],
        rows: np.ndarray[Any, Any],
        found: list[tuple[int, BadRows]],
        bad: np.ndarray[Any, Any],
    ) -> list[str]:
        messages = []
        for place in np.flatnonzero(bad)[:MOST_EXAMPLES].tolist():
            number, some = next((n, some) for n, some in found if some.rows[place])
            shown = _shown_value(columns[number][place])
            messages.append(
                f"{self._table.name}, row {rows[place]}, column "
                f"{self._table.schema.names[self._places[number]]!r}: {shown}{some.reason}"
            )
        if self._on_error == "raise":
            raise SourceError(messages[0] + "; on_error='skip' leaves such rows out")
        return messages


def _shown_value(scalar: Any) -> str:  # noqa: ANN401
    """A value as messages show it, with a blank behind; nothing if it is missing."""
    try:
        value = scalar.as_py()
    except (ValueError, OverflowError):  # a time that Python has none for
        value = scalar
    return "" if value is None else f"{str(value)[:80]!r} "
