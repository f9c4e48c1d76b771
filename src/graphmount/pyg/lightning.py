"""PyG's modules of data for Lightning, over graphmount's loaders.

They have the constructors of PyG's `LightningNodeData` and `LightningLinkData`, so that one import
changes in a script: its loaders of batches are those of this package. Lightning is not needed to
import this module, only to make one of its objects.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from torch_geometric.data import HeteroData

from graphmount._dataset.dataset import Dataset
from graphmount._dataset.typed_dataset import TypedDataset
from graphmount._support.shown import shown
from graphmount.pyg.link_neighbor_loader import LinkNeighborLoader
from graphmount.pyg.loader_options import without_workers
from graphmount.pyg.neighbor_loader import NeighborLoader
from graphmount.pyg.sources.data_source import is_data

if TYPE_CHECKING:
    import torch

    from graphmount.pyg.loader_options import PygInput

try:
    from lightning.pytorch import LightningDataModule
except ImportError:
    try:
        from pytorch_lightning import LightningDataModule
    except ImportError:
        LightningDataModule = None

#: Where each step of the Trainer finds its inputs, if none are given.
_SPLITS = {"train": ("train",), "val": ("val", "valid"), "test": ("test",), "pred": ("pred",)}


class _Module(LightningDataModule or object):  # type: ignore[misc]
    """What both modules have: inputs for each step, and options for its loaders."""

    _sampler: str
    #: The loader of each step, and which of its arguments has the inputs.
    _loader_type: type[NeighborLoader | LinkNeighborLoader]
    _inputs_name: str

    def __init__(
        self,
        data: Any,  # noqa: ANN401
        *,
        inputs: dict[str, dict[str, Any]],
        loader: str,
        sampler: object,
        eval_loader_kwargs: Mapping[str, Any] | None,
        options: dict[str, Any],
    ) -> None:
        if LightningDataModule is None:
            raise ImportError(
                "this needs Lightning; install it with: pip install pytorch-lightning"
            )
        super().__init__()
        if sampler is not None:
            raise ValueError(
                f"{self._sampler}: the loaders of this module sample by themselves; leave it out "
                "and give num_neighbors=, or take PyG's own module, which has this option"
            )
        if loader not in ("neighbor", "link_neighbor"):
            raise ValueError(
                f"loader={shown(loader)}: this module has 'neighbor' only; PyG's own has others"
            )
        if "shuffle" in options:
            warnings.warn(
                f"shuffle={shown(options.pop('shuffle'))}: without effect, as in PyG. Batches are "
                "shuffled for training, and only there",
                UserWarning,
                stacklevel=3,
            )
        if "num_neighbors" not in options:
            raise TypeError("num_neighbors= is missing: how many neighbors to draw in each hop")
        self.data = data
        self._inputs = inputs
        self._options = {"batch_size": 1, **without_workers(options, stacklevel=4)}
        more = without_workers(dict(eval_loader_kwargs or {}), stacklevel=4)
        more.pop("shuffle", None)
        self._eval_options = self._options | more
        for step in ("val", "test"):
            if inputs[step][self._inputs_name] is None:
                setattr(self, f"{step}_dataloader", None)  # which tells Lightning to leave it out

    def train_dataloader(self) -> Any:  # noqa: ANN401
        """Batches to train on, in another order in each epoch.

        Examples:
            >>> import graphmount as gm
            >>> import graphmount.pyg
            >>> splits = {"train": [0, 1], "val": [2], "test": [2]}
            >>> _ = gm.compile_dataset("train-ring", edges=([0, 1, 2], [1, 2, 0]), splits=splits)
            >>> len(gm.pyg.LightningNodeData("train-ring", num_neighbors=[1]).train_dataloader())
            2
        """
        return self._loader("train", shuffle=True, **self._options)

    def val_dataloader(self) -> Any:  # noqa: ANN401
        """Batches to validate on.

        Examples:
            >>> import graphmount as gm
            >>> import graphmount.pyg
            >>> splits = {"train": [0, 1], "val": [2], "test": [2]}
            >>> _ = gm.compile_dataset("val-ring", edges=([0, 1, 2], [1, 2, 0]), splits=splits)
            >>> len(gm.pyg.LightningNodeData("val-ring", num_neighbors=[1]).val_dataloader())
            1
        """
        return self._loader("val", shuffle=False, **self._eval_options)

    def test_dataloader(self) -> Any:  # noqa: ANN401
        """Batches to test on.

        Examples:
            >>> import graphmount as gm
            >>> import graphmount.pyg
            >>> splits = {"train": [0, 1], "val": [2], "test": [2]}
            >>> _ = gm.compile_dataset("test-ring", edges=([0, 1, 2], [1, 2, 0]), splits=splits)
            >>> len(gm.pyg.LightningNodeData("test-ring", num_neighbors=[1]).test_dataloader())
            1
        """
        return self._loader("test", shuffle=False, **self._eval_options)

    def predict_dataloader(self) -> Any:  # noqa: ANN401
        """Batches to predict.

        Examples:
            >>> import graphmount as gm
            >>> import graphmount.pyg
            >>> splits = {"train": [0, 1], "val": [2], "test": [2]}
            >>> _ = gm.compile_dataset("a-ring", edges=([0, 1, 2], [1, 2, 0]), splits=splits)
            >>> len(gm.pyg.LightningNodeData("a-ring", num_neighbors=[1]).predict_dataloader())
            3
        """
        return self._loader("pred", shuffle=False, **self._eval_options)

    def _loader(self, step: str, **options: Any) -> Any:  # noqa: ANN401
        return self._loader_type(self.data, **self._inputs[step], **options)

    def __repr__(self) -> str:
        shown_options = ", ".join(f"{name}={value!r}" for name, value in self._options.items())
        return f"{type(self).__name__}(data={self.data!r}, {shown_options})"


class LightningNodeData(_Module):
    """PyG's `LightningNodeData` over `graphmount.pyg.NeighborLoader`: one import changes.

    Threads make batches ahead of the training loop, so options of worker processes are accepted
    with a warning. With several processes (`strategy="ddp"`), each gets its share.

    Args:
        data: What `graphmount.pyg.NeighborLoader` takes: a `Data` or `HeteroData`, a `Dataset` or
            `TypedDataset`, the path of one, a `Graph`, or a `Graph` with tables.
        input_train_nodes: The nodes to train on: a mask, ids, or the name of a split; of many
            types, a type and its nodes, here and below. By default the attribute `train_mask`,
            `train_idx` or `train_index` of a `Data`, or the split "train"; all nodes if there is
            none. Of many types, those of the one type that has them.
        input_train_time: The time of each node to train on.
        input_val_nodes: The nodes to validate on: a mask, ids, or the name of a split. By default
            `val_mask` and the like of a `Data`, or the split "val" or "valid". Without any, there
            is no validation.
        input_val_time: The time of each node to validate on.
        input_test_nodes: The nodes to test on: a mask, ids, or the name of a split. By default
            `test_mask` and the like of a `Data`, or the split "test". Without any, there is no
            testing.
        input_test_time: The time of each node to test on.
        input_pred_nodes: The nodes to predict: a mask, ids, or the name of a split. By default
            `pred_mask` and the like of a `Data`, or the split "pred"; all nodes if there is none.
            Of many types, all nodes of the type that is trained on.
        input_pred_time: The time of each node to predict.
        loader: "neighbor"; PyG's other word for it, "link_neighbor", is taken as well.
        node_sampler: Must be None: loaders sample by themselves.
        eval_loader_kwargs: Options that differ for the loaders of validation, test and prediction.
        options: Options of the loaders, which are those of `graphmount.pyg.NeighborLoader`.
            `num_neighbors` is required, and `batch_size` is 1 by default. Each loader has a
            `memory` of its own.

    Examples:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> import graphmount.pyg
        >>> data = Data(
        ...     x=torch.rand(4, 2), edge_index=torch.tensor([[3, 3, 1], [0, 1, 2]]),
        ...     train_mask=torch.tensor([True, True, True, False]),
        ... )
        >>> module = graphmount.pyg.LightningNodeData(
        ...     data, num_neighbors=[2], batch_size=2, cache="cache", progress=False
        ... )
        >>> len(module.train_dataloader()), module.val_dataloader
        (2, None)
    """

    _sampler = "node_sampler"
    _loader_type = NeighborLoader
    _inputs_name = "input_nodes"

    def __init__(  # noqa: PLR0917  (the places that PyG has)
        self,
        data: PygInput,
        input_train_nodes: Any = None,  # noqa: ANN401
        input_train_time: Any = None,  # noqa: ANN401
        input_val_nodes: Any = None,  # noqa: ANN401
        input_val_time: Any = None,  # noqa: ANN401
        input_test_nodes: Any = None,  # noqa: ANN401
        input_test_time: Any = None,  # noqa: ANN401
        input_pred_nodes: Any = None,  # noqa: ANN401
        input_pred_time: Any = None,  # noqa: ANN401
        loader: str = "neighbor",
        node_sampler: None = None,
        eval_loader_kwargs: Mapping[str, Any] | None = None,
        **options: Any,  # noqa: ANN401
    ) -> None:
        given = {
            "train": (input_train_nodes, input_train_time),
            "val": (input_val_nodes, input_val_time),
            "test": (input_test_nodes, input_test_time),
            "pred": (input_pred_nodes, input_pred_time),
        }
        data = _opened(data)
        inputs = {
            step: {
                "input_nodes": _usual_nodes(data, step) if nodes is None else nodes,
                "input_time": time,
            }
            for step, (nodes, time) in given.items()
        }
        if _is_typed(data) and inputs["pred"]["input_nodes"] is None:
            inputs["pred"]["input_nodes"] = _all_of(inputs["train"]["input_nodes"])
        super().__init__(
            data,
            inputs=inputs,
            loader=loader,
            sampler=node_sampler,
            eval_loader_kwargs=eval_loader_kwargs,
            options=options,
        )


class LightningLinkData(_Module):
    """PyG's `LightningLinkData` over `graphmount.pyg.LinkNeighborLoader`: one import changes.

    Args:
        data: What `graphmount.pyg.LinkNeighborLoader` takes: a `Data` or `HeteroData`, a `Dataset`
            or `TypedDataset`, the path of one, a `Graph`, or a `Graph` with tables.
        input_train_edges: The links to train on, of shape (2, links), or PyG's pair (None, links);
            of many types, a relation and its links, or a relation alone for all of its edges, here
            and below. All edges if None.
        input_train_labels: The label of each link to train on.
        input_train_time: The time of each link to train on.
        input_val_edges: The links to validate on, of shape (2, links), or PyG's pair (None, links).
            If None, there is no validation.
        input_val_labels: The label of each link to validate on.
        input_val_time: The time of each link to validate on.
        input_test_edges: The links to test on, of shape (2, links), or PyG's pair (None, links). If
            None, there is no testing.
        input_test_labels: The label of each link to test on.
        input_test_time: The time of each link to test on.
        input_pred_edges: The links to predict, of shape (2, links), or PyG's pair (None, links).
            All edges if None.
        input_pred_labels: The label of each link to predict.
        input_pred_time: The time of each link to predict.
        loader: "neighbor"; PyG's other word for it, "link_neighbor", is taken as well.
        link_sampler: Must be None: loaders sample by themselves.
        eval_loader_kwargs: Options that differ for the loaders of validation, test and prediction.
        options: Options of the loaders, which are those of `graphmount.pyg.LinkNeighborLoader`.
            `num_neighbors` is required, and `batch_size` is 1 by default. Each loader has a
            `memory` of its own.

    Examples:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> import graphmount.pyg
        >>> data = Data(edge_index=torch.tensor([[3, 3, 1], [0, 1, 2]]), num_nodes=4)
        >>> module = graphmount.pyg.LightningLinkData(
        ...     data, data.edge_index, num_neighbors=[2], neg_sampling="binary", batch_size=2,
        ...     cache="cache", progress=False,
        ... )
        >>> len(module.train_dataloader())
        2
    """

    _sampler = "link_sampler"
    _loader_type = LinkNeighborLoader
    _inputs_name = "edge_label_index"

    def __init__(  # noqa: PLR0917  (the places that PyG has)
        self,
        data: PygInput,
        input_train_edges: Any = None,  # noqa: ANN401
        input_train_labels: Any = None,  # noqa: ANN401
        input_train_time: Any = None,  # noqa: ANN401
        input_val_edges: Any = None,  # noqa: ANN401
        input_val_labels: Any = None,  # noqa: ANN401
        input_val_time: Any = None,  # noqa: ANN401
        input_test_edges: Any = None,  # noqa: ANN401
        input_test_labels: Any = None,  # noqa: ANN401
        input_test_time: Any = None,  # noqa: ANN401
        input_pred_edges: Any = None,  # noqa: ANN401
        input_pred_labels: Any = None,  # noqa: ANN401
        input_pred_time: Any = None,  # noqa: ANN401
        loader: str = "neighbor",
        link_sampler: None = None,
        eval_loader_kwargs: Mapping[str, Any] | None = None,
        **options: Any,  # noqa: ANN401
    ) -> None:
        given = {
            "train": (input_train_edges, input_train_labels, input_train_time),
            "val": (input_val_edges, input_val_labels, input_val_time),
            "test": (input_test_edges, input_test_labels, input_test_time),
            "pred": (input_pred_edges, input_pred_labels, input_pred_time),
        }
        inputs = {
            step: {"edge_label_index": edges, "edge_label": labels, "edge_label_time": time}
            for step, (edges, labels, time) in given.items()
        }
        super().__init__(
            _opened(data),
            inputs=inputs,
            loader=loader,
            sampler=link_sampler,
            eval_loader_kwargs=eval_loader_kwargs,
            options=options,
        )


def _opened(data: Any) -> Any:  # noqa: ANN401
    """The data; a dataset if it is the path of one, so that all loaders share it."""
    return Dataset(data) if isinstance(data, str | os.PathLike) else data


def _is_typed(data: object) -> bool:
    """Whether inputs are of a type or a relation."""
    return isinstance(data, HeteroData | TypedDataset)


def _usual_nodes(data: Any, step: str) -> Any:  # noqa: ANN401
    """What data has for a step; None if it has nothing. Of many types, a type and its nodes.

    Raises:
        ValueError: Nodes of several types have something.
    """
    for name in _SPLITS[step]:
        found: Any = None
        if not _is_typed(data):
            found = _nodes_of(data, name)
        elif of_types := _nodes_by_type(data, name):
            if len(of_types) > 1:
                raise ValueError(
                    f"the nodes of {', '.join(map(repr, of_types))} have {name!r}; say which are "
                    f"meant: input_{step}_nodes=({next(iter(of_types))!r}, …)"
                )
            found = next(iter(of_types.items()))
        if found is not None:
            return found
    return None


def _nodes_of(data: Any, name: str) -> torch.Tensor | str | None:  # noqa: ANN401
    """The split of a dataset, or the mask or ids of an object of PyG, or of a part of one."""
    if isinstance(data, Dataset):
        return name if name in data.description["splits"] else None
    for end in ("mask", "idx", "index") if is_data(data) or isinstance(data, Mapping) else ():
        found: torch.Tensor | None = data.get(f"{name}_{end}")
        if found is not None:
            return found
    return None


def _nodes_by_type(data: Any, name: str) -> dict[str, Any]:  # noqa: ANN401
    """The same for each node type that has it."""
    if isinstance(data, TypedDataset):
        names = {each: nodes._split_names() for each, nodes in data.nodes.items()}  # noqa: SLF001
        return {each: name for each, splits in names.items() if name in splits}
    found = {each: _nodes_of(store, name) for each, store in data.node_items()}
    return {each: nodes for each, nodes in found.items() if nodes is not None}


def _all_of(nodes: Any) -> str | None:  # noqa: ANN401
    """The type of some inputs of a loader of many types, which stands for all nodes of it."""
    if isinstance(nodes, tuple | list | Mapping) and len(nodes):
        nodes = next(iter(nodes))
    return nodes if isinstance(nodes, str) else None
