"""The folder of MAG240M: its papers and their citations.

Authors and institutions, and the edges that they have, are not described: a graph file has one kind
of nodes.
"""

from __future__ import annotations

import _codecs
import importlib.util
import os
from typing import Any

import numpy as np

from graphmount._sources.arrays.npy_files import open_npy
from graphmount._sources.contract.tables import EdgeTable, Table
from graphmount._sources.layouts.recognition import DatasetLayout, table_at
from graphmount._support.files.regular_files import open_regular

_PARTIAL = (
    "Only papers and paper-cites-paper are described; authors, institutions and their edges are "
    "left out."
)


def mag240m_layout(folder: str) -> DatasetLayout:
    """The papers of MAG240M."""
    papers = os.path.join(folder, "processed", "paper")
    features = os.path.join(papers, "node_feat.npy")
    labels = os.path.join(papers, "node_label.npy")
    splits, split_note = _read_splits(os.path.join(folder, "split_dict.pt"))
    notes = [_PARTIAL]
    if os.path.exists(labels):
        notes.append("Labels are floats; NaN is for papers without one.")
    if os.path.exists(os.path.join(papers, "node_year.npy")):
        notes.append("The years of the papers are in processed/paper/node_year.npy.")
    return DatasetLayout(
        kind="MAG240M",
        folder=folder,
        edges=EdgeTable(
            source=os.path.join(folder, "processed", "paper___cites___paper", "edge_index.npy")
        ),
        features=table_at(features),
        labels=table_at(labels),
        splits=splits,
        num_nodes=open_npy(features).shape[0] if os.path.exists(features) else None,
        notes=(*notes, *([split_note] if split_note else [])),
    )


def _read_splits(path: str) -> tuple[dict[str, Table], str | None]:
    """The arrays of split_dict.pt, and a note if they cannot be read."""
    if not os.path.exists(path):
        return {}, None
    if importlib.util.find_spec("torch") is None:
        return {}, "The splits in split_dict.pt are a file of torch, which is not installed."
    import torch

    # Arrays and nothing else: a pickle could run any code.
    rebuild = np.zeros(0).__reduce__()[0]
    allowed: list[Any] = [(rebuild, f"numpy.{core}.multiarray._reconstruct") for core in _CORES]
    allowed += [np.ndarray, np.dtype, _codecs.encode]
    allowed += [type(np.dtype(kind)) for kind in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")]
    try:
        with torch.serialization.safe_globals(allowed), open_regular(path) as file:
            loaded = torch.load(file, weights_only=True, map_location="cpu")
        splits = {str(name): _as_ids(ids) for name, ids in loaded.items()}
    except Exception as error:  # noqa: BLE001  (whatever torch raises: splits are not essential)
        reason = str(error).partition("\n")[0]
        return {}, f"The splits in split_dict.pt could not be read safely: {reason}"
    return {name: Table(source=ids) for name, ids in splits.items()}, None


#: NumPy 2 has its parts under another name than NumPy 1, which wrote most of these files.
_CORES = ("core", "_core")


def _as_ids(ids: Any) -> np.ndarray[Any, Any]:  # noqa: ANN401
    array = np.asarray(ids)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError(f"a split is not a vector of ids, but {array.dtype} {array.shape}")
    return array
