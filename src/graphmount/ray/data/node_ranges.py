"""Cuts nodes into ranges whose lists fit into the memory of one task.

Entries are counted by cells of neighboring nodes. A cell that is too large for a task is counted
again, by narrower cells, until it has one node.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from graphmount.errors import BudgetError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

#: How many cells to count at once: few enough that the counts of many tasks are sent around.
_MOST_CELLS = 1 << 16
#: What a node takes: its offset while lists are made, in the result, and on its way there.
_NODE_BYTES = 24


class Window(NamedTuple):
    """Nodes that are counted by cells.

    Attributes:
        is_owner: Whether owners of lists are counted, or their neighbors.
        first: The first node.
        end: The node behind the last.
        shift: A cell has `1 << shift` nodes.
    """

    is_owner: bool
    first: int
    end: int
    shift: int

    @property
    def num_cells(self) -> int:
        """How many cells there are."""
        return ((self.end - self.first - 1) >> self.shift) + 1

    def tally(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many of these ids are in each cell."""
        if self.first > 0:
            ids = ids[ids >= self.first]
        ids = ids[ids < self.end] - self.first if self.first > 0 else ids
        return np.bincount(ids >> self.shift, minlength=self.num_cells)[: self.num_cells]


def window_of(first: int, end: int, *, is_owner: bool) -> Window:
    """A window over these nodes, with cells that are as narrow as there is room for."""
    shift = max(0, (end - first - 1).bit_length() - (_MOST_CELLS.bit_length() - 1))
    return Window(is_owner, first, end, shift)


class Limits(NamedTuple):
    """What a range may have.

    Attributes:
        memory: How many bytes it may take.
        entry_bytes: What an entry takes.
        num_parts: How many ranges there should be at least, where there are enough entries.
    """

    memory: int
    entry_bytes: int
    num_parts: int

    def fits(self, entries: int, nodes: int) -> bool:
        """Whether so many entries of so many nodes fit into a task."""
        return entries * self.entry_bytes + nodes * _NODE_BYTES <= self.memory


def cut_nodes(
    num_nodes: int,
    limits: Limits,
    count: Callable[[Window], NDArray[np.int64]],
    *,
    is_owner: bool,
) -> NDArray[np.uint64]:
    """Where the ranges of nodes end.

    Args:
        num_nodes: How many nodes there are.
        limits: What a range may have.
        count: Counts the entries of the cells of a window.
        is_owner: Whether the nodes are owners of lists as they come, or those of the neighbors.

    Raises:
        BudgetError: One node alone has too many entries.
    """
    if num_nodes == 0:
        return np.zeros(0, np.uint64)
    cells = _fine_cells(window_of(0, num_nodes, is_owner=is_owner), limits, count)
    wanted = sum(entries for _, entries in cells) // limits.num_parts + 1
    ends: list[int] = []
    first = entries = last = 0
    for end, some in cells:
        is_full = entries + some > wanted or not limits.fits(entries + some, end - first)
        if last > first and is_full:
            ends.append(last)
            first, entries = last, 0
        entries += some
        last = end
    return np.array([*ends, num_nodes], np.uint64)


def _fine_cells(
    window: Window, limits: Limits, count: Callable[[Window], NDArray[np.int64]]
) -> list[tuple[int, int]]:
    """The cells of a window, by their ends, with their entries: each fits into a task."""
    cells: list[tuple[int, int]] = []
    for place, entries in enumerate(count(window).tolist()):
        first = window.first + (place << window.shift)
        end = min(window.end, first + (1 << window.shift))
        if limits.fits(entries, end - first):
            cells.append((end, entries))
        elif end - first > 1:
            cells += _fine_cells(window_of(first, end, is_owner=window.is_owner), limits, count)
        else:
            needed = (entries * limits.entry_bytes + _NODE_BYTES) // (1 << 20) + 1
            raise BudgetError(
                f"node {first} has {entries} neighbors, which one task must sort in memory; pass "
                f"task_memory='{needed}MiB' or more"
            )
    return cells
