"""What tasks on the cluster do for a graph: read blocks, cut their entries, make and turn lists.

All of them are functions of their arguments alone, so Ray may run one again if its worker or its
node was lost. They keep to the memory that they are given: a block is read in batches, and pieces
of others come one at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import ray
from ray.data.block import BlockAccessor

from graphmount import _core
from graphmount._compile.edges.key_map import KeyMap
from graphmount._sources.arrow.edges import ArrowEdges
from graphmount._sources.arrow.ray_tables import BlockTable
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from graphmount._compile.edges.graph_options import ListOptions
    from graphmount._sources.arrow.ray_tables import WholeTable
    from graphmount._sources.contract.tables import EdgeRequest
    from graphmount._support.text_columns import Keys
    from graphmount.ray.data.node_ranges import Window

#: How many bytes turning lists round takes for each entry: both ends, row, weight and time, which
#: are there twice while they are moved to their ranges.
_TURNED_BYTES = 80
#: More than any graph has: where ids are only checked.
_ALL_NODES = np.array([2**47], np.uint64)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How tasks read the blocks of a dataset.

    Attributes:
        whole: The dataset.
        request: Which columns to read; without the dataset.
        lists: Which lists to make.
        is_mapped: Whether ids are keys to be numbered.
        has_text_ids: Whether they are text.
        memory: What a task may take.
    """

    whole: WholeTable
    request: EdgeRequest
    lists: ListOptions
    is_mapped: bool
    has_text_ids: bool
    memory: int

    @property
    def direction(self) -> str:
        """The direction of the lists that are made first."""
        return "in" if self.lists.in_lists or self.lists.undirected else "out"


class Place(NamedTuple):
    """Which block it is, and what a first look at it has found.

    Attributes:
        number: Its number.
        first_row: How many rows are before it.
        num_rows: How many edges it has.
        digest: Of its columns: whoever reads it again must find the same.
    """

    number: int
    first_row: int
    num_rows: int = 0
    digest: int = 0


class Ends(NamedTuple):
    """How many nodes edges may come from and lead to, and what they become.

    Attributes:
        num_sources: How many edges may come from.
        num_destinations: How many they may lead to.
        new_ids: The new number of each node; None if they keep theirs.
    """

    num_sources: int
    num_destinations: int
    new_ids: NDArray[Any] | None = None


def look(
    reading: Reading,
    block: Any,  # noqa: ANN401
    place: Place,
    ends: Ends,
) -> tuple[tuple[Place, int], Keys | None]:
    """Checks a block, and finds what is in it.

    Returns:
        What was found, with one more than the largest id (0 where ids are keys); and its keys in
        the order in which they appear.
    """
    numbers = KeyMap(reading.whole.name, is_text=reading.has_text_ids, memory=reading.memory // 2)
    count = end = digest = 0
    for src, dst, weights, times in _columns(reading, block, place):
        digest = _digest(digest, src, dst, weights, times)
        if reading.is_mapped:
            ids = numbers.add(src, dst)
        else:
            ids = src, dst
            end = max(end, 1 + int(src.max(initial=-1)), 1 + int(dst.max(initial=-1)))
        row = place.first_row + count
        _cut(reading, (*ids, weights, times), row, ends)
        count += len(ids[0])
    found = place._replace(num_rows=count, digest=digest)
    return (found, end), numbers.keys() if reading.is_mapped else None


def count_cells(
    reading: Reading,
    block: Any,  # noqa: ANN401
    place: Place,
    ends: Ends,
    *,
    numbers: NDArray[np.int64] | None,
    window: Window,
) -> NDArray[np.int64]:
    """How many entries of a block are in each cell of a window."""
    found = np.zeros(window.num_cells, np.int64)
    for [entries] in _cuts(reading, block, place, ends, numbers=numbers):
        ids = entries[0][0 if window.is_owner else 1 :: 2]
        found += window.tally(ids.astype(np.int64))  # cast: is wider
    return found


def count_appearances(
    reading: Reading, blocks: Sequence[tuple[Any, Place, Any]], ends: Ends
) -> NDArray[np.uint32]:
    """How often each node appears in the lists that some blocks make, at most 2**32 - 1.

    Args:
        reading: How to read them.
        blocks: Of each block a reference, its place, and one to the numbers of its keys.
        ends: How many nodes there are.
    """
    counts = np.zeros(max(ends.num_sources, ends.num_destinations), np.uint32)
    for ref, place, numbers in blocks:
        known = None if numbers is None else ray.get(numbers)
        block = ray.get(ref)
        for [entries] in _cuts(reading, block, place, ends, numbers=known):
            _core.count_neighbors(entries[0], counts)
        del block
    return counts


def cut_block(
    reading: Reading,
    block: Any,  # noqa: ANN401
    place: Place,
    ends: Ends,
    *,
    numbers: NDArray[np.int64] | None,
    range_ends: NDArray[np.uint64],
) -> Any:  # noqa: ANN401
    """The entries of a block, by ranges of nodes: for each range some pieces."""
    cuts = _cuts(
        reading,
        block,
        place,
        ends,
        numbers=numbers,
        range_ends=range_ends,
        keep_rows=reading.lists.keep_source_rows,
    )
    return _by_range(cuts, len(range_ends))


def make_lists(
    reading: Reading,
    nodes: tuple[int, int, int],
    is_second: bool,
    *pieces: Any,  # noqa: ANN401
) -> tuple[int, Any]:
    """The lists of a range of nodes, from its pieces of all blocks; and how many entries they have.

    Args:
        reading: Which lists to make.
        nodes: The first node, the one behind the last, and how many can be neighbors.
        is_second: Whether these are the lists of the second direction.
        pieces: The pieces, in order. They are arguments of their own, so that Ray starts the task
            when all are there: one that waited for them would keep the memory that those need
            which make them.
    """
    first, end, num_neighbors = nodes
    lists = reading.lists
    part = _core.ListPart(
        first,
        end,
        num_neighbors=num_neighbors,
        rows=is_second or lists.keep_source_rows,
        weights=lists.weights,
        timestamps=lists.timestamps,
        dedup="keep" if is_second else lists.dedup,
        wide_indices=lists.wide_indices,
    )
    for some in pieces:
        for entries in some:
            part.add(entries)
    made = part.build()
    return len(made[1]), made


def turn_lists(
    lists: Any,  # noqa: ANN401
    first_node: int,
    first_row: int,
    range_ends: NDArray[np.uint64],
    memory: int,
) -> Any:  # noqa: ANN401
    """The entries of finished lists, turned round, by ranges of the nodes that own them then.

    Args:
        lists: The lists.
        first_node: The first node that has one.
        first_row: How many entries are before them.
        range_ends: Where the ranges of nodes end.
        memory: What a task may take. Besides what it returns, it has an eighth of that.
    """
    offsets, *columns = lists
    step = max(1, memory // (8 * _TURNED_BYTES))

    def cuts() -> Iterator[Any]:
        for first in range(0, int(offsets[-1]), step):
            end = min(first + step, int(offsets[-1]))
            # Of the nodes whose lists have these entries, or a part of them.
            node = int(np.searchsorted(offsets, first, side="right")) - 1
            last = int(np.searchsorted(offsets, end, side="left"))
            some = (
                np.clip(offsets[node : last + 1], first, end) - first,
                *(None if column is None else column[first:end] for column in columns),
            )
            yield _core.cut_lists(first_node + node, first_row + first, some, ends=range_ends)

    return _by_range(cuts(), len(range_ends))


def _by_range(cuts: Any, num_ranges: int) -> Any:  # noqa: ANN401
    """Pieces of many cuts, by their range; as a task returns them to Ray."""
    ranges: list[list[Any]] = [[] for _ in range(num_ranges)]
    for cut in cuts:
        for pieces, entries in zip(ranges, cut, strict=True):
            if len(entries[0]):
                pieces.append(entries)
    return ranges if num_ranges > 1 else ranges[0]


def _cuts(
    reading: Reading,
    block: Any,  # noqa: ANN401
    place: Place,
    ends: Ends,
    *,
    numbers: NDArray[np.int64] | None,
    range_ends: NDArray[np.uint64] = _ALL_NODES,
    keep_rows: bool = False,
) -> Iterator[Any]:
    """The entries of a block, cut by ranges, batch by batch.

    Raises:
        SourceError: The block is not what it was at the first look: Ray has made it anew.
    """
    keys = KeyMap(reading.whole.name, is_text=reading.has_text_ids, memory=reading.memory // 2)
    row, digest = place.first_row, 0
    for src, dst, weights, times in _columns(reading, block, place):
        digest = _digest(digest, src, dst, weights, times)
        ids: tuple[Any, Any] = src, dst
        if numbers is not None:
            found = keys.add(src, dst)
            ids = numbers.take(found[0]), numbers.take(found[1])
        count = len(ids[0])
        if ends.new_ids is not None:
            # cast: numbers of nodes are at most 2**47
            ids = (
                ends.new_ids.take(ids[0]).astype(np.int64),
                ends.new_ids.take(ids[1]).astype(np.int64),
            )
        columns = (*ids, weights, times)
        yield _cut(reading, columns, row, ends, range_ends=range_ends, keep_rows=keep_rows)
        row += count
    if (row - place.first_row, digest) != (place.num_rows, place.digest):
        raise SourceError(
            f"{reading.whole.name}: block {place.number} was lost and made anew, with other rows; "
            "what makes them must give the same each time: pass dataset.materialize()"
        )


def _cut(
    reading: Reading,
    columns: tuple[Any, Any, Any, Any],
    row: int,
    ends: Ends,
    *,
    range_ends: NDArray[np.uint64] = _ALL_NODES,
    keep_rows: bool = False,
) -> Any:  # noqa: ANN401
    src, dst, weights, times = columns
    lists = reading.lists
    try:
        return _core.cut_edges(
            src,
            dst,
            weights=weights,
            timestamps=times,
            direction=reading.direction,
            undirected=lists.undirected,
            drop_self_loops=lists.drop_self_loops,
            rectangular=lists.rectangular,
            num_sources=ends.num_sources,
            num_destinations=ends.num_destinations,
            first_row=row,
            keep_rows=keep_rows,
            ends=range_ends,
        )
    except SourceError as error:
        raise SourceError(f"{reading.whole.name}, {error}") from None


def _columns(
    reading: Reading,
    block: Any,  # noqa: ANN401
    place: Place,
) -> Iterator[tuple[Any, Any, Any, Any]]:
    """The columns of a block, batch by batch."""
    arrow = BlockAccessor.for_block(block).to_arrow()
    table = BlockTable(reading.whole, arrow, place.number, place.first_row)
    edges = ArrowEdges(table, reading.request)
    for batch in edges.batches(memory=reading.memory // 16):
        yield batch.src, batch.dst, batch.weights, batch.timestamps


def _digest(before: int, *columns: Any) -> int:  # noqa: ANN401
    """Of these columns and of all that came before."""
    digests = [before]
    for column in columns:
        arrays = [] if column is None else [column]
        if hasattr(column, "offsets"):  # text
            arrays = [column.offsets, column.data]
        digests += [_core.checksum(np.ascontiguousarray(one).view(np.uint8)) for one in arrays]
    return _core.checksum(np.array(digests, np.uint64).view(np.uint8))
