"""How the memory of a loader is divided among its tables: by what each byte saves.

A few trial samples say which rows batches will want. A table that keeps its hottest rows need not
read those again; how many reads that saves, for each byte, is measured on the trials, and memory
goes where it saves most. So a small table that every batch needs is kept whole, and a large one
that few batches touch gets little, whatever their sizes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

#: Samples by which memory is divided.
SHARE_TRIALS = 4
#: What the disk reads at a time.
_BLOCK_BYTES = 4096
#: What a block more costs, in reads: most of the time of a read is not for its bytes.
_BLOCK_COST = 0.25
#: The part of memory that is for rows that come and go, and goes by what is left to read.
_PASSING_SHARE = 0.1
#: At how many sizes the savings of a table are measured.
_STEPS = 256


@dataclass(frozen=True, kw_only=True)
class TableUse:
    """What batches will want from a table.

    Attributes:
        num_bytes: The size of its rows.
        row_bytes: The size of one.
        wanted: For each trial, how many rows are hotter than each row that it wants.
    """

    num_bytes: int
    row_bytes: int
    wanted: Sequence[NDArray[np.int64]]

    def reads(self) -> NDArray[np.int64]:
        """For each read of all trials, how much memory saves it; sorted.

        Rows of one block come with one read.
        """
        blocks = [np.unique(ranks * self.row_bytes // _BLOCK_BYTES) for ranks in self.wanted]
        ends = np.sort(np.concatenate([*blocks, np.empty(0, np.int64)]) + 1) * _BLOCK_BYTES
        is_last = (ends > self.num_bytes) & (ends < self.num_bytes + _BLOCK_BYTES)
        return np.where(is_last, self.num_bytes, ends)

    @property
    def read_cost(self) -> float:
        """What reading a row costs, in reads of one block."""
        return 1 + _BLOCK_COST * ((max(self.row_bytes, 1) - 1) // _BLOCK_BYTES)


@dataclass(frozen=True)
class _Step:
    """More memory for a table, what each byte of it saves, and how much of the table comes before.

    Savings that differ by less than a fifth are not told apart.
    """

    saving: float
    before: float
    table: int
    num_bytes: float

    @property
    def rank(self) -> tuple[int, float]:
        """Which steps come first; tables that save alike grow together."""
        return (-round(4 * math.log2(self.saving)), self.before)


def divide(memory: int, tables: Sequence[TableUse]) -> list[int]:
    """The memory of each table; together no more than `memory`.

    If there is enough for all of them, each gets what it needs, and a part of what is left.

    Args:
        memory: For all tables.
        tables: What is known of them.
    """
    sizes = [max(1, table.num_bytes) for table in tables]
    if sum(sizes) <= memory or len(tables) <= 1:
        return [memory * size // sum(sizes) for size in sizes]
    given = [0.0] * len(tables)
    left = memory * (1 - _PASSING_SHARE)
    for step in sorted(_steps(tables), key=lambda step: step.rank):
        taken = min(left, step.num_bytes)
        given[step.table] += taken
        left -= taken
    # What is left goes where most is left to read; if there is nothing, by size.
    reads = [
        table.read_cost * int((table.reads() > bytes_kept).sum())
        for table, bytes_kept in zip(tables, given, strict=True)
    ]
    weights = reads if sum(reads) > 0 else [float(size) for size in sizes]
    left += memory * _PASSING_SHARE
    return [
        int(kept + left * weight / sum(weights) + 1e-6)
        for kept, weight in zip(given, weights, strict=True)
    ]


def _steps(tables: Sequence[TableUse]) -> list[_Step]:
    """The steps in which each table may grow, those that save most for a byte first."""
    steps = []
    for number, table in enumerate(tables):
        reads = table.reads()
        # Finer where rows are hottest.
        sizes = max(table.num_bytes, 1) * np.linspace(0, 1, _STEPS + 1) ** 2
        saved = (np.searchsorted(reads, sizes, side="right") * table.read_cost).astype(np.float64)
        for first, last in _hull(sizes, saved):
            if saved[last] == saved[first]:
                continue
            saving = float((saved[last] - saved[first]) / (sizes[last] - sizes[first]))
            for place in range(first, last):
                width = float(sizes[place + 1] - sizes[place])
                steps.append(_Step(saving, place / _STEPS, number, width))
    return steps


def _hull(sizes: NDArray[np.float64], saved: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Pairs of places between which a byte saves less and less, from the first to the last.

    A table that saves little at first and much later is grown to the later size at once.
    """
    kept: list[int] = []
    for place in range(len(sizes)):
        while len(kept) >= 2:
            one, two = kept[-2], kept[-1]
            rise = (saved[two] - saved[one]) * (sizes[place] - sizes[one])
            if rise > (saved[place] - saved[one]) * (sizes[two] - sizes[one]):
                break
            kept.pop()
        kept.append(place)
    return list(pairwise(kept))
