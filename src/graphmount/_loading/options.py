"""The options of loaders as types, for loaders that hand most of theirs on to another.

With these types, a misspelt option is an error for type checkers there as well. The docstrings of
`NeighborLoader` and `LinkNeighborLoader` explain each option.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike, DTypeLike

    from graphmount._dataset.dataset import Dataset
    from graphmount._dataset.typed.results import EdgeType
    from graphmount._dataset.typed_dataset import TypedDataset
    from graphmount._loading.batches.aggregation import AggregateLast
    from graphmount._loading.data.loader_data import EdgeIds
    from graphmount._loading.link_negatives import LinkNegatives
    from graphmount._mount.features import FeatureStore, Reader
    from graphmount._mount.graph import Graph
    from graphmount._mount.node_ids import IdReading
    from graphmount._mount.sampling_rule import SubgraphType, TemporalStrategy, TimeOf
    from graphmount._support.direction import Direction
    from graphmount._support.seeds import Seed


#: What has one type of nodes: a dataset or its path; or a graph, perhaps with tables of its nodes.
OneKindInput: TypeAlias = (
    "str | os.PathLike[str] | Dataset | Graph "
    "| tuple[Graph, FeatureStore | Mapping[str, FeatureStore]]"
)
#: What a loader is made of. A path may also be that of a dataset of many types.
LoaderInput: TypeAlias = "OneKindInput | TypedDataset"
#: Seeds: of one type; or, of many, a type and its nodes.
InputNodes: TypeAlias = "ArrayLike | str | tuple[str, ArrayLike | str | None] | Mapping[str, Any]"
#: Links: of one kind of edges; or, of many, a relation, and its links.
InputLinks: TypeAlias = (
    "ArrayLike | tuple[ArrayLike, ArrayLike] | EdgeType | tuple[EdgeType, ArrayLike | None]"
)
#: Tables of nodes, by their names; or the names for some types.
TableNames: TypeAlias = "Iterable[str] | Mapping[str, Iterable[str]]"
#: Tables of edges, by their names; the tables; or the names for some relations.
EdgeTableNames: TypeAlias = (
    "Iterable[str] | Mapping[str, FeatureStore] | Mapping[EdgeType, Iterable[str]]"
)


class PipelineOptions(TypedDict, total=False):
    """How batches are made: what all loaders have, whatever form their batches have."""

    batch_size: int
    shuffle: bool
    drop_last: bool
    replace: bool
    disjoint: bool
    temporal_strategy: TemporalStrategy
    time_of: TimeOf | None
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
    features: TableNames | None
    edge_features: EdgeTableNames
    dtype: DTypeLike | Mapping[Any, DTypeLike] | None


class NodeOptions(_OwnOptions, total=False):
    """The options of `graphmount.NeighborLoader`."""

    input_nodes: InputNodes | None
    input_time: ArrayLike | None
    aggregate_last: AggregateLast | None


class LinkOptions(_OwnOptions, total=False):
    """The options of `graphmount.LinkNeighborLoader`."""

    edge_label_index: InputLinks | None
    edge_label: ArrayLike | None
    edge_label_time: ArrayLike | None
    neg_sampling: LinkNegatives | str | Sequence[Any] | Mapping[str, Any] | None
    neg_sampling_ratio: float | None
