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

from graphmount._dataset.description_fields import (
    DESCRIPTION,
    WrongError,
    check_classes,
    check_columns,
    check_files,
    check_texts,
    count_field,
    field,
    table_names,
)
from graphmount._dataset.typed_description import (
    TYPED_VERSION,
    check_typed,
    is_typed,
    typed_files,
)
from graphmount.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from graphmount._support.files.opened_folder import OpenedFolder

#: Of that file: of a dataset of one node type, and of one of many.
VERSION = 1
KIND = "graphmount dataset"

#: A table takes a few hundred bytes, so this is enough for more tables than a process has files.
MOST_BYTES = 4 << 20
_MOST_DEPTH = 32
_MOST_DIGITS = 20
_TABLES = ("features", "edge_features", "splits")
_NESTING = re.compile(r'\\.|["\[\]{}]', re.DOTALL)


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
            whole = cast("dict[str, Any]", description)
            checked = check_typed(whole) if whole["version"] == TYPED_VERSION else _checked(whole)
            _require_text(checked)
            return checked
    except WrongError as wrong:
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
        "version": TYPED_VERSION if is_typed(description) else VERSION,
        "graphmount": version("graphmount"),
        **description,
    }
    if not is_typed(description):
        whole |= {"node_types": None, "edge_types": None}  # as readers of version 1 expect
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

    In a dataset of many node types, names are those of types and relations, with that of a table.

    Args:
        description: The description.
    """
    if is_typed(description):
        yield from typed_files(description)
        return
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
        raise WrongError(f"it is not UTF-8 at byte {error.start}") from None
    _check_depth(text)
    try:
        return json.loads(
            text, object_pairs_hook=_without_twins, parse_int=_as_int, parse_constant=_refuse
        )
    except WrongError:
        raise
    except ValueError as error:
        raise WrongError(f"it is not JSON: {error}") from None


def _require_text(description: object) -> None:
    """Raises for half of a character, which JSON can escape and no file or terminal takes."""
    try:
        json.dumps(description, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise WrongError("a text in it has half of a surrogate pair") from None


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
                raise WrongError(f"it is nested more than {_MOST_DEPTH} levels deep")
        elif not is_text and mark in "]}":
            depth -= 1


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, value in pairs:
        if name in fields:
            raise WrongError(f"{name!r} is there twice")
        fields[name] = value
    return fields


def _as_int(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise WrongError(f"it has a number of {len(digits)} digits")
    return int(digits)


def _refuse(constant: str) -> NoReturn:
    raise WrongError(f"{constant} is no number of JSON")


def _stranger(description: object) -> str | None:
    """Why a description is not one of ours to read; None if it is."""
    if not isinstance(description, dict) or description.get("kind") != KIND:
        return "does not describe a dataset of graphmount"
    number = description.get("version")
    if type(number) is not int or number not in (VERSION, TYPED_VERSION):
        return (
            f"is of version {number!r}, and this graphmount reads versions {VERSION} and "
            f"{TYPED_VERSION}; upgrade graphmount, or compile the dataset again"
        )
    if number == TYPED_VERSION:
        return None
    for name in ("node_types", "edge_types"):
        if description.get(name) is not None:
            return f"has {name}, which this graphmount does not know; upgrade graphmount"
    return None


def _checked(description: dict[str, Any]) -> dict[str, Any]:
    for name in ("num_nodes", "num_edges"):
        count_field(description, name)
    field(description, "graph", str)
    if description.get("labels", "") is not None:
        field(description, "labels", str)
    for kind in _TABLES:
        table_names(description, kind)
    check_texts(description)
    check_classes(description)
    named = list(named_files(description))
    check_files(description, [file for _, _, file in named])
    check_columns(description, {file for kind, _, file in named if kind not in ("graph", "splits")})
    return description
