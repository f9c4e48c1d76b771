"""`dataset.json`: the one strict reader of it, and its writer.

Whatever a file of this name contains, reading it takes bounded time and memory. The result is a
description in which every field has the right type, all counts are possible, and every name is that
of a file inside the folder; or a `FormatError` that says what is wrong. Fields that later versions
add are ignored.
"""

from __future__ import annotations

import json
import re
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, NoReturn, cast

from graphmount.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from graphmount._support.files.opened_folder import OpenedFolder

#: The file that makes a folder a dataset.
DESCRIPTION = "dataset.json"
#: Of that file.
VERSION = 1
KIND = "graphmount dataset"

#: A table takes a few hundred bytes, so this is enough for more tables than a process has files.
MOST_BYTES = 4 << 20
_MOST_DEPTH = 32
_MOST_DIGITS = 20
_LIMIT = 2**63
_TABLES = ("features", "edge_features", "splits")
_CHECKSUM = re.compile(r"[0-9a-f]{16}")
_NESTING = re.compile(r'\\.|["\[\]{}]', re.DOTALL)


class _WrongError(ValueError):
    """What is wrong with a description, without where it is."""


def read_description(folder: OpenedFolder) -> dict[str, Any]:
    """What the description in a folder says.

    Args:
        folder: The folder.

    Returns:
        Its fields, all of the right type. `files` is missing in folders of older versions,
        `classes` unless labels were text, and `columns` unless sources had names for columns.

    Raises:
        FileNotFoundError: There is no description.
        FormatError: It is damaged, of another kind or version, or no regular file.
        OSError: It cannot be read.
    """
    return parse_description(
        folder.read_file(DESCRIPTION, most=MOST_BYTES), folder.path_of(DESCRIPTION)
    )


def parse_description(data: bytes, path: str) -> dict[str, Any]:
    """What the bytes of a description say.

    Args:
        data: The bytes.
        path: What messages call the file.

    Raises:
        FormatError: It is damaged, or of another kind or version.
    """
    try:
        description = _parse(data)
        message = _stranger(description)
        if message is None:
            checked = _checked(cast("dict[str, Any]", description))
            _require_text(checked)
            return checked
    except _WrongError as wrong:
        message = f"is damaged: {wrong}; compile the dataset again"
    error = FormatError(f"{path} {message}")
    error.path = path
    raise error


def encode_description(description: Mapping[str, Any]) -> bytes:
    """The bytes of a description; only of one that can be read again.

    Args:
        description: Its fields, without kind and version.

    Raises:
        ValueError: It could not be read again: it is too large, or has names of no files.
    """
    whole = {
        "kind": KIND,
        "version": VERSION,
        "graphmount": version("graphmount"),
        **description,
        # Reserved for graphs with several kinds of nodes and edges, which do not exist yet.
        "node_types": None,
        "edge_types": None,
    }
    data = (json.dumps(whole, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")
    if len(data) > MOST_BYTES:
        raise ValueError(
            f"{DESCRIPTION} would have {len(data):,} bytes, more than {MOST_BYTES:,}: give fewer "
            "or shorter notes=, or fewer tables with shorter names"
        )
    try:
        parse_description(data, DESCRIPTION)
    except FormatError as error:
        raise ValueError(f"{error}".replace("; compile the dataset again", "")) from None
    return data


def named_files(description: Mapping[str, Any]) -> Iterator[tuple[str, str | None, str]]:
    """The files of a dataset, as (kind, name, file); graph and labels have no name.

    Args:
        description: The description.
    """
    yield "graph", None, description["graph"]
    for kind in ("features", "edge_features"):
        for name, file in description[kind].items():
            yield kind, name, file
    if description["labels"] is not None:
        yield "labels", None, description["labels"]
    for name, file in description["splits"].items():
        yield "splits", name, file


def _parse(data: bytes) -> object:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _WrongError(f"it is not UTF-8 at byte {error.start}") from None
    _check_depth(text)
    try:
        return json.loads(
            text, object_pairs_hook=_without_twins, parse_int=_as_int, parse_constant=_refuse
        )
    except _WrongError:
        raise
    except ValueError as error:
        raise _WrongError(f"it is not JSON: {error}") from None


def _require_text(description: object) -> None:
    """Raises for half of a character, which JSON can escape and no file or terminal takes."""
    try:
        json.dumps(description, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise _WrongError("a text in it has half of a surrogate pair") from None


def _check_depth(text: str) -> None:
    """Python's parser calls itself for each level, so its stack would have to hold them."""
    depth, is_text = 0, False
    for match in _NESTING.finditer(text):
        mark = match.group()
        if mark == '"':
            is_text = not is_text
        elif not is_text and mark in "[{":
            depth += 1
            if depth > _MOST_DEPTH:
                raise _WrongError(f"it is nested more than {_MOST_DEPTH} levels deep")
        elif not is_text and mark in "]}":
            depth -= 1


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, value in pairs:
        if name in fields:
            raise _WrongError(f"{name!r} is there twice")
        fields[name] = value
    return fields


def _as_int(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise _WrongError(f"it has a number of {len(digits)} digits")
    return int(digits)


def _refuse(constant: str) -> NoReturn:
    raise _WrongError(f"{constant} is no number of JSON")


def _stranger(description: object) -> str | None:
    """Why a description is not one of ours to read; None if it is."""
    if not isinstance(description, dict) or description.get("kind") != KIND:
        return "does not describe a dataset of graphmount"
    number = description.get("version")
    if type(number) is not int or number != VERSION:
        return (
            f"is of version {number!r}, and this graphmount reads version {VERSION}; "
            "upgrade graphmount, or compile the dataset again"
        )
    for name in ("node_types", "edge_types"):
        if description.get(name) is not None:
            return f"has {name}, which this graphmount does not know; upgrade graphmount"
    return None


def _checked(description: dict[str, Any]) -> dict[str, Any]:
    for name in ("num_nodes", "num_edges"):
        count = _field(description, name, int)
        if not 0 <= count < _LIMIT:
            raise _WrongError(f"{name!r} is {count}, which is no number of things")
    _field(description, "graph", str)
    if description.get("labels", "") is not None:
        _field(description, "labels", str)
    for kind in _TABLES:
        for name in _field(description, kind, dict):
            if not name or not name.isprintable():
                raise _WrongError(f"{name!r} in {kind!r} is no name of a table")
    for name, type_of in (("graphmount", str), ("order", str), ("notes", list)):
        if name in description:
            _field(description, name, type_of)
    if not all(isinstance(note, str) for note in description.get("notes", [])):
        raise _WrongError("'notes' are not sentences")
    _check_classes(description)
    _check_files(description)
    _check_columns(description)
    return description


def _check_classes(description: dict[str, Any]) -> None:
    if "classes" not in description:
        return
    classes = _field(description, "classes", list)
    if description["labels"] is None:
        raise _WrongError("there are 'classes', and no labels")
    for place, name in enumerate(classes):
        if not isinstance(name, str) or not name:
            raise _WrongError(f"item {place} of 'classes' is no text")
    if len(set(classes)) != len(classes):
        raise _WrongError("a text is twice in 'classes'")


def _check_columns(description: dict[str, Any]) -> None:
    if "columns" not in description:
        return
    tables = {file for kind, _, file in named_files(description) if kind not in ("graph", "splits")}
    for file, names in _field(description, "columns", dict).items():
        if file not in tables:
            raise _WrongError(f"'columns' names {file!r}, which is no table of the dataset")
        if type(names) is not list or not all(isinstance(name, str) for name in names):
            raise _WrongError(f"the names of columns of {file!r} are wrong")


def _check_files(description: dict[str, Any]) -> None:
    files: set[str] = set()
    for _, _, file in named_files(description):
        if not _is_inside(file):
            raise _WrongError(f"{file!r} is no file of the dataset")
        if file in files:
            raise _WrongError(f"{file!r} is named twice")
        files.add(file)
    if "files" in description:
        _check_list(_field(description, "files", dict), files)


def _field(description: dict[str, Any], name: str, kind: type) -> Any:  # noqa: ANN401
    if name not in description:
        raise _WrongError(f"{name!r} is missing")
    value = description[name]
    if type(value) is not kind:  # a bool is an int to Python
        raise _WrongError(f"{name!r} is wrong")
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
            raise _WrongError(f"{file!r} is not in the list of files")
    for file, entry in listed.items():
        if file not in files:
            raise _WrongError(f"{file!r} is in the list of files, but is no file of the dataset")
        if not isinstance(entry, dict):
            raise _WrongError(f"{file!r} is wrong in the list of files")
        size, checksum = entry.get("bytes"), entry.get("checksum")
        if type(size) is not int or not 0 <= size < _LIMIT:
            raise _WrongError(f"the bytes of {file!r} are wrong")
        if type(checksum) is not str or _CHECKSUM.fullmatch(checksum) is None:
            raise _WrongError(f"the checksum of {file!r} is wrong")
