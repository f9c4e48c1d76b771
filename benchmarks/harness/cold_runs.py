"""Runs under a memory limit that find the files they read on disk, and all else as it was.

Evicting these files alone, rather than dropping the whole page cache, keeps the interpreter and its
libraries where they are: they are not what is measured, and take seconds to read again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .memcap import CappedRun, run_capped
from .page_cache import evict

if TYPE_CHECKING:
    from collections.abc import Sequence


def run_cold(command: Sequence[str], limit: int, *files: str) -> CappedRun:
    """Runs `command` within `limit` bytes, page cache included, with `files` evicted before.

    Raises:
        UnavailableError: There is no way to limit memory here.
        RuntimeError: Pages of a file stay, because some process has them mapped.
    """
    for path in files:
        evict(path)
    return run_capped(command, limit, warm=True, keep_stdout=True)
