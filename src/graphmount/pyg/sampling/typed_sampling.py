"""Samples through relations, as PyG's loaders take them: `NeighborSampler` for many kinds.

Types and relations that were not reached are there, and empty. PyG's own sampler is not
deterministic here; ours draws by `torch.manual_seed`, whatever the number of threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch_geometric.sampler import HeteroSamplerOutput, NumNeighbors

from graphmount._support.arguments import as_ids
from graphmount._support.shown import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphmount._dataset.typed.results import EdgeType
    from graphmount._dataset.typed_dataset import TypedDataset
    from graphmount._mount.sampling_rule import SamplingRule, TimeOf


def fanouts_by_relation(dataset: TypedDataset, numbers: Any) -> dict[EdgeType, list[int]]:  # noqa: ANN401
    """What PyG has for `num_neighbors`, as a list for each relation.

    Args:
        dataset: What is sampled from.
        numbers: A list for all relations, a dict of lists, or a `NumNeighbors`.

    Raises:
        TypeError: It is none of these.
        ValueError: A relation is missing and has no default, does not exist, or has another number
            of hops: PyG's errors.
    """
    if not isinstance(numbers, NumNeighbors):
        if not isinstance(numbers, dict | list | tuple):
            raise TypeError(
                "num_neighbors must be a list with one number for each hop, or a dict of such "
                f"lists by relation, not {shown(numbers)}"
            )
        numbers = NumNeighbors(numbers)
    given = numbers._get_values(list(dataset.edge_types))  # noqa: SLF001  (get_values keeps the first)
    return dataset._sampling.relations.fanouts(given)  # noqa: SLF001


def sample_relations(
    dataset: TypedDataset,
    seeds: Mapping[str, torch.Tensor],
    times: Mapping[str, torch.Tensor] | None,
    *,
    fanouts: Mapping[EdgeType, list[int]],
    rule: SamplingRule,
    time_of: TimeOf | None,
) -> HeteroSamplerOutput:
    """Draws a sample.

    Args:
        dataset: What is sampled from.
        seeds: Internal ids of nodes, by their type.
        times: Their times, if there are any.
        fanouts: The numbers of neighbors, by relation.
        rule: All other options.
        time_of: Whose times count, if seeds have times.
    """
    sample = dataset._sampling.sample_neighbors(  # noqa: SLF001  (internal ids)
        {name: as_ids(nodes.numpy(), "seeds") for name, nodes in seeds.items()},
        fanouts,
        replace=rule.replace,
        weighted=rule.weighted,
        disjoint=rule.disjoint,
        time=None if times is None else {name: own.numpy() for name, own in times.items()},
        time_of=None if times is None else time_of,
        temporal_strategy="uniform" if times is None else rule.temporal_strategy,
        subgraph_type=rule.subgraph_type,
        direction=rule.direction,
    )
    by_hop = sample.num_sampled_edges is not None
    ends = {name: torch.from_numpy(own) for name, own in sample.edge_index.items()}
    return HeteroSamplerOutput(
        node={name: torch.from_numpy(nodes) for name, nodes in sample.nodes.items()},
        row={name: own[0] for name, own in ends.items()},
        col={name: own[1] for name, own in ends.items()},
        edge={
            name: None if ids is None else torch.from_numpy(ids)
            for name, ids in sample.edge_ids.items()
        },
        batch=(
            None
            if sample.batch is None
            else {name: torch.from_numpy(trees) for name, trees in sample.batch.items()}
        ),
        # Both or none: PyG trims layers by the two together.
        num_sampled_nodes=_lists(sample.num_sampled_nodes) if by_hop else None,
        num_sampled_edges=_lists(sample.num_sampled_edges or {}) if by_hop else None,
    )


def negative_times(
    dataset: Any,  # noqa: ANN401  (of many kinds)
    relation: EdgeType,
    time_of: TimeOf | None,
) -> dict[str, torch.Tensor] | None:
    """The times of nodes that negatives of a relation are drawn by, if nodes have times."""
    if time_of == "edges":
        return None
    found = {
        name: store
        for name in (relation[0], relation[2])
        if (store := dataset.nodes[name]._times) is not None  # noqa: SLF001
    }
    return {
        name: torch.from_numpy(store._gather(np.arange(dataset.nodes[name].num_nodes)).reshape(-1))  # noqa: SLF001
        for name, store in found.items()
    } or None


def _lists(counts: Mapping[Any, tuple[int, ...]]) -> dict[Any, list[int]]:
    return {name: list(own) for name, own in counts.items()}
