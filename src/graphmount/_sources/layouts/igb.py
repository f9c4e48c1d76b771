"""The folders of IGB: its papers and their citations, or all of its node types and relations.

Edges have shape (edges, 2). In the two largest sizes, the features of papers and authors, and the
labels, are float32 without a header, though their names end in .npy; their shapes are those that
IGB's own loader has for them.
"""

from __future__ import annotations

import os

from graphmount._sources.arrays.npy_files import NPY_MAGIC, open_npy
from graphmount._sources.arrays.stored_bytes import file_size
from graphmount._sources.contract.tables import EdgeTable, Table
from graphmount._sources.layouts.recognition import DatasetLayout
from graphmount._sources.layouts.typed import (
    NodesLayout,
    TypedLayout,
    all_tables,
    files_of,
    relation_folders,
)
from graphmount._support.files.regular_files import open_regular
from graphmount.errors import SourceError

#: Nodes of the sizes whose files have no header: IGB-large and IGB-full.
_HEADERLESS_SIZES = {
    "paper": {"large": 100_000_000, "full": 269_346_174},
    "author": {"large": 116_959_896, "full": 277_220_883},
}
_NUM_COLUMNS = 1024
#: What all sizes have; the largest have journals and conferences too.
_RELATIONS = (
    ("author", "affiliated_to", "institute"),
    ("paper", "cites", "paper"),
    ("paper", "topic", "fos"),
    ("paper", "written_by", "author"),
)

_PARTIAL = (
    "Only papers and paper-cites-paper are described; authors, institutes, fields of study and "
    "their edges are left out."
)
_SPLITS = "IGB has no files of splits: its loader takes the first 60 % of the papers for training."
_HEADERLESS = "Features and labels have no header; their shape is IGB's own."


def igb_layout(folder: str) -> DatasetLayout:
    """The papers of IGB."""
    rows, num_nodes = _features(folder, "paper")
    labels, label_notes = _labels(folder)
    notes = [_PARTIAL, _SPLITS, *label_notes]
    if rows is not None and rows.shape:
        notes.append(_HEADERLESS)
    return DatasetLayout(
        kind="IGB",
        folder=folder,
        edges=EdgeTable(
            source=os.path.join(folder, "processed", "paper__cites__paper", "edge_index.npy")
        ),
        features=rows,
        labels=labels,
        num_nodes=num_nodes,
        notes=tuple(notes),
    )


def igb_types(folder: str) -> TypedLayout | None:
    """All node types of IGB; None if there are only papers and their citations."""
    relations = relation_folders(os.path.join(folder, "processed"), "__", _RELATIONS)
    if relations is None:
        return None
    names = {end for one in relations for end in (one[0], one[2])}
    labels, notes = _labels(folder)
    notes = [_SPLITS, *notes]
    nodes = {}
    for name in sorted(names, key=lambda name: (name != "paper", name)):
        rows, num_nodes = _features(folder, name)
        own = labels if name == "paper" else None
        nodes[name] = NodesLayout(features=rows, labels=own, num_nodes=num_nodes)
    if any(one.features is not None and one.features.shape for one in nodes.values()):
        notes.append(_HEADERLESS)
    edges = {relation: EdgeTable(source=path) for relation, path in relations.items()}
    return TypedLayout(
        kind="IGB",
        folder=folder,
        nodes=nodes,
        edges=edges,
        files=files_of(folder, all_tables(nodes, edges)),
        notes=tuple(notes),
    )


def _features(folder: str, name: str) -> tuple[Table | None, int | None]:
    """The rows of a node type, if there are any, and how many nodes it has."""
    path = os.path.join(folder, "processed", name, "node_feat.npy")
    if not os.path.exists(path):
        return None, None
    rows = _rows(path, name, (_NUM_COLUMNS,))
    return rows, rows.shape[0] if rows.shape else open_npy(path).shape[0]


def _labels(folder: str) -> tuple[Table | None, list[str]]:
    """The labels of papers, and a note if there are others."""
    papers = os.path.join(folder, "processed", "paper")
    few, many = (os.path.join(papers, f"node_label_{name}.npy") for name in ("19", "2K"))
    notes = []
    if os.path.exists(few) and os.path.exists(many):
        notes.append("Labels are of 19 classes; those of 2,983 are in node_label_2K.npy.")
    chosen = few if os.path.exists(few) else many
    return (_rows(chosen, "paper", ()) if os.path.exists(chosen) else None), notes


def _rows(path: str, name: str, row_shape: tuple[int, ...]) -> Table:
    with open_regular(path) as file:
        if file.read(len(NPY_MAGIC)) == NPY_MAGIC:
            return Table(source=path)
    row_bytes = 4 * (row_shape[0] if row_shape else 1)
    known = _HEADERLESS_SIZES.get(name, {})
    for num_rows in known.values():
        if file_size(path) == num_rows * row_bytes:
            return Table(source=path, shape=(num_rows, *row_shape), source_dtype="float32")
    if not known:
        raise SourceError(
            f"{path} has no header, which only files of papers and authors lack; is it complete?"
        )
    sizes = " or ".join(f"{num_rows * row_bytes} ({size})" for size, num_rows in known.items())
    raise SourceError(
        f"{path} has no header, as in IGB's larger sizes, but {file_size(path)} bytes and not "
        f"{sizes}; is it complete? A part of it can be compiled with shape= and dtype='float32'"
    )
