"""New numbers for the nodes of a dataset that is put into another order, in little memory.

Below 2^32 nodes they take 4 bytes each, and so does the other way, from new numbers to old ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount import _core
from graphmount._support.arguments import as_native
from graphmount._support.sizes import format_bytes
from graphmount._support.text_columns import TextColumn
from graphmount.errors import BudgetError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from graphmount._support.text_columns import Keys

#: More nodes than this have numbers of 8 bytes.
MOST_NARROW = 2**32
_AT_ONCE = 1 << 20


def hot_ids(
    num_nodes: int,
    cores: Sequence[_core.GraphCompiler],
    report: Callable[[int, int], None] | None = None,
) -> NDArray[Any]:
    """The new number of each node: those that sampling meets most often come first.

    Args:
        num_nodes: How many nodes there are.
        cores: What has the edges in whose lists they appear.
        report: Called with the entries that are counted, and how many there are.
    """
    is_wide = num_nodes > MOST_NARROW
    return as_native(_core.hot_ids(num_nodes, list(cores), wide=is_wide, progress=report))


def inverted(numbers: NDArray[Any]) -> NDArray[Any]:
    """The other way of numbers that are given once each: from new ones to old ones, or back."""
    count = len(numbers)
    other = np.empty(count, np.int64 if count > MOST_NARROW else np.uint32)
    # In pieces: NumPy takes 8 bytes more for each number that it looks up.
    for first in range(0, count, _AT_ONCE):
        some = numbers[first : first + _AT_ONCE]
        other[some] = np.arange(first, first + len(some), dtype=other.dtype)
    return other


def new_ids_bytes(num_nodes: int) -> int:
    """What the new numbers of so many nodes take."""
    return (8 if num_nodes > MOST_NARROW else 4) * num_nodes


def ordering_bytes(num_nodes: int, keys: Keys | None) -> int:
    """What it takes to order nodes: both ways of numbers, and their external ids once more."""
    return 2 * new_ids_bytes(num_nodes) + keys_bytes(keys)


def keys_bytes(keys: Keys | None) -> int:
    """What external ids take."""
    if isinstance(keys, TextColumn):
        return int(keys.offsets.nbytes + keys.data.nbytes)
    return 0 if keys is None else int(keys.nbytes)


def require_ordering(needed: int, num_nodes: int, memory: int, of: str = "") -> None:
    """Raises if ordering nodes takes more than half of the budget: the rest is for edges and rows.

    Args:
        needed: What it takes, in bytes.
        num_nodes: How many nodes there are.
        memory: The budget.
        of: What messages say behind "nodes".

    Raises:
        BudgetError: It takes more. With what the message advises, it does not.
    """
    if needed > memory // 2:
        raise BudgetError(
            f"ordering {num_nodes:,} nodes{of} takes {format_bytes(needed)}, more than half of "
            f"memory={format_bytes(memory)}; pass memory={2 * needed} or more, or order='given'"
        )
