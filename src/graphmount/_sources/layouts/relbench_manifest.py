"""`manifest.yaml` of a RelBench folder: its tables, with their keys and time columns.

Version 3 of RelBench writes it: the names of tables, and for each its primary key, its foreign keys
and its time column, where it has them. The file may come from a stranger: only plain YAML is read,
without anchors, and every name is checked before it becomes a path.
"""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from graphmount._support.files.regular_files import open_regular
from graphmount._support.shown import shown
from graphmount.errors import SourceError

_MOST_BYTES = 1 << 20
#: Of the manifest, not of RelBench.
_VERSION = 1
_NAME = re.compile(r"\w[\w .-]*")


@dataclass(frozen=True, kw_only=True)
class TableManifest:
    """A table of the database.

    Attributes:
        pkey: The column of its primary key, if it has one.
        time_col: The column of the times of its rows, if it has one.
        fkeys: The table that each column of foreign keys refers to.
    """

    pkey: str | None
    time_col: str | None
    fkeys: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What the manifest says.

    Attributes:
        name: The name of the dataset.
        val_timestamp: Where the time of validation begins, as text.
        test_timestamp: Where the time of testing begins, as text.
        tables: The tables, by name.
    """

    name: str
    val_timestamp: str
    test_timestamp: str
    tables: dict[str, TableManifest]


def read_manifest(path: str) -> Manifest:
    """Reads the manifest of a dataset.

    Args:
        path: The file.

    Raises:
        ImportError: PyYAML is not installed.
        SourceError: It is no manifest that is known.
    """
    content = read_yaml(path)
    version = content.get("manifest_version", _VERSION)
    if version != _VERSION:
        _wrong(path, f"is of version {shown(version)}, and version {_VERSION} is known")
    tables = content.get("tables")
    if not isinstance(tables, dict) or not tables:
        _wrong(path, "names no tables")
    read = {_name(name, path): _read_table(name, entry, path) for name, entry in tables.items()}
    for name, table in read.items():
        for column, other in table.fkeys.items():
            if other not in read:
                _wrong(path, f"has a foreign key {column!r} of {name!r} to no table: {other!r}")
            if read[other].pkey is None:
                _wrong(
                    path,
                    f"has a foreign key {column!r} of {name!r} to {other!r}, which has no primary "
                    "key",
                )
    return Manifest(
        name=str(content.get("name", "")),
        val_timestamp=str(content.get("val_timestamp", "")),
        test_timestamp=str(content.get("test_timestamp", "")),
        tables=read,
    )


def read_yaml(path: str) -> dict[str, Any]:
    """A small YAML file that has a mapping.

    Raises:
        ImportError: PyYAML is not installed; the message says how to.
        SourceError: It is no YAML, or no mapping.
    """
    try:
        yaml = importlib.import_module("yaml")
    except ImportError as error:
        raise ImportError(
            "the manifest of RelBench is YAML, and this needs PyYAML; install it with: pip install "
            "'graphmount[relbench]'"
        ) from error
    with open_regular(path) as file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        _wrong(path, f"has more than {_MOST_BYTES:,} bytes")
    try:
        for event in yaml.parse(data, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):
                _wrong(path, "has an alias, which no manifest has")
        content = yaml.load(data, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        if isinstance(error, SourceError):
            raise
        reason = " ".join(str(error).split())[:300]
        _wrong(path, f"is no YAML: {reason}")
    if not isinstance(content, dict):
        _wrong(path, "has no keys")
    return content


def _read_table(name: object, entry: object, path: str) -> TableManifest:
    if not isinstance(entry, dict):
        _wrong(path, f"says nothing of the table {shown(name)}")
    fkeys = entry.get("fkeys") or {}
    if not isinstance(fkeys, dict):
        _wrong(path, f"has foreign keys of {shown(name)} that are none")
    return TableManifest(
        pkey=_column(entry.get("pkey"), path),
        time_col=_column(entry.get("time_col"), path),
        fkeys={_name(column, path): _name(other, path) for column, other in fkeys.items()},
    )


def _column(name: object, path: str) -> str | None:
    if name is not None and not isinstance(name, str):
        _wrong(path, f"names the column {shown(name)}, which is no text")
    return name


def _name(name: object, path: str) -> str:
    """A name of a table or a relation, which becomes one of a file."""
    if not isinstance(name, str) or not _NAME.fullmatch(name) or not name.isprintable():
        _wrong(path, f"has the name {shown(name)}, which cannot be that of a table or a relation")
    return name


def _wrong(path: str, message: str) -> NoReturn:
    error = SourceError(f"{path} {message}; get the dataset anew")
    error.path = path
    raise error
