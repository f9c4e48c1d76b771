"""What `graphmount info` says of a file or dataset, as plain data: the objects of `--json`.

Reads headers, of a graph where its neighbor lists begin, and the labels of a dataset; nothing else.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import os
from typing import TYPE_CHECKING, Any

import graphmount as gm
from graphmount._dataset.description import named_files
from graphmount._dataset.label_classes import class_counts
from graphmount._dataset.spaces.node_id_store import NodeIdStore
from graphmount._sources.graph_files.mounted import FEATURES_MAGIC, NODE_IDS_MAGIC
from graphmount._support.files.regular_files import open_regular

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def dataset_facts(dataset: gm.Dataset | gm.TypedDataset) -> dict[str, Any]:
    """What `dataset.json` says, and the size of all files.

    Args:
        dataset: The dataset.
    """
    described = dataset.description
    if isinstance(dataset, gm.TypedDataset):
        parts = _typed_parts(dataset)
    else:
        parts = {
            "features": sorted(described["features"]),
            "edge_features": sorted(described["edge_features"]),
            "labels": described["labels"] is not None,
            "classes": described.get("classes"),
            "splits": sorted(described["splits"]),
        }
    return {
        "kind": "dataset",
        "path": dataset.path,
        "num_nodes": dataset.num_nodes,
        "num_edges": dataset.num_edges,
        "order": described.get("order"),
        **parts,
        "notes": described.get("notes", []),
        "graphmount": described.get("graphmount"),
        "file_bytes": sum(os.path.getsize(file) for file in files_of(dataset)),
    }


def _typed_parts(dataset: gm.TypedDataset) -> dict[str, Any]:
    described = dataset.description
    return {
        "node_types": {
            name: {
                "num_nodes": nodes.num_nodes,
                "node_ids": None if nodes.node_id_type is None else nodes.node_id_type.__name__,
                "features": sorted(nodes.features),
                "labels": described["node_types"][name]["labels"] is not None,
                "classes": nodes.classes,
                "splits": sorted(described["node_types"][name]["splits"]),
                "timestamps": described["node_types"][name]["timestamps"] is not None,
            }
            for name, nodes in dataset.nodes.items()
        },
        "edge_types": [
            {
                "relation": list(relation),
                "num_edges": edges.num_edges,
                "edge_features": sorted(edges.features),
            }
            for relation, edges in dataset.edges.items()
        ],
    }


def files_of(dataset: gm.Dataset | gm.TypedDataset) -> list[str]:
    """All files of a dataset: the graph first, then tables, labels and splits.

    Args:
        dataset: The dataset.
    """
    return [os.path.join(dataset.path, file) for _, _, file in named_files(dataset.description)]


def facts_of_files(
    dataset: gm.Dataset | gm.TypedDataset,
) -> Iterator[Callable[[], dict[str, Any]]]:
    """What finds the facts of each file of a dataset, with what the dataset knows of the file.

    Args:
        dataset: The dataset.
    """
    columns = dataset.description.get("columns", {})
    for kind, name, file in named_files(dataset.description):
        path = os.path.join(dataset.path, file)
        known: dict[str, Any] = {"role": kind, "name": name}
        if kind == "graph":
            known = {} if name is None else {"name": name}
        if file in columns:
            known["column_names"] = columns[file]
        classes = None
        if kind == "labels":
            owner = dataset.nodes[str(name)] if isinstance(dataset, gm.TypedDataset) else dataset
            classes = owner.classes
        yield functools.partial(_facts_in_dataset, path, known, classes)


def _facts_in_dataset(
    path: str, known: dict[str, Any], classes: list[str] | None
) -> dict[str, Any]:
    facts = file_facts(path) | known
    if known.get("role") == "labels":
        facts["class_counts"] = label_facts(gm.FeatureStore(path), classes)
    return facts


def label_facts(store: gm.FeatureStore, classes: list[str] | None) -> list[dict[str, Any]] | None:
    """How many nodes each class has, the largest first; None if labels are no classes.

    Args:
        store: The labels.
        classes: What the source calls the classes, if they were text.
    """
    counts = class_counts(store)
    if counts is None:
        return None
    names = dict(enumerate(classes or []))
    return [
        {"label": label, "name": names.get(label), "nodes": count}
        for label, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]


def file_facts(path: str) -> dict[str, Any]:
    """What is in a `.gl`, `.gd` or `.gi` file.

    Args:
        path: The file.
    """
    with open_regular(path) as file:
        magic = file.read(len(FEATURES_MAGIC))
    if magic == NODE_IDS_MAGIC:
        return _id_facts(NodeIdStore(path))
    is_features = magic == FEATURES_MAGIC
    return _feature_facts(gm.FeatureStore(path)) if is_features else _graph_facts(gm.Graph(path))


def _common_facts(handle: gm.Graph | gm.FeatureStore | NodeIdStore) -> dict[str, Any]:
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
    ends: dict[str, Any] = {"num_nodes": graph.num_destinations}
    if graph.is_rectangular:
        ends = {
            "num_sources": graph.num_sources,
            "num_destinations": graph.num_destinations,
            "source_order": graph.source_order,
        }
    return {
        "kind": "graph",
        **ends,
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


def _id_facts(store: NodeIdStore) -> dict[str, Any]:
    return {
        "kind": "node ids",
        "num_nodes": store.num_nodes,
        "node_ids": store.node_id_type.__name__,
    } | _common_facts(store)


def _feature_facts(store: gm.FeatureStore) -> dict[str, Any]:
    item_bytes = 2 if store.dtype == "bfloat16" else store.dtype.itemsize
    return {
        "kind": "features",
        "shape": store.shape,
        "dtype": str(store.dtype),
        "row_bytes": item_bytes * math.prod(store.shape[1:]),
        "quantized": None if store.scales is None else "column",
    } | _common_facts(store)
