"""Strict reading of a description file: every key is known, and every value of the right kind.

An error names the file, the line and the key, and says what was expected; for a key that is not
known, it has the nearest one.
"""

from __future__ import annotations

import difflib
import errno
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

from graphmount._sources.paths import expand
from graphmount._support.conversion import dtype_name
from graphmount._support.shown import shown
from graphmount._support.sizes import parse_bytes
from graphmount.errors import SourceError

_LIKENESS = 0.6
_BARE = re.compile(r"[A-Za-z0-9_-]+")
#: As many as int64 has.
_LIMIT = 2**63


@dataclass(frozen=True, kw_only=True)
class SpecFile:
    """A description file.

    Attributes:
        path: Its path.
        folder: The folder that paths in it start from.
        lines: The line of each key.
    """

    path: str
    folder: str
    lines: Mapping[tuple[str | int, ...], int]


@dataclass(frozen=True)
class Field:
    """A value in a description file.

    Attributes:
        file: The file.
        keys: The keys that lead to the value.
        value: The value.
    """

    file: SpecFile
    keys: tuple[str | int, ...]
    value: Any

    @property
    def place(self) -> str:
        """Where it is: the file, the line, and the keys."""
        line = next(
            (
                self.file.lines[self.keys[:end]]
                for end in range(len(self.keys), 0, -1)
                if self.keys[:end] in self.file.lines
            ),
            None,
        )
        where = self.file.path if line is None else f"{self.file.path}, line {line}"
        return f"{where}, {shown_keys(self.keys)}" if self.keys else where

    def inside(self, key: str | int) -> Field:
        """The value that is inside of it under a key."""
        return Field(self.file, (*self.keys, key), self.value[key])

    def wrong(self, message: str) -> NoReturn:
        """Raises an error that says where it is.

        Raises:
            SourceError: Always.
        """
        error = SourceError(f"{self.place}: {message}")
        error.path = self.file.path
        raise error

    def expected(self, what: str) -> NoReturn:
        """Raises an error that says what should be there."""
        self.wrong(f"this is {_kind_of(self.value)}, and it should be {what}")


#: Reads a value, or says what is wrong with it.
Reader: TypeAlias = Callable[[Field], Any]


def shown_keys(keys: tuple[str | int, ...]) -> str:
    """Keys as one would write them, as in `nodes.paper.labels` or `edges[1].source`."""
    text = ""
    for key in keys:
        if isinstance(key, int):
            text += f"[{key}]"
        else:
            name = key if _BARE.fullmatch(key) else shown(key)
            text += f".{name}" if text else name
    return text


def read_table(
    field: Field, known: Mapping[str, Reader], what: str, *, required: tuple[str, ...] = ()
) -> dict[str, Any]:
    """The values of a table, read by these readers.

    Args:
        field: The table.
        known: How to read the value of each key that there may be.
        what: What messages call the table.
        required: Keys that there must be.

    Raises:
        SourceError: It is no table, has another key, or a value is wrong.
    """
    if not isinstance(field.value, dict):
        field.expected(f"a table of {what}")
    for key in field.value:
        if key not in known:
            field.inside(key).wrong(f"{what} has no key {shown(key)}{near(key, known)}")
    for key in required:
        if key not in field.value:
            field.wrong(f"{what} needs the key {key!r}, which is missing")
    return {key: known[key](field.inside(key)) for key in field.value}


def near(name: str, known: Mapping[str, Any] | list[str]) -> str:
    """What may be meant by a name, and all that there are, for the end of a message."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=_LIKENESS)
    there = f"there are {', '.join(map(repr, known))}"
    return f"; did you mean {close[0]!r}? ({there})" if close else f"; {there}"


def by_name(reader: Reader, what: str) -> Reader:
    """Reads a table whose keys are names of one's own."""

    def read(field: Field) -> dict[str, Any]:
        if not isinstance(field.value, dict):
            field.expected(f"a table of {what} by name")
        return {name: reader(field.inside(name)) for name in field.value}

    return read


def text(field: Field) -> str:
    """A text."""
    if not isinstance(field.value, str):
        field.expected("a text")
    return str(field.value)


def yes_or_no(field: Field) -> bool:
    """Whether something is so."""
    if not isinstance(field.value, bool):
        field.expected("true or false")
    return bool(field.value)


def whole(field: Field) -> int:
    """A whole number, from 0 on."""
    if type(field.value) is not int:
        field.expected("a whole number")
    if not 0 <= field.value < _LIMIT:
        field.wrong(f"{field.value} is no number of things")
    return int(field.value)


def choice(*words: str | bool) -> Reader:
    """Reads one of these words."""

    def read(field: Field) -> str | bool:
        for word in words:
            if type(field.value) is type(word) and field.value == word:
                return word
        written = " or ".join("true" if one is True else repr(one) for one in words if one)
        return field.wrong(f"{shown(field.value)} should be {written}")

    return read


def number_or(*words: str) -> Reader:
    """Reads a number, or one of these words."""

    def read(field: Field) -> float | str:
        value = field.value
        if type(value) in (int, float) or value in words:
            return value  # type: ignore[no-any-return]
        return field.expected(f"a number, or {' or '.join(map(repr, words))}")

    return read


def size(field: Field) -> int | str:
    """An amount of memory."""
    if type(field.value) not in (int, str):
        field.expected("a number of bytes, or a text such as '4GiB'")
    try:
        parse_bytes(field.value, "memory")
    except ValueError as error:
        field.wrong(str(error))
    return field.value  # type: ignore[no-any-return]


def dtype(field: Field) -> str:
    """The name of a dtype that can be stored."""
    try:
        return dtype_name(text(field))
    except ValueError as error:
        if isinstance(error, SourceError):
            raise
        field.wrong(str(error))


def texts(field: Field) -> list[str]:
    """A list of texts."""
    return _items(field, text, "texts")


def _items(field: Field, reader: Reader, what: str) -> list[Any]:
    if not isinstance(field.value, list):
        field.expected(f"a list of {what}")
    return [reader(field.inside(place)) for place in range(len(field.value))]


def column(field: Field) -> str | int:
    """A column, by its name or its number from 0 on."""
    if isinstance(field.value, str):
        return field.value
    if type(field.value) is not int:
        field.expected("a column: its name, or its number from 0 on")
    return whole(field)


def columns(field: Field) -> list[str | int]:
    """Columns, by their names or numbers."""
    return _items(field, column, "columns")


def sizes(field: Field) -> tuple[int, ...]:
    """A shape, of which one size may be -1."""

    def one(item: Field) -> int:
        return -1 if type(item.value) is int and item.value == -1 else whole(item)

    return tuple(_items(field, one, "whole numbers"))


def column_or_array(field: Field) -> str | int:
    """A column, or the path of an .npy file of values."""
    found = column(field)
    is_file = isinstance(found, str) and found.endswith(".npy")
    return str(path(field)) if is_file else found


def path(field: Field) -> str:
    """The path of a file, a folder or a pattern, which must be there."""
    written = text(field)
    if "\0" in written or not written:
        field.wrong(f"{shown(written)} is no path")
    found = os.path.join(field.file.folder, os.path.expanduser(written))
    try:
        expand(found)
    except FileNotFoundError:
        raise _not_there(field, "file", found) from None
    except SourceError as error:
        field.wrong(str(error))
    return found


def paths(field: Field) -> str | list[str]:
    """A path, or a list of paths that are read one after the other."""
    if isinstance(field.value, list):
        found: list[str] = _items(field, path, "paths")
        if not found:
            field.wrong("this list of paths is empty")
        return found
    if not isinstance(field.value, str):
        field.expected("a path, or a list of paths")
    return path(field)


def new_path(field: Field) -> str:
    """The path of something that will be made."""
    written = text(field)
    if "\0" in written or not written:
        field.wrong(f"{shown(written)} is no path")
    return os.path.join(field.file.folder, os.path.expanduser(written))


def folder(field: Field) -> str:
    """The path of a folder, which must be there."""
    found = new_path(field)
    if not os.path.isdir(found):
        raise _not_there(field, "folder", found)
    return found


def _not_there(field: Field, what: str, path: str) -> FileNotFoundError:
    """The error for a path that leads nowhere; the command line adds what is near."""
    message = f"there is no such {what}; {field.place} names it"
    return FileNotFoundError(errno.ENOENT, message, path)


def _kind_of(value: object) -> str:
    """What a value is, as TOML calls it."""
    names = {bool: "true or false", int: "a number", float: "a number", str: "a text"}
    names |= {list: "a list", dict: "a table"}
    name = names.get(type(value), "a time")
    return f"{name}, {shown(value)}" if type(value) in (bool, int, float, str) else name
