"""Tables of Polars' LazyFrames: the query runs while it is read, and its result is never whole.

Each pass runs the query anew. So the second pass is compared with the first, value by value: a
query that gives its rows in another order each time, or whose files have changed, is refused.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from graphmount._sources.arrow.column_digest import PassDigests
from graphmount._sources.arrow.tables import FIRST_ROWS, ArrowTable, pyarrow
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator

#: More rows at once make nothing faster: Polars works on about as many at a time.
_MOST_ROWS = 1 << 17
#: The version of Polars that added the call which returns a result in batches.
_SINCE = "1.34"


def is_lazy(source: object) -> bool:
    """Whether this is a LazyFrame of Polars."""
    polars = sys.modules.get("polars")
    return polars is not None and isinstance(source, polars.LazyFrame)


class LazyTable(ArrowTable):
    """The result of a query of Polars, which runs once for each pass.

    Args:
        frame: The LazyFrame.

    Raises:
        TypeError: This Polars cannot give a result in batches.
        SourceError: The query is wrong.
    """

    size = None
    num_rows = None

    def __init__(self, frame: Any) -> None:  # noqa: ANN401
        self.name = "a polars LazyFrame"
        self._polars: Any = sys.modules["polars"]
        if not hasattr(frame, "collect_batches"):
            raise TypeError(
                f"{self.name}: polars {self._polars.__version__} cannot give its rows in batches; "
                f"install polars {_SINCE} or later; if all rows fit into memory, pass "
                "frame.collect()"
            )
        self._frame = frame
        self._digests = PassDigests()
        try:
            empty = self._polars.DataFrame(schema=frame.collect_schema())
        except Exception as error:  # each mistake has its own
            raise self._failed(error) from error
        self.schema = pyarrow().RecordBatchReader.from_stream(empty).schema

    def first_values(self, column: int) -> Any:  # noqa: ANN401
        """See `ArrowTable`."""
        query = self._frame.select(self._polars.nth(column)).head(FIRST_ROWS)
        try:
            first = query.collect(engine="streaming")
        except Exception as error:
            raise self._failed(error) from error
        batches = self._record_batches(first)
        return next((batch.column(0) for batch in batches if batch.num_rows), None)

    def _batches(self, columns: list[int], num_rows: int) -> Iterator[tuple[Any, int]]:
        run = self._run(columns, min(num_rows, _MOST_ROWS))
        done = 0
        for batch in self._digests.compare(columns, run, self._changed):
            done += batch.num_rows
            yield batch, done

    def _changed(self, column: int) -> SourceError:
        return SourceError(
            f"{self.label_of(column)}: the query gave other rows, or the same in another order, "
            "when it was run again; give it an order (sort, or maintain_order=True in group_by, "
            "unique and join), or pass frame.collect()"
        )

    def _run(self, columns: list[int], num_rows: int) -> Iterator[Any]:
        """The result in record batches of at most so many rows."""
        # By their places: a name such as "^a$" would be a pattern.
        query = self._frame.select(self._polars.nth(*columns))
        try:
            # Lazy: otherwise Polars would begin at once, and wait for the reader.
            frames = iter(
                query.collect_batches(
                    chunk_size=num_rows, maintain_order=True, lazy=True, engine="streaming"
                )
            )
        except Exception as error:
            raise self._failed(error) from error
        while True:
            try:
                frame = next(frames)
            except StopIteration:
                return
            except (Exception, self._polars.exceptions.PanicException) as error:
                raise self._failed(error) from error
            yield from self._record_batches(frame)

    def _record_batches(self, frame: Any) -> Any:  # noqa: ANN401
        return pyarrow().RecordBatchReader.from_stream(frame)

    def _failed(self, error: BaseException) -> Exception:
        """What to raise where Polars has failed, or a function of the user that it has called."""
        if isinstance(error, MemoryError):
            return error
        reason = " ".join(str(error).partition("\n\n")[0].split())[:300]
        return SourceError(
            f"{self.name}: its query failed ({type(error).__name__}: {reason}); mend the query"
        )
