"""What compiling has written, as one line: what is in it, its size, and how to open it."""

from __future__ import annotations

from graphmount._support.display import Displayed, one_line
from graphmount._support.shown import shown
from graphmount._support.sizes import format_bytes


class Written(Displayed):
    """The result of a call that writes a file or a folder.

    Attributes:
        path: What was written.
        file_bytes: Its size.
        skipped: How many rows of the sources were left out.
        seconds: How long it took.
    """

    path: str
    file_bytes: int
    skipped: int
    seconds: float

    #: What opens it.
    _opener: str

    def _content(self) -> str:
        """What is in it, in a few words."""
        raise NotImplementedError

    def __repr__(self) -> str:
        rows = "row" if self.skipped == 1 else "rows"
        skipped = f", {self.skipped:,} {rows} skipped" if self.skipped else ""
        return one_line(
            f"<{type(self).__name__}: {self._content()}, {format_bytes(self.file_bytes)} in "
            f"{self.seconds:,.2f} s{skipped}; {self._opener}({shown(self.path)}) opens it>"
        )
