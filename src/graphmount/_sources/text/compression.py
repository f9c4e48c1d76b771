"""Compressed files, unpacked by a thread of their own while what came before is worked on.

What a file is compressed with is told by its first bytes, not by its name. Files made of several
compressed parts in a row, such as `cat a.gz b.gz` makes them, are read to their end.
"""

from __future__ import annotations

import importlib
import importlib.util
import threading
from collections import deque
from functools import partial
from typing import TYPE_CHECKING

from graphmount._sources.text.decoders import Compression, find_decoder, is_too_large
from graphmount._support.files.regular_files import open_raw
from graphmount._support.threads.own_thread import OwnThread
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from graphmount._sources.text.decoders import Decoder

__all__ = ["Compression", "UnpackedStream", "find_compression", "unpack"]

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

    Attributes:
        done: How many bytes of the file what has been read so far took.
    """

    def __init__(self, path: str, compression: Compression, *, ahead: int) -> None:
        """Starts unpacking, up to about `ahead` bytes more than have been read."""
        self.done = 0
        self._parts: deque[tuple[memoryview, int]] = deque()
        self._waiting = 0  # bytes in _parts
        self._ahead = ahead
        self._at_end = False
        self._is_closed = False
        self._problem: BaseException | None = None
        self._changed = threading.Condition()
        self._thread = OwnThread(partial(self._run, path, compression), name="graphmount-unpack")
        self._thread.start()

    def _run(self, path: str, compression: Compression) -> None:
        try:
            for content, done in unpack(path, compression):
                whole = memoryview(content)
                for start in range(0, len(whole), _PART_BYTES):
                    if not self._put(whole[start : start + _PART_BYTES], done):
                        return
        except BaseException as error:  # noqa: BLE001 - it is raised where the content is read
            self._problem = error
        with self._changed:
            self._at_end = True
            self._changed.notify_all()

    def _put(self, part: memoryview, done: int) -> bool:
        """Adds a part when there is room for it; False if nobody wants it any more."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting < self._ahead or self._is_closed)
            self._parts.append((part, done))
            self._waiting += len(part)
            self._changed.notify_all()
            return not self._is_closed

    def readinto(self, buffer: memoryview) -> int:
        """Fills `buffer`, which only at the end may be not possible; returns the bytes read.

        Raises:
            SourceError: The file is damaged; what came before has been read.
        """
        self._thread.require_here()
        count = 0
        while count < len(buffer):
            with self._changed:
                self._changed.wait_for(lambda: self._parts or self._at_end)
                if not self._parts:
                    self._raise_problem()
                    break
                part, self.done = self._parts.popleft()
                taken = min(len(part), len(buffer) - count)
                if taken < len(part):
                    self._parts.appendleft((part[taken:], self.done))
                self._waiting -= taken
                self._changed.notify_all()
            buffer[count : count + taken] = part[:taken]
            count += taken
        return count

    def _raise_problem(self) -> None:
        # Not kept: the error knows the frames it went through, and those know the core's reader,
        # which knows this stream. The collector does not see such a circle.
        problem, self._problem = self._problem, None
        try:
            if problem is not None:
                raise problem
        finally:
            del problem

    def close(self) -> None:
        """Stops unpacking, and waits until it has."""
        if not self._thread.has_started:  # it is the parent's, and so may be the lock
            return
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        self._thread.join()
        self._problem = None
