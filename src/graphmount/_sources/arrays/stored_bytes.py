"""Where the bytes of an array lie: in a stretch of a file, or compressed in a zip archive.

Both are read forward, at several places at once (one lane for each), into memory of the caller.
Nothing is mapped: mapped pages would count as memory of the process. What ends too early, or does
not match its checksum, is a `SourceError`.
"""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, TypeAlias

from graphmount._support.files.regular_files import open_raw, open_regular
from graphmount._support.sizes import format_bytes
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from graphmount import _core

_SKIP_BYTES = 1 << 18
#: What lists the members of an archive is read as a whole. NumPy's have a line for each array.
_MOST_DIRECTORY_BYTES = 16 << 20
#: Where that is, and how large, stands at the end of the file, behind at most 64 KiB of comment.
_END_BYTES = (1 << 16) + 22
#: All that NumPy writes. Others unpack as much at once as they like, whatever is asked for.
_KNOWN_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


@dataclass(frozen=True, kw_only=True, slots=True)
class FileBytes:
    """A stretch of a file, as it is.

    Attributes:
        path: The file.
        name: What messages call it.
        offset: Its first byte.
        size: How many bytes there are.
        mounted: The core's handle on the file, if it is mounted: it may be no longer at its path.
    """

    path: str
    name: str
    offset: int
    size: int
    mounted: _core.Graph | _core.FeatureMatrix | None = None

    def open(self, starts: Sequence[int]) -> _FileReader:
        """A reader with one lane for each start, counted from the first of these bytes."""
        return _FileReader(self, [self.offset + start for start in starts])


class _FileReader:
    """Reads forward in each of its lanes, until a buffer is full."""

    def __init__(self, stored: FileBytes, places: list[int]) -> None:
        self._name = stored.name
        self._places = places
        if stored.mounted is None:
            self._file = open_raw(stored.path)
        else:
            self._file = io.FileIO(stored.mounted.open_descriptor(), "rb")

    def readinto(self, lane: int, buffer: memoryview) -> None:
        self._file.seek(self._places[lane])
        filled = 0
        while filled < len(buffer):
            count = self._file.readinto(buffer[filled:])
            if not count:
                raise SourceError(
                    f"{self._name}: the file ends at byte {self._places[lane] + filled}, while it "
                    "is read; has it been replaced or cut off?"
                )
            filled += count
        self._places[lane] += filled

    def close(self) -> None:
        self._file.close()


@dataclass(frozen=True, kw_only=True, slots=True)
class MemberBytes:
    """A compressed member of a zip archive, from `offset` on. It is unpacked piece by piece."""

    path: str
    member: str
    offset: int
    size: int

    @property
    def name(self) -> str:
        """The archive and its member."""
        return f"{self.path}, member {self.member!r}"

    def open(self, starts: Sequence[int]) -> _MemberReader:
        """A reader as that of a stretch; each lane unpacks the member from its beginning."""
        return _MemberReader(self, [self.offset + start for start in starts])


class _MemberReader:
    """The same of a member."""

    def __init__(self, stored: MemberBytes, places: list[int]) -> None:
        self._name = stored.name
        self._archive = open_archive(stored.path)
        self._lanes: list[IO[bytes]] = []
        self._skip = places
        try:
            for _ in places:
                with unpacking(self._name):
                    self._lanes.append(self._archive.open(stored.member))
        except BaseException:
            self.close()
            raise

    def readinto(self, lane: int, buffer: memoryview) -> None:
        while self._skip[lane]:
            self._skip[lane] -= len(self._read(lane, min(self._skip[lane], _SKIP_BYTES)))
        filled = 0
        while filled < len(buffer):
            piece = self._read(lane, min(len(buffer) - filled, _SKIP_BYTES))
            buffer[filled : filled + len(piece)] = piece
            filled += len(piece)

    def _read(self, lane: int, count: int) -> bytes:
        with unpacking(self._name):
            piece = self._lanes[lane].read(count)
        if not piece:
            raise SourceError(f"{self._name} is shorter than its header says")
        return piece

    def close(self) -> None:
        for lane in self._lanes:
            lane.close()
        self._archive.close()


#: Bytes on a disk.
StoredBytes: TypeAlias = FileBytes | MemberBytes


class _Archive(zipfile.ZipFile):
    """A zip archive that owns the file it reads."""

    def __init__(self, file: IO[bytes]) -> None:
        self._owned = file
        super().__init__(file)

    def close(self) -> None:
        super().close()
        self._owned.close()


def open_archive(path: str) -> zipfile.ZipFile:
    """Opens a zip archive; what is none is a `SourceError`."""
    with open_regular(path) as file:
        file.seek(max(0, file_size(path) - _END_BYTES))
        end = file.read(_END_BYTES)
    place = end.rfind(b"PK\5\6")
    listed = int.from_bytes(end[place + 12 : place + 16], "little") if place >= 0 else 0
    if listed == 2**32 - 1 and end[place - 20 : place - 16] == b"PK\6\7":  # too large for 32 bits
        with open_regular(path) as file:
            file.seek(int.from_bytes(end[place - 12 : place - 4], "little") & (2**62 - 1))
            listed = int.from_bytes(file.read(56)[40:48], "little")
    if listed > _MOST_DIRECTORY_BYTES:
        raise SourceError(
            f"{path}: its list of members takes {format_bytes(listed)}, and such archives have a "
            f"few members, in {format_bytes(_MOST_DIRECTORY_BYTES)} at most; save it again with "
            "numpy.savez"
        )
    owned = open_regular(path)
    try:
        return _Archive(owned)
    except BaseException as error:
        owned.close()
        if not isinstance(error, zipfile.BadZipFile | ValueError | RuntimeError):
            raise
        message = f"{path} is not a zip archive, or is cut off: {error}; get the file anew"
        raise SourceError(message) from error


@contextmanager
def open_member(archive: zipfile.ZipFile, member: str, name: str) -> Iterator[IO[bytes]]:
    """Opens a member of an archive for reading; what goes wrong is a `SourceError`.

    Args:
        archive: The archive.
        member: The name of the member, which must be there.
        name: What messages call it.
    """
    if archive.getinfo(member).compress_type not in _KNOWN_COMPRESSIONS:
        raise SourceError(
            f"{name} is compressed in a way that NumPy does not write; save it again with "
            "numpy.savez_compressed"
        )
    with unpacking(name), archive.open(member) as file:
        yield file


@contextmanager
def unpacking(name: str) -> Iterator[None]:
    """Turns what `zipfile` raises while it reads into a `SourceError`."""
    try:
        yield
    except SourceError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise SourceError(f"{name} is damaged: {error}; get the file anew") from error
    except (RuntimeError, ValueError, OverflowError) as error:  # it is encrypted, or is no place
        raise SourceError(f"{name} cannot be read: {error}; save it again") from error


def member_bytes(archive: zipfile.ZipFile, path: str, member: str, offset: int) -> StoredBytes:
    """The bytes of a member from `offset` on.

    One that is not compressed is a stretch of the file, which can be read from any place. Its
    checksum, which is of the whole member, is then not looked at.
    """
    info = archive.getinfo(member)
    if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1:
        return MemberBytes(path=path, member=member, offset=offset, size=info.compress_size)
    with open_regular(path) as file:
        # The name and the extra field are there again, and may be longer than in the directory.
        file.seek(info.header_offset + 26)
        lengths = file.read(4)
    begin = info.header_offset + 30 + int.from_bytes(lengths[:2], "little")
    begin += int.from_bytes(lengths[2:], "little")
    return FileBytes(
        path=path,
        name=f"{path}, member {member!r}",
        offset=begin + offset,
        size=max(0, info.file_size - offset),
    )


def file_size(path: str) -> int:
    """How many bytes a file has."""
    return os.stat(path).st_size
