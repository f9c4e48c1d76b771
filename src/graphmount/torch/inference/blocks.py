"""Blocks of nodes with all their neighbors and the rows of all of them: what a layer works on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from graphmount._mount.mapped_reads import ListOffsets, has_list_section, read_list_section
from graphmount._support.display import Displayed
from graphmount.errors import FileChangedError
from graphmount.torch.inference.node_blocks import node_blocks
from graphmount.torch.sparse import csr_tensor
from graphmount.torch.tensor_batch import marked_tensor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphmount._mount.features import FeatureStore
    from graphmount._mount.graph import Graph
    from graphmount._support.direction import Direction

#: Three blocks are alive at once, and the layer's own results take about as much as one or two.
_BLOCKS_IN_MEMORY = 6
#: Of a block, for a node or an edge: its number, both ends, its id, and what sampling needs.
_ENTRY_BYTES = 64


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class LayerBlock(Displayed):
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
        columns, rows = self.edge_index
        if len(rows) and (int(rows.max()) >= self.num_targets or bool((rows.diff() < 0).any())):
            raise ValueError(
                "adj: the edges of this block do not lead to the nodes to compute, one after the "
                'other, as those with direction="in" do; use edge_index'
            )
        values = self.edge_weight
        if values is None:
            values = torch.ones(len(columns), device=columns.device)
        if self.x.is_floating_point():
            values = values.to(self.x.dtype)  # torch multiplies what is of one dtype
        starts = torch.arange(self.num_targets + 1, device=rows.device)
        return csr_tensor(
            torch.searchsorted(rows.contiguous(), starts),
            columns.contiguous(),
            values,
            (self.num_targets, len(self.x)),
        )

    def to(self, device: torch.device) -> LayerBlock:
        """The block with its tensors on another device.

        Args:
            device: The device to copy the tensors to.

        Examples:
            >>> import torch
            >>> import graphmount.torch
            >>> none = torch.empty(0, dtype=torch.int64)
            >>> block = graphmount.torch.LayerBlock(
            ...     x=torch.ones(1, 2), edge_index=none.view(2, 0), nodes=none, num_targets=0,
            ...     edge_ids=none, edge_weight=None,
            ... )
            >>> block.to(torch.device("meta")).x.device
            device(type='meta')
        """
        moved: dict[str, Any] = {
            name: value.to(device)
            for name, value in vars(self).items()
            if isinstance(value, torch.Tensor)
        }
        return replace(self, **moved)


def layer_blocks(
    graph: Graph,
    store: FeatureStore,
    *,
    dtype: torch.dtype,
    direction: Direction,
    weights: bool,
    memory: int,
) -> Iterator[LayerBlock]:
    """All nodes in order, in blocks with all their neighbors.

    Args:
        graph: The graph.
        store: The rows of its nodes.
        dtype: What they are converted to.
        direction: Which neighbors.
        weights: Whether to add weights.
        memory: Of which a block takes a part.

    Raises:
        BudgetError: One node has more neighbors than fit.
    """
    from graphmount.torch import gather

    row_bytes = int(np.prod(store.shape[1:], dtype=np.int64)) * dtype.itemsize
    has_weights = weights and has_list_section(graph, "weights", direction)
    for nodes in node_blocks(
        ListOffsets(graph, direction),
        entry_bytes=row_bytes + _ENTRY_BYTES,
        block_bytes=memory // _BLOCKS_IN_MEMORY,
        memory=memory,
    ):
        # All neighbors: nothing is drawn, and the seed spares the user's generator.
        sample = graph.sample_neighbors(
            graph._mark(np.arange(nodes.start, nodes.stop)),  # noqa: SLF001  (a friend)
            [-1],
            direction=direction,
            seed=0,
        )
        edge_weight = None
        if has_weights:
            # The lists of a block lie together, and its edges come in their order.
            offsets = read_list_section(graph, "indptr", direction, nodes.start, len(nodes) + 1)
            first, count = int(offsets[0]), int(offsets[-1] - offsets[0])
            if count != len(sample.edge_ids):
                raise FileChangedError(
                    f"{graph.path}: the lists of nodes {nodes.start} to {nodes.stop - 1} changed "
                    "while they were read; do not write to mounted files"
                )
            edge_weight = torch.from_numpy(
                read_list_section(graph, "weights", direction, first, count)
            )
        yield LayerBlock(
            x=gather(store, sample.nodes, dtype=dtype),
            edge_index=torch.from_numpy(sample.edge_index),
            nodes=marked_tensor(sample.nodes),
            num_targets=len(nodes),
            edge_ids=torch.from_numpy(sample.edge_ids),
            edge_weight=edge_weight,
        )
