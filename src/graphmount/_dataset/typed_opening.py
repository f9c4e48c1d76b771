"""Opening all files of a dataset of many node types, and checking that they belong together.

Each node type has a number of nodes and the fingerprint of their order, which includes the name of
the type. Tables, ids and relations have them too, so that no file can take the place of another.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphmount import _core
from graphmount._dataset.description import MOST_BYTES, parse_description
from graphmount._dataset.description_fields import DESCRIPTION
from graphmount._dataset.opening import (
    ORDER_FIELD,
    ROWS_FIELD,
    Mismatch,
    open_whole,
    unlisted_files,
    wrong_split,
)
from graphmount._dataset.spaces.node_id_store import NodeIdStore
from graphmount._dataset.typed_description import (
    is_typed,
    relation_of,
    shown_relation,
    typed_files,
)
from graphmount._mount.features import FeatureStore
from graphmount._mount.graph import Graph
from graphmount._support.files.regular_files import open_regular
from graphmount.errors import FormatError, OrderError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from graphmount._mount.handle import Advice, Content, Handle
    from graphmount._support.files.opened_folder import OpenedFolder

#: Where the header of a rectangular graph has what concerns its sources.
_SOURCES_FIELD = 72
_SOURCE_ORDER_FIELD = 80


@dataclass(frozen=True, kw_only=True)
class TypedFiles:
    """What is in the folder of a dataset of many node types.

    Attributes:
        path: The folder.
        description: What its description says.
        handles: All files, by their path from the folder on.
        advice: How they will be used.
    """

    path: str
    description: dict[str, Any]
    handles: dict[str, Handle[Any]]
    advice: Advice = "auto"

    def contents(self) -> dict[str, Content]:
        """What identifies each file, by its path; and the names of classes."""
        contents = {file: handle._content for file, handle in self.handles.items()}  # noqa: SLF001
        for name, entry in self.description["node_types"].items():
            if "classes" in entry:
                names = json.dumps(entry["classes"]).encode()
                digest = hashlib.blake2b(names, digest_size=8).digest()
                contents[f"classes of {name!r}"] = (len(names), int.from_bytes(digest, "little"))
        return contents


def handle_type(kind: str) -> type[Graph | FeatureStore | NodeIdStore]:
    """What opens a file of a dataset, by what it is in it."""
    return {"graph": Graph, "ids": NodeIdStore}.get(kind, FeatureStore)


def plain_orders(description: Mapping[str, Any]) -> frozenset[int]:
    """The orders of types that the source numbers as the dataset does: any integers will do."""
    entries = description["node_types"].values()
    return frozenset(int(entry["order"], 16) for entry in entries if entry["ids"] is None)


def open_typed_files(path: str | os.PathLike[str], *, advice: Advice) -> TypedFiles:
    """Opens the files of a dataset of many node types.

    Args:
        path: The folder.
        advice: How its files will be used.

    Raises:
        FileNotFoundError: There is no such folder, it is no dataset, or a file is missing.
        FormatError: The description or a file is damaged, or it is a dataset of one node type.
        OrderError: A file is not of the nodes that it should be.
        DatasetChangedError: The folder was replaced meanwhile, or a file is not the one listed.
        OSError: A file cannot be read.
    """

    def open_all(folder: OpenedFolder, description: dict[str, Any]) -> TypedFiles:
        if not is_typed(description):
            raise FormatError(f"{folder.path} is a dataset of one node type; open it with Dataset")
        plain = plain_orders(description)
        handles: dict[str, Handle[Any]] = {}
        for kind, _, file in typed_files(description):
            handle = handle_type(kind)._open_inside(folder, file, advice=advice)  # noqa: SLF001
            handle._plain_orders = plain  # noqa: SLF001
            handles[file] = handle
        for mismatch in typed_mismatches(handles, description):
            raise mismatch.error
        return TypedFiles(path=folder.path, description=description, handles=handles, advice=advice)

    return open_whole(path, open_all)


def is_typed_folder(path: str | os.PathLike[str]) -> bool:
    """Whether there is a dataset of many node types at a path; False also if nothing is there."""
    try:
        file = os.path.join(os.fsdecode(path), DESCRIPTION)
        with open_regular(file) as opened:
            return is_typed(parse_description(opened.read(MOST_BYTES), file))
    except (OSError, FormatError, TypeError, ValueError):
        return False  # whoever opens it says what is wrong


def typed_mismatches(
    handles: Mapping[str, Handle[Any]], description: dict[str, Any]
) -> Iterator[Mismatch]:
    """All files of a dataset that are not listed so, or not of their id space.

    Args:
        handles: Those files that could be opened, by their path from the folder on.
        description: The description.
    """
    files = (file for _, _, file in typed_files(description))
    yield from unlisted_files(files, handles, description)
    for name, entry in description["node_types"].items():
        yield from _wrong_files_of_type(name, entry, handles)
    for entry in description["edge_types"]:
        yield from _wrong_files_of_relation(entry, description["node_types"], handles)


def _wrong_files_of_type(
    name: str, entry: dict[str, Any], handles: Mapping[str, Handle[Any]]
) -> Iterator[Mismatch]:
    count, order = entry["num_nodes"], int(entry["order"], 16)
    if entry["ids"] is None and order != _core.typed_order(name):
        wrong = OrderError(
            f"node type {name!r} has the order of another type ({order:#x}): the description was "
            "changed; compile the dataset again"
        )
        yield Mismatch(file="dataset.json", offset=0, error=wrong)
    tables = [entry["ids"], entry["labels"], entry["timestamps"], *entry["features"].values()]
    for file in tables:
        handle = handles.get(file) if file is not None else None
        if handle is None:
            continue
        rows = handle.num_nodes if isinstance(handle, NodeIdStore) else len(handle)  # type: ignore[arg-type]
        if rows != count:
            short = OrderError(
                f"{handle.path} has {rows} rows, but there are {count} nodes of type {name!r}"
            )
            yield Mismatch(file=file, offset=ROWS_FIELD, error=short)
        elif handle.order != order:
            other = OrderError(
                f"{handle.path} has its rows in the order of other nodes ({handle.order:#x}) than "
                f"those of type {name!r} ({order:#x}); compile the dataset again"
            )
            yield Mismatch(file=file, offset=ORDER_FIELD, error=other)
    times = handles.get(entry["timestamps"])
    if isinstance(times, FeatureStore) and (
        times.shape[1:] not in ((), (1,)) or str(times.dtype) != "int64"
    ):
        no_times = FormatError(
            f"{times.path} has no times of nodes: it has the shape {times.shape} and dtype "
            f"{times.dtype}, where times are a vector of int64; compile the dataset again"
        )
        yield Mismatch(file=entry["timestamps"], offset=ROWS_FIELD, error=no_times)
    for split, file in entry["splits"].items():
        store = handles.get(file)
        if isinstance(store, FeatureStore):
            yield from wrong_split(split, file, store)


def _wrong_files_of_relation(
    entry: dict[str, Any], node_types: dict[str, Any], handles: Mapping[str, Handle[Any]]
) -> Iterator[Mismatch]:
    relation = relation_of(entry)
    graph = handles.get(entry["graph"])
    if isinstance(graph, Graph):
        yield from _wrong_graph(relation, entry, graph, node_types)
    for file in entry["edge_features"].values():
        store = handles.get(file)
        if isinstance(store, FeatureStore) and len(store) != entry["num_edges"]:
            short = OrderError(
                f"{store.path} has {len(store)} rows, but {shown_relation(relation)} has "
                f"{entry['num_edges']} edges"
            )
            yield Mismatch(file=file, offset=ROWS_FIELD, error=short)


def _wrong_graph(
    relation: tuple[str, str, str], entry: dict[str, Any], graph: Graph, node_types: dict[str, Any]
) -> Iterator[Mismatch]:
    source, destination = node_types[relation[0]], node_types[relation[2]]
    shown = shown_relation(relation)

    def wrong(offset: int, message: str) -> Mismatch:
        error = OrderError(f"{graph.path}, of {shown}, {message}; compile the dataset again")
        return Mismatch(file=entry["graph"], offset=offset, error=error)

    if graph.is_rectangular != (relation[0] != relation[2]):
        kind = "two node types" if graph.is_rectangular else "one node type"
        yield wrong(32, f"is a graph of {kind}, and the relation is not")
        return
    if graph.num_edges != entry["num_edges"]:
        yield wrong(48, f"has {graph.num_edges} edges instead of {entry['num_edges']}")
    for end, count, order, found_count, found_order, fields in (
        ("destinations", destination["num_nodes"], int(destination["order"], 16),
         graph.num_destinations, graph.order, (ROWS_FIELD, ORDER_FIELD)),
        ("sources", source["num_nodes"], int(source["order"], 16),
         graph.num_sources, graph.source_order, (_SOURCES_FIELD, _SOURCE_ORDER_FIELD)),
    ):  # fmt: skip
        if found_count != count:
            yield wrong(fields[0], f"has {found_count} {end}, but the type has {count} nodes")
        elif found_order != order:
            yield wrong(
                fields[1],
                f"has {end} in the order of other nodes ({found_order:#x} and {order:#x})",
            )
