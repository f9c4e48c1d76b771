"""Temporary folders, which are removed at the end, and only by the process that made them.

A child that was forked in between has copies of everything its parent was doing, and runs the same
code when it ends; it leaves the folders of its parent alone. Removing works even without a free
descriptor, and never hides the error that led to it.
"""

from __future__ import annotations

import os
import secrets
import shutil
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: The name of the file that marks a folder as ours while it is filled or removed.
MARK = ".graphmount-partial"

#: How many descriptors it takes to remove a folder with folders in it.
_SPARE_DESCRIPTORS = 6


@contextmanager
def made_folder(path: str, *, mode: int = 0o777) -> Iterator[Callable[[], None]]:
    """Makes a folder. When the block ends, the process that made it removes what has its name.

    Removing needs descriptors, which are held in reserve. Yields a function that releases them
    early.

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
    """Puts a file into a folder that marks it as ours until the folder is removed.

    Args:
        folder: The folder.

    Raises:
        OSError: It cannot be made, other than because it is there.
    """
    with suppress(FileExistsError), open(os.path.join(folder, MARK), "xb"):
        pass


def remove_folder(path: str) -> None:
    """Removes a folder as far as possible. The mark goes last, because the process may be killed.

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
