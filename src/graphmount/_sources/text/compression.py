"""Compressed files, unpacked by a thread of their own while what came before is worked on.

What a file is compressed with is told by its first bytes, not by its name. Files made of several
compressed parts in a row, such as `cat a.gz b.gz` makes them, are read to their end.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING

from graphmount._sources.text.decoders import Compression, find_decoder, is_too_large
from graphmount._support.files.regular_files import open_raw
from graphmount._support.threads.read_ahead import read_ahead
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from graphmount._sources.text.decoders import Decoder

_PACKED_BYTES = 64 << 10
#: What is unpacked at once, however little it was before.
_PART_BYTES = 1 << 20


def find_compression(start: bytes) -> Compression | None:
    """What a file that begins with these bytes (ten are enough) is compressed with."""
    if start.startswith(b"\x1f\x8b"):
        return "gzip"
    # The second word is the start of a block, or the end of a file without one: text may well
    # begin with the first.
    if start.startswith(b"BZh") and start[4:10] in (b"1AY&SY", b"\x17rE8P\x90"):
        return "bzip2"
    if start.startswith(b"\xfd7zXZ\x00"):
        return "xz"
    is_skippable_frame = start[1:4] == b"*M\x18" and 0x50 <= start[0] <= 0x5F
    if start.startswith(b"(\xb5/\xfd") or is_skippable_frame:
        return "zstd"
    return None


def unpack(path: str, compression: Compression) -> Iterator[tuple[bytes, int]]:
    """The content of a file, part by part, each with how many bytes of the file it took so far.

    Raises:
        SourceError: The file is damaged or cut off, or what unpacks it is not installed.
        OSError: The file cannot be read.
    """
    make_decoder = find_decoder(compression)
    if make_decoder is not None:
        return _unpack_by_parts(path, compression, make_decoder)
    if importlib.util.find_spec("pyarrow") is not None:
        return _unpack_by_arrow(path, compression)
    raise SourceError(
        f"{path}: unpacking zstd needs a library; install one with: pip install 'graphmount[zstd]'"
    )


def _unpack_by_parts(
    path: str, compression: Compression, make_decoder: Callable[[], Decoder]
) -> Iterator[tuple[bytes, int]]:
    with open_raw(path) as file:
        decoder: Decoder | None = make_decoder()
        done = 0
        while packed := file.read(_PACKED_BYTES):
            done += len(packed)
            while packed or (decoder is not None and not decoder.needs_input):
                if decoder is None:
                    packed = packed.lstrip(b"\0")  # some tools fill up with zeros between parts
                    if not packed:
                        break
                    decoder = make_decoder()
                try:
                    content = decoder.decompress(packed, _PART_BYTES)
                except Exception as error:  # each library has its own
                    raise _damaged(path, compression, error) from error
                packed = b""
                if decoder.eof:
                    packed, decoder = decoder.unused_data, None
                if content:
                    yield content, done
        if decoder is not None:
            raise SourceError(
                f"{path}: cut off: its {compression} data ends in the middle; get the file anew"
            )


def _unpack_by_arrow(path: str, compression: Compression) -> Iterator[tuple[bytes, int]]:
    pa = importlib.import_module("pyarrow")

    with (
        open_raw(path) as file,
        pa.CompressedInputStream(pa.PythonFile(file), compression) as stream,
    ):
        while True:
            try:
                content = stream.read(_PART_BYTES)
            except (OSError, pa.ArrowException) as error:
                raise _damaged(path, compression, error) from error
            if not content:
                return
            yield content, file.tell()


def _damaged(path: str, compression: Compression, error: Exception) -> SourceError:
    if is_too_large(error):
        return SourceError(
            f"{path}: its {compression} data takes more than 128 MiB to unpack, besides what is in "
            "it; compress it again with a lower level"
        )
    return SourceError(
        f"{path}: damaged: its {compression} data cannot be unpacked ({error}); get the file anew"
    )


class UnpackedStream:
    """The content of a compressed file, unpacked by a thread that runs ahead of the reader.

    Args:
        path: The file.
        compression: What it is compressed with.
        ahead: About how many bytes more are unpacked than have been read.

    Attributes:
        done: How many bytes of the file what has been read so far took.
    """

    def __init__(self, path: str, compression: Compression, *, ahead: int) -> None:
        self.done = 0
        self._part = memoryview(b"")
        parts = _even_parts(unpack(path, compression))
        self._parts = read_ahead(parts, most=max(1, ahead // _PART_BYTES))

    def readinto(self, buffer: memoryview) -> int:
        """Fills `buffer`, which only at the end may be not possible; returns the bytes read.

        Raises:
            SourceError: The file is damaged; what came before has been read.
        """
        count = 0
        while count < len(buffer):
            if not self._part:
                found = next(self._parts, None)
                if found is None:
                    break
                self._part, self.done = found
            taken = min(len(self._part), len(buffer) - count)
            buffer[count : count + taken] = self._part[:taken]
            self._part = self._part[taken:]
            count += taken
        return count

    def close(self) -> None:
        """Stops unpacking, and waits until it has."""
        self._parts.close()


def _even_parts(parts: Iterator[tuple[bytes, int]]) -> Iterator[tuple[memoryview, int]]:
    """The same content in parts of one size: so many parts are then so many bytes."""
    waiting, done = bytearray(), 0
    try:
        for content, done in parts:
            waiting += content
            while len(waiting) >= _PART_BYTES:
                yield memoryview(bytes(waiting[:_PART_BYTES])), done
                del waiting[:_PART_BYTES]
    except Exception:  # what came before it is read first
        yield memoryview(waiting), done
        raise
    if waiting:
        yield memoryview(waiting), done
