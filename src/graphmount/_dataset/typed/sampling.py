"""Sampling over several types of nodes: one graph for each relation between them.

In every hop, relations are followed one after the other, in their order, from the nodes that the
hop before brought. The same seed gives the same sample, for any number of threads.
"""

from __future__ import annotations

from dataclasses import replace as changed_to
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount import _core
from graphmount._dataset.typed.relations import Relations
from graphmount._dataset.typed.results import TypedNeighborSample
from graphmount._mount.results import both_ways
from graphmount._mount.sampling_rule import SamplingRule
from graphmount._support.arguments import as_ids, as_native, require_choice
from graphmount._support.seeds import as_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from graphmount._dataset.typed.results import EdgeType, Fanouts
    from graphmount._mount.features import FeatureStore
    from graphmount._mount.graph import Graph
    from graphmount._mount.sampling_rule import TimeOf
    from graphmount._support.seeds import Seed


class TypedSampling:
    """The relations between some types of nodes, as sampling and walks follow them.

    Args:
        num_nodes: How many nodes each type has.
        graphs: The edges of each relation, in the order in which relations are followed.
        node_times: The times of nodes, of the types that have them.
    """

    def __init__(
        self,
        num_nodes: Mapping[str, int],
        graphs: Mapping[EdgeType, Graph],
        node_times: Mapping[str, FeatureStore] | None = None,
    ) -> None:
        self.relations = Relations(num_nodes, graphs, node_times)

    def relation(self, relation: EdgeType, argument: str = "relation") -> EdgeType:
        """A relation that a caller names; a ValueError if there is none such."""
        return self.relations.relation(relation, argument)

    def sample_neighbors(
        self,
        seeds: Mapping[str, ArrayLike] | tuple[str, ArrayLike],
        fanouts: Fanouts,
        *,
        time: ArrayLike | Mapping[str, ArrayLike] | None = None,
        time_of: TimeOf | None = None,
        seed: Seed = None,
        **options: Any,  # noqa: ANN401  (of the rule)
    ) -> TypedNeighborSample:
        """What `TypedDataset.sample_neighbors` says, of seeds that are internal ids."""
        relations = self.relations
        by_relation = relations.fanouts(fanouts)
        temporal = time is not None or time_of is not None
        rule = SamplingRule(
            fanouts=next(iter(by_relation.values()), []),
            temporal=temporal,
            time_of="edges" if time_of is None else time_of,
            **options,
        )
        if rule.temporal_strategy == "last" and not temporal:
            raise ValueError("temporal_strategy='last' needs time=, the time of each seed")
        nodes = relations.seeds(seeds)
        times: Mapping[str, NDArray[np.int64]] = {}
        if temporal:
            if time_of is None:
                rule = changed_to(rule, time_of=relations.time_of(rule.direction))
            times = relations.times(nodes, time, rule.time_of)
        none = np.empty(0, np.int64)
        sample = _core.sample_typed(
            relations.core_relations(by_relation),
            relations.core_types(),
            [(nodes.get(name, none), times.get(name, none)) for name in relations.num_nodes],
            rule.to_core(as_key(seed)),
        )
        return self.take(sample, rule)[0]

    def random_walk(
        self,
        starts: ArrayLike,
        relations: Sequence[EdgeType],
        *,
        weighted: bool = False,
        seed: Seed = None,
    ) -> NDArray[np.int64]:
        """What `TypedDataset.random_walk` says, of starts that are internal ids."""
        require_choice("weighted", weighted, (False, True))
        path = [self.relations.relation(relation, "relations") for relation in relations]
        for one, two in pairwise(path):
            if one[2] != two[0]:
                raise ValueError(f"{one} leads to {one[2]!r}, and {two} does not begin there")
        nodes = as_ids(starts, "starts")
        walks = np.full((len(nodes), len(path) + 1), -1, np.int64)
        walks[:, 0] = nodes
        key = as_key(seed)
        for step, relation in enumerate(path):
            graph, direction = self.relations.outgoing(relation)
            alive = np.flatnonzero(walks[:, step] >= 0) if step else np.arange(len(nodes))
            found = _core.random_fanout(
                graph._open(),  # noqa: SLF001
                np.ascontiguousarray(walks[alive, step]),
                1,
                replace=False,
                weighted=weighted,
                repeat=False,
                direction=direction,
                key=_core.random_key([key, step]),
            )
            walks[alive, step + 1] = as_native(found)[:, 0]
        return walks

    def take(
        self, sample: _core.TypedSample, rule: SamplingRule
    ) -> tuple[TypedNeighborSample, dict[EdgeType, NDArray[np.int64] | None]]:
        """The arrays of a sample of the core, which has them no longer.

        The second result has, for relations whose edges are not those of the core, which of the
        core's edges each one is; None where some are edges of another relation.
        """
        types = dict(zip(self.relations.num_nodes, sample.take_types(), strict=True))
        relations = dict(zip(self.relations.graphs, sample.take_relations(), strict=True))
        edge_index = {name: as_native(taken[0]) for name, taken in relations.items()}
        edge_ids: dict[EdgeType, NDArray[np.int64] | None] = {
            name: as_native(taken[1]) for name, taken in relations.items()
        }
        kept: dict[EdgeType, NDArray[np.int64] | None] = {}
        if rule.subgraph_type == "bidirectional":
            edge_index, kept = self._both_ways(
                edge_index, {name: len(taken[0]) for name, taken in types.items()}
            )
            for name, places in kept.items():
                own_ids = edge_ids[name]
                edge_ids[name] = None if places is None or own_ids is None else own_ids[places]
        is_by_hop = rule.subgraph_type == "directional"
        found = TypedNeighborSample(
            nodes={name: as_native(taken[0]) for name, taken in types.items()},
            edge_index=edge_index,
            edge_ids=edge_ids,
            batch=(
                {name: as_native(taken[1]) for name, taken in types.items()}
                if rule.has_trees
                else None
            ),
            num_sampled_nodes={name: tuple(taken[2]) for name, taken in types.items()},
            num_sampled_edges=(
                {name: tuple(taken[3]) for name, taken in relations.items()} if is_by_hop else None
            ),
            indptr=(
                {name: as_native(taken[2]) for name, taken in relations.items()}
                if is_by_hop and rule.direction == "in"
                else None
            ),
        )
        return found, kept

    def _both_ways(
        self, edge_index: dict[EdgeType, NDArray[np.int64]], num_nodes: dict[str, int]
    ) -> tuple[dict[EdgeType, NDArray[np.int64]], dict[EdgeType, NDArray[np.int64] | None]]:
        """Every edge with those of the reverse relation, each once, by destination and source."""
        ends: dict[EdgeType, NDArray[np.int64]] = {}
        kept: dict[EdgeType, NDArray[np.int64] | None] = {}
        for relation, own in edge_index.items():
            source, _, destination = relation
            reverse = self.relations.partner_of(relation)
            if reverse is not None:
                both = np.concatenate([own, edge_index[reverse][::-1]], axis=1)
                keys = both[1] * np.int64(max(num_nodes[source], 1)) + both[0]
                ends[relation] = both.take(np.unique(keys, return_index=True)[1], axis=1)
                kept[relation] = None
            elif source == destination:
                ends[relation], kept[relation] = both_ways(own, num_nodes[source])
            else:
                raise ValueError(
                    f"subgraph_type='bidirectional': {relation} has no reverse, such as "
                    f"{(destination, 'rev_' + relation[1], source)}; compile with reverse=True"
                )
        return ends, kept
