"""Batches for PyTorch: those of the loaders of nodes and of links, as tensors over their memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch
from torch.profiler import record_function

from graphmount._loading.batch_parts import BatchParts
from graphmount._mount.node_ids import TENSOR_MARK, order_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TensorBatch(BatchParts):
    """One batch of `graphmount.torch.NeighborLoader`: what `Batch` has, as CPU tensors.

    Attributes:
        nodes: The node of each number, seeds first.
        edge_index: Numbers of the sources and of the destinations of the edges: (2, edges).
        edge_ids: Ids of the edges.
        batch: The place of the seed whose tree a node belongs to, if sampling is disjoint.
        num_sampled_nodes: Seeds, then new nodes of each hop.
        num_sampled_edges: Edges of each hop; None where edges are not in the order of hops.
        features: For each table, the rows of `nodes`.
        edge_features: For each table of edges, the rows of `edge_ids`.
        labels: The labels of the seeds, or None.
        input_ids: The places of the seeds in `input_nodes`.
        number: The place of the batch in its epoch.
        epoch: The epoch, from 0 on.

    Examples:
        >>> import graphmount as gm
        >>> import graphmount.torch
        >>> _ = gm.compile_graph(([1, 2], [0, 0]), "g.gl")
        >>> batch = next(iter(gm.torch.NeighborLoader(gm.Graph("g.gl"), [-1])))
        >>> batch.nodes, batch.edge_index
        (tensor([0, 1, 2]), tensor([[1, 2],
                [0, 0]]))
    """

    nodes: torch.Tensor
    edge_index: torch.Tensor
    edge_ids: torch.Tensor
    batch: torch.Tensor | None
    num_sampled_nodes: tuple[int, ...]
    num_sampled_edges: tuple[int, ...] | None
    features: Mapping[str, torch.Tensor]
    edge_features: Mapping[str, torch.Tensor]
    labels: torch.Tensor | None
    input_ids: torch.Tensor
    number: int
    epoch: int

    def to(self, device: torch.device | str | int, *, non_blocking: bool = True) -> Self:
        """This batch with its tensors on a device. From pinned memory that does not wait.

        Args:
            device: Where the tensors go.
            non_blocking: False waits until they are there.

        Examples:
            >>> import graphmount as gm
            >>> import graphmount.torch
            >>> _ = gm.compile_graph(([1, 2], [0, 0]), "g.gl")
            >>> batch = next(iter(gm.torch.NeighborLoader(gm.Graph("g.gl"), [-1])))
            >>> batch.to("meta").nodes.device
            device(type='meta')
        """
        return self._changed(lambda tensor: tensor.to(device, non_blocking=non_blocking))

    def pin_memory(self) -> Self:
        """This batch with its tensors in pinned memory, which a GPU can read by itself.

        Tensors that are pinned already, as rows are where torch finds CUDA, are not copied. Code
        that is written for any batch calls this, such as PyG's `PrefetchLoader`.

        Raises:
            RuntimeError: torch finds no device that memory could be pinned for.

        Examples:
            >>> import torch
            >>> import graphmount as gm
            >>> import graphmount.torch
            >>> _ = gm.compile_graph(([1, 2], [0, 0]), "g.gl")
            >>> batch = next(iter(gm.torch.NeighborLoader(gm.Graph("g.gl"), [-1])))
            >>> if torch.cuda.is_available():
            ...     batch = batch.pin_memory()
        """
        return self._changed(lambda tensor: tensor.pin_memory())

    def _changed(self, change: Callable[[torch.Tensor], torch.Tensor]) -> Self:
        """This batch with each of its tensors changed."""

        def changed(value: Any) -> Any:  # noqa: ANN401
            if isinstance(value, dict):
                return {name: changed(item) for name, item in value.items()}
            return change(value) if isinstance(value, torch.Tensor) else value

        return replace(self, **{name: changed(value) for name, value in vars(self).items()})


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class LinkTensorBatch(TensorBatch):
    """One batch of `graphmount.torch.LinkNeighborLoader`: what `LinkBatch` has, as CPU tensors.

    It has all that a `TensorBatch` has.

    Attributes:
        input_ids: The places of the batch's links in `edge_label_index` of the loader.
        batch: The place of the link whose tree a node belongs to, if sampling is disjoint.
        edge_label_index: Numbers of the ends of links and negatives; None for triplets.
        edge_label: Their labels, 0 for negatives, or None.
        edge_label_time: Their times, or those of the links of triplets; None without times.
        src_index: For triplets, the numbers of the sources of the links; else None, as the next.
        dst_pos_index: The numbers of the destinations.
        dst_neg_index: For each link, the numbers of its negative destinations: (links, amount).

    Examples:
        >>> import graphmount as gm
        >>> import graphmount.torch
        >>> _ = gm.compile_graph(([1, 2], [0, 0]), "g.gl")
        >>> loader = gm.torch.LinkNeighborLoader(gm.Graph("g.gl"), [-1], batch_size=2)
        >>> next(iter(loader)).edge_label_index
        tensor([[1, 2],
                [0, 0]])
    """

    edge_label_index: torch.Tensor | None
    edge_label: torch.Tensor | None
    edge_label_time: torch.Tensor | None
    src_index: torch.Tensor | None
    dst_pos_index: torch.Tensor | None
    dst_neg_index: torch.Tensor | None

    @property
    def num_links(self) -> int:
        """How many links there are, without negatives."""
        return len(self.input_ids)


def to_tensors(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of a batch of arrays as those of one of tensors, over the same memory."""
    with record_function("graphmount.tensors"):
        tensors = {name: _to_tensor(value) for name, value in fields.items()}
        tensors["edge_index"] = torch.stack([tensors.pop("row"), tensors.pop("col")])
        del tensors["dataset"]
        return tensors


def _to_tensor(value: Any) -> Any:  # noqa: ANN401
    """An array as a tensor, and rows of several tables, by their names, too; others as they are."""
    if isinstance(value, np.ndarray):
        return marked_tensor(value)
    if isinstance(value, dict):
        return {name: _rows_to_tensor(rows) for name, rows in value.items()}
    return value


def marked_tensor(array: NDArray[Any]) -> torch.Tensor:
    """An array as a tensor, which knows whose ids it holds if the array does: see `NodeIds`."""
    tensor = torch.from_numpy(np.ascontiguousarray(array))
    if order_of(array) != 0:
        setattr(tensor, TENSOR_MARK, order_of(array))
    return tensor


def _rows_to_tensor(rows: NDArray[Any]) -> torch.Tensor:
    # Tables have no uint16, so such rows are the bits of bfloat16.
    if rows.dtype == np.uint16:
        return torch.from_numpy(rows.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(rows)
