"""What commands that take files do with the folder of a dataset: they take the files in it."""

from __future__ import annotations

import os
from typing import Any

import graphmount as gm
from graphmount._mapped_reads import read_rows


def files_of(dataset: gm.Dataset) -> list[str]:
    """All files of a dataset: the graph first, then tables, labels and splits.

    Args:
        dataset: The dataset.
    """
    described = dataset.description
    labels = [] if described["labels"] is None else [described["labels"]]
    tables = [described[kind].values() for kind in ("features", "edge_features")]
    files = [described["graph"], *(file for table in tables for file in table), *labels]
    return [os.path.join(dataset.path, file) for file in (*files, *described["splits"].values())]


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


def check_together(dataset: gm.Dataset) -> None:
    """Raises if files of a dataset do not belong together, however well each of them is.

    Args:
        dataset: The dataset.

    Raises:
        OrderError: Tables number their nodes differently, or are not as long as they should be.
        FormatError: The graph is not the one that is described.
    """
    edge_tables = dataset.edge_features.values()
    _ = dataset.features, dataset.labels  # which check the order
    for store in edge_tables:
        if len(store) != dataset.num_edges:
            raise gm.errors.OrderError(
                f"{store.path} has {len(store)} rows, but the graph has {dataset.num_edges} edges"
            )
    for name, file in dataset.description["splits"].items():
        nodes = read_rows(dataset._table(file))  # noqa: SLF001
        if nodes.size and not 0 <= nodes.min() <= nodes.max() < dataset.num_nodes:
            raise gm.errors.OrderError(
                f"split {name!r} of {dataset.path} has nodes that do not exist: there are "
                f"{dataset.num_nodes}"
            )
