"""Folders of OGB's datasets with several node types, as ogbn-mag: compressed text without headers.

Three small files have a header: the numbers of nodes, and which types have labels and splits.
"""

from __future__ import annotations

import csv
import io
import os

from graphmount._sources.contract.tables import EdgeTable
from graphmount._sources.layouts.small_files import rows_at, splits_at, unpack
from graphmount._sources.layouts.typed import (
    NodesLayout,
    Triplet,
    TypedLayout,
    all_tables,
    files_of,
)
from graphmount._support.shown import shown
from graphmount.errors import SourceError

_MOST_DIGITS = 18


def ogb_types(folder: str) -> TypedLayout:
    """A dataset of text with several node types, as ogbn-mag."""
    raw = os.path.join(folder, "raw")
    counts = _counts(os.path.join(raw, "num-node-dict.csv.gz"))
    triplets = _triplets(os.path.join(raw, "triplet-type-list.csv.gz"), counts)
    scheme = _scheme(folder)
    nodes = {}
    for name, count in counts.items():
        own = os.path.join(raw, "node-feat", name)
        nodes[name] = NodesLayout(
            features=rows_at(os.path.join(own, "node-feat.csv.gz"), "float32"),
            labels=rows_at(os.path.join(raw, "node-label", name, "node-label.csv.gz"), "int64"),
            timestamps=rows_at(os.path.join(own, "node_year.csv.gz"), "int64"),
            splits={} if scheme is None else splits_at(os.path.join(scheme, name)),
            num_nodes=count,
        )
    edges = {}
    for triplet in triplets:
        path = os.path.join(raw, "relations", "___".join(triplet), "edge.csv.gz")
        if not os.path.exists(path):
            raise SourceError(
                f"{path} is missing, though raw/triplet-type-list.csv.gz names its relation; get "
                "the dataset anew"
            )
        edges[triplet] = EdgeTable(source=path, delimiter=",", header=False)
    with_years = [name for name, one in nodes.items() if one.timestamps is not None]
    notes = [f"Years of {name} nodes are their times." for name in with_years]
    return TypedLayout(
        kind="OGB",
        folder=folder,
        nodes=nodes,
        edges=edges,
        files=(
            "raw/num-node-dict.csv.gz",
            "raw/triplet-type-list.csv.gz",
            *files_of(folder, all_tables(nodes, edges)),
        ),
        notes=tuple(notes),
    )


def _scheme(folder: str) -> str | None:
    """The folder of the splits; that of the scheme by which they were made."""
    parent = os.path.join(folder, "split")
    for scheme in sorted(os.listdir(parent)) if os.path.isdir(parent) else []:
        path = os.path.join(parent, scheme)
        if os.path.isdir(path):
            return path
    return None


def _counts(path: str) -> dict[str, int]:
    """How many nodes each type has: a line of names, and one of numbers."""
    rows = _read(path)
    if len(rows) != 2 or len(rows[0]) != len(rows[1]) or len(set(rows[0])) != len(rows[0]):
        more = " of several graphs" if len(rows) > 2 else ""
        raise SourceError(
            f"{path} does not have a line of names and one of numbers{more}; get the file anew"
        )
    for text in rows[1]:
        if not text.isdecimal() or len(text) > _MOST_DIGITS:
            raise SourceError(
                f"{path} does not hold numbers of nodes, but {shown(text)}; get the file anew"
            )
    return {_name(name, path): int(text) for name, text in zip(*rows, strict=True)}


def _triplets(path: str, types: dict[str, int]) -> list[Triplet]:
    """The relations, in OGB's order, which is that of their names."""
    found = set()
    for row in _read(path):
        if len(row) != 3:
            raise SourceError(f"{path} does not hold relations, but {shown(row)}")
        source, name, destination = (_name(one, path) for one in row)
        for end in (source, destination):
            if end not in types:
                raise SourceError(
                    f"{path} names the node type {shown(end)}, which num-node-dict.csv.gz has not"
                )
        found.add((source, name, destination))
    if not found:
        raise SourceError(f"{path} names no relation; get the file anew")
    return sorted(found)


def _name(name: str, path: str) -> str:
    """A name that is one of a folder as well."""
    if not name or name in (".", "..") or any(mark in name for mark in "/\\\0"):
        raise SourceError(f"{path}: {shown(name)} cannot be the name of a node type or a relation")
    return name


def _read(path: str) -> list[list[str]]:
    """The rows of a small file."""
    try:
        text = unpack(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise SourceError(f"{path} is no text: {error}; get the file anew") from error
    return [row for row in csv.reader(io.StringIO(text)) if row]
