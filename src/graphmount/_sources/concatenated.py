"""Several sources of one kind, read one after the other: the files of a folder, for instance."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from graphmount._sources.contract.batches import EdgeBatch, RowBatch, Skipped
from graphmount._sources.contract.row_sink import batches_beside, knows_sinks
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from graphmount._sources.contract.batches import EdgeSource, RowSource
    from graphmount._sources.contract.row_sink import RowSink
    from graphmount._support.text_columns import Keys

Batch = TypeVar("Batch", EdgeBatch, RowBatch)
Part = TypeVar("Part", "EdgeSource", "RowSource")


class ConcatenatedEdges:
    """Edges of several sources; an `EdgeSource`.

    Args:
        parts: The sources, at least one.

    Raises:
        SourceError: They are not alike: one has text for ids or weights, say, and another has not.
    """

    def __init__(self, parts: Sequence[EdgeSource]) -> None:
        self._parts = parts
        first = parts[0]
        for part in parts[1:]:
            _require_same(first, part, "has_text_ids", "text for ids")
            _require_same(first, part, "has_weights", "weights")
            _require_same(first, part, "has_timestamps", "timestamps")
            _require_same(first, part, "is_symmetric", "edges that run both ways")
        numbers = [part.num_nodes for part in parts if part.num_nodes is not None]
        self.name = _name_of([part.name for part in parts])
        self.size = _sum([part.size for part in parts])
        self.num_edges = _sum([part.num_edges for part in parts])
        self.estimated_edges = _sum([part.num_edges or part.estimated_edges for part in parts])
        self.num_nodes = max(numbers, default=None)
        self.node_ids: Keys | None = None  # what one part calls a node need not hold for another
        self.is_symmetric = first.is_symmetric
        self.has_text_ids = first.has_text_ids
        self.has_weights = first.has_weights
        self.has_timestamps = first.has_timestamps
        self.skipped = Skipped()

    def batches(self, *, memory: int) -> Iterator[EdgeBatch]:
        """See `EdgeSource`."""
        return _batches_of_all(self._parts, self.skipped, lambda part: part.batches(memory=memory))


class ConcatenatedRows:
    """Rows of several sources; a `RowSource`.

    Args:
        parts: The sources, at least one.

    Raises:
        SourceError: They are not alike: of the same dtype, and as many columns.
    """

    def __init__(self, parts: Sequence[RowSource]) -> None:
        self._parts = parts
        first = parts[0]
        for part in parts[1:]:
            _require_same(first, part, "dtype", "the dtype")
            _require_same(first, part, "is_vector", "single values for rows")
            _require_same(first, part, "num_columns", "the number of columns")
            _require_same(first, part, "has_keys", "keys")
            _require_same(first, part, "has_text_keys", "text for keys")
        self.name = _name_of([part.name for part in parts])
        self.size = _sum([part.size for part in parts])
        self.num_rows = _sum([part.num_rows for part in parts])
        self.num_columns = first.num_columns
        self.is_vector = first.is_vector
        self.dtype = first.dtype
        self.has_keys = first.has_keys
        self.has_text_keys = first.has_text_keys
        self.knows_sinks = knows_sinks(first)
        self.skipped = Skipped()

    def batches(self, *, memory: int) -> Iterator[RowBatch]:
        """See `RowSource`."""
        return _batches_of_all(self._parts, self.skipped, lambda part: part.batches(memory=memory))

    def batches_beside(self, sink: RowSink, *, memory: int) -> Iterator[RowBatch]:
        """See `SinkSource`."""
        return _batches_of_all(
            self._parts, self.skipped, lambda part: batches_beside(part, sink, memory=memory)
        )


def _batches_of_all(
    parts: Sequence[Part], skipped: Skipped, batches_of: Callable[[Part], Iterator[Batch]]
) -> Iterator[Batch]:
    """The batches of one part after the other; what they leave out is added to `skipped`."""
    before = 0
    for part in parts:
        part.skipped.clear()  # it may have been read before
        seen = Skipped()
        for batch in batches_of(part):
            _count_skipped(skipped, part.skipped, seen)
            yield replace(batch, done=before + batch.done)
        _count_skipped(skipped, part.skipped, seen)
        before += part.size or 0


def _require_same(
    first: EdgeSource | RowSource, part: EdgeSource | RowSource, attribute: str, what: str
) -> None:
    wanted, found = getattr(first, attribute), getattr(part, attribute)
    if wanted == found:
        return
    if isinstance(wanted, bool):
        having = "has" if wanted else "does not have"
        raise SourceError(f"{first.name} {having} {what}, unlike {part.name}; compile them apart")
    raise SourceError(
        f"{what} of {first.name} is {wanted}, that of {part.name} is {found}; they must be the same"
    )


def _name_of(names: list[str]) -> str:
    return f"{names[0]} and {len(names) - 1} more"


def _sum(numbers: Sequence[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None


def _count_skipped(skipped: Skipped, part: Skipped, seen: Skipped) -> None:
    """Adds what a part has left out since it was `seen` last."""
    skipped.add(part.count - seen.count, part.examples[len(seen.examples) :])
    seen.count = part.count
    seen.examples[:] = part.examples
