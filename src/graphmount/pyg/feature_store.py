"""The tables, labels and splits of a dataset as a PyG `FeatureStore`: read-only, one group.

A whole table is the mounted file itself; rows of it are gathered, as `FeatureStore.gather` does,
straight into the memory that a worker shares with its loader. The store pickles as the dataset's
path and its own options: PyG would send a mapped tensor through shared memory as a whole.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torch_geometric.data
from torch_geometric.data import TensorAttr

from graphmount._dataset.dataset import Dataset
from graphmount._mount.node_ids import mark_ids
from graphmount._support.arguments import as_list, require_type
from graphmount._support.shown import shown
from graphmount.pyg.batch_names import require_free_names
from graphmount.pyg.node_index import NodeIndex
from graphmount.torch import gather

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import graphmount

_LABELS = "y"


class FeatureStore(torch_geometric.data.FeatureStore):
    """What a dataset knows of its nodes, as PyG asks for it; made by `Dataset.to_pyg`.

    There is one group of nodes, `None`. Its attributes are the tables by their names, the labels as
    `y`, and for each split a mask, as `train_mask`.

    Args:
        dataset: The dataset to serve.
        attributes: What batches have: PyG fetches each of these for all nodes of every batch. All
            tables and the labels if None. Other attributes can still be asked for one by one.
        dtype: What float tables and quantized tables are converted to. If None, float tables stay
            as they are and quantized ones become float32.

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_dataset(
        ...     "three", edges=([1, 2], [0, 0]), features={"x": [[1.0], [2.0], [3.0]]},
        ...     labels=[0, 1, 0], splits={"train": [0, 2]}, order="given",
        ... )
        >>> store, _ = gm.Dataset("three").to_pyg()
        >>> store[None, "train_mask", None], store[None, "y", 1]
        (tensor([ True, False,  True]), tensor(1))
    """

    def __init__(
        self,
        dataset: Dataset,
        *,
        attributes: Iterable[str] | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        require_type("dataset", dataset, Dataset, "a Dataset")
        if dtype is not None:
            require_type("dtype", dtype, torch.dtype, "a dtype of torch")
        super().__init__()
        self._dataset = dataset
        self._dtype = dtype
        self._tables: dict[str, graphmount.FeatureStore] = dict(dataset.features)
        labels = dataset._label_store()  # noqa: SLF001
        if labels is not None:
            if _LABELS in self._tables:
                raise ValueError(
                    f"{dataset.path}: labels are called {_LABELS!r} in PyG, and a table has that "
                    "name; compile the dataset again with another name for the table"
                )
            self._tables[_LABELS] = labels
        self._splits: Mapping[str, str] = {
            f"{name}_mask": name for name in dataset.description["splits"]
        }
        self._masks: dict[str, torch.Tensor] = {}
        for name in self._splits:
            if name in self._tables:
                raise ValueError(
                    f"{dataset.path}: the mask of the split {self._splits[name]!r} is called "
                    f"{name!r} in PyG, and a table has that name; compile the dataset again with "
                    "another name for one of them"
                )
        names = list(self._tables)
        if attributes is not None:
            names = as_list(attributes, "attributes", "names of tables, labels or masks")
        for name in names:
            self._require(name)
        require_free_names(names, advice="leave it out by attributes=")
        self._attributes = names

    def __reduce__(self) -> tuple[Any, ...]:
        options: dict[str, Any] = {"attributes": self._attributes, "dtype": self._dtype}
        return functools.partial(FeatureStore, **options), (self._dataset,)

    def __repr__(self) -> str:
        return f"<FeatureStore of {self._dataset.path!r}: {', '.join(self._attributes)}>"

    def get_all_tensor_attrs(self) -> list[TensorAttr]:
        """What PyG fetches for every batch: new objects, since it writes its ids into them.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_dataset("two", edges=([1], [0]), features={"x": [[1.0], [2.0]]})
            >>> [attr.attr_name for attr in gm.Dataset("two").to_pyg()[0].get_all_tensor_attrs()]
            ['x']
        """
        return [TensorAttr(None, name) for name in self._attributes]

    def _require(self, name: object) -> None:
        if not isinstance(name, str) or (name not in self._tables and name not in self._splits):
            known = [*self._tables, *self._splits]
            raise KeyError(
                f"{self._dataset.path}: there is no attribute {shown(name)}, only {known}"
            )

    def _get_tensor(self, attr: TensorAttr) -> torch.Tensor:
        return self._multi_get_tensor([attr])[0]

    def _multi_get_tensor(self, attrs: list[TensorAttr]) -> list[torch.Tensor]:
        # All attributes of a batch are asked for with the same ids, which are checked once.
        indices: dict[int, NodeIndex] = {}
        for attr in attrs:
            if id(attr.index) not in indices:
                indices[id(attr.index)] = NodeIndex(attr.index, self._dataset.num_nodes)
        return [self._select(attr, indices[id(attr.index)]) for attr in attrs]

    def _select(self, attr: TensorAttr, index: NodeIndex) -> torch.Tensor:
        if attr.group_name is not None:
            raise KeyError(
                f"{self._dataset.path}: there is no group {attr.group_name!r}; a dataset has one "
                "group of nodes, None"
            )
        self._require(attr.attr_name)
        if attr.attr_name in self._splits:
            return index.of(self._mask(attr.attr_name))
        store = self._tables[attr.attr_name]
        dtype = self._target_dtype(store)
        stored = getattr(torch, str(store.dtype))
        if index.ids is None and dtype == stored and store.scales is None:
            rows = index.of(store.tensor())
        else:
            ids = mark_ids(index.all_ids(), store._own_order)  # noqa: SLF001  (PyG asks by n_id)
            out = _new_rows((len(ids), *store.shape[1:]), dtype)
            rows = index.restore(gather(store, ids, out=out))
        is_column = attr.attr_name == _LABELS and store.shape[1:] == (1,)
        return rows.squeeze(-1) if is_column else rows

    def _target_dtype(self, store: graphmount.FeatureStore) -> torch.dtype:
        stored: torch.dtype = getattr(torch, str(store.dtype))
        if store.scales is not None:
            return self._dtype or torch.float32
        return self._dtype if self._dtype is not None and stored.is_floating_point else stored

    def _mask(self, name: str) -> torch.Tensor:
        if name not in self._masks:
            mask = np.zeros(self._dataset.num_nodes, np.bool_)
            mask[self._dataset._read_split(self._splits[name])] = True  # noqa: SLF001
            self._masks[name] = torch.from_numpy(mask)
        return self._masks[name]

    def _get_tensor_size(self, attr: TensorAttr) -> tuple[int, ...] | None:
        if attr.group_name is not None:
            return None
        index = NodeIndex(attr.index, self._dataset.num_nodes)
        if attr.attr_name in self._splits:
            return index.shape
        store = self._tables.get(attr.attr_name)
        if store is None:
            return None
        is_column = attr.attr_name == _LABELS and store.shape[1:] == (1,)
        return index.shape if is_column else (*index.shape, *store.shape[1:])

    def _put_tensor(self, tensor: Any, attr: TensorAttr) -> bool:  # noqa: ANN401, ARG002
        raise TypeError(self._refusal(attr))

    def _remove_tensor(self, attr: TensorAttr) -> bool:
        raise TypeError(self._refusal(attr))

    def _refusal(self, attr: TensorAttr) -> str:
        return (
            f"{self._dataset.path}: {attr.attr_name!r} cannot be changed, as a mounted dataset is "
            "read-only; compile it again with the tables that you want"
        )


def _new_rows(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """Memory for rows: in a worker, such as its loader can see, so that nothing is copied."""
    num_bytes = math.prod(shape) * dtype.itemsize
    if num_bytes == 0 or torch.utils.data.get_worker_info() is None:
        return torch.empty(shape, dtype=dtype)
    shared: Any = torch.UntypedStorage._new_shared  # noqa: SLF001  (as torch's own collating does)
    rows = torch.empty(0, dtype=dtype)
    rows.set_(shared(num_bytes))
    return rows.view(shape)
