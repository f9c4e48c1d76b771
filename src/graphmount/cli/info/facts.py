"""What `graphmount info` says of a file or dataset, as plain data: the objects of `--json`.

Reads headers and, of a graph, where its neighbor lists begin; nothing else.
"""

from __future__ import annotations

import dataclasses
import math
import os
from typing import Any

import graphmount as gm
from graphmount._dataset.description import named_files
from graphmount._sources.graph_files.mounted import FEATURES_MAGIC
from graphmount._support.files.regular_files import open_regular


def dataset_facts(dataset: gm.Dataset) -> dict[str, Any]:
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


def files_of(dataset: gm.Dataset) -> list[str]:
    """All files of a dataset: the graph first, then tables, labels and splits.

    Args:
        dataset: The dataset.
    """
    return [os.path.join(dataset.path, file) for _, _, file in named_files(dataset.description)]


def file_facts(path: str) -> dict[str, Any]:
    """What is in a `.gl` or `.gd` file.

    Args:
        path: The file.
    """
    with open_regular(path) as file:
        is_features = file.read(len(FEATURES_MAGIC)) == FEATURES_MAGIC
    return _feature_facts(gm.FeatureStore(path)) if is_features else _graph_facts(gm.Graph(path))


def _common_facts(handle: gm.Graph | gm.FeatureStore) -> dict[str, Any]:
    return {
        "path": handle.path,
        "file_bytes": handle.file_bytes,
        "resident_bytes": handle.resident_bytes(),
        "order": handle.order,
        "sections": [dataclasses.asdict(section) for section in handle.sections],
    }


def _graph_facts(graph: gm.Graph) -> dict[str, Any]:
    node_id_type = graph.node_id_type
    # An undirected graph has the same degrees in both directions.
    directions = graph.directions if graph.directed else graph.directions[:1]
    return {
        "kind": "graph",
        "num_nodes": graph.num_nodes,
        "num_edges": graph.num_edges,
        "directed": graph.directed,
        "directions": graph.directions,
        "has_weights": graph.has_weights,
        "has_timestamps": graph.has_timestamps,
        "node_ids": None if node_id_type is None else node_id_type.__name__,
        "bytes_per_edge": graph.file_bytes / graph.num_edges if graph.num_edges else None,
        "degrees": {
            direction: dataclasses.asdict(graph.degree_summary(direction=direction))
            for direction in directions
        },
    } | _common_facts(graph)


def _feature_facts(store: gm.FeatureStore) -> dict[str, Any]:
    item_bytes = 2 if store.dtype == "bfloat16" else store.dtype.itemsize
    return {
        "kind": "features",
        "shape": store.shape,
        "dtype": str(store.dtype),
        "row_bytes": item_bytes * math.prod(store.shape[1:]),
        "quantized": None if store.scales is None else "column",
    } | _common_facts(store)
