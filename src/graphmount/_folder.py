"""A folder that appears under its name complete or not at all.

It is filled under a hidden name beside its place, which the next attempt empties if a killed one
left it behind. A lock keeps two attempts apart.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def atomic_folder(path: str, *, overwrite: bool, marker: str) -> Iterator[str]:
    """Yields the folder to fill; it takes its place at the end, or is removed after an error.

    Args:
        path: Its place.
        overwrite: Whether it may replace a folder of its kind.
        marker: The file by which such a folder is known: no other is ever removed.

    Raises:
        FileExistsError: There is something at `path`, and it may not be replaced.
        BlockingIOError: Another process is filling it.
    """
    parent, name = os.path.split(path)
    partial = os.path.join(parent, f".{name}.graphmount-partial")
    aside = partial + "-old"
    lock_path = os.path.join(parent, f".{name}.graphmount-lock")
    if not os.path.isdir(parent):
        raise FileNotFoundError(f"there is no folder {parent} to put {name} into")
    with _locked(lock_path, path) as lock:
        try:
            _recover(aside, path)
            _require_replaceable(path, overwrite=overwrite, marker=marker)
            shutil.rmtree(partial, ignore_errors=True)
            os.mkdir(partial)
            yield partial
            _sync(partial)  # files in its folders were synced when they got their names
            _replace(partial, path, aside)
            _sync(parent)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
            os.unlink(lock.name)


@contextmanager
def _locked(lock_path: str, path: str) -> Iterator[BinaryIO]:
    while True:
        with open(lock_path, "wb") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise BlockingIOError(f"{path} is being compiled by another process") from None
            # Who had it before may have removed it between opening and locking it.
            if not _is_at(lock, lock_path):
                continue
            yield lock
            return


def _is_at(file: BinaryIO, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except FileNotFoundError:
        return False


def _recover(aside: str, path: str) -> None:
    """Ends what an attempt had begun that was killed while it replaced a folder in two steps."""
    if os.path.isdir(aside) and not os.path.lexists(path):
        os.rename(aside, path)
    shutil.rmtree(aside, ignore_errors=True)


def _require_replaceable(path: str, *, overwrite: bool, marker: str) -> None:
    if not os.path.lexists(path) or _is_empty_folder(path):
        return
    if not overwrite:
        raise FileExistsError(f"{path} exists; pass overwrite=True to replace it")
    if not os.path.isfile(os.path.join(path, marker)):
        raise FileExistsError(f"{path} has no {marker}, so it is not replaced; remove it first")


def _is_empty_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.listdir(path)


def _replace(partial: str, path: str, aside: str) -> None:
    """Renames, which by itself works only where there is nothing or an empty folder."""
    if not os.path.lexists(path) or _is_empty_folder(path):
        os.rename(partial, path)
    elif not _exchange(partial, path):
        os.rename(path, aside)
        try:
            os.rename(partial, path)
        except OSError:
            os.rename(aside, path)
            raise
        shutil.rmtree(aside, ignore_errors=True)


def _exchange(first: str, second: str) -> bool:
    """Swaps two names in one step, so that there is no moment without a folder; False if it can't.

    Python has no function for this.
    """
    system = ctypes.CDLL(None, use_errno=True)
    names = os.fsencode(first), os.fsencode(second)
    at_cwd, rename_exchange = -100, 2
    try:
        return bool(system.renameat2(at_cwd, names[0], at_cwd, names[1], rename_exchange) == 0)
    except AttributeError:  # not Linux, or an old C library
        return False


def _sync(folder: str) -> None:
    """Makes sure that the names in a folder survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
