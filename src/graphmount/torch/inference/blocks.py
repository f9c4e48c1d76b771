"""Blocks of nodes with all their neighbors and the rows of all of them: what a layer works on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import torch

from graphmount._support.display import Displayed
from graphmount.torch.batches.sparse import csr_tensor
from graphmount.torch.batches.tensor_parts import TensorParts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphmount._dataset.typed.results import EdgeType


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class LayerBlock(Displayed, TensorParts):
    """Some nodes with all their neighbors, as a layer of `layerwise_inference` gets them.

    Attributes:
        x: The rows of all nodes of the block; the nodes to compute come first.
        edge_index: The numbers of the sources and destinations of the edges in the block, of shape
            (2, edges): all edges of the nodes to compute, and no others.
        nodes: The id of each node, by its number in the block.
        num_targets: How many of the nodes, at the front, are to be computed.
        edge_ids: The id of each edge.
        edge_weight: The weight of each edge, if weights were asked for; else None.

    Examples:
        >>> import graphmount as gm
        >>> import graphmount.torch
        >>> _ = gm.compile_graph(([1, 2, 0], [0, 0, 1]), "g.gl")
        >>> _ = gm.compile_features([[1.0], [2.0], [4.0]], "x.gd")
        >>> def look(layer, block):
        ...     print(block.nodes.tolist(), block.edge_index.tolist(), block.num_targets)
        ...     return block.x
        >>> _ = gm.torch.layerwise_inference(
        ...     (gm.Graph("g.gl"), gm.FeatureStore("x.gd")), [None], out="y.gd", call=look
        ... )
        [0, 1, 2] [[1, 2, 0], [0, 0, 1]] 3
    """

    x: torch.Tensor
    edge_index: torch.Tensor
    nodes: torch.Tensor
    num_targets: int
    edge_ids: torch.Tensor
    edge_weight: torch.Tensor | None

    @property
    def adj(self) -> torch.Tensor:
        """The edges as a sparse CSR tensor, with which layers are several times as fast.

        Its rows are the nodes to compute, its columns all nodes of the block. Every edge is an
        entry, whose value is its weight if weights were asked for, else 1, in the dtype of `x`:
        `layer((block.x, block.x[: block.num_targets]), block.adj)` calls a layer of PyG.

        Raises:
            ValueError: The edges lead away from the nodes to compute, as with `direction="out"`.

        Examples:
            >>> import torch
            >>> import graphmount as gm
            >>> import graphmount.torch
            >>> _ = gm.compile_graph(([1, 2, 0], [0, 0, 1]), "g.gl")
            >>> _ = gm.compile_features([[1.0], [2.0], [4.0]], "x.gd")
            >>> done = gm.torch.layerwise_inference(
            ...     (gm.Graph("g.gl"), gm.FeatureStore("x.gd")), [None], out="y.gd",
            ...     call=lambda layer, block: torch.sparse.mm(block.adj, block.x, "mean"),
            ... )
            >>> gm.FeatureStore("y.gd").tensor().flatten()
            tensor([3., 1., 0.], dtype=torch.float64)
        """
        return _matrix(self.edge_index, self.edge_weight, self.x, (self.num_targets, len(self.x)))


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TypedLayerBlock(Displayed, TensorParts):
    """Some nodes of one type with all their neighbors of all types, as a layer gets them.

    It is what `layerwise_inference` makes of a `TypedDataset`. Nodes of each type are numbered by
    themselves. All types and relations that inference goes over are there, also those that this
    block has nothing of.

    Attributes:
        target_type: The type of the nodes to compute.
        num_targets: How many nodes of that type, at the front, are to be computed.
        x: For each type that has rows, those of its nodes. A type has no rows if it has no such
            table, or if the layer before gave none.
        edge_index: For each relation, the numbers of the sources and destinations of its edges, of
            shape (2, edges): all edges of the nodes to compute, and no others.
        nodes: For each type, the id of each node, by its number in the block.
        edge_ids: For each relation, the id of each edge.
        edge_weight: For each relation that has weights, that of each edge, if weights were asked
            for; else None.

    Examples:
        >>> import graphmount as gm
        >>> import graphmount.torch
        >>> _ = gm.compile_dataset(
        ...     "blocks", nodes={"book": gm.Nodes(features={"x": [[1.0], [2.0], [4.0]]}),
        ...     "reader": gm.Nodes(features={"x": [[8.0], [9.0]]})},
        ...     edges={("reader", "lends", "book"): ([0, 1, 1], [2, 2, 0])}, order="given",
        ... )
        >>> def look(layer, block):
        ...     print(block.target_type, block.num_targets, block.x["reader"].flatten().tolist())
        ...     return block.x[block.target_type]
        >>> _ = gm.torch.layerwise_inference(
        ...     gm.Dataset("blocks"), [None], out="block-outputs", call=look
        ... )
        book 3 [9.0, 8.0]
        reader 2 [8.0, 9.0]
    """

    target_type: str
    num_targets: int
    x: Mapping[str, torch.Tensor]
    edge_index: Mapping[EdgeType, torch.Tensor]
    nodes: Mapping[str, torch.Tensor]
    edge_ids: Mapping[EdgeType, torch.Tensor]
    edge_weight: Mapping[EdgeType, torch.Tensor] | None

    @property
    def adj(self) -> dict[EdgeType, torch.Tensor]:
        """For each relation that leads to the nodes to compute, its edges as a sparse CSR tensor.

        Rows are the nodes to compute, columns the nodes of the relation's source type. Every edge
        is an entry, whose value is its weight, or 1, in the dtype of the rows of the sources.

        Raises:
            ValueError: The edges lead away from the nodes to compute, as with `direction="out"`.

        Examples:
            >>> import torch
            >>> import graphmount as gm
            >>> import graphmount.torch
            >>> _ = gm.compile_dataset(
            ...     "loans", nodes={"book": gm.Nodes(features={"x": [[1.0], [2.0], [4.0]]}),
            ...     "reader": gm.Nodes(features={"x": [[8.0], [9.0]]})},
            ...     edges={("reader", "lends", "book"): ([0, 1, 1], [2, 2, 0])}, order="given",
            ... )
            >>> def call(layer, block):
            ...     adj = block.adj["reader", "lends", "book"]
            ...     return torch.sparse.mm(adj, block.x["reader"], "mean")
            >>> _ = gm.torch.layerwise_inference(
            ...     gm.Dataset("loans"), [None], out="means", types=["book"], call=call
            ... )
            >>> gm.FeatureStore("means/book.gd").tensor().flatten()
            tensor([9.0000, 0.0000, 8.5000], dtype=torch.float64)
        """
        found = {}
        for relation, edges in self.edge_index.items():
            source, _, destination = relation
            if destination == self.target_type:
                size = (self.num_targets, len(self.nodes[source]))
                weight = None if self.edge_weight is None else self.edge_weight.get(relation)
                found[relation] = _matrix(edges, weight, self.x.get(source), size)
            elif edges.shape[1]:
                _refuse_matrix()
        return found

    @property
    def pairs(self) -> dict[EdgeType, tuple[torch.Tensor, torch.Tensor]]:
        """For each relation in `adj`, the rows of its sources and those of the nodes to compute.

        PyG's `HeteroConv` takes both together, `layer(block.pairs, block.adj)`, and then computes
        nothing but what is kept. Relations between types of which one has no rows are left out.

        Examples:
            >>> from torch_geometric.nn import HeteroConv, SAGEConv
            >>> import graphmount as gm
            >>> import graphmount.torch
            >>> _ = gm.compile_dataset(
            ...     "lent", nodes={"book": gm.Nodes(features={"x": [[1.0], [2.0], [4.0]]}),
            ...     "reader": gm.Nodes(features={"x": [[8.0], [9.0]]})},
            ...     edges={("reader", "lends", "book"): ([0, 1, 1], [2, 2, 0])}, reverse=True,
            ... )
            >>> ds = gm.Dataset("lent")
            >>> layer = HeteroConv({relation: SAGEConv((1, 1), 4) for relation in ds.edge_types})
            >>> done = gm.torch.layerwise_inference(
            ...     ds, [layer.double()], out="lent-outputs",
            ...     call=lambda layer, block: layer(block.pairs, block.adj),
            ... )
            >>> done["book"].shape, done["reader"].shape
            ((3, 4), (2, 4))
        """
        own = self.x.get(self.target_type)
        return {
            relation: (self.x[relation[0]], own[: self.num_targets])
            for relation in self.edge_index
            if relation[2] == self.target_type and own is not None and relation[0] in self.x
        }


def _matrix(
    edge_index: torch.Tensor,
    weight: torch.Tensor | None,
    x: torch.Tensor | None,
    size: tuple[int, int],
) -> torch.Tensor:
    """Edges as a matrix of the dtype of the rows that it is multiplied with."""
    columns, rows = edge_index
    if len(rows) and (int(rows.max()) >= size[0] or bool((rows.diff() < 0).any())):
        _refuse_matrix()
    values = torch.ones(len(columns), device=columns.device) if weight is None else weight
    if x is not None and x.is_floating_point():
        values = values.to(x.dtype)  # torch multiplies what is of one dtype
    starts = torch.searchsorted(rows.contiguous(), torch.arange(size[0] + 1, device=rows.device))
    return csr_tensor(starts, columns.contiguous(), values, size)


def _refuse_matrix() -> NoReturn:
    raise ValueError(
        "adj: the edges of this block do not lead to the nodes to compute, one after the other, as "
        'those with direction="in" do; use edge_index'
    )
