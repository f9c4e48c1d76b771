"""How a loader samples: the options of `Graph.sample_neighbors` but for seeds, checked once.

The same rule makes every batch, and the trials by which caches are filled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphmount import _core
from graphmount._mount.results.neighbor_sample import both_ways
from graphmount._support.arguments import as_counts, as_native, require_choice
from graphmount._support.direction import Direction, require_direction

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from graphmount._mount.graph import Graph
    from graphmount._mount.neighbor_sampling import SubgraphType, TemporalStrategy
    from graphmount._mount.results.neighbor_sample import NeighborSample
    from graphmount._support.seeds import Seed


@dataclass(frozen=True, eq=False, kw_only=True)
class SampledArrays:
    """What the core sampled, as arrays.

    `kept` says, for each edge, which of the core's edges it is; None if they are the same.
    """

    nodes: NDArray[np.int64]
    row: NDArray[np.int64]
    col: NDArray[np.int64]
    edge_ids: NDArray[np.int64]
    tree: NDArray[np.int64] | None
    num_sampled_nodes: tuple[int, ...]
    num_sampled_edges: tuple[int, ...] | None
    kept: NDArray[np.int64] | None


@dataclass(frozen=True, kw_only=True)
class SamplingRule:
    """The options; `temporal` if seeds have times, and sampling is then disjoint."""

    fanouts: Sequence[int]
    replace: bool
    weighted: bool
    disjoint: bool
    temporal: bool
    temporal_strategy: TemporalStrategy
    subgraph_type: SubgraphType
    direction: Direction

    def __post_init__(self) -> None:
        require_direction(self.direction)
        for name in ("replace", "weighted", "disjoint"):
            require_choice(name, getattr(self, name), (False, True))
        require_choice("temporal_strategy", self.temporal_strategy, ("uniform", "last"))
        types = ("directional", "bidirectional", "induced")
        require_choice("subgraph_type", self.subgraph_type, types)
        fanouts = as_counts(self.fanouts, "num_neighbors", least=-1)
        object.__setattr__(self, "fanouts", fanouts)  # it is frozen for others

    @property
    def has_trees(self) -> bool:
        """Whether every seed has a tree of its own."""
        return self.disjoint or self.temporal

    def to_core(self, key: int) -> _core.SampleOptions:
        """The rule with a key, as the core takes them."""
        return _core.SampleOptions(
            fanouts=self.fanouts,
            replace=self.replace,
            weighted=self.weighted,
            disjoint=self.has_trees,
            temporal=self.temporal,
            take_last=self.temporal_strategy == "last",
            induced=self.subgraph_type == "induced",
            direction=self.direction,
            key=key,
        )

    def try_out(self, graph: Graph, seeds: NDArray[np.int64], seed: Seed) -> NeighborSample:
        """A sample like those of batches, but of all times."""
        return graph.sample_neighbors(
            seeds,
            self.fanouts,
            replace=self.replace,
            weighted=self.weighted,
            disjoint=self.has_trees,
            direction=self.direction,
            seed=seed,
        )

    def take_arrays(self, sample: _core.NeighborSample) -> SampledArrays:
        """The arrays of a sample, which has them no longer."""
        nodes, neighbors, targets, edge_ids, tree = map(as_native, sample.take_arrays())
        row, col = (neighbors, targets) if self.direction == "in" else (targets, neighbors)
        kept = None
        if self.subgraph_type == "bidirectional":
            row, col, kept = both_ways(row, col, len(nodes))
            edge_ids = edge_ids[kept]
        is_by_hop = self.subgraph_type == "directional"
        return SampledArrays(
            nodes=nodes,
            row=row,
            col=col,
            edge_ids=edge_ids,
            tree=tree if self.has_trees else None,
            num_sampled_nodes=tuple(sample.num_sampled_nodes),
            num_sampled_edges=tuple(sample.num_sampled_edges) if is_by_hop else None,
            kept=kept,
        )
