"""How to sample neighbors: all options but the seeds, checked once, for every call that samples.

`Graph.sample_neighbors`, the loaders and PyG's sampler all hold one of these. Each batch is made by
it, and so are the trials by which caches are filled.
"""

from __future__ import annotations

from dataclasses import InitVar, dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from graphmount import _core
from graphmount._mount.results import NeighborSample, both_ways
from graphmount._support.arguments import as_counts, as_native, require_choice
from graphmount._support.direction import Direction, require_direction
from graphmount._support.shown import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

#: Which edges between the sampled nodes a sample has: see `Graph.sample_neighbors`.
SubgraphType = Literal["directional", "bidirectional", "induced"]

#: Which of the neighbors that are not too late: see `Graph.sample_neighbors`.
TemporalStrategy = Literal["uniform", "last"]

#: Whose times must not be too late: see `TypedDataset.sample_neighbors`.
TimeOf = Literal["edges", "nodes"]


@dataclass(frozen=True, kw_only=True)
class SamplingRule:
    """The options of `Graph.sample_neighbors`.

    Attributes:
        temporal: Whether seeds have times; sampling is then disjoint.
        time_of: Whose times are compared with those: of edges, or of the nodes that are drawn.
        argument: What the caller calls the fanouts, for messages.
    """

    fanouts: Sequence[int]
    replace: bool = False
    weighted: bool = False
    disjoint: bool = False
    temporal: bool = False
    temporal_strategy: TemporalStrategy = "uniform"
    time_of: TimeOf = "edges"
    subgraph_type: SubgraphType = "directional"
    direction: Direction = "in"
    argument: InitVar[str] = "num_neighbors"

    def __post_init__(self, argument: str) -> None:
        require_direction(self.direction)
        for name in ("replace", "weighted", "disjoint"):
            require_choice(name, getattr(self, name), (False, True))
        require_choice("temporal_strategy", self.temporal_strategy, ("uniform", "last"))
        require_choice("time_of", self.time_of, ("edges", "nodes"))
        types = ("directional", "bidirectional", "induced")
        require_choice("subgraph_type", self.subgraph_type, types)
        if isinstance(self.fanouts, int | np.integer):
            number = shown(self.fanouts)
            raise TypeError(
                f"{argument} has a number for each hop, so {number} alone does not say how many "
                f"hops there are; write [{number}] for one hop, or [{number}, {number}] for two"
            )
        fanouts = as_counts(self.fanouts, argument, least=-1)
        object.__setattr__(self, "fanouts", fanouts)  # it is frozen for others

    @property
    def has_trees(self) -> bool:
        """Whether every seed has a tree of its own."""
        return self.disjoint or self.temporal

    def to_core(self, key: int, *, rank: int = 0, world_size: int = 1) -> _core.SampleOptions:
        """The rule with a key, as the core takes them.

        Of several processes that share a batch, each draws for the places of its own seeds.
        """
        return _core.SampleOptions(
            fanouts=self.fanouts,
            replace=self.replace,
            weighted=self.weighted,
            disjoint=self.has_trees,
            temporal=self.temporal,
            take_last=self.temporal_strategy == "last",
            time_of=self.time_of,
            induced=self.subgraph_type == "induced",
            direction=self.direction,
            key=key,
            rank=rank,
            world_size=world_size,
        )

    def of_all_times(self) -> SamplingRule:
        """The rule for trials: it draws as many neighbors, whatever the times."""
        return replace(
            self,
            disjoint=self.has_trees,
            temporal=False,
            temporal_strategy="uniform",
            subgraph_type="directional",
        )

    def sample(
        self, graph: _core.Graph, seeds: NDArray[np.int64], times: NDArray[np.int64], key: int
    ) -> NeighborSample:
        """A sample from these seeds. There are times if the rule is temporal, and only then."""
        return self.take_sample(_core.sample_neighbors(graph, seeds, times, self.to_core(key)))[0]

    def take_sample(
        self, sample: _core.TypedSample
    ) -> tuple[NeighborSample, NDArray[np.int64] | None]:
        """The arrays of a sample of one type and one relation, which the core has no longer.

        The second result says, for each edge, which of the core's edges it is; None if they are the
        same.
        """
        nodes, tree, num_sampled_nodes = sample.take_types()[0]
        edge_index, edge_ids, indptr, num_sampled_edges = sample.take_relations()[0]
        nodes, edge_index, edge_ids = as_native(nodes), as_native(edge_index), as_native(edge_ids)
        kept = None
        if self.subgraph_type == "bidirectional":
            edge_index, kept = both_ways(edge_index, len(nodes))
            edge_ids = edge_ids[kept]
        is_by_hop = self.subgraph_type == "directional"
        taken = NeighborSample(
            nodes=nodes,
            edge_index=edge_index,
            edge_ids=edge_ids,
            batch=as_native(tree) if self.has_trees else None,
            num_sampled_nodes=tuple(num_sampled_nodes),
            num_sampled_edges=tuple(num_sampled_edges) if is_by_hop else None,
            indptr=as_native(indptr) if is_by_hop and self.direction == "in" else None,
        )
        return taken, kept
