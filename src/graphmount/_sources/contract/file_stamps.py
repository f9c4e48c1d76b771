"""Whether the files of a source are still those that were opened.

A source is opened, looked at, and then read from its beginning to its end, sometimes twice: once to
count or to measure, and once to write. If a file changed in between, the result would be a mixture
of both contents, without anybody noticing. So after reading a source to its end, callers check
here.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphmount._support.sizes import format_bytes
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from graphmount._sources.contract.batches import Source


@dataclass(frozen=True, slots=True)
class FileStamp:
    """Facts that change when the content of a file changes.

    Attributes:
        path: The file.
        size: Its bytes.
        changed: When it was last written to, in nanoseconds.
        file: Which file it is, whatever its name.
    """

    path: str
    size: int
    changed: int
    file: tuple[int, int]


def stamps_of(paths: Iterable[str]) -> tuple[FileStamp, ...]:
    """What files are now."""
    return tuple(_stamp(path) for path in paths)


def require_unchanged(source: Source) -> None:
    """Raises if a file of a source is not what it was when the source was opened.

    Raises:
        SourceError: One has been written to, or replaced.
    """
    for before in getattr(source, "stamps", ()):  # users may have sources of their own
        try:
            now = _stamp(before.path)
        except OSError as error:
            raise SourceError(
                f"{before.path} was there when it was opened, and is no longer ({error.strerror}); "
                "start again when nobody changes it"
            ) from error
        if now == before:
            continue
        what = "replaced" if now.file != before.file else "written to"
        sizes = ""
        if now.size != before.size:
            sizes = f", from {format_bytes(before.size)} to {format_bytes(now.size)}"
        raise SourceError(
            f"{before.path} was {what} while it was read{sizes}, so what was read is a mixture; "
            "start again when nobody changes it"
        )


def _stamp(path: str) -> FileStamp:
    status = os.stat(path)
    return FileStamp(path, status.st_size, status.st_mtime_ns, (status.st_dev, status.st_ino))
