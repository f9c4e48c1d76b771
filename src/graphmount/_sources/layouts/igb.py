"""The folders of IGB: its papers and their citations.

Edges have shape (edges, 2). In the two largest sizes, features and labels are float32 without a
header, though their names end in .npy; their shapes are those that IGB's own loader has for them.
"""

from __future__ import annotations

import os

from graphmount._sources.arrays.npy_files import NPY_MAGIC, open_npy
from graphmount._sources.arrays.stored_bytes import file_size
from graphmount._sources.contract.tables import EdgeTable, Table
from graphmount._sources.layouts.recognition import DatasetLayout
from graphmount._support.files.regular_files import open_regular
from graphmount.errors import SourceError

#: Papers of the sizes whose files have no header: IGB-large and IGB-full.
_HEADERLESS_SIZES = {"large": 100_000_000, "full": 269_346_174}
_NUM_COLUMNS = 1024

_PARTIAL = (
    "Only papers and paper-cites-paper are described; authors, institutes, fields of study and "
    "their edges are left out."
)
_SPLITS = "IGB has no files of splits: its loader takes the first 60 % of the papers for training."


def igb_layout(folder: str) -> DatasetLayout:
    """The papers of IGB."""
    papers = os.path.join(folder, "processed", "paper")
    features = os.path.join(papers, "node_feat.npy")
    labels = os.path.join(papers, "node_label_19.npy")
    more_labels = os.path.join(papers, "node_label_2K.npy")
    notes = [_PARTIAL, _SPLITS]
    if not os.path.exists(labels):
        labels = more_labels
    elif os.path.exists(more_labels):
        notes.append("Labels are of 19 classes; those of 2,983 are in node_label_2K.npy.")
    rows = _rows(features, (_NUM_COLUMNS,)) if os.path.exists(features) else None
    num_nodes = None
    if rows is not None:
        num_nodes = rows.shape[0] if rows.shape else open_npy(features).shape[0]
        if rows.shape:
            notes.append("Features and labels have no header; their shape is IGB's own.")
    return DatasetLayout(
        kind="IGB",
        folder=folder,
        edges=EdgeTable(
            source=os.path.join(folder, "processed", "paper__cites__paper", "edge_index.npy")
        ),
        features=rows,
        labels=_rows(labels, ()) if os.path.exists(labels) else None,
        num_nodes=num_nodes,
        notes=tuple(notes),
    )


def _rows(path: str, row_shape: tuple[int, ...]) -> Table:
    with open_regular(path) as file:
        if file.read(len(NPY_MAGIC)) == NPY_MAGIC:
            return Table(source=path)
    row_bytes = 4 * (row_shape[0] if row_shape else 1)
    for num_rows in _HEADERLESS_SIZES.values():
        if file_size(path) == num_rows * row_bytes:
            return Table(source=path, shape=(num_rows, *row_shape), source_dtype="float32")
    sizes = " or ".join(
        f"{num_rows * row_bytes} ({name})" for name, num_rows in _HEADERLESS_SIZES.items()
    )
    raise SourceError(
        f"{path} has no header, as in IGB's larger sizes, but {file_size(path)} bytes and not "
        f"{sizes}; is it complete? A part of it can be compiled with shape= and dtype='float32'"
    )
