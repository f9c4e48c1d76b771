"""The description file of a dataset, as the arguments of `compile_dataset`.

Paths are relative to the file. Keys have the names and meanings that arguments have; a relation is
one `[[edges]]` with the three names in `relation`. Without `[nodes]`, it is a dataset of one type.
"""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from typing import Any

from graphmount._compile.dataset.splits import read_split
from graphmount._compile.dataset.typed_nodes import Nodes
from graphmount._compile.spec import fields
from graphmount._compile.spec.fields import Field, Reader, SpecFile, near, read_table, shown_keys
from graphmount._compile.spec.toml_lines import find_lines
from graphmount._dataset.typed_description import name_problem, shown_relation
from graphmount._sources.contract.tables import EdgeTable, Table
from graphmount._support.files.regular_files import open_regular
from graphmount._support.shown import shown
from graphmount.errors import SourceError

#: A description is written by hand.
_MOST_BYTES = 1 << 20

_TEXT: dict[str, Reader] = {
    "delimiter": fields.text,
    "header": fields.yes_or_no,
    "comments": fields.text,
    "shape": fields.sizes,
}
_ROWS: dict[str, Reader] = {
    "source": fields.paths,
    "dtype": fields.dtype,
    "key": fields.column,
    "columns": fields.columns,
    "missing": fields.number_or("error"),
    "repeated": fields.choice("error", "first", "last"),
    "nan": fields.number_or("keep", "error"),
    "quantize": fields.choice("column"),
    **_TEXT,
    "source_dtype": fields.text,
    "member": fields.text,
}


def _table(field: Field) -> Table:
    """Rows: a path, paths, or a table with the attributes of a `Table`."""
    if isinstance(field.value, dict):
        return Table(**read_table(field, _ROWS, "a table of rows", required=("source",)))
    return Table(source=fields.paths(field))


def _labels(field: Field) -> Table:
    """Labels, which may also be read as text."""
    as_text = {"dtype": lambda one: one.value if one.value == "str" else fields.dtype(one)}
    if isinstance(field.value, dict):
        return Table(**read_table(field, _ROWS | as_text, "labels", required=("source",)))
    return _table(field)


def _ends(field: Field) -> tuple[str | int, ...] | str:
    """The columns of the two ends of edges; or the member of an archive that has both."""
    if isinstance(field.value, str):
        return field.value
    ends = fields.columns(field)
    if len(ends) != 2:
        field.wrong(f"edges have two ends, and these are {len(ends)} columns")
    return tuple(ends)


_EDGES: dict[str, Reader] = {
    "source": fields.paths,
    "columns": _ends,
    "weights": fields.column_or_array,
    "timestamps": fields.column_or_array,
    **_TEXT,
    "dtype": fields.text,
}
_TABLES = fields.by_name(_table, "tables")


def _split(field: Field) -> Any:  # noqa: ANN401
    """The nodes of a split: a file of ids, or a list of them."""
    if isinstance(field.value, str):
        return fields.path(field)
    if not isinstance(field.value, list):
        field.expected("the path of a file of ids, or a list of ids")
    if any(type(one) not in (int, str) for one in field.value):
        field.wrong("a split has ids: whole numbers, or texts")
    return field.value


def _splits(field: Field) -> Any:  # noqa: ANN401
    """Splits by name; or one column, of another table or of the labels or features."""
    if isinstance(field.value, str):
        return field.value
    if isinstance(field.value, dict) and {"source", "columns"} <= set(field.value):
        return _table(field)
    return fields.by_name(_split, "splits")(field)


def _node_ids(field: Field) -> Any:  # noqa: ANN401
    """The ids of all nodes: a list, or a file with one column of whole numbers."""
    if isinstance(field.value, list):
        if any(type(one) not in (int, str) for one in field.value):
            field.wrong("ids are whole numbers, or texts")
        return field.value
    found = fields.path(field)
    try:
        return read_split(found, "node_ids")
    except SourceError as error:
        field.wrong(str(error).replace("a split", "a file of ids"))


_NODES: dict[str, Reader] = {
    "features": _TABLES,
    "labels": _labels,
    "splits": _splits,
    "timestamps": _table,
    "num_nodes": fields.whole,
    "node_ids": _node_ids,
    "ids": fields.choice("dense", "map"),
}
#: What all datasets have.
_OPTIONS: dict[str, Reader] = {
    "out": fields.new_path,
    "order": fields.choice("hot", "given"),
    "neighbors": fields.choice("both", "in", "out"),
    "ids": fields.choice("dense", "map"),
    "key_type": fields.choice("int", "str"),
    "dedup": fields.choice("first", "sum", True, False),
    "self_loops": fields.choice("keep", "drop"),
    "index_dtype": fields.choice("int32", "int64"),
    "source_rows": fields.yes_or_no,
    "on_error": fields.choice("raise", "skip"),
    "notes": fields.texts,
    "memory": fields.size,
    "tmp": fields.folder,
}


@dataclass(frozen=True, kw_only=True)
class Described:
    """What a description file says.

    Attributes:
        out: The folder to write, if it says so.
        arguments: The arguments of `compile_dataset`.
    """

    out: str | None
    arguments: dict[str, Any]


def read_description_file(path: str | os.PathLike[str]) -> Described:
    """Reads a description file.

    Args:
        path: The file.

    Raises:
        SourceError: It is no TOML, has a key that is not known, or a value of the wrong kind.
        FileNotFoundError: It is not there, or a file that it names is not.
        OSError: It cannot be read.
    """
    name = os.fspath(path)
    root = _read(name)
    read = _read_types(root) if "nodes" in root.value else _read_one_type(root)
    return Described(out=read.pop("out", None), arguments=read)


def _read(path: str) -> Field:
    with open_regular(path) as file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise _no_description(path, f"has more than {_MOST_BYTES:,} bytes")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _no_description(path, f"is no text: byte {error.start} is no UTF-8") from None
    text = text.replace("\r\n", "\n")
    try:
        value = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise _no_description(path, f"is no TOML: {error}") from None
    folder = os.path.dirname(os.path.abspath(path))
    return Field(SpecFile(path=path, folder=folder, lines=find_lines(text)), (), value)


def _no_description(path: str, why: str) -> SourceError:
    error = SourceError(f"{path} {why}; a description of a dataset is a TOML file")
    error.path = path
    return error


def _read_one_type(root: Field) -> dict[str, Any]:
    known: dict[str, Reader] = {
        "edges": _one_relation,
        "edge_features": _TABLES,
        "directed": fields.yes_or_no,
        **{key: reader for key, reader in _NODES.items() if key != "ids"},
        **_OPTIONS,
    }
    if "edges" in root.value and isinstance(root.value["edges"], list):
        edges = root.inside("edges")
        if any(isinstance(one, dict) for one in edges.value):
            edges.wrong("there are relations, and no node types; write [nodes.NAME] for each type")
    return read_table(root, known, "a dataset without [nodes]", required=("edges",))


def _one_relation(field: Field) -> EdgeTable:
    if not isinstance(field.value, dict):
        return EdgeTable(source=fields.paths(field))
    return EdgeTable(**read_table(field, _EDGES, "edges", required=("source",)))


def _read_types(root: Field) -> dict[str, Any]:
    known: dict[str, Reader] = {
        "nodes": fields.by_name(_nodes, "node types"),
        "edges": lambda field: field,
        "reverse": lambda field: field,
        **_OPTIONS,
    }
    read = read_table(root, known, "a dataset of many node types", required=("nodes", "edges"))
    if not read["nodes"]:
        root.inside("nodes").wrong("a dataset has at least one node type")
    relations, tables = _relations(read["edges"], list(read["nodes"]))
    read["edges"] = relations
    if tables:
        read["edge_features"] = tables
    if "reverse" in read:
        read["reverse"] = _reverse(read["reverse"], list(relations))
    return read


def _nodes(field: Field) -> Nodes:
    problem = name_problem(field.keys[-1])
    if problem is not None:
        field.wrong(f"{shown(field.keys[-1])} cannot be a node type: it {problem}")
    return Nodes(**read_table(field, _NODES, "a node type"))


def _relations(field: Field, types: list[str]) -> tuple[dict[Any, EdgeTable], dict[Any, Any]]:
    """The edges and the tables of edges, by relation."""
    if not isinstance(field.value, list) or not field.value:
        field.expected("one [[edges]] for each relation")
    known = {"relation": lambda one: one, "features": _TABLES, **_EDGES}
    edges: dict[Any, EdgeTable] = {}
    tables = {}
    places: dict[Any, Field] = {}
    for place in range(len(field.value)):
        one = field.inside(place)
        read = read_table(one, known, "a relation", required=("relation", "source"))
        relation = _relation(read.pop("relation"), types)
        if relation in edges:
            first = places[relation]
            one.wrong(
                f"the relation {shown_relation(relation)} is there twice, first as "
                f"{shown_keys(first.keys)}; give several files as one list: source = […]"
            )
        places[relation] = one
        own = read.pop("features", None)
        if own:
            tables[relation] = own
        edges[relation] = EdgeTable(**read)
    return edges, tables


def _relation(field: Field, types: list[str] | None = None) -> tuple[str, str, str]:
    names = field.value
    if not isinstance(names, list) or len(names) != 3 or not all(type(n) is str for n in names):
        field.expected("three names: [type of the sources, name, type of the destinations]")
    for place, name in enumerate(names):
        problem = name_problem(name)
        if problem is not None:
            field.inside(place).wrong(f"{shown(name)} {problem}")
    for end in (names[0], names[2]):
        if types is not None and end not in types:
            field.wrong(f"there is no node type {shown(end)}{near(end, types)}")
    return names[0], names[1], names[2]


def _reverse(field: Field, relations: list[Any]) -> Any:  # noqa: ANN401
    if isinstance(field.value, bool) or field.value == "merge":
        return field.value
    if not isinstance(field.value, list):
        field.expected("true, false, 'merge', or a list of relations")
    chosen = [_relation(field.inside(place)) for place in range(len(field.value))]
    for place, relation in enumerate(chosen):
        if relation not in relations:
            there = ", ".join(map(shown_relation, relations))
            field.inside(place).wrong(
                f"there is no relation {shown_relation(relation)}; there are {there}"
            )
    return chosen
