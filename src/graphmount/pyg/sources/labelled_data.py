"""Mounted files as PyG sees them: labels are the table `y` of the nodes that have them.

Labels come for all nodes of a batch, as in PyG. As rows of a table they go through the same caches,
within the same memory.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from graphmount._dataset.dataset import Dataset
from graphmount._dataset.typed_dataset import TypedDataset
from graphmount._loading.data.typed_data import TypedData
from graphmount._loading.inputs import open_data

if TYPE_CHECKING:
    from graphmount._loading.data.loader_data import AnyData, LoaderData

#: What PyG calls labels.
LABELS = "y"


def open_labelled(
    data: Any,  # noqa: ANN401
    features: Any,  # noqa: ANN401
    edge_features: Any,  # noqa: ANN401
) -> LoaderData | TypedData:
    """The data of a loader, with labels as the table `y`, and all tables of edges if none is named.

    Raises:
        ValueError: A table has the name of the labels.
    """
    if isinstance(data, str | os.PathLike):
        data = Dataset(data)
    if edge_features is None and not isinstance(data, TypedDataset):
        edge_features = list(data.edge_features) if isinstance(data, Dataset) else ()
    opened = open_data(data, features, edge_features)
    if isinstance(opened, TypedData):
        return _with_labels_of_types(opened)
    store = None if opened.dataset is None else opened.dataset._label_store()  # noqa: SLF001
    if store is None:
        return opened
    if LABELS in opened.by_name:
        raise ValueError(
            f"labels are called {LABELS!r} in PyG, and a table has that name; choose others by "
            "features= or edge_features="
        )
    nodes = {**opened.tables["nodes"], LABELS: store}
    return replace(opened, tables={**opened.tables, "nodes": nodes}, labels=None)


def _with_labels_of_types(data: TypedData) -> TypedData:
    """The data of a loader, with the labels of each type as its table `y`."""
    tables: dict[Any, Any] = {space: dict(own) for space, own in data.tables.items()}
    for name, nodes in data.dataset.nodes.items():
        store = nodes._label_store()  # noqa: SLF001  (a friend)
        if store is None:
            continue
        if LABELS in tables[name]:
            raise ValueError(
                f"labels are called {LABELS!r} in PyG, and type {name!r} has a table of that name; "
                "choose others by features="
            )
        tables[name][LABELS] = store
    return replace(data, tables=tables, has_labels=False)


def feature_dtypes(dtype: Any, data: AnyData) -> Any:  # noqa: ANN401
    """What `dtype=` means: one for all tables of nodes is not one for the labels."""
    if dtype is None or isinstance(dtype, Mapping):
        return dtype
    return {key: dtype for key in data.by_key if data.is_of_nodes(key[0]) and key[1] != LABELS}
