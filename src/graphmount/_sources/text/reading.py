"""A text table while it is read, from its beginning to its end: by batches of arrays, or past them.

Rows that a sink takes need no arrays: the core writes them as it parses them, which takes a fifth
less time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphmount import _core
    from graphmount._sources.contract.batches import Skipped
    from graphmount._sources.contract.row_sink import RowSink
    from graphmount._sources.text.compression import UnpackedStream

__all__ = ["TextReading"]

#: What goes to a sink before anybody hears of it. It is not kept in memory.
_SINK_BYTES = 32 << 20
#: How many batches would be alive at once if there were no sink.
_MOST_BATCHES = 3


class TextReading:
    """One pass over a table.

    Args:
        reader: The table, of which nothing has been read yet.
        stream: Where its text comes from, if it is compressed.
        num_bytes: About how much text a batch is made of.
        memory: How much memory a batch takes.
        skipped: Where to count rows that are left out.
    """

    def __init__(
        self,
        reader: _core.TextReader,
        stream: UnpackedStream | None,
        *,
        num_bytes: int,
        memory: int,
        skipped: Skipped,
    ) -> None:
        self._reader = reader
        self._stream = stream
        self._num_bytes = num_bytes
        self._memory = memory
        self._skipped = skipped

    @property
    def _done(self) -> int:
        return self._reader.bytes_read if self._stream is None else self._stream.done

    def write_to(self, sink: RowSink) -> Iterator[int]:
        """Gives the sink all rows that it takes; yields how much of the file that is so far."""
        # A stream is in memory, batch by batch; a file is not.
        num_bytes = max(self._num_bytes, _SINK_BYTES) if self._stream is None else self._num_bytes
        memory = _MOST_BATCHES * self._memory
        while sink.take(self._reader, num_bytes=num_bytes, memory=memory):
            yield self._done

    def batches(self) -> Iterator[tuple[list[Any], int]]:
        """Arrays of all rows that are left, one an output, and how much of the file is done."""
        num_skipped, num_examples = 0, 0
        arrays: list[Any] | None = []
        while arrays is not None:
            arrays = self._reader.read(self._num_bytes)
            # Added up: whoever takes the batches may have counted rows of them as well.
            examples = self._reader.examples
            self._skipped.add(self._reader.num_skipped - num_skipped, examples[num_examples:])
            num_skipped, num_examples = self._reader.num_skipped, len(examples)
            if arrays is not None:
                yield arrays, self._done
