"""Progress of long work: to a callback, or as a bar on the terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.progress import Progress as RichProgress

#: What `progress=` takes: a callback of (done, total); True or False for a bar or none; None for a
#: bar where standard error is a terminal and the work takes a while.
ProgressOption = Callable[[int, int], None] | bool | None

_SECONDS_BEFORE_BAR = 2.0


class _Bar:
    """A bar that shows itself when the work has taken two seconds."""

    def __init__(self, description: str, *, in_bytes: bool, at_once: bool) -> None:
        self._description = description
        self._in_bytes = in_bytes
        self._start = time.monotonic() + (0.0 if at_once else _SECONDS_BEFORE_BAR)
        self._bar: RichProgress | None = None

    def __call__(self, done: int, total: int) -> None:
        if self._bar is None:
            if time.monotonic() < self._start:
                return
            self._bar = self._make_bar()
            self._bar.start()
            self._bar.add_task(self._description, total=total)
        self._bar.update(self._bar.task_ids[0], completed=done, total=total)

    def _make_bar(self) -> RichProgress:
        from rich import progress  # import graphmount should stay light
        from rich.console import Console

        columns: list[progress.ProgressColumn] = [
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.TaskProgressColumn(),
        ]
        if self._in_bytes:
            columns += [progress.DownloadColumn(binary_units=True), progress.TransferSpeedColumn()]
        columns += [progress.TimeRemainingColumn()]
        return progress.Progress(*columns, console=Console(stderr=True), transient=True)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()


@contextmanager
def reporting(
    option: ProgressOption, description: str, *, in_bytes: bool
) -> Iterator[Callable[[int, int], None] | None]:
    """Yields what to call with (done, total), or None if nobody wants to know."""
    if not (option is None or isinstance(option, bool) or callable(option)):
        raise TypeError(f"progress must be True, False, None or a function, not {option!r}")
    if option is False or (option is None and not sys.stderr.isatty()):
        yield None
    elif option is True or option is None:
        bar = _Bar(description, in_bytes=in_bytes, at_once=option is True)
        try:
            yield bar
        finally:
            bar.close()
    else:
        yield option
