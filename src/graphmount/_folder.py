"""A folder that appears under its name complete or not at all.

It is filled under a hidden name beside its place, which the next attempt empties if a killed one
left it behind. A lock keeps two attempts apart.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def atomic_folder(path: str, *, overwrite: bool) -> Iterator[str]:
    """Yields the folder to fill; it takes its place at the end, or is removed after an error.

    Raises:
        FileExistsError: There is something at `path`, and `overwrite` is False.
        BlockingIOError: Another process is filling it.
    """
    parent, name = os.path.split(path)
    if os.path.lexists(path) and not overwrite and not _is_empty_folder(path):
        raise FileExistsError(f"{path} exists; pass overwrite=True to replace it")
    partial = os.path.join(parent, f".{name}.graphmount-partial")
    lock_path = os.path.join(parent, f".{name}.graphmount-lock")
    with open(lock_path, "wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BlockingIOError(f"{path} is being compiled by another process") from None
        try:
            shutil.rmtree(partial, ignore_errors=True)
            os.mkdir(partial)
            yield partial
            _sync(partial)
            _replace(partial, path)
            _sync(parent)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
            os.unlink(lock_path)


def _is_empty_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.listdir(path)


def _replace(partial: str, path: str) -> None:
    """Renames, which works only where there is nothing or an empty folder."""
    if not os.path.lexists(path) or _is_empty_folder(path):
        os.rename(partial, path)
        return
    aside = partial + "-old"
    shutil.rmtree(aside, ignore_errors=True)
    os.rename(path, aside)
    try:
        os.rename(partial, path)
    except OSError:
        os.rename(aside, path)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _sync(folder: str) -> None:
    """Makes sure that the names in a folder survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
