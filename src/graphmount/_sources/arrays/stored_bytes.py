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
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, TypeAlias

from graphmount._support.files.regular_files import open_raw, open_regular
from graphmount._support.sizes import format_bytes
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from graphmount import _core

_SKIP_BYTES = 1 << 18
#: The directory of an archive is read as a whole. NumPy's archives have an entry for each array.
_MOST_DIRECTORY_BYTES = 16 << 20
#: Its place and size are at the end of the file, before a comment of at most 64 KiB.
_END_BYTES = (1 << 16) + 22
#: All that NumPy writes. Others unpack as much at once as they like, whatever is asked for.
_KNOWN_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


#: Reads on in a lane, until the buffer is full.
Fill: TypeAlias = "Callable[[int, memoryview], None]"


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

    @contextmanager
    def opened(self, starts: Sequence[int]) -> Iterator[Fill]:
        """What fills buffers: a lane for each start, counted from the first of these bytes."""
        places = [self.offset + start for start in starts]
        with (
            open_raw(self.path)
            if self.mounted is None
            else io.FileIO(self.mounted.open_descriptor(), "rb")
        ) as file:

            def fill(lane: int, buffer: memoryview) -> None:
                file.seek(places[lane])
                filled = 0
                while filled < len(buffer):
                    count = file.readinto(buffer[filled:])
                    if not count:
                        raise SourceError(
                            f"{self.name}: the file ends at byte {places[lane] + filled}, while it "
                            "is read; has it been replaced or cut off?"
                        )
                    filled += count
                places[lane] += filled

            yield fill


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

    @contextmanager
    def opened(self, starts: Sequence[int]) -> Iterator[Fill]:
        """As for a stretch; each lane unpacks the member from its beginning."""
        skip = [self.offset + start for start in starts]
        with ExitStack() as stack:
            archive = stack.enter_context(open_archive(self.path))
            with unpacking(self.name):
                lanes = [stack.enter_context(archive.open(self.member)) for _ in skip]

            def read(lane: int, count: int) -> bytes:
                with unpacking(self.name):
                    piece = lanes[lane].read(min(count, _SKIP_BYTES))
                if not piece:
                    raise SourceError(f"{self.name} is shorter than its header says")
                return piece

            def fill(lane: int, buffer: memoryview) -> None:
                while skip[lane]:
                    skip[lane] -= len(read(lane, skip[lane]))
                filled = 0
                while filled < len(buffer):
                    piece = read(lane, len(buffer) - filled)
                    buffer[filled : filled + len(piece)] = piece
                    filled += len(piece)

            yield fill


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
