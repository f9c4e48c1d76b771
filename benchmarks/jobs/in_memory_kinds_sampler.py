"""The plain sampler of `in_memory_sampler` for several types of nodes, for PyG's `NodeLoader`.

In each hop, relations are followed one after the other; a node that one of them meets draws its own
neighbors in the next hop, once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch_geometric.sampler import BaseSampler, HeteroSamplerOutput

from .in_memory_sampler import InMemorySampler

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Relation = tuple[str, str, str]


class InMemoryKindsSampler(BaseSampler):  # type: ignore[misc]  # PyG has no type information
    """Samples of incoming edges of all relations.

    Args:
        edges: Sources and destinations, (2, edges), of each relation.
        num_nodes: How many nodes there are of each type.
        num_neighbors: How many neighbors to draw in each hop and relation; -1 for all.
        seed: Of all draws.
    """

    def __init__(
        self,
        edges: Mapping[Relation, NDArray[np.int64]],
        num_nodes: Mapping[str, int],
        num_neighbors: Sequence[int],
        *,
        seed: int,
    ) -> None:
        self._types, self._fanouts = list(num_nodes), num_neighbors
        self._lists = {
            relation: InMemorySampler(
                ends, num_nodes[relation[2]], num_neighbors, seed=seed * 100 + place
            )
            for place, (relation, ends) in enumerate(edges.items())
        }

    def sample_from_edges(self, *_: Any, **__: Any) -> Any:  # noqa: ANN401
        """PyG asks for it, but loaders of nodes do not call it."""
        raise NotImplementedError("this sampler is for nodes")

    def sample_from_nodes(self, inputs: Any, **_: Any) -> Any:  # noqa: ANN401
        """As PyG wants it: seeds first, then hop by hop."""
        nodes: dict[str, list[int]] = {name: [] for name in self._types}
        nodes[inputs.input_type] = inputs.node.tolist()
        number = {
            name: {node: place for place, node in enumerate(own)} for name, own in nodes.items()
        }
        ends: dict[Relation, list[tuple[int, int]]] = {relation: [] for relation in self._lists}
        edge_ids: dict[Relation, list[int]] = {relation: [] for relation in self._lists}
        num_nodes = {name: [len(own)] for name, own in nodes.items()}
        num_edges: dict[Relation, list[int]] = {relation: [] for relation in self._lists}
        first = dict.fromkeys(self._types, 0)
        for fanout in self._fanouts:
            end = {name: len(own) for name, own in nodes.items()}
            for relation, lists in self._lists.items():
                source_type, target_type = relation[0], relation[2]
                before = len(ends[relation])
                for target in range(first[target_type], end[target_type]):
                    for source, edge in lists.draw(nodes[target_type][target], fanout):
                        numbers = number[source_type]
                        if source not in numbers:
                            numbers[source] = len(numbers)
                            nodes[source_type].append(source)
                        ends[relation].append((numbers[source], target))
                        edge_ids[relation].append(edge)
                num_edges[relation].append(len(ends[relation]) - before)
            for name, own in nodes.items():
                num_nodes[name].append(len(own) - end[name])
            first = end
        pairs = {
            relation: torch.tensor(own, dtype=torch.int64).reshape(-1, 2)
            for relation, own in ends.items()
        }
        return HeteroSamplerOutput(
            node={name: torch.tensor(own, dtype=torch.int64) for name, own in nodes.items()},
            row={relation: own[:, 0].contiguous() for relation, own in pairs.items()},
            col={relation: own[:, 1].contiguous() for relation, own in pairs.items()},
            edge={name: torch.tensor(own, dtype=torch.int64) for name, own in edge_ids.items()},
            batch=None,
            num_sampled_nodes=num_nodes,
            num_sampled_edges=num_edges,
            metadata=(inputs.input_id, inputs.time),
        )
