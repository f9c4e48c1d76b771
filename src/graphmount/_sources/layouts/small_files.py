"""Small compressed files of OGB's folders: how many nodes there are, and of which types."""

from __future__ import annotations

import gzip
import zlib

from graphmount._support.files.regular_files import open_regular
from graphmount.errors import SourceError

_MOST_BYTES = 1 << 20


def unpack(path: str) -> bytes:
    """What is in a small file of gzip: its first MiB, if it is larger.

    Raises:
        SourceError: It is damaged.
        OSError: It cannot be read.
    """
    try:
        with open_regular(path) as raw, gzip.open(raw, "rb") as file:
            return file.read(_MOST_BYTES)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise SourceError(f"{path} cannot be unpacked: {error}; get the file anew") from error
