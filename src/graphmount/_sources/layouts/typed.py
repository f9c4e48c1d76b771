"""Folders of known datasets with several node types: which file of them is what.

`find_typed_layout` looks at names and at a few small files, as `find_layout` does.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from graphmount._sources.contract.tables import EdgeTable, Table

#: The type of the sources, the name, and the type of the destinations.
Triplet: TypeAlias = tuple[str, str, str]


@dataclass(frozen=True, kw_only=True)
class NodesLayout:
    """What a folder has of one node type.

    Attributes:
        features: Rows of features, if there are any.
        labels: Labels, if there are any, as they are.
        timestamps: Times, if there are any.
        splits: Ids of nodes by the name of the split.
        num_nodes: How many nodes there are, if a file says so.
    """

    features: Table | None = None
    labels: Table | None = None
    timestamps: Table | None = None
    splits: Mapping[str, Table] = field(default_factory=dict)
    num_nodes: int | None = None


@dataclass(frozen=True, kw_only=True)
class TypedLayout:
    """What a folder of a known dataset with several node types holds.

    Attributes:
        kind: Which collection it is of: "OGB", "MAG240M", "IGB" or "RelBench".
        folder: The folder.
        nodes: The node types, by name.
        edges: The edges, by relation.
        is_turned: Whether the dataset's own library always has both directions of each relation.
        files: All files that are read, from the folder on.
        notes: What one should know, in whole sentences.
    """

    kind: str
    folder: str
    nodes: dict[str, NodesLayout]
    edges: dict[Triplet, EdgeTable]
    is_turned: bool = False
    files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def find_typed_layout(folder: str | os.PathLike[str]) -> TypedLayout | None:
    """Recognises the folder of a dataset with several node types.

    Args:
        folder: The folder, as the dataset's own library made it.

    Returns:
        What it has; None if it has one node type, or is of no known layout.

    Raises:
        NotADirectoryError, FileNotFoundError: It is not a folder.
        SourceError: A file is missing or damaged.
        ImportError: A library is needed that is not installed.
    """
    from graphmount._sources.layouts.igb import igb_types
    from graphmount._sources.layouts.mag240m import mag240m_types
    from graphmount._sources.layouts.ogb_types import ogb_types
    from graphmount._sources.layouts.relbench import relbench_layout

    path = os.fspath(folder)
    os.listdir(path)  # or the error that Python has for it

    def has(name: str) -> bool:
        return os.path.exists(os.path.join(path, name))

    if has("manifest.yaml") and has("db"):
        return relbench_layout(path)
    if has("raw/triplet-type-list.csv.gz") and has("raw/num-node-dict.csv.gz"):
        return ogb_types(path)
    if has("processed/paper___cites___paper/edge_index.npy"):
        return mag240m_types(path)
    if has("processed/paper__cites__paper/edge_index.npy"):
        return igb_types(path)
    return None


def files_of(folder: str, tables: Iterator[Table | EdgeTable | None]) -> tuple[str, ...]:
    """The files of these tables, from the folder on, each once."""
    paths = [table.source for table in tables if table is not None]
    found = [os.path.relpath(path, folder) for path in paths if isinstance(path, str)]
    return tuple(dict.fromkeys(found))


def all_tables(
    nodes: Mapping[str, NodesLayout], edges: Mapping[Triplet, EdgeTable]
) -> Iterator[Table | EdgeTable | None]:
    """All tables of a layout."""
    yield from edges.values()
    for one in nodes.values():
        yield from (one.features, one.labels, one.timestamps, *one.splits.values())


def relation_folders(
    parent: str, mark: str, expected: tuple[Triplet, ...]
) -> dict[Triplet, str] | None:
    """The files of relations in a folder, whose folders have three names with a mark between them.

    Args:
        parent: The folder.
        mark: What is between the names.
        expected: The relations that every such dataset has.

    Returns:
        `edge_index.npy` of each, in the order of their names; None if they are all within one type.

    Raises:
        SourceError: One is missing.
    """
    found = {}
    for name in sorted(os.listdir(parent)):
        names = name.split(mark)
        if len(names) == 3 and all(names):
            triplet = names[0], names[1], names[2]
            found[triplet] = os.path.join(parent, name, "edge_index.npy")
    if len({end for triplet in found for end in triplet[::2]}) < 2:
        return None
    for triplet in (*expected, *found):
        path = os.path.join(parent, mark.join(triplet), "edge_index.npy")
        if not os.path.exists(path):
            raise SourceError(
                f"{path} is missing: a relation of this dataset; get it anew, or take the papers "
                "and their citations alone"
            )
    return found
