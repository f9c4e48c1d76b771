"""On which line of a TOML file each key is: Python's own reader does not say.

A file that Python has read is read once more, statement by statement. A statement is a header, such
as `[nodes.paper]`, or a key with its value, which may take several lines. Each is a small TOML file
by itself, so Python's reader also says what its keys are.
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

#: A value of more lines than these is not looked into: lines behind it are not known.
_MOST_LINES = 500


def find_lines(text: str) -> dict[tuple[str | int, ...], int]:
    """The line of each key, from 1 on, by the keys that lead to it.

    Tables of an array are counted from 0 on, so the second `[[edges]]` is ("edges", 1).

    Args:
        text: A whole file that is TOML.
    """
    lines: dict[tuple[str | int, ...], int] = {}
    counts: dict[tuple[str | int, ...], int] = {}
    here: tuple[str | int, ...] = ()
    for number, is_header, found in _statements(text):
        if not is_header:
            for keys in _paths(found):
                lines.setdefault(here + keys, number)
            continue
        *names, last = _header(found)
        here = ()
        for name in names:
            here = _last_of((*here, name), counts)
        here += (last,)
        if _is_array(found):
            counts[here] = counts.get(here, -1) + 1
            lines.setdefault(here, number)
            here += (counts[here],)
        for end in range(1, len(here) + 1):
            lines.setdefault(here[:end], number)
    return lines


def _statements(text: str) -> Iterator[tuple[int, bool, dict[str, Any]]]:
    """The line that each statement begins on, whether it is a header, and what it says."""
    waiting: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        waiting.append(line)
        if len(waiting) > _MOST_LINES:
            return
        try:
            found = tomllib.loads("\n".join(waiting))
        except tomllib.TOMLDecodeError:
            continue  # its value goes on
        if found:
            yield number - len(waiting) + 1, waiting[0].lstrip().startswith("["), found
        waiting = []


def _header(found: dict[str, Any]) -> list[str]:
    """The names in a header: each holds the next, and the last one nothing."""
    names: list[str] = []
    inner: Any = found
    while inner:
        name, inner = next(iter(inner.items()))
        names.append(name)
        inner = inner[0] if isinstance(inner, list) else inner
    return names


def _is_array(found: Any) -> bool:  # noqa: ANN401
    """Whether a header is one of an array of tables."""
    while isinstance(found, dict) and found:
        found = next(iter(found.values()))
    return isinstance(found, list)


def _last_of(
    keys: tuple[str | int, ...], counts: dict[tuple[str | int, ...], int]
) -> tuple[str | int, ...]:
    """The keys, or those of the last table of an array that has these keys."""
    return (*keys, counts[keys]) if keys in counts else keys


def _paths(found: Any) -> Iterator[tuple[str | int, ...]]:  # noqa: ANN401
    """All keys within a value, and the keys that lead to them."""
    if isinstance(found, dict):
        items: Any = found.items()
    elif isinstance(found, list):
        items = enumerate(found)
    else:
        return
    for key, value in items:
        yield (key,)
        for rest in _paths(value):
            yield (key, *rest)
