"""`dataset.json` of a dataset of many node types: its fields, and the files that it names.

`node_types` has the types by name, `edge_types` the relations in their order. Every name is checked
as it is when a dataset is compiled: it is a part of paths, and of names that other libraries make.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from graphmount._dataset.description_fields import (
    WrongError,
    check_classes,
    check_columns,
    check_files,
    check_texts,
    count_field,
    field,
    table_names,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from graphmount._dataset.typed.results import EdgeType

#: Of the description.
TYPED_VERSION = 2

_NAME = re.compile(r"\w(?:[\w .-]*[\w-])?")
_LONGEST = 100
_ORDER = re.compile(r"[0-9a-f]{16}")


def name_problem(name: object) -> str | None:
    """Why something cannot be the name of a node type or of a relation; None if it can."""
    if not isinstance(name, str):
        return "is no text"
    if not _NAME.fullmatch(name) or not name.isprintable():
        return "has other characters than letters, digits, '_', '-', '.' and spaces within"
    if "__" in name:
        return "has '__', by which PyG joins the names of a relation"
    if len(name.encode("utf-8", "replace")) > _LONGEST:
        return f"has more than {_LONGEST} bytes"
    return None


def is_typed(description: Mapping[str, Any]) -> bool:
    """Whether a description is one of a dataset of many node types."""
    return description.get("node_types") is not None


def shown_relation(relation: EdgeType) -> str:
    """A relation as messages show it."""
    return "({!r}, {!r}, {!r})".format(*relation)


def relation_of(entry: Mapping[str, Any]) -> EdgeType:
    """The relation that an entry of `edge_types` is of."""
    source, name, destination = entry["relation"]
    return source, name, destination


def typed_files(description: Mapping[str, Any]) -> Iterator[tuple[str, str | None, str]]:
    """The files of a dataset of many types, as (kind, name, file)."""
    for node_type, entry in description["node_types"].items():
        for kind in ("ids", "labels", "timestamps"):
            if entry[kind] is not None:
                yield kind, node_type, entry[kind]
        for kind in ("features", "splits"):
            for name, file in entry[kind].items():
                yield kind, f"{node_type}/{name}", file
    for entry in description["edge_types"]:
        shown = shown_relation(relation_of(entry))
        yield "graph", shown, entry["graph"]
        for name, file in entry["edge_features"].items():
            yield "edge_features", f"{shown}/{name}", file


def check_typed(description: dict[str, Any]) -> dict[str, Any]:
    """Checks all fields of a description of this version.

    Raises:
        WrongError: One is wrong.
    """
    for name, entry in field(description, "node_types", dict).items():
        problem = name_problem(name)
        if problem is not None:
            raise WrongError(f"node type {name!r} {problem}")
        if type(entry) is not dict:
            raise WrongError(f"node type {name!r} is wrong")
        _check_type(entry)
    seen: set[EdgeType] = set()
    for entry in field(description, "edge_types", list):
        if type(entry) is not dict:
            raise WrongError("an entry of 'edge_types' is wrong")
        _check_relation(entry, description["node_types"], seen)
    check_texts(description)
    named = list(typed_files(description))
    check_files(description, [file for _, _, file in named])
    kinds = ("features", "labels", "edge_features")
    check_columns(description, {file for kind, _, file in named if kind in kinds})
    return description


def _check_type(entry: dict[str, Any]) -> None:
    count_field(entry, "num_nodes")
    if not _ORDER.fullmatch(field(entry, "order", str)):
        raise WrongError("'order' of a node type is wrong")
    for kind in ("ids", "labels", "timestamps"):
        if entry.get(kind, "") is not None:
            field(entry, kind, str)
    for kind in ("features", "splits"):
        table_names(entry, kind)
    check_classes(entry)


def _check_relation(entry: dict[str, Any], node_types: dict[str, Any], seen: set[EdgeType]) -> None:
    names = field(entry, "relation", list)
    if len(names) != 3:
        raise WrongError(f"{names!r} is no relation")
    for name in names:
        problem = name_problem(name)
        if problem is not None:
            raise WrongError(f"{name!r} in 'edge_types' {problem}")
    relation = relation_of(entry)
    for end in (relation[0], relation[2]):
        if end not in node_types:
            raise WrongError(f"{end!r} in 'edge_types' is no node type")
    if relation in seen:
        raise WrongError(f"the relation {shown_relation(relation)} is there twice")
    seen.add(relation)
    if entry.get("reverse_of") is not None:
        given = field(entry, "reverse_of", list)
        if len(given) != 3 or given[::2] != [relation[2], relation[0]]:
            raise WrongError(f"{shown_relation(relation)} is no reverse of {given!r}")
        if name_problem(given[1]) is not None:
            raise WrongError(f"{given[1]!r} in 'reverse_of' is no relation")
    count_field(entry, "num_edges")
    field(entry, "graph", str)
    table_names(entry, "edge_features")
