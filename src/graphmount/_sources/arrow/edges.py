"""Edges from Arrow tables: two columns of ids, and if need be one of weights and one of times.

Only these columns are read, batch by batch.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from graphmount._sources.arrow import columns as arrow_columns
from graphmount._sources.arrow.checks import RowCheck
from graphmount._sources.arrow.tables import find_column
from graphmount._sources.contract.batches import EdgeBatch, Skipped
from graphmount._support.shown import shown
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from graphmount._sources.arrow.tables import ArrowTable
    from graphmount._sources.contract.requests import EdgeRequest
    from graphmount._support.text_columns import Keys

#: What a row takes while its columns are converted; strings are as long as they are, mostly less.
_NUMBER_BYTES, _TEXT_BYTES = 24, 192


class ArrowEdges:
    """Edges of a table; an `EdgeSource`.

    Args:
        table: The table.
        request: Which columns to read, and what to do with rows that cannot be read. Its `keys` are
            "dense" or "int" to read strings as numbers, "text" to read numbers as strings.

    Raises:
        SourceError: There are no such columns, or of the wrong type.
    """

    def __init__(self, table: ArrowTable, request: EdgeRequest) -> None:
        self._table = table
        if request.columns is None and len(table.schema.names) < 2:
            found = "one column only" if table.schema.names else "no column"
            raise SourceError(f"{table.name} has {found}; edges have two ends")
        columns = (0, 1) if request.columns is None else request.columns
        if not isinstance(columns, list | tuple) or len(columns) != 2:
            raise ValueError(f"columns={shown(columns)}; name two of them, (sources, destinations)")
        self._places = [find_column(table, column, "columns") for column in columns]
        text = [
            arrow_columns.has_text_ids(self._type(place), request.keys, self._label(place))
            for place in self._places
        ]
        if text[0] != text[1]:
            raise SourceError(
                f"{table.name}: {self._label(self._places[0])} and {self._label(self._places[1])} "
                "are not both numbers or both text; pass ids='map' with key_type='str', or 'int'"
            )
        self._weights = self._add(request.weights, "weights")
        if self._weights is not None:
            place = self._places[self._weights]
            arrow_columns.require_weights(self._type(place), self._label(place))
        self._timestamps = self._add(request.timestamps, "timestamps")
        if self._timestamps is not None:
            place = self._places[self._timestamps]
            arrow_columns.require_timestamps(self._type(place), self._label(place))
        self._on_error = request.on_error
        self.name = table.name
        self.size = table.size
        self.num_edges = table.num_rows if request.on_error == "raise" else None
        self.estimated_edges: int | None = None
        self.num_nodes: int | None = None
        self.node_ids: Keys | None = None
        self.is_symmetric = False
        self.has_text_ids = text[0]
        self.has_weights = self._weights is not None
        self.has_timestamps = self._timestamps is not None
        self.skipped = Skipped()

    def _add(self, column: object, option: str) -> int | None:
        """Where among the columns read this one is."""
        if column is None:
            return None
        self._places.append(find_column(self._table, column, option))
        return len(self._places) - 1

    def _type(self, place: int) -> object:
        return self._table.schema.field(place).type

    def _label(self, place: int) -> str:
        return f"{self._table.name}, column {self._table.schema.names[place]!r}"

    def batches(self, *, memory: int) -> Iterator[EdgeBatch]:
        """See `EdgeSource`."""
        row_bytes = 2 * (_TEXT_BYTES if self.has_text_ids else _NUMBER_BYTES)
        row_bytes += _NUMBER_BYTES * (self.has_weights + self.has_timestamps)
        check_ids = functools.partial(arrow_columns.bad_ids, as_text=self.has_text_ids)
        checks: list[Callable[[Any], list[arrow_columns.BadRows]]] = [check_ids, check_ids]
        checks += [arrow_columns.bad_weights] if self.has_weights else []
        checks += [arrow_columns.bad_timestamps] if self.has_timestamps else []
        names = [self._table.schema.names[place] for place in self._places]
        # A column may serve twice, as a weight and a time, say; it is read once.
        distinct = sorted(set(self._places))
        where = [distinct.index(place) for place in self._places]
        check = RowCheck(
            name=self.name,
            checks=list(zip(names, checks, strict=True)),
            on_error=self._on_error,
            skipped=self.skipped,
        )
        first_row = 0
        for batch, done in self._table.batches(distinct, max(1, memory // row_bytes)):
            columns = check.clean(batch.select(where), first_row)
            first_row += batch.num_rows
            src, dst = (
                arrow_columns.as_ids(
                    columns[end], as_text=self.has_text_ids, name=self._label(self._places[end])
                )
                for end in (0, 1)
            )
            yield EdgeBatch(
                src=src,
                dst=dst,
                weights=None
                if self._weights is None
                else arrow_columns.as_weights(columns[self._weights]),
                timestamps=None
                if self._timestamps is None
                else arrow_columns.as_timestamps(columns[self._timestamps]),
                done=done,
            )
