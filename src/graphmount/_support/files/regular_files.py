"""Opens files of others for reading: only regular files.

A named pipe, a socket, a terminal or a device is refused with a message that says what it is. The
call never waits for one, neither when opening nor when reading. All files that the package opens by
path go through this module; a test looks for other ways.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import io

_KINDS = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device or terminal"),
    (stat.S_ISBLK, "a disk"),
)


def open_regular(path: str | os.PathLike[str]) -> io.BufferedReader:
    """Opens a regular file to read its bytes.

    Raises:
        OSError: There is none that can be read, with the path; EINVAL if it is no regular file.
    """
    return open(path, "rb", opener=_open_descriptor)


def open_raw(path: str | os.PathLike[str]) -> io.FileIO:
    """The same without a buffer."""
    return open(path, "rb", buffering=0, opener=_open_descriptor)


def require_regular(mode: int, path: str | os.PathLike[str]) -> None:
    """Raises unless this is the mode of a regular file.

    Args:
        mode: The `st_mode` of what `stat` or `fstat` found.
        path: What the message calls it.

    Raises:
        IsADirectoryError: It is a folder.
        OSError: It is something else, with EINVAL.
    """
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    message = (
        f"This is {_kind(mode)}, not a regular file; write what it gives to a file, and name that"
    )
    raise OSError(errno.EINVAL, message, os.fspath(path))


def require_replaceable(path: str) -> None:
    """Raises if a regular file cannot replace what is at a path. An empty place is fine.

    Raises:
        IsADirectoryError: It is a folder.
        OSError: It is something else, with EINVAL; or the name is one that cannot be.
    """
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "This is a folder; name a file in it", path)
    message = f"cannot replace a special file: this is {_kind(mode)}; name a regular or a new file"
    raise OSError(errno.EINVAL, message, path)


def _kind(mode: int) -> str:
    return next((name for is_kind, name in _KINDS if is_kind(mode)), "a special file")


def _open_descriptor(path: str, flags: int) -> int:
    # Checked before opening, because some devices act on being opened. Checked again afterwards,
    # because the name may lead elsewhere by then, for instance to a pipe, which O_NONBLOCK opens
    # without a writer.
    require_regular(os.stat(path).st_mode, path)
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    try:
        require_regular(os.fstat(descriptor).st_mode, path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
