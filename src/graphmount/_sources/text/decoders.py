"""What unpacks compressed data, never more of it at once than asked for.

A few bytes may stand for gigabytes, so each decoder is told how much it may give, and keeps the
rest of its input. What it remembers of its output (its window) takes at most 128 MiB, which is also
what the tool `zstd` allows.
"""

from __future__ import annotations

import bz2
import importlib
import lzma
import zlib
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

Compression: TypeAlias = Literal["gzip", "bzip2", "xz", "zstd"]

_LARGEST_WINDOW = 128 << 20
#: What a decoder of xz takes besides its window.
_XZ_BYTES = 4 << 20
#: The library for zstd unpacks all that it is given, and 4 bytes may stand for 128 KiB.
_ZSTD_BYTES = 512


class Decoder(Protocol):
    """What the decoders of the standard library agree on.

    Attributes:
        eof: Whether the end of the compressed data has been reached.
        needs_input: Whether there is nothing more to give before there is more input.
        unused_data: What was behind the end.
    """

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Takes all of `data`, and gives at most about `max_length` bytes."""


class _GzipDecoder:
    """zlib's own, which has another name for the input that is left."""

    def __init__(self) -> None:
        self._decoder = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._decoder.eof

    @property
    def needs_input(self) -> bool:
        return not self._decoder.unconsumed_tail and not self._is_full

    @property
    def unused_data(self) -> bytes:
        return self._decoder.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        left = self._decoder.unconsumed_tail
        content = self._decoder.decompress(left + data if left else data, max_length)
        # It may have taken all input, and have output left.
        self._is_full = len(content) >= max_length
        return content

    _is_full = False


class _ZstdDecoder:
    """That of the package zstandard, fed little by little."""

    def __init__(self, zstandard: Any) -> None:  # noqa: ANN401
        decompressor = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW)
        self._decoder = decompressor.decompressobj()
        self._left = b""
        self._place = 0

    @property
    def eof(self) -> bool:
        return bool(self._decoder.eof)

    @property
    def needs_input(self) -> bool:
        return self._place == len(self._left)

    @property
    def unused_data(self) -> bytes:
        return bytes(self._decoder.unused_data) + self._left[self._place :]

    def decompress(self, data: bytes, max_length: int) -> bytes:
        if data:
            self._left, self._place = self._left[self._place :] + data, 0
        parts, count = [], 0
        while count < max_length and self._place < len(self._left) and not self.eof:
            piece = self._left[self._place : self._place + _ZSTD_BYTES]
            self._place += len(piece)
            parts.append(self._decoder.decompress(piece))
            count += len(parts[-1])
        return b"".join(parts)


def find_decoder(compression: Compression) -> Callable[[], Decoder] | None:
    """What makes decoders; None if only pyarrow can help, which has none of this kind."""
    if compression == "gzip":
        return _GzipDecoder
    if compression == "bzip2":
        return bz2.BZ2Decompressor
    if compression == "xz":
        return partial(lzma.LZMADecompressor, memlimit=_LARGEST_WINDOW + _XZ_BYTES)
    for module, make in (
        ("compression.zstd", lambda zstd: zstd.ZstdDecompressor()),  # Python 3.14
        ("zstandard", _ZstdDecoder),
    ):
        try:
            zstd = importlib.import_module(module)
        except ImportError:
            continue
        return partial(make, zstd)
    return None


def is_too_large(error: Exception) -> bool:
    """Whether a decoder has failed because its window would have been too large."""
    text = str(error).lower()
    return "too much memory" in text or "memory usage limit" in text
