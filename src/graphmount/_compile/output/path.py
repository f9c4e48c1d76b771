"""Where a file is to be written. This is checked first, before hours of reading.

The folder must exist and be writable, and the system must accept the name. A regular file of that
name may be replaced, unless it is one of the sources.
"""

from __future__ import annotations

import errno
import os
import tempfile
from contextlib import suppress

from graphmount._compile.output.atomic_folder import hidden_names
from graphmount._compile.output.own_sources import refuse_own_sources, refuse_sources_inside
from graphmount._support.files.regular_files import require_replaceable


def output_path(out: str | os.PathLike[str], *sources: object) -> str:
    """The absolute path of a file to write, links followed.

    Args:
        out: The path as it was given.
        sources: All that will be read on the way: paths, handles, arrays, tables.

    Raises:
        ValueError: It is the file of one of the sources, by whatever name.
        OSError: No file can be written there, with the path.
    """
    path = os.path.realpath(os.fsdecode(out))
    require_replaceable(path)
    refuse_own_sources(path, *sources)
    folder = os.path.dirname(path)
    try:
        _try_to_write(folder)
    except OSError as error:
        message = f"{error.strerror}: no file can be made in {folder}; choose another folder"
        raise OSError(error.errno, message, path) from None
    return path


def folder_output(
    out: str | os.PathLike[str], tmp: str | os.PathLike[str] | None, *sources: object
) -> tuple[str, str]:
    """The absolute path of a folder to write, links followed, and that for temporary files.

    Args:
        out: The path as it was given.
        tmp: The folder for temporary files as it was given.
        sources: All that will be read on the way: paths, handles, arrays, tables.

    Raises:
        ValueError: One of the sources is in the folder, which will be replaced.
        OSError: No folder can have this name; or nothing can be written where it is to be.
    """
    path = os.path.realpath(os.fsdecode(out))
    with suppress(FileNotFoundError):
        os.lstat(path)  # which says what is wrong with the name
    parent, name = os.path.split(path)
    if not os.path.isdir(parent):
        raise FileNotFoundError(errno.ENOENT, f"No such folder to put {name} into", parent)
    require_folder(parent, f"choose another one for {name}")
    refuse_sources_inside((path, *hidden_names(path)[:2]), path, *sources)
    return path, temporary_place(tmp, path)


def temporary_place(tmp: str | os.PathLike[str] | None, path: str) -> str:
    """The folder for temporary files: the one that was given, or that of the file to write.

    Args:
        tmp: The folder as it was given.
        path: The file.

    Raises:
        OSError: No file can be written there, with the folder.
    """
    if tmp is None:
        return os.path.dirname(path)
    folder = os.path.realpath(os.fsdecode(tmp))
    require_folder(folder, "pass tmp= for another folder")
    return folder


def require_folder(folder: str, advice: str) -> None:
    """Raises unless files can be made in a folder.

    Args:
        folder: The folder.
        advice: What to do otherwise, for the message.

    Raises:
        OSError: With the folder.
    """
    try:
        _try_to_write(folder)
    except OSError as error:
        message = f"{error.strerror}: no file can be made in this folder; {advice}"
        raise OSError(error.errno, message, folder) from None


def _try_to_write(folder: str) -> None:
    """Makes a file without a name: neither permissions nor mount options tell the whole truth."""
    tempfile.TemporaryFile(dir=folder, prefix=".graphmount-", buffering=0).close()
