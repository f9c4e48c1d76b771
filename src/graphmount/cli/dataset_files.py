"""What commands that take files do with the folder of a dataset: they take the files in it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from graphmount._dataset.description import named_files

if TYPE_CHECKING:
    import graphmount as gm


def files_of(dataset: gm.Dataset) -> list[str]:
    """All files of a dataset: the graph first, then tables, labels and splits.

    Args:
        dataset: The dataset.
    """
    return [os.path.join(dataset.path, file) for _, _, file in named_files(dataset.description)]


def describe(dataset: gm.Dataset) -> dict[str, Any]:
    """What `dataset.json` says, and the size of all files.

    Args:
        dataset: The dataset.
    """
    described = dataset.description
    return {
        "kind": "dataset",
        "path": dataset.path,
        "num_nodes": dataset.num_nodes,
        "num_edges": dataset.num_edges,
        "order": described.get("order"),
        "features": sorted(described["features"]),
        "edge_features": sorted(described["edge_features"]),
        "labels": described["labels"] is not None,
        "splits": sorted(described["splits"]),
        "notes": described.get("notes", []),
        "graphmount": described.get("graphmount"),
        "file_bytes": sum(os.path.getsize(file) for file in files_of(dataset)),
    }
