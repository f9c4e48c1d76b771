"""What calls of mounted files return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphmount._support.display import Displayed

if TYPE_CHECKING:
    from graphmount import _core


class IdArray(Protocol):
    """An array or a tensor of ids."""

    @property
    def shape(self) -> Any: ...  # noqa: ANN401
    def __len__(self) -> int: ...
    def __getitem__(self, place: int, /) -> Any: ...  # noqa: ANN401


Ids = TypeVar("Ids", bound=IdArray)


@dataclass(frozen=True, repr=False)
class Section(Displayed):
    """One section of a `.gl` or `.gd` file, as its header lists it.

    Attributes:
        name: What it holds, such as "indices (in)".
        dtype: Its element type.
        offset: Where it begins in the file.
        num_bytes: How long it is, without padding.
        shape: Rows and columns.

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_features([[1, 2], [3, 4]], "x.gd", dtype="int8")
        >>> gm.FeatureStore("x.gd").sections[0]
        Section(name='matrix', dtype='int8', offset=65536, num_bytes=4, shape=(2, 2))
    """

    name: str
    dtype: str
    offset: int
    num_bytes: int
    shape: tuple[int, int]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class NeighborLists(Displayed):
    """The neighbor lists of one direction, as read-only views of the file.

    The neighbors of node v are `indices[indptr[v]:indptr[v + 1]]`; the other arrays run parallel to
    `indices`. The views keep the file mapped, also after the graph is closed.

    Attributes:
        indptr: int64, one more than there are nodes.
        indices: int32 or int64, the neighbors, sorted within each list (by time first, where the
            graph has timestamps).
        weights: float32, or None if the graph has none.
        timestamps: int64, or None if the graph has none.
        edge_ids: The id of each entry's edge. An edge's id is its position in the incoming lists
            (in the outgoing ones if the file has no others), so for those this is None: position
            and id are the same.
        source_rows: The row each edge had in the source. Kept on request, and once: with the lists
            that number the edges, so `source_rows[edge_id]` is the row; None in the others.

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_graph(([0, 2], [1, 1]), "g.gl")
        >>> lists = gm.Graph("g.gl").neighbor_lists("in")
        >>> lists.indices[lists.indptr[1] : lists.indptr[2]]
        array([0, 2], dtype=int32)
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32] | NDArray[np.int64]
    weights: NDArray[np.float32] | None
    timestamps: NDArray[np.int64] | None
    edge_ids: NDArray[np.int32] | NDArray[np.int64] | None
    source_rows: NDArray[np.int32] | NDArray[np.int64] | None


@dataclass(frozen=True, kw_only=True, repr=False)
class DegreeSummary(Displayed):
    """How the degrees of a graph are distributed.

    Attributes:
        smallest: The smallest degree.
        median: Half of the nodes have at most this degree.
        ninety_percent: 90 % of the nodes have at most this degree.
        ninety_nine_percent: 99 % of the nodes have at most this degree. Percentiles above 65,536
            are rounded down to a power of two.
        largest: The largest degree.
        mean: Edges per node.
        isolated: Nodes of degree 0.
        histogram: (lowest degree, highest degree, nodes) for 0, 1, 2-3, 4-7, 8-15, …

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_graph(([0, 2], [1, 1]), "g.gl")
        >>> gm.Graph("g.gl").degree_summary(direction="in").histogram
        ((0, 0, 2), (1, 1, 0), (2, 3, 1))
    """

    smallest: int
    median: int
    ninety_percent: int
    ninety_nine_percent: int
    largest: int
    mean: float
    isolated: int
    histogram: tuple[tuple[int, int, int], ...]

    @classmethod
    def _of(cls, summary: _core.DegreeSummary) -> Self:
        """The core's summary, with a histogram that ends with the largest degree."""
        counts = summary.histogram
        while len(counts) > 1 and counts[-1] == 0:
            counts.pop()
        lowest = [0, *(1 << power for power in range(len(counts)))]
        return cls(
            smallest=summary.smallest,
            median=summary.median,
            ninety_percent=summary.ninety_percent,
            ninety_nine_percent=summary.ninety_nine_percent,
            largest=summary.largest,
            mean=summary.mean,
            isolated=counts[0],
            histogram=tuple(
                (lowest[i], max(0, lowest[i + 1] - 1), count) for i, count in enumerate(counts)
            ),
        )


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class SampleParts(Displayed, Generic[Ids]):
    """What samples and batches of one node type have: see `NeighborSample`."""

    nodes: Ids
    edge_index: Ids
    edge_ids: Ids
    batch: Ids | None
    num_sampled_nodes: tuple[int, ...]
    num_sampled_edges: tuple[int, ...] | None
    indptr: Ids | None

    @property
    def num_nodes(self) -> int:
        """How many nodes there are, seeds and all."""
        return len(self.nodes)

    @property
    def num_edges(self) -> int:
        """How many edges there are."""
        return len(self.edge_ids)

    @property
    def num_seeds(self) -> int:
        """How many of the nodes, at the front, are seeds."""
        return self.num_sampled_nodes[0]

    @property
    def row(self) -> Ids:
        """Numbers of the sources of the edges: a view of `edge_index`."""
        row: Ids = self.edge_index[0]
        return row

    @property
    def col(self) -> Ids:
        """Numbers of the destinations of the edges: a view of `edge_index`."""
        col: Ids = self.edge_index[1]
        return col


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class NeighborSample(SampleParts[NDArray[np.int64]]):
    """Seeds, sampled neighbors, and the edges between them, numbered anew from 0.

    `edge_index` and `batch` mean what they mean in PyG: message passing goes from `row` to `col`,
    the two rows of `edge_index`.

    Attributes:
        nodes: The node of each number: first the seeds, as they were given, then hop by hop those
            that are new, in the order in which they were met.
        edge_index: Numbers of the sources and of the destinations of the edges: (2, edges).
        edge_ids: Ids of the edges: their positions in the incoming lists of the graph, which is the
            order that edge features are stored in.
        batch: The place of the seed whose tree a node belongs to, if sampling was disjoint.
        num_sampled_nodes: Seeds, then new nodes of each hop: one more than there are hops.
        num_sampled_edges: Edges of each hop, which lie in this order in `edge_index`. None where
            edges are not in the order of hops: of induced and bidirectional subgraphs.
        indptr: Edges lie by destination: those that lead to node i are `indptr[i]` to
            `indptr[i + 1]`, for every node of all hops but the last. None where that is not so: of
            induced and bidirectional subgraphs, and with `direction="out"`.

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_graph(([1, 2, 3], [0, 0, 1]), "g.gl")
        >>> sample = gm.Graph("g.gl").sample_neighbors([0], [-1, -1])
        >>> sample.nodes, sample.row, sample.col
        (array([0, 1, 2, 3]), array([1, 2, 3]), array([0, 0, 1]))
        >>> sample.num_sampled_nodes, sample.num_sampled_edges
        ((1, 2, 1), (2, 1))
        >>> sample.indptr
        array([0, 2, 3, 3])
    """

    def __repr__(self) -> str:
        return (
            f"<NeighborSample: {self.num_seeds:,} seeds, {self.num_nodes:,} nodes, "
            f"{self.num_edges:,} edges, {len(self.num_sampled_nodes) - 1} hops>"
        )


def both_ways(
    edge_index: NDArray[np.int64], num_nodes: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Every edge both ways and once, sorted by destination and source.

    The second array says which of the edges each is: the way against an edge is that edge, unless
    an edge of its own was sampled there.
    """
    ends = np.concatenate([edge_index, edge_index[::-1]], axis=1)
    # `unique` takes the first of equal ones, so that edges come before reversed edges.
    keys = ends[1] * np.int64(max(num_nodes, 1)) + ends[0]
    _, kept = np.unique(keys, return_index=True)
    # `take`, since `ends[:, kept]` does not lie by rows.
    return ends.take(kept, axis=1), kept % max(edge_index.shape[1], 1)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SkipGramPairs(Displayed):
    """What skip-gram learns from: see `Graph.skip_gram_pairs`.

    Pairs come walk by walk, by the place of the center, then by that of the context.

    Attributes:
        centers: int64, a node for each pair.
        contexts: int64, a node that a walk visits at most `window` steps before or after.
        negatives: int64, as many rows as pairs: nodes drawn at random. By chance, one of them may
            be the context.

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_graph(([0, 1, 2], [1, 2, 3]), "path.gl")
        >>> pairs = gm.Graph("path.gl").skip_gram_pairs([0], 2, window=1)
        >>> pairs.centers, pairs.contexts, pairs.negatives.shape
        (array([0, 1, 1, 2]), array([1, 0, 2, 1]), (4, 0))
    """

    centers: NDArray[np.int64]
    contexts: NDArray[np.int64]
    negatives: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class VisitCounts(Displayed):
    """The nodes that walks from each start have visited: see `Graph.visit_counts`.

    Those of start i are `nodes[indptr[i]:indptr[i + 1]]`, the ones visited most first, and nodes
    visited as often in the order of their ids.

    Attributes:
        indptr: int64, one more than there are starts.
        nodes: int64, the nodes visited, once for each start.
        counts: int64, how often.

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_graph(([0, 1], [1, 0]), "pair.gl")
        >>> visits = gm.Graph("pair.gl").visit_counts([0, 1], 10, length=4, restart=0)
        >>> visits.indptr, visits.nodes, visits.counts
        (array([0, 2, 4]), array([0, 1, 1, 0]), array([30, 20, 30, 20]))
    """

    indptr: NDArray[np.int64]
    nodes: NDArray[np.int64]
    counts: NDArray[np.int64]
