"""Folders that are gone in the end, whatever happens, and that only their maker removes.

A child that was forked in the middle has copies of everything its parent was doing, and runs the
same code when it ends: it leaves the folders of its parent alone. Removing works without a free
descriptor too, and never hides the error for which it is done.
"""

from __future__ import annotations

import os
import secrets
import shutil
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: In a folder that is being filled or removed, so that whoever finds it later knows whose it was.
MARK = ".graphmount-partial"

#: What removing a folder with folders in it takes: it goes from one to the next by descriptors.
_SPARE_DESCRIPTORS = 6


@contextmanager
def made_folder(path: str, *, mode: int = 0o777) -> Iterator[Callable[[], None]]:
    """Makes a folder; what has its name when the block ends is removed by the process that made it.

    Yields what gives back the descriptors that are held in reserve for that, to use them before.

    Args:
        path: The folder, which must not be there.
        mode: Its permissions, of which the umask takes some away.

    Raises:
        OSError: It cannot be made, or there are no descriptors left to remove it with.
    """
    process = os.getpid()
    spare: list[int] = []

    def give_back() -> None:
        while spare:
            os.close(spare.pop())

    try:
        for _ in range(_SPARE_DESCRIPTORS):
            spare.append(os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY))  # noqa: PERF401
        os.mkdir(path, mode)
        try:
            yield give_back
        finally:
            give_back()
            if os.getpid() == process:
                remove_folder(path)
    finally:
        give_back()


def mark(folder: str) -> None:
    """Puts a file into a folder that says whose it is, until it is removed.

    Args:
        folder: The folder.

    Raises:
        OSError: It cannot be made, other than because it is there.
    """
    with suppress(FileExistsError), open(os.path.join(folder, MARK), "xb"):
        pass


def remove_folder(path: str) -> None:
    """Removes a folder as far as that is possible; a mark goes last, as whoever does it may die.

    Args:
        path: The folder.
    """
    with suppress(OSError):
        for name in os.listdir(path):
            inner = os.path.join(path, name)
            if name != MARK and os.path.isdir(inner) and not os.path.islink(inner):
                shutil.rmtree(inner, ignore_errors=True)
            elif name != MARK:
                with suppress(OSError):
                    os.unlink(inner)
    shutil.rmtree(path, ignore_errors=True)


@contextmanager
def temporary_folder(parent: str, *, prefix: str) -> Iterator[str]:
    """Yields a new folder with a name that nobody can guess, and removes it in the end.

    Args:
        parent: Where.
        prefix: What its name begins with.

    Raises:
        OSError: It cannot be made.
    """
    folder = os.path.join(parent, prefix + secrets.token_hex(8))
    with made_folder(folder, mode=0o700):
        yield folder


def require_own_process(process: int, path: str) -> None:
    """Raises in a forked child of the process that has begun to write something.

    Args:
        process: The process that began.
        path: What it was to write.

    Raises:
        RuntimeError: This is another process.
    """
    if os.getpid() != process:
        raise RuntimeError(
            f"{path} is being written by process {process}, and this is a forked child of it, "
            "which cannot go on with that; let it end, or start anew under another name"
        )
