"""The files that a path stands for: itself, those of a folder, or those that match a pattern."""

from __future__ import annotations

import glob
import os

from graphmount._support.files.regular_files import open_regular
from graphmount.errors import SourceError


def is_paths(source: object) -> bool:
    """Whether a source is a path, or a list of paths."""
    if isinstance(source, list | tuple):
        return bool(source) and all(isinstance(part, str | os.PathLike) for part in source)
    return isinstance(source, str | os.PathLike)


def expand(source: object) -> list[str]:
    """All files of a path, folder, pattern, or list of these.

    A folder stands for the files in it and in its folders, sorted by name; those that begin with a
    dot or an underscore are left out, because tools that write such folders use these names for
    other things. A pattern stands for what matches, sorted. The files of a list stay in its order.

    Raises:
        FileNotFoundError: There is no such file, or nothing matches.
        SourceError: A folder is empty.
    """
    if isinstance(source, list | tuple):
        return [path for part in source for path in expand(part)]
    path = os.fspath(source)  # type: ignore[call-overload]
    if not isinstance(path, str):
        path = os.fsdecode(path)
    if os.path.isdir(path):
        return _files_of(path)
    if not os.path.exists(path) and glob.has_magic(path):
        matches = sorted(name for name in glob.glob(path, recursive=True) if os.path.isfile(name))
        if not matches:
            raise FileNotFoundError(f"no file matches {path!r}")
        return matches
    with open_regular(path):
        return [path]  # or the error that Python has for it


def _files_of(folder: str) -> list[str]:
    files = []
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        files += [os.path.join(parent, name) for name in names if not name.startswith((".", "_"))]
    if not files:
        raise SourceError(f"{folder} is a folder without files")
    return sorted(files)
