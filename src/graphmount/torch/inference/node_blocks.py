"""Nodes in order, cut into blocks whose neighbor lists fit into a budget.

A block is as long as the budget allows. It is found by bisecting the offsets, so a cut costs a few
looks, and no array as long as the graph is made.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, SupportsInt

from graphmount._support.sizes import format_bytes
from graphmount.errors import BudgetError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Offsets(Protocol):
    """Offsets of lists: of all of them where they begin, and of the last where it ends."""

    def __len__(self) -> int: ...

    def __getitem__(self, node: int, /) -> SupportsInt: ...


@dataclass(frozen=True)
class NeighborLists:
    """The neighbors of all nodes of a type in one relation.

    Attributes:
        offsets: Where the lists begin.
        entry_bytes: What a neighbor of a block takes.
    """

    offsets: Offsets
    entry_bytes: int


def node_blocks(
    num_nodes: int,
    lists: Sequence[NeighborLists],
    *,
    node_bytes: int,
    block_bytes: int,
    memory: int,
    of: str = "",
) -> Iterator[range]:
    """All nodes of a type, in ranges.

    Args:
        num_nodes: How many there are.
        lists: Their neighbors, of each relation.
        node_bytes: What a node takes, without its neighbors.
        block_bytes: What a block may take.
        memory: The budget of which that is a part, for the message.
        of: What the message says after "node 5".

    Raises:
        BudgetError: One node has more neighbors than fit.
    """

    def bytes_before(node: int) -> int:
        neighbors = sum(int(each.offsets[node]) * each.entry_bytes for each in lists)
        return node * node_bytes + neighbors

    begin = 0
    while begin < num_nodes:
        before = bytes_before(begin)
        # How many of the possible ends are within reach: the bytes before an end only grow.
        ends = range(begin + 1, num_nodes + 1)
        count = bisect_right(ends, before + block_bytes, key=bytes_before)
        if count == 0:
            degree = sum(int(each.offsets[begin + 1]) - int(each.offsets[begin]) for each in lists)
            needed = bytes_before(begin + 1) - before
            raise BudgetError(
                f"node {begin}{of} has {degree:,} neighbors, which take {format_bytes(needed)}, "
                f"and a block may take {format_bytes(block_bytes)}; "
                f"pass memory={format_bytes(memory * needed // max(block_bytes, 1) + 1)!r} or more"
            )
        yield range(begin, begin + count)
        begin += count
