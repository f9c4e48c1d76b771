"""Tables of objects that speak Arrow: of Polars, pandas, DuckDB, pyarrow and others.

They are read where they are, as a stream. A second pass asks the object for its stream anew; one
that has none left, or gives another number of rows, is refused.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from graphmount._sources.arrow.tables import ArrowTable, pyarrow
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator


class ObjectTable(ArrowTable):
    """A table in memory, or a query that gives its result as a stream.

    Args:
        source: An object with `__arrow_c_stream__`.

    Raises:
        TypeError: It is no table, but one column, or has columns that are not of one type.
    """

    def __init__(self, source: Any) -> None:  # noqa: ANN401
        kind = type(source)
        self.name = f"a {kind.__module__.partition('.')[0].lstrip('_')} {kind.__name__}"
        self._source: Any = source
        try:
            self._reader: Any = pyarrow().RecordBatchReader.from_stream(source)
        except Exception as error:  # each library has its own
            if type(source).__name__ == "Series" or "non-struct type" in str(error):
                raise TypeError(
                    f"{self.name} is not a table, but one column; pass series.to_frame(), or "
                    "series.to_numpy()"
                ) from error
            raise TypeError(
                f"{self.name} cannot be read as a table: {str(error)[:300]}; each column must be "
                "of one type, and have a name of its own"
            ) from error
        self.schema = self._reader.schema
        self.num_rows = _num_rows(source)
        self.size = self.num_rows
        self._ahead: list[Any] = []
        self._num_read: int | None = None

    def first_values(self, column: int) -> Any:  # noqa: ANN401
        """See `ArrowTable`: those of the first batch, which will be read again."""
        if not self._ahead:
            self._ahead = list(itertools.islice(self._reader, 1))
        return self._ahead[0].column(column) if self._ahead else None

    def _batches(self, columns: list[int], num_rows: int) -> Iterator[tuple[Any, int]]:
        del num_rows  # they are in memory already
        if self._reader is None:
            self._open_again()
        reader, self._reader = self._reader, None
        ahead, self._ahead = self._ahead, []
        done = 0
        for batch in itertools.chain(ahead, reader):
            done += batch.num_rows
            yield batch.select(columns), done
        if self._num_read not in (None, done):
            raise self._used_up()
        self._num_read = done

    def _open_again(self) -> None:
        """For another pass, which frames and queries allow, and streams do not."""
        if self._num_read is None:
            raise self._used_up()
        try:
            self._reader = pyarrow().RecordBatchReader.from_stream(self._source)
        except Exception as error:  # each library has its own
            raise self._used_up() from error

    def _used_up(self) -> SourceError:
        return SourceError(f"{self.name} is a stream that has been read; make it anew")


def _num_rows(source: Any) -> int | None:  # noqa: ANN401
    """How many rows an object has, where asking costs nothing (a query would be run for it)."""
    for attribute in ("num_rows", "height"):  # of pyarrow, of Polars
        number = getattr(source, attribute, None)
        if isinstance(number, int):
            return number
    index: Any = getattr(source, "index", None)  # of pandas
    return len(index) if hasattr(index, "__len__") else None
