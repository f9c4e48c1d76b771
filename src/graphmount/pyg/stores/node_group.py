"""What a dataset knows of the nodes of one type, under the names that PyG has for it.

A whole table is the mounted file itself; rows of it are gathered, as `FeatureStore.gather` does,
straight into the memory that a worker shares with its loader.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from graphmount._dataset.dataset import Dataset
from graphmount._mount.node_ids import mark_ids
from graphmount._support.shown import shown
from graphmount.torch import gather

if TYPE_CHECKING:
    from collections.abc import Mapping

    import graphmount
    from graphmount._dataset.node_type import NodeType
    from graphmount.pyg.stores.node_index import NodeIndex

_LABELS, _TIMES = "y", "time"


class NodeGroup:
    """The tables of one type by their names, its labels as `y`, its times as `time`, and masks.

    Args:
        nodes: The nodes: a dataset of one type, or a type of a dataset of many.
        path: What messages call the dataset.

    Attributes:
        tables: All that batches can have of these nodes, but for masks.
        num_nodes: How many nodes there are.

    Raises:
        ValueError: Two of them would have one name in PyG.
    """

    def __init__(self, nodes: Dataset | NodeType, path: str) -> None:
        self._nodes = nodes
        self._path = path
        self.num_nodes = nodes.num_nodes
        self.tables: dict[str, graphmount.FeatureStore] = dict(nodes.features)
        self._columns: set[str] = set()
        self._add(_LABELS, "labels are", nodes._label_store())  # noqa: SLF001
        if not isinstance(nodes, Dataset):
            self._add(_TIMES, "times are", nodes._times)  # noqa: SLF001
        self.masks: Mapping[str, str] = {
            f"{name}_mask": name
            for name in nodes._split_names()  # noqa: SLF001
        }
        self._made: dict[str, torch.Tensor] = {}
        for mask, split in self.masks.items():
            self._require_free(mask, f"the mask of the split {split!r} is")

    def _add(self, name: str, what: str, store: graphmount.FeatureStore | None) -> None:
        if store is None:
            return
        self._require_free(name, what)
        self.tables[name] = store
        if store.shape[1:] == (1,):
            self._columns.add(name)

    def _require_free(self, name: str, what: str) -> None:
        if name in self.tables:
            raise ValueError(
                f"{self._path}: {what} called {name!r} in PyG, and a table has that name; compile "
                "the dataset again with another name for one of them"
            )

    def has(self, name: object) -> bool:
        """Whether there is such a table or mask."""
        return isinstance(name, str) and (name in self.tables or name in self.masks)

    def require(self, name: object) -> None:
        """Raises KeyError if there is no such table or mask."""
        if not self.has(name):
            known = [*self.tables, *self.masks]
            raise KeyError(f"{self._path}: there is no attribute {shown(name)}, only {known}")

    def select(self, name: str, index: NodeIndex, dtype: torch.dtype | None) -> torch.Tensor:
        """Rows of a table, or of a mask, as they are asked for.

        Args:
            name: Of the table or mask.
            index: Which rows.
            dtype: What float tables and quantized tables are converted to, if not None.
        """
        self.require(name)
        if name in self.masks:
            return index.of(self._mask(name))
        store = self.tables[name]
        wanted = _target_dtype(store, dtype)
        stored = getattr(torch, str(store.dtype))
        if index.ids is None and wanted == stored and store.scales is None:
            rows = index.of(store.tensor())
        else:
            ids = mark_ids(index.all_ids(), store._own_order)  # noqa: SLF001  (PyG asks by n_id)
            out = _new_rows((len(ids), *store.shape[1:]), wanted)
            rows = index.restore(gather(store, ids, out=out))
        return rows.squeeze(-1) if name in self._columns else rows

    def shape(self, name: str, index: NodeIndex) -> tuple[int, ...] | None:
        """The shape of what `select` gives; None if there is no such table or mask."""
        if name in self.masks or name in self._columns:
            return index.shape
        store = self.tables.get(name)
        return None if store is None else (*index.shape, *store.shape[1:])

    def _mask(self, name: str) -> torch.Tensor:
        if name not in self._made:
            mask = np.zeros(self.num_nodes, np.bool_)
            mask[self._nodes._read_split(self.masks[name])] = True  # noqa: SLF001
            self._made[name] = torch.from_numpy(mask)
        return self._made[name]


def _target_dtype(store: graphmount.FeatureStore, dtype: torch.dtype | None) -> torch.dtype:
    stored: torch.dtype = getattr(torch, str(store.dtype))
    if store.scales is not None:
        return dtype or torch.float32
    return dtype if dtype is not None and stored.is_floating_point else stored


def _new_rows(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """Memory for rows: in a worker, such as its loader can see, so that nothing is copied."""
    num_bytes = math.prod(shape) * dtype.itemsize
    if num_bytes == 0 or torch.utils.data.get_worker_info() is None:
        return torch.empty(shape, dtype=dtype)
    shared: Any = torch.UntypedStorage._new_shared  # noqa: SLF001  (as torch's own collating does)
    rows = torch.empty(0, dtype=dtype)
    rows.set_(shared(num_bytes))
    return rows.view(shape)
