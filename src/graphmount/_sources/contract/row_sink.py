"""A way past batches, for text whose rows are written as they stand.

Where neither values nor their order have to change, the core can write rows while it parses them.
It does so up to the first row that is another one than the file needs next; all from there on comes
in batches. Sources that know this way say so: see `RowSource.knows_sinks`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphmount import _core

__all__ = ["RowSink"]


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
