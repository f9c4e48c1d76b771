"""How objects are printed: as one line at the prompt, as a table in a notebook.

The line has a bounded length, however much an object holds: arrays and tensors are shown by dtype
and shape. Everything in a table for notebooks is escaped, so that no path and no name is taken for
HTML.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, KeysView, Mapping
from dataclasses import fields, is_dataclass
from html import escape
from typing import Any

from graphmount._support.shown import shown

#: No line is longer.
LONGEST_LINE = 240
#: Of a mapping, so many entries are shown.
_MOST_ENTRIES = 8


def brief(value: object) -> str:
    """A value in a few words: arrays and tensors by dtype and shape, others cut short."""
    if isinstance(value, Displayed):
        return repr(value)
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if isinstance(shape, tuple) and dtype is not None and not isinstance(value, type):
        kind = str(dtype).removeprefix("torch.")
        return f"{kind} {tuple(shape)}" if shape else shown(value)
    if isinstance(value, Mapping):
        parts = [f"{shown(name)}: {brief(value[name])}" for name in list(value)[:_MOST_ENTRIES]]
        more = [f"… {len(value) - _MOST_ENTRIES} more"] if len(value) > _MOST_ENTRIES else []
        return "{" + ", ".join(parts + more) + "}"
    return shown(value)


def one_line(text: str) -> str:
    """This text as a line that is not too long."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 1]}…"


def html_table(caption: str, header: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A table, with everything in it escaped; the first column names the rows."""
    names = [f"<th>{escape(name)}</th>" for name in header]
    lines = [f"<thead><tr>{''.join(names)}</tr></thead>"] if names else []
    for row in rows:
        first, *others = (escape(each if isinstance(each, str) else brief(each)) for each in row)
        cells = "".join(f"<td>{each}</td>" for each in others)
        lines.append(f'<tr><th style="text-align: left">{first}</th>{cells}</tr>')
    title = f'<caption style="text-align: left"><b>{escape(caption)}</b></caption>'
    return f"<table>{title}{''.join(lines)}</table>"


class Displayed:
    """An object with a line and a table of its own; without more, those of a dataclass's fields."""

    def _shown_fields(self) -> Mapping[str, object]:
        """What the line and the table show, by name."""
        if not is_dataclass(self):
            return {}
        return {each.name: getattr(self, each.name) for each in fields(self) if each.repr}

    def __repr__(self) -> str:
        parts = [f"{name}={brief(value)}" for name, value in self._shown_fields().items()]
        return one_line(f"{type(self).__name__}({', '.join(parts)})")

    def _repr_html_(self) -> str:
        return html_table(type(self).__name__, (), self._shown_fields().items())


class NamedParts(Displayed, Mapping[str, Any]):
    """Read-only parts of something, by name. The error for a wrong name lists the right ones.

    Args:
        kind: What messages call one of them, such as "split".
        parts: The parts.
    """

    def __init__(self, kind: str, parts: Mapping[str, Any]) -> None:
        self._kind = kind
        self._parts = dict(parts)

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401
        try:
            return self._parts[name]
        except (KeyError, TypeError):  # what is no name may not even be hashable
            raise NoSuchNameError(self._kind, name, list(self._parts)) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def keys(self) -> KeysView[str]:
        """The names, which print as those of a dict do."""
        return self._parts.keys()

    def __repr__(self) -> str:
        return one_line(brief(self._parts))

    def _shown_fields(self) -> Mapping[str, object]:
        return self._parts


class NoSuchNameError(KeyError):
    """A `KeyError` that prints as the sentence it is; Python's own would put it in quotes."""

    def __init__(self, kind: str, name: object, names: list[str]) -> None:
        there = f"there are {', '.join(map(shown, names))}" if names else "there are none"
        super().__init__(f"there is no {kind} {shown(name)}; {there}")

    def __str__(self) -> str:
        return str(self.args[0])
