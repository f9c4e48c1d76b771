"""A `Data` that a loader is made from, and the dataset of the same content that batches come from.

Batches use the ids of the `Data`, and have the same attributes. Masks, and attributes that no table
can hold, come from the object itself. Attributes of the graph as a whole are shared with it.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from torch_geometric.data import Data, HeteroData

from graphmount._compile.cache.compiled_data import open_compiled
from graphmount._compile.pyg.edge_values import edge_values_of, with_times_of_nodes
from graphmount._sources.objects.pyg_data import parts_of, require_data
from graphmount._support.shown import shown
from graphmount.errors import MissingDataError, SourceError
from graphmount.pyg.sources.kept_rows import rows_at
from graphmount.pyg.sources.labelled_data import LABELS
from graphmount.pyg.stores.batch_names import OF_LOADERS

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from graphmount._dataset.dataset import Dataset
    from graphmount._mount.features import FeatureStore
    from graphmount._sources.objects.pyg_data import DataParts
    from graphmount._support.progress import ProgressOption


class DataSource:
    """A `Data`, and its dataset in the cache.

    Args:
        data: The object.
        weight_attr: The attribute of edges that sampling is weighted by, or None.
        time_attr: The attribute with times, of edges or of nodes; "auto" for the usual names, or
            None.
        drawn_end: Which end of an edge sampling draws: 0 for its source, 1 for its destination.
        num_hops: How many hops will be sampled: without any, no edges are needed.
        features: The attributes of nodes that batches have, beside labels; all if None.
        edge_features: The attributes of edges that batches have; all if None.
        cache: The folder of the cache; the usual one if None.
        progress: The `progress` of `compile_dataset`; False also leaves out the line about it.

    Attributes:
        data: The object.
        dataset: The dataset.
        features: Names of tables of nodes, as loaders take them.
        edge_features: Names of tables of edges.
        node_times: The attribute with times, if it is one of nodes; else None.
    """

    def __init__(
        self,
        data: Data,
        *,
        weight_attr: str | None,
        time_attr: str | None,
        drawn_end: Literal[0, 1],
        num_hops: int,
        features: Iterable[str] | None,
        edge_features: Iterable[str] | None,
        cache: str | os.PathLike[str] | None,
        progress: ProgressOption,
    ) -> None:
        require_data(data)
        there = data.to_dict()
        unwanted = [name for name in OF_LOADERS if there.get(name) is not None]
        unwanted = [name for name in unwanted if name not in ("edge_index", "num_nodes")]
        parts = parts_of(data, exclude=unwanted, needs_edges=num_hops > 0)
        for name, reason in parts.others.items():
            if isinstance(there[name], list | tuple):
                raise TypeError(
                    f"data.{name} has an item for each node or edge, but {reason}; make it a "
                    "tensor, or delete it"
                )
        self.data = data
        self.node_times, timestamps = _whose_times(parts, time_attr)
        if self.node_times is not None:
            parts = with_times_of_nodes(parts, self.node_times, drawn_end)
        self.dataset: Dataset
        self.dataset, self._lock = open_compiled(
            parts,
            weights=edge_values_of(parts, weight_attr, "weight_attr"),
            timestamps=timestamps,
            folder=cache,
            progress=progress,
        )
        tables = [*parts.nodes, *parts.edges]
        self._shapes = {name: tuple(there[name].shape[1:]) for name in tables}
        rest = [*parts.masks, *parts.others]
        nodes = {name for name in rest if data.is_node_attr(name)}
        self.features, self._nodes = _divided(features, nodes)
        self.edge_features, self._edges = _divided(edge_features, set(rest) - nodes)
        self._skeleton = _without_rows(data)

    def split(self, name: str) -> torch.Tensor:
        """The mask that has this name, or that of the split.

        Raises:
            ValueError: There is none.
        """
        found = self.data.get(name)
        mask = found if found is not None else self.data.get(f"{name}_mask")
        if mask is None or getattr(mask, "dtype", None) not in (torch.bool, np.bool_):
            names = sorted(key for key in self.data.keys() if key.endswith("_mask"))  # noqa: SIM118
            raise ValueError(f"input_nodes={name!r}: there are the masks {names}")
        return torch.as_tensor(mask)

    def all_links(self) -> torch.Tensor:
        """The edges, in the order of the `Data`.

        Raises:
            SourceError: There are none.
        """
        edge_index: torch.Tensor | None = self.data.edge_index
        if edge_index is None:
            raise SourceError("this Data has no edges to be the links; pass edge_label_index=")
        return edge_index

    def table_of_times(self) -> FeatureStore | None:
        """The table with the times of nodes, if nodes have times."""
        if self.node_times == LABELS:
            return self.dataset._label_store()  # noqa: SLF001  (a friend)
        return None if self.node_times is None else self.dataset.features[self.node_times]

    def new_batch(self) -> Data:
        """A batch with what belongs to the graph as a whole."""
        return copy.copy(self._skeleton)

    def add_rest(self, batch: Data, nodes: torch.Tensor, edges: torch.Tensor) -> None:
        """Adds what no table holds.

        Args:
            batch: The batch.
            nodes: Its nodes, by the ids of the `Data`.
            edges: Its edges, the same.
        """
        for names, ids in ((["n_id", *self._nodes], nodes), (["e_id", *self._edges], edges)):
            for name in names:
                value: Any = self.data.get(name)
                if value is not None:
                    batch[name] = rows_at(value, ids, self.data.__cat_dim__(name, value))

    def has(self, space: object, name: str) -> bool:
        """Whether the object still has an attribute: scripts delete what they do not want."""
        del space  # names are of nodes or of edges
        return self.data.get(name) is not None

    def shaped(self, tables: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """Rows of tables in the shape that the object had them in; without those that it lost."""

        def shaped(name: str, rows: torch.Tensor) -> torch.Tensor:
            shape = self._shapes[name]
            # Tables have one or two dimensions, so those of one or two are in their shape.
            return rows if rows.dim() == 1 + len(shape) else rows.reshape(len(rows), *shape)

        return {name: shaped(name, rows) for name, rows in tables.items() if self.has(None, name)}


def is_data(data: object) -> bool:
    """Whether a loader was given an object of PyG, rather than files."""
    return isinstance(data, Data | HeteroData)


def _whose_times(parts: DataParts, time_attr: str | None) -> tuple[str | None, str | None]:
    """The attribute of nodes that has times, or the one of edges; None for the other.

    Raises:
        MissingDataError: There is no such attribute.
    """
    found = edge_values_of(parts, "auto", "time_attr") if time_attr == "auto" else time_attr
    if found is None and time_attr == "auto" and "time" in parts.nodes:
        found = "time"
    if found is None or found in parts.nodes:
        return found, None
    if time_attr != "auto" and found not in parts.edges:
        raise MissingDataError(
            f"The time attribute {shown(found)} is neither a node-level or edge-level attribute: "
            f"nodes have {sorted(parts.nodes)}, edges have {sorted(parts.edges)}"
        )
    return None, edge_values_of(parts, found, "time_attr")


def _divided(names: Iterable[str] | None, rest: set[str]) -> tuple[list[str] | None, list[str]]:
    """Which names are of tables, and which of them are in `rest`."""
    if names is None:
        return None, sorted(rest)
    if isinstance(names, str):
        names = [names]
    if not hasattr(names, "__iter__"):
        raise TypeError(f"names of attributes, not {shown(names)}")
    given = list(names)
    return [name for name in given if name not in rest], [name for name in given if name in rest]


def _without_rows(data: Data) -> Data:
    """A copy that has only what belongs to the graph as a whole."""
    copied = copy.copy(data)
    for name, value in data.to_dict().items():
        is_rows = value is not None and (data.is_node_attr(name) or data.is_edge_attr(name))
        if is_rows or name in OF_LOADERS or name in ("adj", "adj_t", "num_edges"):
            del copied[name]
    vars(copied._store).pop("_cached_attr", None)  # noqa: SLF001  (it is of the whole graph)
    return copied
