"""The options of loaders as types, for loaders that hand most of theirs on to another.

With these types, a misspelt option is an error for type checkers there as well. The docstrings of
`NeighborLoader` and `LinkNeighborLoader` explain each option.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike, DTypeLike

    from graphmount._loading.batches.aggregation import AggregateLast
    from graphmount._loading.inputs import EdgeIds
    from graphmount._loading.link_negatives import LinkNegatives
    from graphmount._mount.features import FeatureStore, Reader
    from graphmount._mount.node_ids import IdReading
    from graphmount._mount.sampling_rule import SubgraphType, TemporalStrategy
    from graphmount._support.direction import Direction
    from graphmount._support.seeds import Seed


class PipelineOptions(TypedDict, total=False):
    """How batches are made: what all loaders have, whatever form their batches have."""

    batch_size: int
    shuffle: bool
    drop_last: bool
    replace: bool
    disjoint: bool
    temporal_strategy: TemporalStrategy
    direction: Direction
    memory: int | str | None
    prefetch: int
    window: int
    reader: Reader
    seed: Seed
    rank: int | None
    world_size: int | None


class _OwnOptions(PipelineOptions, total=False):
    ids: IdReading | None
    edge_ids: EdgeIds
    weighted: bool
    subgraph_type: SubgraphType
    features: Iterable[str] | None
    edge_features: Iterable[str] | Mapping[str, FeatureStore]
    dtype: DTypeLike | Mapping[str, DTypeLike] | None


class NodeOptions(_OwnOptions, total=False):
    """The options of `graphmount.NeighborLoader`."""

    input_nodes: ArrayLike | str | None
    input_time: ArrayLike | None
    aggregate_last: AggregateLast | None


class LinkOptions(_OwnOptions, total=False):
    """The options of `graphmount.LinkNeighborLoader`."""

    edge_label_index: ArrayLike | tuple[ArrayLike, ArrayLike] | None
    edge_label: ArrayLike | None
    edge_label_time: ArrayLike | None
    neg_sampling: LinkNegatives | str | Sequence[Any] | Mapping[str, Any] | None
    neg_sampling_ratio: float | None
