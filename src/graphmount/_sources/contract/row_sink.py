"""A way past batches, for text whose rows are written as they stand.

Where neither values nor their order have to change, the core can write rows while it parses them.
It does so up to the first row that is another one than the file needs next; all from there on comes
in batches. Sources that know this way have `batches_beside`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeGuard, runtime_checkable

from graphmount._sources.contract.batches import RowSource

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphmount import _core
    from graphmount._sources.contract.batches import RowBatch

__all__ = ["RowSink", "SinkSource", "batches_beside", "knows_sinks"]


@dataclass(kw_only=True, slots=True)
class RowSink:
    """Takes rows to a file.

    Attributes:
        writer: Writes the file. Nobody else may use it while the sink is open.
        num_rows: How many rows have been taken.
        is_open: Whether there may be more; not after the first batch.
    """

    writer: _core.FeatureWriter
    num_rows: int = 0
    is_open: bool = True

    def take(self, reader: _core.TextReader, *, num_bytes: int, memory: int) -> int:
        """Takes rows out of about `num_bytes` of text; returns how many: none if they differ."""
        if not self.is_open:
            return 0
        taken = reader.write_to(self.writer, num_bytes=num_bytes, memory=memory)
        self.num_rows += taken
        return taken


@runtime_checkable
class SinkSource(RowSource, Protocol):
    """A source that may know the way to a sink.

    Attributes:
        knows_sinks: Whether it does.
    """

    knows_sinks: bool

    def batches_beside(self, sink: RowSink, *, memory: int) -> Iterator[RowBatch]:
        """The rows that the sink does not take.

        While it does, batches without rows tell how far it is.
        """


def knows_sinks(source: RowSource) -> TypeGuard[SinkSource]:
    """Whether a source can give its rows to a sink."""
    return isinstance(source, SinkSource) and source.knows_sinks


def batches_beside(source: RowSource, sink: RowSink | None, *, memory: int) -> Iterator[RowBatch]:
    """The rows of any source that a sink, if there is one, does not take."""
    if sink is not None and sink.is_open and knows_sinks(source):
        return source.batches_beside(sink, memory=memory)
    if sink is not None:
        sink.is_open = False
    return source.batches(memory=memory)
