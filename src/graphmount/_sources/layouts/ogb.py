"""Folders of OGB's datasets of nodes and of links.

ogbn-arxiv, ogbn-products and ogbn-proteins are compressed text without headers, ogbn-papers100M is
two archives of NumPy. OGB's loader adds the inverse of each edge to products and proteins, so these
are undirected; arxiv and papers100M are left as they are. Datasets of links are text as well, and
their edges are those to train on; of them, collab, ppa and ddi are undirected. The links to predict
are files of torch, which are left to OGB.
"""

from __future__ import annotations

import os

from graphmount._sources.arrays.npz_files import NpzFile
from graphmount._sources.contract.tables import EdgeTable, Table
from graphmount._sources.layouts.recognition import DatasetLayout, table_at
from graphmount._sources.layouts.small_files import rows_at, splits_at, unpack
from graphmount._support.shown import shown
from graphmount.errors import SourceError

#: The name of the split tells the dataset: by sales rank products, by species proteins.
_INVERSE_ADDED = ("sales_ranking", "species")
#: The same for datasets of links: ppa and ddi. Both collab and citation2 are split by time.
_LINK_INVERSE_ADDED = ("throughput", "target")

_MANY_KINDS = (
    "raw/triplet-type-list.csv.gz",
    "raw/num-node-dict.csv.gz",
    "raw/edge_index_dict.npz",
    "raw/num_nodes_dict.npz",
)


def refuse_kinds(folder: str) -> None:
    """Raises if the dataset has several kinds of nodes, as ogbn-mag."""
    for name in _MANY_KINDS:
        if os.path.exists(os.path.join(folder, name)):
            raise SourceError(
                f"{folder} has several kinds of nodes and edges ({name} is there), as ogbn-mag; a "
                "graph file has one: compile a relation by itself, such as "
                "raw/relations/paper___cites___paper/edge.csv.gz"
            )


def ogb_layout(folder: str) -> DatasetLayout:
    """A dataset of text, as ogbn-arxiv."""
    raw = os.path.join(folder, "raw")
    numbers = _read_numbers(os.path.join(raw, "num-node-list.csv.gz"))
    if len(numbers) != 1:
        raise SourceError(
            f"{folder} has {len(numbers)} graphs, as OGB's datasets of molecules; a graph file has "
            "one"
        )
    splits, scheme = _splits(folder)
    link_scheme = None if splits else _link_scheme(folder)
    directed = scheme not in _INVERSE_ADDED and link_scheme not in _LINK_INVERSE_ADDED
    has_weights = os.path.exists(os.path.join(raw, "edge_weight.csv.gz"))
    if link_scheme == "time" and has_weights:
        directed = False  # collab
    notes = []
    if not directed:
        notes.append("Each edge is stored once; OGB adds its inverse, so the graph is undirected.")
    if link_scheme is not None:
        notes.append(
            "Edges are those to train on. The links to predict are left to OGB's get_edge_split; "
            "their ends are ids of the source (ids='external')."
        )
    if has_weights:
        notes.append("Weights and years of edges (raw/edge_weight.csv.gz, …) are left out.")
    if directed and scheme not in (None, "time"):
        notes.append(f"The split {scheme!r} is of no dataset that is known; edges are left as is.")
    if os.path.exists(os.path.join(raw, "edge-feat.csv.gz")):
        notes.append("Features of edges (raw/edge-feat.csv.gz) are not part of this description.")
    return DatasetLayout(
        kind="OGB",
        folder=folder,
        edges=EdgeTable(source=os.path.join(raw, "edge.csv.gz"), delimiter=",", header=False),
        features=rows_at(os.path.join(raw, "node-feat.csv.gz"), "float32"),
        labels=rows_at(os.path.join(raw, "node-label.csv.gz"), "int64"),
        splits=splits,
        num_nodes=numbers[0],
        directed=directed,
        notes=tuple(notes),
    )


def ogb_archive_layout(folder: str) -> DatasetLayout:
    """A dataset of archives, as ogbn-papers100M."""
    path = os.path.join(folder, "raw", "data.npz")
    archive = NpzFile(path)
    archive.require("edge_index")
    num_nodes = None
    if "num_nodes_list" in archive:
        numbers = archive.counts("num_nodes_list")
        if len(numbers) != 1:
            raise SourceError(f"{folder} has {len(numbers)} graphs; a graph file has one")
        num_nodes = numbers[0]
    labels = os.path.join(folder, "raw", "node-label.npz")
    notes = ["OGB does not add inverse edges to this dataset, so the graph is directed."]
    if os.path.exists(labels):
        notes.append("Labels are floats; NaN is for papers without one.")
    if "node_year" in archive:
        notes.append("The years of the papers are the member 'node_year' of raw/data.npz.")
    return DatasetLayout(
        kind="OGB",
        folder=folder,
        edges=EdgeTable(source=path, columns="edge_index"),
        features=Table(source=path, member="node_feat") if "node_feat" in archive else None,
        labels=table_at(labels, member="node_label"),
        splits=_splits(folder)[0],
        num_nodes=num_nodes,
        notes=tuple(notes),
    )


def _splits(folder: str) -> tuple[dict[str, Table], str | None]:
    """The splits, and the name of the scheme by which they were made."""
    parent = os.path.join(folder, "split")
    schemes = sorted(os.listdir(parent)) if os.path.isdir(parent) else []
    for scheme in schemes:
        if splits := splits_at(os.path.join(parent, scheme)):
            return splits, scheme
    return {}, None


def _link_scheme(folder: str) -> str | None:
    """The name of the scheme by which links were split; None if they were not."""
    parent = os.path.join(folder, "split")
    schemes = sorted(os.listdir(parent)) if os.path.isdir(parent) else []
    is_there = (os.path.exists(os.path.join(parent, scheme, "train.pt")) for scheme in schemes)
    return next((scheme for scheme, there in zip(schemes, is_there, strict=True) if there), None)


def _read_numbers(path: str) -> list[int]:
    """The numbers of a small file, one on each line."""
    words = unpack(path).split()
    for word in words:
        if not word.isdigit() or len(word) > 18:
            raise SourceError(
                f"{path} does not hold numbers of nodes, but {shown(word)}; get the file anew"
            )
    return [int(word) for word in words]
