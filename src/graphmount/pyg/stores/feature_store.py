"""The tables, labels and splits of a dataset as a PyG `FeatureStore`: read-only.

There is a group for each type of nodes (`node_group.py`). The store pickles as the dataset's path
and its own options: PyG would send a mapped tensor through shared memory as a whole.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import torch
import torch_geometric.data
from torch_geometric.data import TensorAttr

from graphmount._dataset.dataset import Dataset
from graphmount._dataset.typed_dataset import TypedDataset
from graphmount._support.arguments import as_list, require_type
from graphmount._support.shown import shown
from graphmount.pyg.stores.batch_names import require_free_names
from graphmount.pyg.stores.node_group import NodeGroup
from graphmount.pyg.stores.node_index import NodeIndex

if TYPE_CHECKING:
    from collections.abc import Iterable


class FeatureStore(torch_geometric.data.FeatureStore):
    """What a dataset knows of its nodes, as PyG asks for it; made by `Dataset.to_pyg`.

    Of a dataset of one type there is one group of nodes, `None`; of a dataset of many, one for each
    type. Its attributes are the tables by their names, the labels as `y`, the times as `time`, and
    for each split a mask, as `train_mask`.

    Args:
        dataset: The dataset to serve.
        attributes: What batches have: PyG fetches each of these for all nodes of every batch, of
            the types that have it. All tables, labels and times if None. Other attributes can still
            be asked for one by one.
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
        dataset: Dataset | TypedDataset,
        *,
        attributes: Iterable[str] | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        if not isinstance(dataset, TypedDataset):
            require_type("dataset", dataset, Dataset, "a Dataset")
        if dtype is not None:
            require_type("dtype", dtype, torch.dtype, "a dtype of torch")
        super().__init__()
        self._dataset = dataset
        self._dtype = dtype
        self._groups: dict[str | None, NodeGroup] = (
            {name: NodeGroup(nodes, dataset.path) for name, nodes in dataset.nodes.items()}
            if isinstance(dataset, TypedDataset)
            else {None: NodeGroup(dataset, dataset.path)}
        )
        names = list(dict.fromkeys(name for one in self._groups.values() for name in one.tables))
        whole = set(names)
        if attributes is not None:
            names = as_list(attributes, "attributes", "names of tables, labels or masks")
        for name in names:
            if not any(group.has(name) for group in self._groups.values()):
                known = {one: [*own.tables, *own.masks] for one, own in self._groups.items()}
                raise KeyError(
                    f"{dataset.path}: there is no attribute {shown(name)}, only "
                    f"{known.get(None, known)}"
                )
        require_free_names(names, advice="leave it out by attributes=")
        self._attributes = names
        # Whether batches have all that the dataset has, as it is.
        self._is_whole = dtype is None and set(names) == whole

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
        return [
            TensorAttr(group, name)
            for group, own in self._groups.items()
            for name in self._attributes
            if own.has(name)
        ]

    def _group(self, attr: TensorAttr) -> NodeGroup:
        if attr.group_name not in self._groups:
            raise KeyError(
                f"{self._dataset.path}: there is no group {shown(attr.group_name)}; the groups of "
                f"nodes are {list(self._groups)}"
            )
        return self._groups[attr.group_name]

    def _get_tensor(self, attr: TensorAttr) -> torch.Tensor:
        return self._multi_get_tensor([attr])[0]

    def _multi_get_tensor(self, attrs: list[TensorAttr]) -> list[torch.Tensor]:
        # All attributes of a batch are asked for with the same ids, which are checked once.
        indices: dict[tuple[str | None, int], NodeIndex] = {}
        found = []
        for attr in attrs:
            group, key = self._group(attr), (attr.group_name, id(attr.index))
            if key not in indices:
                indices[key] = NodeIndex(attr.index, group.num_nodes)
            found.append(group.select(attr.attr_name, indices[key], self._dtype))
        return found

    def _get_tensor_size(self, attr: TensorAttr) -> tuple[int, ...] | None:
        group = self._groups.get(attr.group_name)
        if group is None:
            return None
        return group.shape(attr.attr_name, NodeIndex(attr.index, group.num_nodes))

    def _put_tensor(self, tensor: Any, attr: TensorAttr) -> bool:  # noqa: ANN401, ARG002
        raise TypeError(self._refusal(attr))

    def _remove_tensor(self, attr: TensorAttr) -> bool:
        raise TypeError(self._refusal(attr))

    def _refusal(self, attr: TensorAttr) -> str:
        return (
            f"{self._dataset.path}: {attr.attr_name!r} cannot be changed, as a mounted dataset is "
            "read-only; compile it again with the tables that you want"
        )
