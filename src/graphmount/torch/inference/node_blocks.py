"""Nodes in order, cut into blocks whose neighbor lists fit into a budget.

A block is as long as the budget allows. It is found by bisecting the offsets, so a cut costs a few
looks, and no array as long as the graph is made.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Protocol, SupportsInt

from graphmount._support.sizes import format_bytes
from graphmount.errors import BudgetError

if TYPE_CHECKING:
    from collections.abc import Iterator


class Offsets(Protocol):
    """Offsets of lists: of all of them where they begin, and of the last where it ends."""

    def __len__(self) -> int: ...

    def __getitem__(self, node: int, /) -> SupportsInt: ...


def node_blocks(
    indptr: Offsets, *, entry_bytes: int, block_bytes: int, memory: int
) -> Iterator[range]:
    """All nodes, in ranges.

    Args:
        indptr: The offsets of the lists.
        entry_bytes: What a node of a block takes, and what each of its neighbors does.
        block_bytes: What a block may take.
        memory: The budget of which that is a part, for the message.

    Raises:
        BudgetError: One node has more neighbors than fit.
    """
    num_nodes = len(indptr) - 1
    most = block_bytes // entry_bytes
    begin = 0
    while begin < num_nodes:
        before = begin + int(indptr[begin])
        # How many of the possible ends are within reach: the entries before an end only grow.
        ends = range(begin + 1, num_nodes + 1)
        count = bisect_right(ends, before + most, key=lambda end: end + int(indptr[end]))
        if count == 0:
            degree = int(indptr[begin + 1]) - int(indptr[begin])
            needed = (1 + degree) * entry_bytes
            raise BudgetError(
                f"node {begin} has {degree:,} neighbors, which take {format_bytes(needed)}, and a "
                f"block may take {format_bytes(block_bytes)}; "
                f"pass memory={format_bytes(memory * needed // max(block_bytes, 1) + 1)!r} or more"
            )
        yield range(begin, begin + count)
        begin += count
