"""Batches for PyTorch: those of the loaders of nodes and of links, as tensors over their memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.profiler import record_function

from graphmount._loading.batches.batch_parts import BatchParts, LinkParts, external_ids
from graphmount._mount.node_ids import TENSOR_MARK, order_of
from graphmount._support.arguments import as_plain
from graphmount.torch.batches.layer_matrices import LayerMatrices, layer_matrices
from graphmount.torch.batches.tensor_parts import TensorParts

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TensorBatch(BatchParts[torch.Tensor, torch.Tensor], TensorParts):
    """One batch of `graphmount.torch.NeighborLoader`: what `Batch` has, as CPU tensors.

    Attributes:
        nodes: The node of each number, seeds first: position i has the id of the node that
            `edge_index` calls i.
        edge_index: Numbers of the sources and of the destinations of the edges: (2, edges).
        edge_ids: The id of each edge.
        batch: For each node, the place of the seed whose tree it belongs to, if sampling is
            disjoint; else None.
        num_sampled_nodes: How many seeds there are, then how many new nodes each hop brought.
        num_sampled_edges: How many edges each hop has; None where edges are not in the order of
            hops.
        indptr: The edges that lead to node i are `indptr[i]` to `indptr[i + 1]`, for every node of
            all hops but the last; None where edges do not lie by destination.
        features: For each node table, the rows of `nodes`; of those that are aggregated, the rows
            of the first nodes, those of all hops but the last.
        aggregated: With `aggregate_last`, for each float32 node table, the mean or sum of the rows
            of the neighbors of each of these first nodes; zeros where there are none. Else empty.
        aggregate_last: "mean" or "sum", as the loader was told; None if nothing is aggregated.
        edge_features: For each edge table, the rows of `edge_ids`.
        labels: The labels of the seeds, or None if there are none.
        input_ids: The places of the seeds in `input_nodes` of the loader.
        number: The place of the batch in its epoch, from 0 on.
        epoch: The number of the epoch, from 0 on.
        num_repeated: How many of the inputs, at the end of the batch, are there a second time, to
            fill the last batch of an epoch: 0, or 1 where several ranks share the inputs and they
            do not divide evenly.
        dataset: What the loader was made of, if that was a dataset.
        turned: The edges of inner layers by their source, made ahead by the loader for the way back
            of `graphmount.torch.nn`, as `adjs` takes it; None where edges do not lie by
            destination.

    Examples:
        >>> import graphmount as gm
        >>> import graphmount.torch
        >>> _ = gm.compile_graph(([1, 2], [0, 0]), "g.gl")
        >>> batch = next(iter(gm.torch.NeighborLoader(gm.Graph("g.gl"), [-1])))
        >>> batch.nodes, batch.edge_index
        (tensor([0, 1, 2]), tensor([[1, 2],
                [0, 0]]))
    """

    turned: torch.Tensor | None = None

    @property
    def external_ids(self) -> NDArray[np.int64] | list[str]:
        """What the source of the dataset calls the nodes.

        Raises:
            ValueError: The loader was not made of a dataset.

        Examples:
            >>> import graphmount as gm
            >>> import graphmount.torch
            >>> _ = gm.compile_dataset("pair", edges=([0], [1]), node_ids=["ann", "bob"])
            >>> ds = gm.Dataset("pair")
            >>> loader = gm.torch.NeighborLoader(ds, [1], input_nodes=["bob"])
            >>> next(iter(loader)).external_ids
            ['bob', 'ann']
        """
        return external_ids(self.dataset, as_plain(self.nodes.cpu(), "nodes"))

    @property
    def adjs(self) -> LayerMatrices:
        """The edges as each layer of a model needs them: sparse CSR tensors, first layer first.

        With them, layers are several times as fast on a processor as with `edge_index`:
        `for conv, adj in zip(convs, batch.adjs): x = conv((x, x[: adj.size(0)]), adj)`. If the
        loader has aggregated the rows of the last hop, the first is an `AggregatedHop`.

        Raises:
            ValueError: Edges do not lie by hop and destination: they do in directional samples with
                `direction="in"`, which are the default.

        Examples:
            >>> import graphmount as gm
            >>> import graphmount.torch
            >>> _ = gm.compile_graph(([1, 2, 3], [0, 0, 1]), "g.gl")
            >>> batch = next(iter(gm.torch.NeighborLoader(gm.Graph("g.gl"), [-1, -1])))
            >>> [tuple(adj.shape) for adj in batch.adjs]
            [(3, 4), (1, 3)]
        """
        matrices: LayerMatrices = layer_matrices(vars(self))
        return matrices


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class LinkTensorBatch(LinkParts[torch.Tensor, torch.Tensor], TensorBatch):
    """One batch of `graphmount.torch.LinkNeighborLoader`: what `LinkBatch` has, as CPU tensors.

    It has all that a `TensorBatch` has.

    Attributes:
        input_ids: The places of the batch's links in `edge_label_index` of the loader.
        batch: For each node, the place of the link whose tree it belongs to, if sampling is
            disjoint. Nodes of a negative have the place of its link.
        edge_label_index: The numbers of the ends of each link, of shape (2, links): sources and
            destinations. Negatives come after the links. None for triplets.
        edge_label: The label of each of these links, 0 for negatives. None for triplets; also None
            without negatives, if the loader was given no labels.
        edge_label_time: The time of each of these links, or for triplets of each link. A negative
            has the time of its link. None if the loader was given no times.
        src_index: For triplets, the number of the source of each link; else None.
        dst_pos_index: For triplets, the number of the destination of each link; else None.
        dst_neg_index: For triplets, the numbers of the negative destinations of each link, of shape
            (links, amount); else None.

    Examples:
        >>> import graphmount as gm
        >>> import graphmount.torch
        >>> _ = gm.compile_graph(([1, 2], [0, 0]), "g.gl")
        >>> loader = gm.torch.LinkNeighborLoader(gm.Graph("g.gl"), [-1], batch_size=2)
        >>> next(iter(loader)).edge_label_index
        tensor([[1, 2],
                [0, 0]])
    """


def to_tensors(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of a batch of arrays as those of one of tensors, over the same memory."""
    with record_function("graphmount.tensors"):
        return {name: _to_tensor(value) for name, value in fields.items()}


def _to_tensor(value: Any) -> Any:  # noqa: ANN401
    """An array as a tensor, and those of a dict, by their names, too; others as they are."""
    if isinstance(value, np.ndarray):
        # Tables have no uint16, so such rows are the bits of bfloat16.
        if value.dtype == np.uint16:
            return torch.from_numpy(value.view(np.int16)).view(torch.bfloat16)
        return marked_tensor(value)
    if isinstance(value, dict):
        return {name: _to_tensor(rows) for name, rows in value.items()}
    return value


def marked_tensor(array: NDArray[Any]) -> torch.Tensor:
    """An array as a tensor, which knows whose ids it holds if the array does: see `NodeIds`."""
    tensor = torch.from_numpy(np.ascontiguousarray(array))
    if order_of(array) != 0:
        setattr(tensor, TENSOR_MARK, order_of(array))
    return tensor
