"""Edges from Arrow tables: two columns of ids, and if need be one of weights and one of times.

Only these columns are read, batch by batch.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from graphmount._sources.arrow import columns as arrow_columns
from graphmount._sources.arrow.checks import CheckedColumns
from graphmount._sources.arrow.tables import find_column
from graphmount._sources.contract.batches import EdgeBatch, EdgeSource
from graphmount._support.shown import shown
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from graphmount._sources.arrow.tables import ArrowTable
    from graphmount._sources.contract.tables import EdgeRequest

#: What a row takes while its columns are converted; strings are as long as they are, mostly less.
_NUMBER_BYTES, _TEXT_BYTES = 24, 192


#: Columns beside the ends, in the order in which they are read: what they may be, and their check.
_VALUES = (
    ("weights", arrow_columns.require_weights, arrow_columns.bad_weights),
    ("timestamps", arrow_columns.require_timestamps, arrow_columns.bad_timestamps),
)


class ArrowEdges(EdgeSource):
    """Edges of a table; an `EdgeSource`.

    Args:
        table: The table.
        request: Which columns to read, and what to do with rows that cannot be read. Its `keys` are
            "dense" or "int" to read strings as numbers, "text" to read numbers as strings.

    Raises:
        SourceError: There are no such columns, or of the wrong type.
    """

    def __init__(self, table: ArrowTable, request: EdgeRequest) -> None:
        super().__init__(table.name, table.size)
        self._table = table
        if request.columns is None and len(table.schema.names) < 2:
            found = "one column only" if table.schema.names else "no column"
            raise SourceError(f"{table.name} has {found}; edges have two ends")
        columns = (0, 1) if request.columns is None else request.columns
        if not isinstance(columns, list | tuple) or len(columns) != 2:
            raise ValueError(f"columns={shown(columns)}; name two of them, (sources, destinations)")
        self._places = [find_column(table, column, "columns") for column in columns]
        text = [
            arrow_columns.has_text_ids(table.type_of(place), request.keys, table.label_of(place))
            for place in self._places
        ]
        if text[0] != text[1]:
            first, second = (table.label_of(place) for place in self._places)
            raise SourceError(
                f"{table.name}: {first} and {second} are not both numbers or both text; pass "
                "ids='map' with key_type='str', or 'int'"
            )
        self.has_text_ids = text[0]
        check_ids = functools.partial(arrow_columns.bad_ids, as_text=self.has_text_ids)
        checks: list[Callable[[Any], arrow_columns.BadRows | None]] = [check_ids, check_ids]
        self.has_weights = request.weights is not None
        self.has_timestamps = request.timestamps is not None
        for option, require, find_bad in _VALUES:
            column = getattr(request, option)
            if column is not None:
                place = find_column(table, column, option)
                require(table.type_of(place), table.label_of(place))
                self._places.append(place)
                checks.append(find_bad)
        self._columns = CheckedColumns(
            table,
            list(zip(self._places, checks, strict=True)),
            on_error=request.on_error,
        )
        self.num_edges = table.num_rows if request.on_error == "raise" else None

    def batches(self, *, memory: int) -> Iterator[EdgeBatch]:
        """See `EdgeSource`."""
        row_bytes = 2 * (_TEXT_BYTES if self.has_text_ids else _NUMBER_BYTES)
        row_bytes += _NUMBER_BYTES * (self.has_weights + self.has_timestamps)
        for columns, done in self._columns.batches(max(1, memory // row_bytes), self.skipped):
            src, dst = (
                arrow_columns.as_ids(
                    columns[end],
                    as_text=self.has_text_ids,
                    name=self._table.label_of(self._places[end]),
                )
                for end in (0, 1)
            )
            yield EdgeBatch(
                src=src,
                dst=dst,
                weights=arrow_columns.as_weights(columns[2]) if self.has_weights else None,
                timestamps=arrow_columns.as_timestamps(columns[-1])
                if self.has_timestamps
                else None,
                done=done,
            )
