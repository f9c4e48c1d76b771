"""A folder that appears under its name complete or not at all.

It is filled under a hidden name beside its place, which the next attempt empties if a killed one
left it behind; a stranger's folder of that name is not touched. A lock keeps two attempts apart. A
forked child of the process that fills it neither finishes nor removes it.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

from graphmount._lock_file import locked
from graphmount._temporary_folders import (
    MARK,
    made_folder,
    mark,
    remove_folder,
    require_own_process,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST_NAME = 255
_LONGEST_KEPT = 32


@contextmanager
def atomic_folder(path: str, *, overwrite: bool, marker: str) -> Iterator[str]:
    """Yields the folder to fill; it takes its place at the end, or is removed after an error.

    Args:
        path: Its place.
        overwrite: Whether it may replace a folder of its kind.
        marker: The file by which such a folder is known: no other is ever removed.

    Raises:
        FileExistsError: There is something at `path`, and it may not be replaced; or something that
            is not ours has a name that is needed.
        BlockingIOError: Another process is filling it.
        OSError: No folder can be made there.
        RuntimeError: This is a forked child of the process that began.
    """
    parent, name = os.path.split(path)
    if not os.path.isdir(parent):
        raise FileNotFoundError(f"there is no folder {parent} to put {name} into")
    partial, aside, lock_path = hidden_names(path)
    process = os.getpid()
    with ExitStack() as stack:
        try:
            busy = f"{path} is being compiled by another process"
            stack.enter_context(locked(lock_path, busy=busy))
            _recover(aside, path, marker=marker)
            _require_replaceable(path, overwrite=overwrite, marker=marker)
            _clear(partial, marker=marker)
            stack.enter_context(made_folder(partial))
        except OSError as error:
            raise _naming_folder(error, parent) from None
        mark(partial)
        yield partial
        require_own_process(process, path)
        os.unlink(os.path.join(partial, MARK))
        _sync(partial)  # files in its folders were synced when they got their names
        _replace(partial, path, aside)
        _sync(parent)


def hidden_names(path: str) -> tuple[str, str, str]:
    """Where a folder is filled, where an old one may wait, and the lock: beside its place.

    Args:
        path: Its place.
    """
    parent, name = os.path.split(path)
    ending = ".graphmount-partial-old"
    if len(os.fsencode(f".{name}{ending}")) > _LONGEST_NAME:
        digest = hashlib.sha256(os.fsencode(name)).hexdigest()[:16]
        name = f"{name[:_LONGEST_KEPT]}-{digest}"
    hidden = os.path.join(parent, f".{name}.graphmount-")
    return hidden + "partial", hidden + "partial-old", hidden + "lock"


def _naming_folder(error: OSError, parent: str) -> OSError:
    """The same error; if nothing can be made in the folder at all, one that says so."""
    if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
        return error
    message = f"{error.strerror}: nothing can be written into this folder; choose another one"
    return OSError(error.errno, message, parent)


def _recover(aside: str, path: str, *, marker: str) -> None:
    """Ends what an attempt had begun that was killed while it replaced a folder in two steps."""
    if _is_ours(aside, marker=marker) and not os.path.lexists(path):
        os.rename(aside, path)
    _clear(aside, marker=marker)


def _clear(folder: str, *, marker: str) -> None:
    """Removes what a killed attempt left, and nothing else."""
    if not os.path.lexists(folder):
        return
    if not _is_ours(folder, marker=marker):
        message = "This name is needed, and what has it was not made by graphmount; move it away"
        raise FileExistsError(errno.EEXIST, message, folder)
    _remove(folder)


def _remove(folder: str) -> None:
    """Removes a folder that was a dataset, or was to become one."""
    with suppress(OSError):
        mark(folder)  # without its description nobody would know
    remove_folder(folder)


def _is_ours(folder: str, *, marker: str) -> bool:
    """Whether a folder with a hidden name is one that an attempt made, or had put aside."""
    if os.path.islink(folder) or not os.path.isdir(folder):
        return False
    names = os.listdir(folder)
    return not names or MARK in names or os.path.isfile(os.path.join(folder, marker))


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
    elif _exchange(partial, path):
        _remove(partial)
    else:
        os.rename(path, aside)
        try:
            os.rename(partial, path)
        except OSError:
            os.rename(aside, path)
            raise
        _remove(aside)


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
