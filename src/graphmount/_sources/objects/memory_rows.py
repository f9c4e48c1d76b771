"""Rows of what is in memory, or mapped into it: arrays, tensors, mounted files, nested lists.

Arrays in memory are not copied. Mapped arrays are copied batch by batch, so that the disk is waited
for when a batch is read, and not later when it is used.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from graphmount import _core
from graphmount._mount.features import FeatureStore
from graphmount._mount.mapped_reads import read_rows
from graphmount._mount.node_ids import order_of
from graphmount._sources.contract.batches import RowBatch, RowSource
from graphmount._sources.contract.claims import require_rows, rows_at_once
from graphmount._sources.contract.node_keys import keys_of_rows, slice_keys
from graphmount._sources.objects.memory_edges import require_array
from graphmount._support.arguments import as_count, as_list, as_plain
from graphmount._support.conversion import convert
from graphmount._support.text_columns import Keys, TextColumn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray


#: How far ahead of a batch mapped rows are asked for, so that the disk is never without work.
_READ_AHEAD_BYTES = 64 << 20


class MemoryRows(RowSource):
    """A `RowSource` over an array of one or two dimensions.

    Args:
        source: A NumPy array (also a memory-mapped one), a torch tensor, a `FeatureStore`, or
            nested lists. A quantized `FeatureStore` gives the values, not the stored integers.
        key: Which node each row belongs to: the number of a column of whole numbers, which is then
            no feature, or an array of integers or strings, one for each row.
        columns: The numbers of the columns to take; all but that of the keys if None.

    Raises:
        ValueError, TypeError: The source is not a numeric matrix, or an option does not go with it.
        SourceError: A key is not a whole number.

    Examples:
        >>> from graphmount._sources.objects.memory_rows import MemoryRows
        >>> rows = MemoryRows([[7, 1, 2], [3, 4, 5]], key=0)
        >>> [(batch.keys.tolist(), batch.rows.tolist()) for batch in rows.batches(memory=1 << 20)]
        [([7, 3], [[1, 2], [4, 5]])]
    """

    def __init__(
        self,
        source: object,
        *,
        key: int | ArrayLike | Sequence[str] | None = None,
        columns: Sequence[int] | Sequence[str] | None = None,
    ) -> None:
        array, self.dtype = _as_matrix(source)
        super().__init__(_name_of(source), len(array))
        self._array = array
        self.order = source.order if isinstance(source, FeatureStore) else order_of(source)
        self._store = source if isinstance(source, FeatureStore) else None
        self._scales = source.scales if isinstance(source, FeatureStore) else None
        self._is_mapped = isinstance(source, FeatureStore | np.memmap)
        if self._scales is not None:
            self.dtype = "float32"
        self._keys = None if key is None else self._as_keys(key)
        self._columns = _chosen_columns(array, columns, key)
        require_rows("features", array.shape)
        self.num_rows = len(array)
        self.is_vector = array.ndim == 1
        self.num_columns = 1 if self.is_vector else array.shape[1]
        if self._columns is not None:
            self.num_columns = len(self._columns)
        self.has_keys = self._keys is not None
        self.has_text_keys = isinstance(self._keys, TextColumn)

    def batches(self, *, memory: int) -> Iterator[RowBatch]:
        """All rows, from the first on, in batches of about `memory` bytes."""
        array = self._array
        row_bytes = array.itemsize * (1 if array.ndim == 1 else array.shape[1])
        if self._scales is not None:
            row_bytes += 4 * self.num_columns
        step = rows_at_once(memory, row_bytes)
        ahead = max(step, _READ_AHEAD_BYTES // max(row_bytes, 1))
        self._prefetch(0, ahead)
        for first in range(0, len(array), step):
            self._prefetch(first + ahead, first + ahead + step)
            rows = self._rows(first, min(first + step, len(array)))
            if self._scales is not None:
                rows = rows * (self._scales if rows.ndim == 2 else self._scales[0])
            if self._columns is not None:
                rows = rows[:, self._columns]
            elif self._is_mapped and self._store is None:
                rows = np.array(rows)
            yield RowBatch(
                rows=rows.astype(rows.dtype.newbyteorder("="), copy=False),  # cast: of bytes alone
                keys=None
                if self._keys is None
                else slice_keys(self._keys, first, first + len(rows)),
                done=first + len(rows),
            )

    def _as_keys(self, key: int | ArrayLike | Sequence[str]) -> Keys:
        array = self._array
        if np.ndim(cast("ArrayLike", key)) == 0:
            if array.ndim == 1:
                raise ValueError(
                    f"key={key!r} is a column, but the source is a vector; pass an array"
                )
            if self._scales is not None:
                raise ValueError(f"key={key!r} is a column of quantized values; pass an array")
            number = as_count(key, "key", most=array.shape[1] - 1)
            column = array[:, number] if self._store is None else self._column(number)
            return np.ascontiguousarray(convert(column, self.dtype, "int64", 0))
        return keys_of_rows(cast("ArrayLike", key), len(array))

    def _rows(self, begin: int, end: int) -> NDArray[Any]:
        """Rows in memory. Of a mounted file only the core may look at them."""
        if self._store is not None:
            return read_rows(self._store, begin, end - begin)
        return self._array[begin:end]

    def _column(self, number: int) -> NDArray[Any]:
        """A column of a mounted file, in memory."""
        row_bytes = self._array.itemsize * self._array.shape[1]
        step = max(1, _READ_AHEAD_BYTES // row_bytes)
        column = np.empty(len(self._array), self._array.dtype)
        for first in range(0, len(column), step):
            last = min(first + step, len(column))
            column[first:last] = self._rows(first, last)[:, number]
        return column

    def _prefetch(self, begin: int, end: int) -> None:
        """Has the system read rows of a mapped array: it would not look so far ahead by itself."""
        if self._is_mapped and self._array.flags.c_contiguous:
            _core.prefetch_memory(self._array[begin:end].reshape(-1).view(np.uint8))


def _as_matrix(source: object) -> tuple[NDArray[Any], str]:
    """The source as an array of one or two dimensions, and the name of its dtype."""
    torch = sys.modules.get("torch")
    if isinstance(source, FeatureStore):
        array, name = source.numpy(), str(source.dtype)
    elif torch is not None and isinstance(source, torch.Tensor):
        from graphmount.torch import to_numpy  # only where torch is loaded anyway

        array, name = to_numpy(source)
    else:
        require_array(
            source,
            "rows",
            supported="arrays, tensors, nested lists, a FeatureStore, tables that speak Arrow "
            "(Polars, DuckDB, pandas, pyarrow), and paths of files",
        )
        array = as_plain(source, "features")
        name = array.dtype.name
        if name == "bfloat16":  # of ml_dtypes
            array = array.view(np.uint16)
    if array.ndim not in (1, 2):
        raise ValueError(
            f"features must have one or two dimensions, not shape {array.shape}; reshape them to "
            "(rows, columns)"
        )
    if array.dtype.kind not in "fiub":
        what = f"text ({array.dtype})" if array.dtype.kind in "UST" else f"{array.dtype}"
        raise TypeError(
            f"features must be numbers, not {what}; only labels and splits of a dataset may be "
            "text: turn features into numbers first"
        )
    return array, name


def _name_of(source: object) -> str:
    if isinstance(source, FeatureStore):
        return source.path
    filename = getattr(source, "filename", None) if isinstance(source, np.memmap) else None
    return os.fspath(filename) if filename is not None else f"the {type(source).__name__}"


def _chosen_columns(
    array: NDArray[Any], columns: Sequence[int] | Sequence[str] | None, key: object
) -> list[int] | None:
    """The numbers of the columns to take, or None for all."""
    if columns is None:
        if key is None or np.ndim(cast("ArrayLike", key)) > 0:
            return None
        return [column for column in range(array.shape[1]) if column != key]
    if array.ndim == 1:
        raise ValueError("columns= chooses among columns, and the source is a vector")
    picked = [columns] if isinstance(columns, int | str) else as_list(columns, "columns", "numbers")
    return [as_count(column, "columns", most=array.shape[1] - 1) for column in picked]
