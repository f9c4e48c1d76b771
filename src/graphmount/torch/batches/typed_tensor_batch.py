"""Batches of many kinds of nodes for PyTorch, as tensors over the memory of their arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from graphmount._loading.batches.typed_batch import (
    TypedBatchParts,
    TypedLinkParts,
    TypedSeedParts,
)
from graphmount._support.arguments import as_plain
from graphmount.torch.batches.layer_matrices import LayerMatrices, layer_matrices
from graphmount.torch.batches.tensor_parts import TensorParts

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from graphmount._dataset.typed.results import EdgeType


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TypedTensors(TypedBatchParts[torch.Tensor, torch.Tensor], TensorParts):
    """What batches of tensors of many kinds have, whatever their seeds are."""

    turned: Mapping[EdgeType, torch.Tensor] | None = None

    @property
    def external_ids(self) -> dict[str, NDArray[np.int64] | list[str]]:
        """For each type, what the source of the dataset calls the nodes."""
        return {
            name: self.dataset.nodes[name].to_external(as_plain(ids.cpu(), "nodes"))
            for name, ids in self.nodes.items()
        }

    @property
    def adjs(self) -> dict[EdgeType, LayerMatrices]:
        """For each relation, its edges as each layer of a model needs them: sparse CSR tensors.

        Rows are the nodes of the relation's destination type that messages go to, columns those of
        its source type that they come from. The first layer comes first.

        Raises:
            ValueError: Edges do not lie by hop and destination: they do in directional samples with
                `direction="in"`, which are the default.
        """
        matrices: dict[EdgeType, LayerMatrices] = layer_matrices(vars(self))
        return matrices


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TypedTensorBatch(TypedTensors, TypedSeedParts[torch.Tensor, torch.Tensor]):
    """One batch of `graphmount.torch.NeighborLoader` over a `TypedDataset`, as CPU tensors.

    Attributes:
        nodes: For each type, the node of each number: position i has the id of the node that
            `edge_index` calls i. The seeds come first.
        edge_index: For each relation, the numbers of the sources and of the destinations of its
            edges: (2, edges).
        edge_ids: For each relation, the id of each edge; None where edges of the reverse relation
            are among them: of bidirectional subgraphs.
        batch: For each type, the place of the seed whose tree each node belongs to, if sampling is
            disjoint; else None.
        num_sampled_nodes: For each type, how many seeds there are, then how many new nodes each hop
            brought.
        num_sampled_edges: For each relation, how many edges each hop has; None where edges are not
            in the order of hops.
        indptr: For each relation, where the edges of each destination begin; None where edges do
            not lie by destination.
        features: For each type, the rows of its nodes in each table.
        edge_features: For each relation, the rows of its edges in each table.
        labels: The labels of the seeds, by their type; empty if that has none.
        seed_type: The type of the seeds.
        input_ids: The places of the seeds in `input_nodes` of the loader.
        number: The place of the batch in its epoch, from 0 on.
        epoch: The number of the epoch, from 0 on.
        num_repeated: How many of the inputs, at the end of the batch, are there a second time, to
            fill the last batch of an epoch: 0, or 1 where several ranks share the inputs and they
            do not divide evenly.
        dataset: The dataset that the loader was made from.
        turned: For each relation, the edges of inner layers by their source, made ahead by the
            loader for the way back of `graphmount.torch.nn`, as `adjs` takes it; None where edges
            do not lie by destination.

    Examples:
        >>> import numpy as np
        >>> import graphmount as gm
        >>> import graphmount.torch
        >>> _ = gm.compile_dataset(
        ...     "rack", nodes={"book": gm.Nodes(features={"x": np.eye(3)}), "reader": gm.Nodes()},
        ...     edges={("reader", "lends", "book"): ([0, 1, 1], [2, 2, 0])}, order="given",
        ... )
        >>> loader = gm.torch.NeighborLoader(gm.Dataset("rack"), [-1], input_nodes=("book", [2]))
        >>> batch = next(iter(loader))
        >>> batch.edge_index["reader", "lends", "book"]
        tensor([[0, 1],
                [0, 0]])
        >>> batch.adjs["reader", "lends", "book"][0].to_dense()
        tensor([[1., 1.]])
    """


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TypedLinkTensorBatch(TypedTensors, TypedLinkParts[torch.Tensor, torch.Tensor]):
    """One batch of `graphmount.torch.LinkNeighborLoader` over a `TypedDataset`, as tensors.

    It has all attributes of a `TypedTensorBatch` but `seed_type`.

    Attributes:
        edge_type: The relation that the links are of.
        input_ids: The places of the batch's links in `edge_label_index` of the loader.
        batch: For each type, the place of the link whose tree each node belongs to, if sampling is
            disjoint. Nodes of a negative have the place of its link.
        edge_label_index: The numbers of the ends of each link, of shape (2, links): sources and
            destinations, each among the nodes of its own type. Negatives come after the links. None
            for triplets.
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
        >>> _ = gm.compile_dataset(
        ...     "desk", nodes={"book": gm.Nodes(num_nodes=3), "reader": gm.Nodes(num_nodes=2)},
        ...     edges={("reader", "lends", "book"): ([0, 1, 1], [2, 2, 0])}, order="given",
        ... )
        >>> lends = ("reader", "lends", "book")
        >>> loader = gm.torch.LinkNeighborLoader(
        ...     gm.Dataset("desk"), [-1], edge_label_index=(lends, [[1, 0], [0, 2]]), batch_size=2
        ... )
        >>> next(iter(loader)).edge_label_index
        tensor([[1, 0],
                [0, 1]])
    """
