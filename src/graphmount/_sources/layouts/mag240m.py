"""The folder of MAG240M: its papers and their citations, or all of its node types and relations.

The numbers of authors and institutions, and the splits, are in two small files of torch.
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
from graphmount._sources.layouts.typed import (
    NodesLayout,
    TypedLayout,
    all_tables,
    files_of,
    relation_folders,
)
from graphmount._support.files.regular_files import open_regular

_PARTIAL = (
    "Only papers and paper-cites-paper are described; authors, institutions and their edges are "
    "left out."
)
_RELATIONS = (
    ("author", "affiliated_with", "institution"),
    ("author", "writes", "paper"),
    ("paper", "cites", "paper"),
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


def mag240m_types(folder: str) -> TypedLayout | None:
    """All node types of MAG240M; None if there are only papers and their citations."""
    relations = relation_folders(os.path.join(folder, "processed"), "___", _RELATIONS)
    if relations is None:
        return None
    names = {end for one in relations for end in (one[0], one[2])}
    papers = os.path.join(folder, "processed", "paper")
    features = os.path.join(papers, "node_feat.npy")
    splits, split_note = _read_splits(os.path.join(folder, "split_dict.pt"))
    counts, count_note = _read_counts(os.path.join(folder, "meta.pt"))
    nodes = {}
    for name in sorted(names, key=lambda name: (name != "paper", name)):
        if name != "paper":
            nodes[name] = NodesLayout(num_nodes=counts.get(name))
            continue
        nodes[name] = NodesLayout(
            features=table_at(features),
            labels=table_at(os.path.join(papers, "node_label.npy")),
            timestamps=table_at(os.path.join(papers, "node_year.npy")),
            splits=splits,
            num_nodes=counts.get(name),
        )
    notes = []
    if nodes["paper"].labels is not None:
        notes.append("Labels are floats; NaN is for papers without one.")
    if nodes["paper"].timestamps is not None:
        notes.append("The years of papers are their times.")
    notes += [note for note in (split_note, count_note) if note is not None]
    edges = {relation: EdgeTable(source=path) for relation, path in relations.items()}
    small = [name for name in ("meta.pt", "split_dict.pt") if os.path.exists(f"{folder}/{name}")]
    return TypedLayout(
        kind="MAG240M",
        folder=folder,
        nodes=nodes,
        edges=edges,
        files=(*small, *files_of(folder, all_tables(nodes, edges))),
        notes=tuple(notes),
    )


def _read_counts(path: str) -> tuple[dict[str, int], str | None]:
    """The numbers of nodes in meta.pt, and a note if they cannot be read."""
    instead = "The largest ids in edges say how many authors and institutions there are."
    if not os.path.exists(path):
        return {}, f"There is no meta.pt. {instead}"
    loaded, problem = _load(path)
    if problem is not None:
        return {}, f"The numbers in meta.pt {problem} {instead}"
    counts = loaded if isinstance(loaded, dict) else {}
    return {
        str(name): count for name, count in counts.items() if type(count) is int and count >= 0
    }, None


def _read_splits(path: str) -> tuple[dict[str, Table], str | None]:
    """The arrays of split_dict.pt, and a note if they cannot be read."""
    if not os.path.exists(path):
        return {}, None
    loaded, problem = _load(path)
    if problem is not None:
        return {}, f"The splits in split_dict.pt {problem}"
    try:
        splits = {str(name): _as_ids(ids) for name, ids in loaded.items()}
    except (AttributeError, TypeError, ValueError) as error:
        return {}, f"The splits in split_dict.pt could not be read safely: {error}"
    return {name: Table(source=ids) for name, ids in splits.items()}, None


def _load(path: str) -> tuple[Any, str | None]:
    """What a file of torch holds, if that is numbers and arrays; or why it cannot be read."""
    if importlib.util.find_spec("torch") is None:
        return None, "are a file of torch, which is not installed."
    import torch

    # Arrays and nothing else: a pickle could run any code.
    rebuild = np.zeros(0).__reduce__()[0]
    allowed: list[Any] = [(rebuild, f"numpy.{core}.multiarray._reconstruct") for core in _CORES]
    allowed += [np.ndarray, np.dtype, _codecs.encode]
    allowed += [type(np.dtype(kind)) for kind in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")]
    try:
        with torch.serialization.safe_globals(allowed), open_regular(path) as file:
            return torch.load(file, weights_only=True, map_location="cpu"), None
    except Exception as error:  # noqa: BLE001  (whatever torch raises: these are not essential)
        reason = str(error).partition("\n")[0]
        return None, f"could not be read safely: {reason}"


#: NumPy 2 has its parts under another name than NumPy 1, which wrote most of these files.
_CORES = ("core", "_core")


def _as_ids(ids: Any) -> np.ndarray[Any, Any]:  # noqa: ANN401
    array = np.asarray(ids)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError(f"a split is not a vector of ids, but {array.dtype} {array.shape}")
    return array
