"""Writing the rows of any source to a `.gd` file: in their order, or each to a place of its own.

Rows are read, converted and written batch by batch: the next one is read while the last is written,
and no more memory is used than the budget allows, whatever the size of the source. The file appears
complete or not at all. Memory and temporary files are let go of at once, also after an error, which
may be kept, and everything it saw with it.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount import _core
from graphmount._compile.rows.progress import RowProgress
from graphmount._compile.rows.stored_form import (
    ColumnRange,
    fill_row,
    fill_value,
    quantized,
    require_seen,
)
from graphmount._mount.free_memory import physical_bytes
from graphmount._sources.contract.claims import is_plausible
from graphmount._sources.contract.file_stamps import require_unchanged
from graphmount._sources.contract.nan import apply_nan_policy
from graphmount._support.conversion import DTypeName, convert, item_bytes
from graphmount._support.files.disk_space import require_free
from graphmount._support.sizes import format_bytes
from graphmount._support.threads.read_ahead import read_ahead
from graphmount.errors import BudgetError, SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from numpy.typing import NDArray

    from graphmount._compile.rows.placement import Placement
    from graphmount._sources.contract.batches import RowBatch, RowSource
    from graphmount._sources.contract.tables import Table

#: More than this at once makes nothing faster, and memory of this size is used again and again.
_LARGEST_BATCH_BYTES = 16 << 20
#: Rows of this size are written whatever the budget is: buffers take more.
_LEAST_ROW_BYTES = 1 << 20


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenRows:
    """What `RowWriter` wrote.

    Attributes:
        num_rows: Rows of the file.
        missing: Rows that no row of the source was for.
        repeated: Rows of the source that were dropped, as others were for the same place.
    """

    num_rows: int
    missing: int = 0
    repeated: int = 0


def _require_row_fits(source: RowSource, dtype: DTypeName, memory: int) -> None:
    """Raises if a few rows, which are in memory at once, take all of it, or more than there is."""
    row_bytes = source.num_columns * max(item_bytes(source.dtype), item_bytes(dtype))
    if row_bytes > max(memory // 8, _LEAST_ROW_BYTES):
        needed = 8 * row_bytes
        advice = f"pass memory={needed} or more"
        if needed > physical_bytes():
            advice = "this machine has not as much; is the source damaged?"
        raise BudgetError(
            f"{source.name}: one row of {source.num_columns} values takes "
            f"{format_bytes(row_bytes)}, and several are in memory at once; {advice}"
        )


@dataclass(kw_only=True)
class RowWriter:
    """Writes a source to a `.gd` file, by one pass over it, or by two.

    Args:
        source: The rows.
        table: How to store them: what to do with NaN and with rows that are missing or repeated,
            and whether to quantize them. The source is then read twice.
        path: The file.
        dtype: How to store the values: "int8" if they are quantized.
        folder: The folder for temporary files.
        memory: How many bytes of memory to use.
        check_rows: Called with the number of rows before the file appears; may raise.
        order: The fingerprint of the order of the nodes.
        report: Called with what is done and what there is to do.
    """

    source: RowSource
    table: Table
    path: str
    dtype: DTypeName
    folder: str
    memory: int
    check_rows: Callable[[int], None]
    order: int = 0
    report: Callable[[int, int], None] | None = None

    def __post_init__(self) -> None:
        # Three batches are alive at once, and conversion makes copies of one.
        self._batch_bytes = min(_LARGEST_BATCH_BYTES, self.memory // 32)
        self._progress = RowProgress(self.report, self.source, self.dtype)
        self._missing = fill_value(self.table)
        self._num_rows: int | None = None  # of the pass before
        self._largest: NDArray[np.float64] | None = None  # of each column, if it was measured
        self._scales: NDArray[np.float32] | None = None  # for quantizing

    def write(self, placement: Placement | None = None) -> WrittenRows:
        """Writes the rows where `placement` says, or in the order of the source.

        Raises:
            SourceError: A value, its place or the number of rows is wrong.
            OSError: The file, or a temporary one, cannot be written.
        """
        _require_row_fits(self.source, self.dtype, self.memory)
        if self.source.num_rows is not None:
            file_bytes = self.source.num_rows * self.source.num_columns * item_bytes(self.dtype)
            needs = {os.path.dirname(self.path): file_bytes}
            if placement is not None and file_bytes > self.memory * 3 // 4:
                needs[self.folder] = needs.get(self.folder, 0) + file_bytes
            require_free(needs, f"writing {self.source.num_rows:,} rows")
        if self.table.quantize is not None:
            self._measure(is_last=placement is None)
        return self._write_in_order() if placement is None else self._write_in_place(placement)

    def _make_writer(self, rows: int | None) -> _core.FeatureWriter:
        return _core.FeatureWriter(
            os.fsencode(self.path),
            dtype=self.dtype,
            rows=rows,
            columns=self.source.num_columns,
            one_dimensional=self.source.is_vector,
            order=self.order,
            scales=self._scales,
        )

    @contextmanager
    def _naming_rows(self, separator: str = ", ") -> Iterator[None]:
        """Puts the name of the source in front of errors, which begin with a row otherwise."""
        try:
            yield
        except SourceError as error:
            raise SourceError(f"{self.source.name}{separator}{error}") from None

    def _batches(self) -> Generator[tuple[RowBatch, int]]:
        """All batches, and how many rows came before each."""
        num_rows = 0
        all_batches = self.source.batches(memory=self._batch_bytes)
        with closing(read_ahead(all_batches)) as batches:
            for batch in batches:
                if len(batch.rows):
                    yield batch, num_rows
                num_rows += len(batch.rows)
                self._progress.has_read(batch.done)
        require_unchanged(self.source)
        self._require_same_rows(num_rows)
        self._progress.next_phase()

    def _require_same_rows(self, num_rows: int) -> None:
        """Raises if this pass has seen other rows than the one before."""
        before, self._num_rows = self._num_rows, num_rows
        if before not in (None, num_rows):
            raise SourceError(
                f"{self.source.name} had {before} rows when it was measured, and has {num_rows} "
                "now; start again when nobody changes it"
            )

    def _measure(self, *, is_last: bool) -> None:
        """Finds the scales for quantizing, by a pass over the source."""
        self._progress.num_phases = 2 if is_last else 3
        column_range = ColumnRange(self.source.num_columns)
        for batch, first_row in self._batches():
            with self._naming_rows():
                rows = apply_nan_policy(batch.rows, self.source.dtype, self.table.nan, first_row)
                column_range.see(rows, self.source.dtype, first_row)
        if self._missing:
            column_range.see(np.full((1, self.source.num_columns), self._missing), "float64", 0)
        # The next pass leaves the same rows out again.
        self.source.skipped.clear()
        self._largest = column_range.largest
        with self._naming_rows():
            self._scales = column_range.scales()

    def _stored(self, rows: NDArray[Any], first_row: int) -> NDArray[np.uint8]:
        """The bytes of some rows as they are stored."""
        dtype = self.source.dtype
        with self._naming_rows():
            rows = apply_nan_policy(rows, dtype, self.table.nan, first_row)
            if self._scales is None or self._largest is None:
                rows = convert(rows, dtype, self.dtype, first_row)
            else:
                require_seen(rows, dtype, self._largest, first_row)
                rows = quantized(rows, dtype, self._scales)
        return np.ascontiguousarray(rows).reshape(-1).view(np.uint8)

    def _write_in_order(self) -> WrittenRows:
        expected = self.source.num_rows
        with closing(self._make_writer(expected)) as writer:
            num_rows = 0
            with closing(self._batches()) as batches:
                for batch, first_row in batches:
                    num_rows += len(batch.rows)
                    if expected is not None and num_rows > expected:
                        break
                    writer.append(self._stored(batch.rows, first_row))
            if expected is not None and num_rows != expected:
                raise SourceError(
                    f"{self.source.name} was to have {expected} rows, but has "
                    f"{'more' if num_rows > expected else num_rows}"
                )
            self.check_rows(num_rows)
            writer.finish(num_rows)
        return WrittenRows(num_rows=num_rows)

    def _require_plausible(self, placement: Placement, num_rows: int) -> None:
        """Raises if a key that nobody vouches for would make a file of nothing but empty rows."""
        if placement.num_rows is not None or self._num_rows is None:
            return
        if not is_plausible(num_rows, self._num_rows):
            raise SourceError(
                f"{self.source.name}: the key {num_rows - 1} would make a file of {num_rows} rows "
                f"out of {self._num_rows}; pass num_nodes={num_rows} if there are so many nodes, "
                "or order= with the graph whose external ids they are"
            )

    def _write_in_place(self, placement: Placement) -> WrittenRows:
        self._progress.num_phases = max(2, self._progress.num_phases)
        with ExitStack() as stack:
            scatter = stack.enter_context(closing(self._make_scatter(placement)))
            # Rows that come in the order of the nodes, as most do, need no sorting: they are
            # written at once, up to the first batch that is not in order. What is in the file stays
            # there, so later rows must not replace it.
            is_in_order = self.table.repeated != "last"
            writer = None
            num_written = 0
            for batch, first_row in stack.enter_context(closing(self._batches())):
                with self._naming_rows():
                    places, nodes = placement.place(batch, first_row)
                # Converted whole, so that an error names the row that it has in the source.
                stored = self._stored(batch.rows, first_row)
                if places is not None:
                    stored = stored.reshape(len(batch.rows), -1)[places].reshape(-1)
                if is_in_order and _are_next(nodes, num_written):
                    if writer is None:
                        writer = stack.enter_context(closing(self._make_writer(placement.num_rows)))
                    writer.append(stored)
                    num_written += len(nodes)
                    continue
                if is_in_order:
                    scatter.begin_at(num_written)
                is_in_order = False
                with self._naming_rows():
                    scatter.add(np.ascontiguousarray(nodes), stored)
            if is_in_order:
                scatter.begin_at(num_written)
            placement.finish(self._num_rows or 0)
            self._require_plausible(placement, scatter.num_rows)
            self.check_rows(scatter.num_rows)
            if writer is None:
                # Now that it is known how many rows there are, space for them can be reserved.
                writer = stack.enter_context(closing(self._make_writer(scatter.num_rows)))
            with self._naming_rows(": "):
                missing, repeated = scatter.write_to(writer, self._progress.has_written)
            self._progress.has_written(1, 1)
            writer.finish(scatter.num_rows)
        return WrittenRows(num_rows=scatter.num_rows, missing=missing, repeated=repeated)

    def _make_scatter(self, placement: Placement) -> _core.RowScatter:
        num_columns, missing = self.source.num_columns, self._missing
        return _core.RowScatter(
            row_bytes=num_columns * item_bytes(self.dtype),
            num_rows=placement.num_rows,
            repeated=self.table.repeated,
            fill=None
            if missing is None
            else fill_row(missing, num_columns, self.dtype, self._scales),
            memory=self.memory * 3 // 4,
            tmp=os.fsencode(self.folder),
            name_of=placement.name_of,
        )


def _are_next(nodes: NDArray[np.int64], first: int) -> bool:
    """Whether these are the nodes from `first` on, one after the other."""
    if not len(nodes) or nodes[0] != first or nodes[-1] != first + len(nodes) - 1:
        return False
    return bool((np.diff(nodes) == 1).all())
