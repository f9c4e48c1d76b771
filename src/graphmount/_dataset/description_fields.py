"""What checks of a description share: fields of the right type, and files inside the folder."""

from __future__ import annotations

import re
from typing import Any

#: The file that makes a folder a dataset.
DESCRIPTION = "dataset.json"
_LIMIT = 2**63
_CHECKSUM = re.compile(r"[0-9a-f]{16}")


class WrongError(ValueError):
    """What is wrong with a description, without where it is."""


def count_field(description: dict[str, Any], name: str) -> int:
    """A field that counts things."""
    count: int = field(description, name, int)
    if not 0 <= count < _LIMIT:
        raise WrongError(f"{name!r} is {count}, which is no number of things")
    return count


def table_names(description: dict[str, Any], kind: str) -> dict[str, Any]:
    """A field that has files by the names of tables."""
    files: dict[str, Any] = field(description, kind, dict)
    for name in files:
        if not name or not name.isprintable():
            raise WrongError(f"{name!r} in {kind!r} is no name of a table")
    return files


def check_classes(description: dict[str, Any]) -> None:
    """Checks the names of classes, which go with labels."""
    if "classes" not in description:
        return
    classes = field(description, "classes", list)
    if description["labels"] is None:
        raise WrongError("there are 'classes', and no labels")
    for place, name in enumerate(classes):
        if not isinstance(name, str) or not name:
            raise WrongError(f"item {place} of 'classes' is no text")
    if len(set(classes)) != len(classes):
        raise WrongError("a text is twice in 'classes'")


def check_columns(description: dict[str, Any], tables: set[str]) -> None:
    """Checks the names of columns, which go with these tables."""
    if "columns" not in description:
        return
    for file, names in field(description, "columns", dict).items():
        if file not in tables:
            raise WrongError(f"'columns' names {file!r}, which is no table of the dataset")
        if type(names) is not list or not all(isinstance(name, str) for name in names):
            raise WrongError(f"the names of columns of {file!r} are wrong")


def check_texts(description: dict[str, Any]) -> None:
    """Checks the fields that say where a dataset comes from."""
    for name, type_of in (("graphmount", str), ("order", str), ("notes", list)):
        if name in description:
            field(description, name, type_of)
    if not all(isinstance(note, str) for note in description.get("notes", [])):
        raise WrongError("'notes' are not sentences")


def check_files(description: dict[str, Any], named: list[Any]) -> None:
    """Checks all files that a description names, and its list of them."""
    files: set[str] = set()
    for file in named:
        if not _is_inside(file):
            raise WrongError(f"{file!r} is no file of the dataset")
        if file in files:
            raise WrongError(f"{file!r} is named twice")
        files.add(file)
    if "files" in description:
        _check_list(field(description, "files", dict), files)


def field(description: dict[str, Any], name: str, kind: type) -> Any:  # noqa: ANN401
    """A field, which must be there and of this type."""
    if name not in description:
        raise WrongError(f"{name!r} is missing")
    value = description[name]
    if type(value) is not kind:  # a bool is an int to Python
        raise WrongError(f"{name!r} is wrong")
    return value


def _is_inside(file: object) -> bool:
    """Whether a name stays inside the folder: a dataset of a stranger must not lead out of it."""
    return (
        isinstance(file, str)
        and file.isprintable()  # no null character, and nothing that has no bytes
        and file != DESCRIPTION
        and all(part not in ("", ".", "..") for part in file.split("/"))
    )


def _check_list(listed: dict[str, Any], files: set[str]) -> None:
    for file in files:
        if file not in listed:
            raise WrongError(f"{file!r} is not in the list of files")
    for file, entry in listed.items():
        if file not in files:
            raise WrongError(f"{file!r} is in the list of files, but is no file of the dataset")
        if not isinstance(entry, dict):
            raise WrongError(f"{file!r} is wrong in the list of files")
        size, checksum = entry.get("bytes"), entry.get("checksum")
        if type(size) is not int or not 0 <= size < _LIMIT:
            raise WrongError(f"the bytes of {file!r} are wrong")
        if type(checksum) is not str or _CHECKSUM.fullmatch(checksum) is None:
            raise WrongError(f"the checksum of {file!r} is wrong")
