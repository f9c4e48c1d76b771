"""How far the writing of rows has come, over all of its phases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmount._support.conversion import DTypeName, item_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphmount._sources.contract.batches import RowSource


class RowProgress:
    """Passes over the source, and the sorting of rows, as parts of one whole.

    It counts bytes of the matrix, if it is known how many there are; else what the source counts.
    """

    def __init__(
        self, report: Callable[[int, int], None] | None, source: RowSource, dtype: DTypeName
    ) -> None:
        self.num_phases = 1
        self._report = report
        self._phase = 0
        self._size = source.size
        self._total = source.size
        if source.size is not None and source.num_rows is not None:
            item = max(item_bytes(source.dtype), item_bytes(dtype))
            self._total = source.num_rows * source.num_columns * item

    def has_read(self, done: int) -> None:
        if self._size:
            self.has_written(done, self._size)
        elif self._report:
            self._report(done, done)

    def next_phase(self) -> None:
        self._phase += 1

    def has_written(self, done: int, total: int) -> None:
        if self._report and self._total and total:
            part = self._total * min(done, total) // total
            self._report(self._phase * self._total + part, self.num_phases * self._total)
