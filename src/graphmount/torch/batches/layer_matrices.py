"""The edges of a batch as the layers of a model want them: a sparse matrix for each layer.

Edges of a batch lie by hop, and in each hop by target. So the matrix of every layer is the
beginning of one matrix: all of them share its memory, and nothing is sorted or copied for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import torch

from graphmount._support.display import Displayed
from graphmount.torch.batches.aggregated_hop import AggregatedHop
from graphmount.torch.batches.sparse import csr_tensor
from graphmount.torch.batches.tensor_parts import TensorParts

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The attribute of a matrix that has its edges by source.
TURNED_MARK = "_graphmount_turned"


@dataclass(frozen=True, eq=False, repr=False)
class LayerMatrices(Displayed, TensorParts):
    """The matrices of a batch, that of the first layer first: what `batch.adjs` is.

    Each is a sparse CSR tensor, the form in which layers are fastest on a processor. Its rows are
    the nodes that messages go to, its columns those that they come from, and every edge is an entry
    of value 1. The features of a batch have as many rows as the first matrix has columns, and what
    a layer gives has as many rows as the next matrix has columns.

    If the loader has aggregated the rows of the last hop, the first is an `AggregatedHop` instead.

    It copies, pickles and moves between devices as tensors do, which sparse tensors themselves
    cannot all do; matrices are made when they are asked for. They are of the edges as the loader
    sampled them: a transform that changes `edge_index` does not change them.

    Attributes:
        indptr: Where the edges of each target begin, and where the last ones end.
        columns: The number of the node that each edge comes from.
        num_sampled_nodes: Seeds, then new nodes of each hop.
        num_sampled_edges: Edges of each hop.
        aggregate_last: "mean" or "sum" if the loader has aggregated the rows of the last hop.
        num_sampled_sources: For a relation between two types, `num_sampled_nodes` of the type that
            messages come from; None if they come from the same.
        turned: For the way back of `graphmount.torch.nn`, the edges of all layers but the first by
            their source, as the core lays them out: see `training/turned_hops.hpp`. None where the
            loader has not made them; layers do so themselves then, and where edges were changed.

    Examples:
        >>> import torch
        >>> import graphmount as gm
        >>> import graphmount.torch
        >>> _ = gm.compile_graph(([1, 2, 3], [0, 0, 1]), "g.gl")
        >>> batch = next(iter(gm.torch.NeighborLoader(gm.Graph("g.gl"), [-1, -1])))
        >>> x = torch.tensor([[1.0], [2.0], [4.0], [8.0]])
        >>> for adj in batch.adjs:
        ...     x = x[: adj.size(0)] + torch.sparse.mm(adj, x, "mean")
        >>> x
        tensor([[11.]])
    """

    indptr: torch.Tensor
    columns: torch.Tensor
    num_sampled_nodes: tuple[int, ...]
    num_sampled_edges: tuple[int, ...]
    aggregate_last: Literal["mean", "sum"] | None = None
    num_sampled_sources: tuple[int, ...] | None = None
    turned: torch.Tensor | None = None

    def __len__(self) -> int:
        """How many layers there are: one for each hop."""
        return len(self.num_sampled_edges)

    # What is there is an AggregatedHop or not, as the loader was told: code knows which.
    @overload
    def __getitem__(self, layer: int) -> Any: ...  # noqa: ANN401

    @overload
    def __getitem__(self, layer: slice) -> list[Any]: ...

    def __getitem__(self, layer: int | slice) -> Any:
        """The matrix of a layer, 0 for the first, -1 for the last; a list of those of a slice."""
        if isinstance(layer, slice):
            return [self[number] for number in range(len(self))[layer]]
        try:
            hops = len(self) - range(len(self))[layer]
        except (IndexError, TypeError):
            raise IndexError(f"there are {len(self)} layers, from 0 on, and no {layer!r}") from None
        if hops == len(self) and self.aggregate_last is not None:
            return AggregatedHop(
                reduce=self.aggregate_last, num_targets=sum(self.num_sampled_nodes[:hops])
            )
        sources = self.num_sampled_sources or self.num_sampled_nodes
        size = (sum(self.num_sampled_nodes[:hops]), sum(sources[: hops + 1]))
        num_edges = sum(self.num_sampled_edges[:hops])
        values = torch.ones(num_edges, device=self.columns.device)
        adj = csr_tensor(self.indptr[: size[0] + 1], self.columns[:num_edges], values, size)
        if self.turned is not None and hops < len(self):
            before = sum(map(self._turned_size, range(hops + 1, len(self))))
            turned = self.turned[before : before + self._turned_size(hops)]
            setattr(adj, TURNED_MARK, turned)
        return adj

    def _turned_size(self, hops: int) -> int:
        """How many numbers of `turned` belong to the layer over so many hops."""
        sources = self.num_sampled_sources or self.num_sampled_nodes
        return 2 + sum(sources[: hops + 1]) + 2 * sum(self.num_sampled_edges[:hops])

    def __iter__(self) -> Iterator[Any]:
        return map(self.__getitem__, range(len(self)))

    def __repr__(self) -> str:
        layers = "layer" if len(self) == 1 else "layers"
        last = "" if self.aggregate_last is None else f", aggregate_last={self.aggregate_last!r}"
        return f"<LayerMatrices: {len(self)} {layers}, {len(self.columns):,} edges{last}>"

    def to(self, device: torch.device | str | int, *, non_blocking: bool = False) -> Self:
        """These matrices on a device.

        Args:
            device: Where they go.
            non_blocking: Whether a copy from pinned memory is not waited for.

        Examples:
            >>> import graphmount as gm
            >>> import graphmount.torch
            >>> _ = gm.compile_graph(([1, 2], [0, 0]), "g.gl")
            >>> batch = next(iter(gm.torch.NeighborLoader(gm.Graph("g.gl"), [-1])))
            >>> batch.adjs.to("cpu")
            <LayerMatrices: 1 layer, 2 edges>
        """
        return self._changed(lambda tensor: tensor.to(device, non_blocking=non_blocking))

    def clone(self) -> Self:
        """A copy with memory of its own.

        Examples:
            >>> import graphmount as gm
            >>> import graphmount.torch
            >>> _ = gm.compile_graph(([1, 2], [0, 0]), "g.gl")
            >>> batch = next(iter(gm.torch.NeighborLoader(gm.Graph("g.gl"), [-1])))
            >>> batch.adjs.clone()[0].to_dense()
            tensor([[0., 1., 1.]])
        """
        return self._changed(torch.clone)


def layer_matrices(of: Mapping[str, Any]) -> Any:  # noqa: ANN401
    """The matrices of a batch with these fields; of many types, those of each relation.

    Raises:
        ValueError: Edges do not lie by hop and destination.
    """
    indptr, edge_index, turned = of["indptr"], of["edge_index"], of.get("turned")
    num_nodes, num_edges = of["num_sampled_nodes"], of["num_sampled_edges"]
    if indptr is None or num_edges is None:
        raise ValueError(
            "adjs: the edges of this batch do not lie by hop and destination; use "
            'subgraph_type="directional" and direction="in", or to_sparse_csr(batch) for one '
            "matrix of all edges"
        )
    if not isinstance(edge_index, Mapping):
        aggregated = of["aggregate_last"]
        return LayerMatrices(indptr, edge_index[0], num_nodes, num_edges, aggregated, turned=turned)
    return {
        relation: LayerMatrices(
            indptr[relation],
            ends[0],
            num_nodes[relation[2]],
            num_edges[relation],
            num_sampled_sources=num_nodes[relation[0]],
            turned=None if turned is None else turned[relation],
        )
        for relation, ends in edge_index.items()
    }
