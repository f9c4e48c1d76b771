"""A sampler for PyG's `NodeLoader` over edges in memory: the plain way, without graphmount.

PyG's own `NeighborLoader` needs pyg-lib or torch-sparse, which are not to be had for every torch;
this is the same sampling, node by node: uniform, without replacement, each node expanded once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch_geometric.sampler import BaseSampler, SamplerOutput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class InMemorySampler(BaseSampler):  # type: ignore[misc]  # PyG has no type information
    """Samples of incoming edges.

    Args:
        edges: Sources and destinations, (2, edges).
        num_nodes: How many nodes there are.
        num_neighbors: How many neighbors to draw in each hop; -1 for all.
        seed: Of all draws.
    """

    def __init__(
        self, edges: NDArray[np.int64], num_nodes: int, num_neighbors: Sequence[int], *, seed: int
    ) -> None:
        self._by_target = np.argsort(edges[1], kind="stable")
        self._sources = edges[0][self._by_target]
        self._firsts = np.searchsorted(edges[1][self._by_target], np.arange(num_nodes + 1))
        self._fanouts = num_neighbors
        self._generator = np.random.default_rng(seed)

    def _picked(self, node: int, fanout: int) -> NDArray[np.int64]:
        """Places of the entries that are taken from a node's list."""
        first, end = self._firsts[node], self._firsts[node + 1]
        if fanout < 0 or end - first <= fanout:
            return np.arange(first, end)
        picked: NDArray[np.int64] = self._generator.choice(end - first, fanout, replace=False)
        return picked + np.int64(first)

    def draw(self, node: int, fanout: int) -> list[tuple[int, int]]:
        """The sources and places in `edges` of what is drawn for a node."""
        places = self._picked(node, fanout)
        sources, edges = self._sources[places].tolist(), self._by_target[places].tolist()
        return list(zip(sources, edges, strict=True))

    def sample_from_edges(self, *_: Any, **__: Any) -> Any:  # noqa: ANN401
        """PyG asks for it, but loaders of nodes do not call it."""
        raise NotImplementedError("this sampler is for nodes")

    def sample_from_nodes(self, inputs: Any, **_: Any) -> Any:  # noqa: ANN401
        """As PyG wants it: seeds first, then hop by hop."""
        nodes = inputs.node.tolist()
        number = {node: place for place, node in enumerate(nodes)}
        row: list[int] = []
        col: list[int] = []
        edges: list[int] = []
        num_nodes, num_edges = [len(nodes)], []
        frontier = nodes.copy()
        for fanout in self._fanouts:
            before, met = len(row), []
            for target in frontier:
                for source, edge in self.draw(target, fanout):
                    if source not in number:
                        number[source] = len(number)
                        met.append(source)
                    row.append(number[source])
                    col.append(number[target])
                    edges.append(edge)
            nodes += met
            frontier = met
            num_nodes.append(len(met))
            num_edges.append(len(row) - before)
        return SamplerOutput(
            node=torch.tensor(nodes),
            row=torch.tensor(row, dtype=torch.int64),
            col=torch.tensor(col, dtype=torch.int64),
            edge=torch.tensor(edges, dtype=torch.int64),
            batch=None,
            num_sampled_nodes=num_nodes,
            num_sampled_edges=num_edges,
            metadata=(inputs.input_id, inputs.time),
        )
