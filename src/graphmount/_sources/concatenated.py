"""Several sources of one kind, read one after the other: the files of a folder, for instance."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from graphmount._sources.contract.batches import EdgeSource, RowSource
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from graphmount._sources.contract.batches import EdgeBatch, RowBatch

Part = TypeVar("Part", EdgeSource, RowSource)


class ConcatenatedEdges(EdgeSource):
    """Edges of several sources; an `EdgeSource`.

    Args:
        parts: The sources, at least one.

    Raises:
        SourceError: They are not alike: one has text for ids or weights, say, and another has not.
    """

    def __init__(self, parts: Sequence[EdgeSource]) -> None:
        super().__init__(_name_of(parts), _sum([part.size for part in parts]))
        self._parts = parts
        _take_over(
            self,
            parts,
            has_text_ids="text for ids",
            has_weights="weights",
            has_timestamps="timestamps",
            is_symmetric="edges that run both ways",
            num_ends="the numbers of sources and destinations",
        )
        numbers = [part.num_nodes for part in parts if part.num_nodes is not None]
        self.num_edges = _sum([part.num_edges for part in parts])
        self.estimated_edges = _sum([part.num_edges or part.estimated_edges for part in parts])
        self.num_doubtful_lines = sum(part.num_doubtful_lines for part in parts)
        # Without node ids: an id may mean different nodes in different parts.
        self.num_nodes = max(numbers, default=None)

    def batches(self, *, memory: int) -> Iterator[EdgeBatch]:
        """See `EdgeSource`."""
        return _batches_of_all(self._parts, memory)


class ConcatenatedRows(RowSource):
    """Rows of several sources; a `RowSource`.

    Args:
        parts: The sources, at least one.

    Raises:
        SourceError: They are not alike: of the same dtype, and as many columns.
    """

    def __init__(self, parts: Sequence[RowSource]) -> None:
        super().__init__(_name_of(parts), _sum([part.size for part in parts]))
        self._parts = parts
        _take_over(
            self,
            parts,
            dtype="the dtype",
            is_vector="single values for rows",
            num_columns="the number of columns",
            has_keys="keys",
            has_text_keys="text for keys",
            has_text_values="text for values",
        )
        self.num_rows = _sum([part.num_rows for part in parts])
        names = {part.column_names for part in parts}
        self.column_names = names.pop() if len(names) == 1 else ()
        # If one part knows its order, the whole cannot have another one.
        self.order = next((part.order for part in parts if part.order != 0), 0)

    def batches(self, *, memory: int) -> Iterator[RowBatch]:
        """See `RowSource`."""
        return _batches_of_all(self._parts, memory)


def _batches_of_all(
    parts: Sequence[EdgeSource] | Sequence[RowSource], memory: int
) -> Iterator[Any]:
    """The batches of one part after the other."""
    before = 0
    for part in parts:
        for batch in part.batches(memory=memory):
            yield replace(batch, done=before + batch.done)
        before += part.size or 0


def _take_over(whole: Part, parts: Sequence[Part], **attributes: str) -> None:
    """Gives attributes of the parts to the whole; raises if a part is unlike the first.

    Attributes have words for messages. What parts leave out is counted by the whole.
    """
    first = parts[0]
    for part in parts:
        part.skipped = whole.skipped
    for attribute, what in attributes.items():
        wanted = getattr(first, attribute)
        setattr(whole, attribute, wanted)
        for part in parts[1:]:
            found = getattr(part, attribute)
            if wanted == found:
                continue
            if isinstance(wanted, bool):
                having = "has" if wanted else "does not have"
                raise SourceError(
                    f"{first.name} {having} {what}, unlike {part.name}; compile them apart"
                )
            raise SourceError(
                f"{what} of {first.name} is {wanted}, that of {part.name} is {found}; they must be "
                "the same"
            )


def _name_of(parts: Sequence[Part]) -> str:
    return f"{parts[0].name} and {len(parts) - 1} more"


def _sum(numbers: Sequence[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None
