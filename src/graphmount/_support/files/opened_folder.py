"""A folder that is held by its descriptor, and the files in it.

All files are opened from one and the same folder, whatever happens to its path. Only regular files
inside the folder are opened: no link is followed below it, and a pipe or a device is refused
instead of waited for.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Self

from graphmount.errors import FormatError

if TYPE_CHECKING:
    import io
    from collections.abc import Iterator

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# Opening a pipe must not wait for its other end.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class OpenedFolder:
    """A folder, open until the end of the `with` block.

    Args:
        path: The folder; links on the way to it are followed.

    Attributes:
        path: Its path, without links.

    Raises:
        FileNotFoundError, NotADirectoryError, PermissionError: It cannot be opened.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.path.realpath(os.fspath(path))
        self._descriptor = os.open(self.path, _FOLDER)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        os.close(self._descriptor)

    def path_of(self, name: str) -> str:
        """What messages call a file of the folder."""
        return os.path.join(self.path, name)

    def is_at_its_path(self) -> bool:
        """Whether nobody has replaced, renamed or removed the folder since it was opened."""
        try:
            there = os.stat(self.path, follow_symlinks=False)
        except OSError:
            return False
        return os.path.samestat(there, os.fstat(self._descriptor))

    def open_file(self, name: str) -> io.BufferedReader:
        """Opens a regular file for reading.

        Args:
            name: Its path from the folder on, with "/" between the parts.

        Raises:
            FormatError: It, or a folder on the way to it, is a link; or it is no regular file.
            FileNotFoundError, PermissionError, OSError: It cannot be opened.
        """
        with self._parent_of(name) as (parent, last):
            descriptor = self._open(last, _FILE, parent, name)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise self._refusal(name, "is no regular file")
        return open(descriptor, "rb")

    def remove(self, name: str, *, is_folder: bool = False) -> bool:
        """Removes a file, or an empty folder; no link is followed.

        Args:
            name: Its path from the folder on.
            is_folder: Whether it is a folder.

        Returns:
            Whether it could be removed.
        """
        try:
            with self._parent_of(name) as (parent, last):
                if is_folder:
                    os.rmdir(last, dir_fd=parent)
                else:
                    os.unlink(last, dir_fd=parent)
        except (OSError, FormatError):
            return False
        return True

    def put(self, path: str, name: str) -> None:
        """Moves a file into the folder, and replaces a file of that name. The move is synced.

        Args:
            path: The file, on the same file system.
            name: Its path from the folder on; folders on the way are made if they are missing.

        Raises:
            FormatError: A folder on the way is a link.
            OSError: It cannot be moved.
        """
        with self._parent_of(name, makes=True) as (parent, last):
            os.replace(path, last, dst_dir_fd=parent)
            os.fsync(parent)

    @contextmanager
    def _parent_of(self, name: str, *, makes: bool = False) -> Iterator[tuple[int, str]]:
        """Yields the descriptor of the folder that a file is in, and the last part of its name."""
        *folders, last = name.split("/")
        with ExitStack() as opened:
            parent = self._descriptor
            for folder in folders:
                if makes:
                    with suppress(FileExistsError):
                        os.mkdir(folder, dir_fd=parent)
                        os.fsync(parent)
                parent = self._open(folder, _FOLDER | os.O_NOFOLLOW, parent, name)
                opened.callback(os.close, parent)
            yield parent, last

    def read_file(self, name: str, *, most: int) -> bytes:
        """All bytes of a regular file, which must have at most `most`.

        Raises:
            FormatError: It is larger, it is a link, or it is no regular file.
            OSError: It cannot be opened or read.
        """
        with self.open_file(name) as file:
            data = file.read(most + 1)
        if len(data) > most:
            raise self._refusal(name, f"has more than {most:,} bytes")
        return data

    def _open(self, part: str, flags: int, parent: int, name: str) -> int:
        try:
            return os.open(part, flags, dir_fd=parent)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENOTDIR) and _is_link(part, parent):
                raise self._refusal(
                    name, "leads out of its folder by a symbolic link; put the file itself there"
                ) from None
            if error.errno in (errno.ENXIO, errno.EOPNOTSUPP):  # a socket
                raise self._refusal(name, "is no regular file") from None
            error.filename = self.path_of(name)
            raise

    def _refusal(self, name: str, why: str) -> FormatError:
        error = FormatError(f"{self.path_of(name)} {why}")
        error.path = self.path_of(name)
        return error


def _is_link(part: str, parent: int) -> bool:
    try:
        return stat.S_ISLNK(os.stat(part, dir_fd=parent, follow_symlinks=False).st_mode)
    except OSError:
        return False
