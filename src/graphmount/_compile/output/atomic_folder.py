"""A folder that appears under its name complete or not at all.

It is filled under a hidden name beside its place. If a killed attempt leaves it behind, the next
one empties it; a folder of that name that is not ours is not touched. A lock keeps two attempts
apart. A forked child of the process that fills it neither finishes nor removes it.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import itertools
import os
import warnings
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

from graphmount._compile.output.replacement import (
    is_complete,
    is_empty_folder,
    remove_dataset,
    remove_unnamed,
    require_dataset,
    require_replaceable,
)
from graphmount._dataset.description_fields import DESCRIPTION
from graphmount._support.files.lock_file import locked
from graphmount._support.files.temporary_folders import (
    MARK,
    made_folder,
    mark,
    remove_folder,
    require_own_process,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LONGEST_NAME = 255
_LONGEST_KEPT = 32
#: In the folder beside a dataset, the files that a change brings or takes.
_NOTES = "changed-files"


@contextmanager
def atomic_folder(path: str, *, overwrite: bool) -> Iterator[str]:
    """Yields the folder to fill; it takes its place at the end, or is removed after an error.

    Args:
        path: Its place.
        overwrite: Whether it may replace a dataset.

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

    def require() -> None:
        require_replaceable(path, overwrite=overwrite)

    process = os.getpid()
    with _filled_beside(path, require) as (partial, give_back_descriptors):
        yield partial
        require_own_process(process, path)
        give_back_descriptors()  # the old folder is looked at and removed through some
        os.unlink(os.path.join(partial, MARK))
        _sync(partial)  # files in its folders were synced when they got their names
        _replace(partial, path, hidden_names(path)[1], overwrite=overwrite)
        _sync(parent)


@contextmanager
def filled_beside(path: str) -> Iterator[str]:
    """Yields a folder beside a dataset, for files that are to be put into it; then it is removed.

    Args:
        path: The dataset, which is locked meanwhile.

    Raises:
        BlockingIOError: Another process is compiling or changing it.
        OSError: No folder can be made there.
        RuntimeError: This is a forked child of the process that began.
    """
    process = os.getpid()
    with _filled_beside(path, lambda: None) as (partial, _):
        yield partial
        require_own_process(process, path)


@contextmanager
def _filled_beside(
    path: str, require: Callable[[], None]
) -> Iterator[tuple[str, Callable[[], None]]]:
    """Locks a place, ends what a killed attempt had begun there, and makes the folder to fill."""
    partial, aside, lock_path = hidden_names(path)
    with ExitStack() as stack:
        try:
            busy = f"{path} is being compiled or changed by another process"
            stack.enter_context(locked(lock_path, busy=busy))
            _recover(aside, path)
            _undo_change(partial, path)
            require()
            _clear(partial)
            give_back_descriptors = stack.enter_context(made_folder(partial))
        except OSError as error:
            raise _naming_folder(error, os.path.dirname(path)) from None
        mark(partial)
        yield partial, give_back_descriptors


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


def _recover(aside: str, path: str) -> None:
    """Ends what an attempt had begun that was killed while it replaced a folder in two steps."""
    if not os.path.lexists(aside):
        return
    _require_ours(aside)
    if is_complete(aside) and not os.path.lexists(path):
        os.rename(aside, path)
    _remove_old(aside, path)


def note_file(partial: str, file: str) -> None:
    """Writes a note that a file of the dataset is added or removed, in case this process is killed.

    Args:
        partial: The folder beside the dataset.
        file: Its path from the dataset on.
    """
    with open(os.path.join(partial, _NOTES), "ab") as notes:
        notes.write(os.fsencode(file) + b"\n")
        notes.flush()
        os.fsync(notes.fileno())


def _undo_change(partial: str, path: str) -> None:
    """Removes what a killed change put into a dataset before it named it, or did not name any more.

    Args:
        partial: The folder beside the dataset, which may be that of a killed change.
        path: The dataset.
    """
    if os.path.isfile(os.path.join(partial, MARK)):
        with suppress(FileNotFoundError), open(os.path.join(partial, _NOTES), "rb") as notes:
            remove_unnamed(path, [os.fsdecode(line) for line in notes.read().splitlines()])


def _clear(folder: str) -> None:
    """Removes what a killed attempt left, and nothing else."""
    if not os.path.lexists(folder):
        return
    _require_ours(folder)
    with suppress(OSError):
        mark(folder)  # without its description it could not be recognised
    remove_folder(folder)


def _require_ours(folder: str) -> None:
    """Raises unless a folder with a hidden name is one that an attempt made, or had put aside."""
    if os.path.isdir(folder) and not os.path.islink(folder):
        names = os.listdir(folder)
        if not names or MARK in names or os.path.isfile(os.path.join(folder, DESCRIPTION)):
            return
    message = "This name is needed, and what has it was not made by graphmount; move it away"
    raise FileExistsError(errno.EEXIST, message, folder)


def _replace(partial: str, path: str, aside: str, *, overwrite: bool) -> None:
    """Puts the new folder into its place; the old one, if there is one, goes.

    If something is in the way by now, neither it nor the new folder is lost.
    """
    try:
        require_replaceable(path, overwrite=overwrite)
        if os.path.lexists(path) and not is_empty_folder(path):
            _swap(partial, path, aside)
        else:
            _rename_to(partial, path)
    except FileExistsError as error:
        kept = _free_name(path + ".new")
        os.rename(partial, kept)
        raise FileExistsError(f"{error}; the new one is at {kept}") from None
    _remove_old(aside, path)


def _rename_to(partial: str, path: str) -> None:
    """Renames, which works only where there is nothing or an empty folder."""
    try:
        os.rename(partial, path)
    except OSError:
        if not os.path.lexists(path):
            raise
        raise FileExistsError(f"{path} exists by now") from None


def _swap(partial: str, path: str, aside: str) -> None:
    """Puts the new folder at `path`, and the old one aside, where it is looked at once more."""
    # If it kept the name of `partial`, cleaning up would remove it, and it is not ours.
    os.rename(partial, aside)
    if _exchange(aside, path):
        try:
            require_dataset(aside, shown=path)
        except OSError:
            _exchange(aside, path)
            os.rename(aside, partial)
            raise
        return
    os.rename(aside, partial)
    os.rename(path, aside)
    try:
        require_dataset(aside, shown=path)
        os.rename(partial, path)
    except OSError:
        os.rename(aside, path)
        raise


def _remove_old(aside: str, path: str) -> None:
    """Removes the old folder, except files that somebody may have put there meanwhile."""
    if not os.path.lexists(aside) or remove_dataset(aside):
        return
    # NFS keeps files that somebody has open under such names, and removes them later.
    if all(name.startswith(".nfs") or name == DESCRIPTION for name in os.listdir(aside)):
        os.rename(aside, _free_name(aside))
        return
    kept = _free_name(path + ".old")
    os.rename(aside, kept)
    warnings.warn(
        f"{path} was replaced, and what is not of a dataset in the old folder is kept at {kept}",
        RuntimeWarning,
        stacklevel=2,
    )


def _free_name(path: str) -> str:
    """The path, or if there is something, one with a number behind it."""
    names = itertools.chain([path], (f"{path}-{number}" for number in itertools.count(2)))
    return next(name for name in names if not os.path.lexists(name))


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
