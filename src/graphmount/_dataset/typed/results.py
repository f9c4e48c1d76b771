"""What sampling over several types of nodes gives: arrays by type and by relation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphmount._mount.results import Ids
from graphmount._support.display import Displayed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: A relation: the type of its sources, its name, and the type of its destinations.
EdgeType: TypeAlias = tuple[str, str, str]

#: How many neighbors to draw in each hop: in all relations, or in each of them.
Fanouts: TypeAlias = (
    "Sequence[int] | Mapping[EdgeType, Sequence[int]] "
    "| Mapping[EdgeType | Literal['default'], Sequence[int]]"
)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TypedSampleParts(Displayed, Generic[Ids]):
    """What samples and batches of many node types have: see `TypedNeighborSample`."""

    nodes: Mapping[str, Ids]
    edge_index: Mapping[EdgeType, Ids]
    edge_ids: Mapping[EdgeType, Ids | None]
    batch: Mapping[str, Ids] | None
    num_sampled_nodes: Mapping[str, tuple[int, ...]]
    num_sampled_edges: Mapping[EdgeType, tuple[int, ...]] | None
    indptr: Mapping[EdgeType, Ids] | None

    @property
    def num_nodes(self) -> int:
        """How many nodes there are, of all types."""
        return sum(map(len, self.nodes.values()))

    @property
    def num_edges(self) -> int:
        """How many edges there are, of all relations."""
        return sum(ends.shape[1] for ends in self.edge_index.values())


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TypedNeighborSample(TypedSampleParts[NDArray[np.int64]]):
    """Seeds and sampled neighbors of several types, and the edges between them.

    Nodes of each type are numbered anew from 0. Every type and every relation is there, also those
    that were not reached: their arrays are empty.

    Attributes:
        nodes: For each type, the node of each number: first the seeds, as they were given, then hop
            by hop those that are new, in the order in which they were met.
        edge_index: For each relation, the numbers of the sources and of the destinations of its
            edges: (2, edges).
        edge_ids: For each relation, the ids of the edges; None where edges of another relation are
            there reversed: of bidirectional subgraphs.
        batch: For each type, the place of the seed whose tree a node belongs to; None unless
            sampling was disjoint. Places go on from one type of seeds to the next.
        num_sampled_nodes: For each type, seeds, then new nodes of each hop.
        num_sampled_edges: For each relation, edges of each hop; None where edges are not in the
            order of hops: of induced and bidirectional subgraphs.
        indptr: For each relation, where the edges of each destination begin: those that lead to
            node i are `indptr[i]` to `indptr[i + 1]`, for every node of all hops but the last. None
            where that is not so: of induced and bidirectional subgraphs, and with
            `direction="out"`.

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_dataset(
        ...     "lib", nodes={"book": gm.Nodes(num_nodes=3), "reader": gm.Nodes(num_nodes=2)},
        ...     edges={("reader", "lends", "book"): ([0, 1, 1], [2, 2, 0])}, order="given",
        ... )
        >>> gm.Dataset("lib").sample_neighbors(("book", [2]), [-1]).num_sampled_nodes
        {'book': (1, 0), 'reader': (0, 2)}
    """

    def __repr__(self) -> str:
        return (
            f"<TypedNeighborSample: {self.num_nodes:,} nodes of {len(self.nodes)} types, "
            f"{self.num_edges:,} edges of {len(self.edge_index)} relations>"
        )
