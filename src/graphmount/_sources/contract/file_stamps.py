"""Whether the files of a source are still those that were opened.

A source is opened, looked at, and then read from its beginning to its end, sometimes twice: to
count or to measure, and to write. Who changes a file in between would get a mixture of both, and
never hear of it. So whoever has read a source to its end asks here.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from graphmount._support.sizes import format_bytes
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["FileStamp", "adopt", "remember", "require_unchanged", "size_of", "stamps_of"]


@dataclass(frozen=True, slots=True)
class FileStamp:
    """What tells one content of a file from another.

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


_STAMPS: WeakKeyDictionary[object, tuple[FileStamp, ...]] = WeakKeyDictionary()


def stamps_of(paths: Iterable[str]) -> tuple[FileStamp, ...]:
    """What files are now."""
    return tuple(_stamp(path) for path in paths)


def remember(source: object, stamps: tuple[FileStamp, ...]) -> None:
    """Notes what the files of a source were before it was opened."""
    _STAMPS[source] = (*_STAMPS.get(source, ()), *stamps)


def adopt(source: object, *others: object) -> None:
    """Notes that a source reads the files of others."""
    for other in others:
        remember(source, _STAMPS.get(other, ()))


def size_of(source: object) -> int:
    """How many bytes the files of a source have; 0 if it has none."""
    return sum(stamp.size for stamp in _STAMPS.get(source, ()))


def require_unchanged(source: object) -> None:
    """Raises if a file of a source is not what it was when the source was opened.

    Raises:
        SourceError: One has been written to, or replaced.
    """
    for before in _STAMPS.get(source, ()):
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
