"""The folder of the cache: where it is, what is in it, and how much that may be.

Every entry is a dataset. Its name says what it was compiled from. Beside it are two locks: one to
make, open or remove the entry, and one that all processes that use it share. Entries in use are not
removed, and files that do not belong to the cache are never touched.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphmount._compile.dataset.files import folder_bytes
from graphmount._compile.output.atomic_folder import hidden_names
from graphmount._compile.output.replacement import is_empty_folder, remove_dataset
from graphmount._support.files.lock_file import LockFile, locked, take_lock
from graphmount._support.files.temporary_folders import MARK, remove_folder
from graphmount._support.sizes import format_bytes, parse_bytes
from graphmount.errors import BudgetError

if TYPE_CHECKING:
    from collections.abc import Iterable

_NAME = re.compile(r"pyg-[0-9a-f]{40}")
_FOLDER_VARIABLE = "GRAPHMOUNT_CACHE"
_LIMIT_VARIABLE = "GRAPHMOUNT_CACHE_LIMIT"
_LIMIT = "50GiB"
_CHANGE, _USE = ".lock", ".used"


@dataclass(frozen=True, kw_only=True)
class CacheEntry:
    """What the cache has under one name.

    Attributes:
        name: The name.
        path: Its folder.
        bytes: What it takes on disk.
        last_used: When a loader last opened it, in seconds since 1970.
        is_used: Whether a process has it open.
    """

    name: str
    path: str
    bytes: int
    last_used: float
    is_used: bool


class CacheFolder:
    """A folder of datasets that can be made again at any time.

    Args:
        path: The folder; `$GRAPHMOUNT_CACHE`, else `graphmount` in `$XDG_CACHE_HOME` or `~/.cache`,
            if None.

    Attributes:
        path: The folder, which need not be there yet.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = os.path.abspath(_default_path() if path is None else os.fsdecode(path))

    @property
    def limit(self) -> int:
        """How many bytes the entries may take together: `$GRAPHMOUNT_CACHE_LIMIT`, or 50 GiB."""
        return parse_bytes(os.environ.get(_LIMIT_VARIABLE) or _LIMIT, _LIMIT_VARIABLE)

    def path_of(self, name: str) -> str:
        """The folder of an entry."""
        return os.path.join(self.path, name)

    def change(self, name: str, *, waits: bool = True) -> LockFile | None:
        """The lock to make, open or remove an entry; None if it is taken and `waits` is False.

        Raises:
            OSError: The lock file cannot be made, or the file system has no locks.
        """
        return take_lock(self.path_of(name) + _CHANGE, alone=True, waits=waits)

    def use(self, name: str) -> LockFile | None:
        """The lock that keeps an entry from being removed; the caller holds that of `change`."""
        lock = take_lock(self.path_of(name) + _USE, alone=False, waits=True)
        with suppress(OSError):
            os.utime(self.path_of(name) + _USE)
        return lock

    def entries(self) -> list[CacheEntry]:
        """All entries, the one used last at the front."""
        entries = [self._entry(name) for name in self._names() if os.path.isdir(self.path_of(name))]
        return sorted(entries, key=lambda entry: -entry.last_used)

    def _names(self) -> set[str]:
        """The names of entries, and of those that were begun or removed."""
        try:
            there = os.listdir(self.path)
        except FileNotFoundError:
            return set()
        return {match[0] for match in map(_NAME.search, there) if match is not None}

    def _entry(self, name: str) -> CacheEntry:
        path = self.path_of(name)
        used, size, is_used = 0.0, 0, False
        with suppress(OSError):
            used = os.stat(path + _USE).st_mtime
            lock = take_lock(path + _USE, alone=True, waits=False)
            is_used = lock is None
            if lock is not None:
                lock.close()
        with suppress(OSError):
            size = folder_bytes(path)
        return CacheEntry(name=name, path=path, bytes=size, last_used=used, is_used=is_used)

    def make_room(self, wanted: int) -> None:
        """Removes entries that nobody uses, those not used for the longest time first.

        Args:
            wanted: How many bytes a new entry will take.

        Raises:
            BudgetError: It alone takes more than the limit.
        """
        limit = self.limit
        if wanted > limit:
            raise BudgetError(
                f"this Data takes about {format_bytes(wanted)} on disk, and the cache at "
                f"{self.path} may have {format_bytes(limit)}; set {_LIMIT_VARIABLE} to more, or "
                "compile it with graphmount.from_pyg and pass that folder"
            )
        entries = self.entries()
        total = sum(entry.bytes for entry in entries)
        for entry in reversed(entries):
            if total + wanted <= limit:
                return
            if self.remove(entry.name):
                total -= entry.bytes

    def clear(
        self, names: Iterable[str] | None = None
    ) -> tuple[list[CacheEntry], list[CacheEntry]]:
        """Removes entries that nobody uses, and what killed processes have left of others.

        Args:
            names: Which; all if None.

        Returns:
            Those that were removed, and those that were not.

        Raises:
            ValueError: There is no entry of such a name.
        """
        entries = {entry.name: entry for entry in self.entries()}
        wanted = set(entries) if names is None else set(names)
        for name in wanted - set(entries):
            raise ValueError(f"there is no {name!r} in the cache at {self.path}")
        if names is None:
            wanted |= self._names()
        removed = {name for name in wanted if self.remove(name)}
        return (
            [entry for name, entry in entries.items() if name in removed],
            [entry for name, entry in entries.items() if name in wanted - removed],
        )

    def remove(self, name: str) -> bool:
        """Removes an entry, unless somebody uses it, or it holds what is not the cache's."""
        path = self.path_of(name)
        change = self.change(name, waits=False)
        if change is None:
            return False
        use = None
        try:
            use = take_lock(path + _USE, alone=True, waits=False)
            if use is None:
                return False
            partial, _, left = hidden_names(path)
            if os.path.lexists(left):
                with suppress(OSError), locked(left, busy=left):
                    pass  # which removes it
            if os.path.isfile(os.path.join(partial, MARK)) and not os.path.islink(partial):
                remove_folder(partial)
            if is_empty_folder(path):
                remove_folder(path)
            if os.path.lexists(path) and not remove_dataset(path):
                return False
            use.remove()
            change.remove()
            return True
        finally:
            if use is not None:
                use.close()
            change.close()


def _default_path() -> str:
    named = os.environ.get(_FOLDER_VARIABLE)
    if named:
        return named
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "graphmount")
