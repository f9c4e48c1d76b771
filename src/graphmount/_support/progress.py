"""Progress of long work: to a callback, as a bar on the terminal, or as a line when it is done."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.progress import Progress as RichProgress

#: What `progress=` takes: a callback of (done, total); True or False for a bar or none; None for a
#: bar where the work takes a while. Bars are for terminals and notebooks; elsewhere there is none.
ProgressOption = Callable[[int, int], None] | bool | None

_SECONDS_BEFORE_BAR = 2.0


def say(line: str, progress: ProgressOption) -> None:
    """Writes a line about work that was not asked for directly, unless `progress` is False."""
    if progress is not False and sys.stderr is not None:
        with suppress(OSError, ValueError):  # it is closed, or full
            sys.stderr.write(f"graphmount: {line}\n")
            sys.stderr.flush()


class _Bar:
    """A bar that shows itself when the work has taken two seconds."""

    def __init__(
        self, description: str, *, in_bytes: bool, shows_rate: bool, at_once: bool
    ) -> None:
        self._description = description
        self._in_bytes = in_bytes
        self._shows_rate = shows_rate
        self._start = time.monotonic() + (0.0 if at_once else _SECONDS_BEFORE_BAR)
        self._bar: RichProgress | None = None

    def __call__(self, done: int, total: int) -> None:
        if self._bar is None:
            if time.monotonic() < self._start:
                return
            self._bar = self._make_bar()
            if self._bar is None:
                self._start = math.inf
                return
            self._bar.start()
            self._bar.add_task(self._description, total=total, rate="")
        task = self._bar.tasks[0]
        rate = "" if task.speed is None or not self._shows_rate else f"{task.speed / 1e6:.1f} M/s"
        self._bar.update(task.id, completed=done, total=total, rate=rate)

    def _make_bar(self) -> RichProgress | None:
        from rich import progress  # import graphmount should stay light
        from rich.console import Console

        console = Console(stderr=True)
        if not console.is_interactive and not console.is_jupyter:
            return None  # it would leave empty lines in a file
        columns: list[progress.ProgressColumn] = [
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.TaskProgressColumn(),
        ]
        if self._in_bytes:
            columns += [progress.DownloadColumn(binary_units=True), progress.TransferSpeedColumn()]
        else:
            columns += [progress.TextColumn("{task.fields[rate]}")]
        columns += [progress.TimeRemainingColumn()]
        return progress.Progress(*columns, console=console, transient=True)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def require_progress(option: ProgressOption) -> None:
    """Raises TypeError for what is no option."""
    if not (option is None or isinstance(option, bool) or callable(option)):
        raise TypeError(f"progress must be True, False, None or a function, not {option!r}")


@contextmanager
def reporting(
    option: ProgressOption, description: str, *, in_bytes: bool, shows_rate: bool = True
) -> Iterator[Callable[[int, int], None] | None]:
    """Yields a function to call with (done, total), or None if progress is not shown."""
    require_progress(option)
    # There is no stream at all where it was closed before Python started.
    is_shown = sys.stderr is not None and sys.stderr.isatty()
    if option is False or (option is None and not is_shown):
        yield None
    elif option is True or option is None:
        bar = _Bar(description, in_bytes=in_bytes, shows_rate=shows_rate, at_once=option is True)
        try:
            yield bar
        finally:
            bar.close()
    else:
        yield option


@contextmanager
def steps(option: ProgressOption, count: int) -> Iterator[Callable[[], ProgressOption]]:
    """Yields a function that gives the progress option of the next of `count` pieces of work.

    Each piece has its own bar. A callback gets the progress of all pieces together, in thousandths:
    each piece has the same share. At the end it is called with all of them done, even if a piece
    reported nothing.
    """
    begun = told = 0

    def next_step() -> ProgressOption:
        nonlocal begun
        begun += 1
        if not callable(option):
            return option
        before, callback = begun - 1, option

        def report(done: int, total: int) -> None:
            nonlocal told
            told = max(told, (1000 * before + 1000 * done // max(total, 1)) // count)
            callback(told, 1000)

        return report

    yield next_step
    if callable(option) and told < 1000:
        option(1000, 1000)
