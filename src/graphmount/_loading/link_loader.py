"""The loader of links: batches of their end nodes, with negatives, made ahead of the training step.

Negatives are drawn where batches are sampled, for one batch at a time: an epoch has no array of
them. They are a function of the seed, the epoch and the number of the batch, as all else is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Unpack, overload

import numpy as np

from graphmount import _core
from graphmount._loading.batch_loader import BatchLoader
from graphmount._loading.batches.batch import LinkBatch
from graphmount._loading.batches.typed_batch import TypedLinkBatch
from graphmount._loading.data.typed_data import TypedData
from graphmount._loading.epochs.state import checksum_of
from graphmount._loading.inputs import as_times, open_data
from graphmount._loading.link_inputs import as_edge_label, as_links, find_ends
from graphmount._loading.link_negatives import LinkNegatives, as_negatives, negative_facts, to_core
from graphmount._loading.memory_budget import as_budget
from graphmount._loading.ranks.ranks import as_ranks
from graphmount._mount.node_reading import values_by_node
from graphmount._mount.sampling_rule import SamplingRule
from graphmount._support.foreign_words import LINK_LOADER_WORDS
from graphmount._support.keywords import advises
from graphmount.errors import MissingDataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from graphmount._dataset.typed.results import EdgeType
    from graphmount._dataset.typed_dataset import TypedDataset
    from graphmount._loading.data.loader_data import EdgeIds, IdSpace, Rows
    from graphmount._loading.link_inputs import LinkEnds
    from graphmount._loading.options import (
        EdgeTableNames,
        InputLinks,
        LinkOptions,
        LoaderInput,
        OneKindInput,
        TableNames,
    )
    from graphmount._mount.features import Reader
    from graphmount._mount.node_ids import IdReading
    from graphmount._mount.sampling_rule import SubgraphType, TemporalStrategy, TimeOf
    from graphmount._support.direction import Direction
    from graphmount._support.seeds import Seed


if TYPE_CHECKING:
    import typing_extensions

    #: What batches are: of a `TypedDataset`, those of many kinds.
    LinkBatchT = typing_extensions.TypeVar("LinkBatchT", default=LinkBatch)
else:
    LinkBatchT = TypeVar("LinkBatchT")


class LinkNeighborLoader(BatchLoader, Generic[LinkBatchT]):
    """Batches of links with sampled neighbors of their ends, and the rows of all nodes.

    It works like `NeighborLoader`, also with threads and processes, but its seeds are the ends of
    links. Arguments have the names and meanings that PyG gives them, where it has them, with one
    difference: unless you ask for it, negatives are not edges of the graph.

    Args:
        data: A `Dataset` or `TypedDataset`, or the path of one; or a `Graph` alone, or a pair of a
            `Graph` and a `FeatureStore` or a dict of them. Of a `TypedDataset`, batches are
            `TypedLinkBatch` objects.
        num_neighbors: For each hop, how many neighbors to draw for each node; -1 for all. For a
            `TypedDataset`, such a list is for every relation, or a dict has one for each.
        edge_label_index: The links to predict, of shape (2, links): sources and destinations. They
            need not be edges of the graph. If None, all edges in the order of edge ids; they take
            16 bytes each, which must fit into `memory`. For a `TypedDataset`, a pair of the
            relation and its links, or the relation alone for all of its edges.
        ids: Which ids the ends of the links are: "internal" for ids of the dataset, "external" for
            ids of its source. The weights of `LinkNegatives` are in the order of the same ids. If
            the dataset kept the order of its source, both are the same and None is enough. None is
            also enough for ids that a dataset returned (`NodeIds`).
        edge_label: A label for each link. With binary negatives, labels that begin with 0 go up by
            one, because 0 then stands for negatives.
        edge_label_time: The time of each link. Both of its ends, and those of its negatives, then
            sample only edges of that time or before, and sampling is disjoint. If times of nodes
            count, negatives are nodes of that time or before.
        neg_sampling: Which negatives to draw: a `LinkNegatives`, a `NegativeSampling` of PyG,
            "binary", "triplet", or ("triplet", 5) for five of each link. No negatives if None.
        neg_sampling_ratio: PyG's older way to ask for binary negatives: how many for each link.
        batch_size: How many links a batch has.
        shuffle: Whether to put the links into a new random order in each epoch.
        drop_last: Whether to leave out the last batch of an epoch if it is smaller than the others.
        edge_ids: What batches have as edge ids: "internal" for the edge ids of the graph, "source"
            for the row that each edge had in the source. For "source", the graph must have kept
            these rows: it must have been compiled with `source_rows=True` or with edge tables.
        replace: Whether a neighbor may be drawn more than once for the same node.
        weighted: Whether neighbors are drawn in proportion to the weights of their edges. A
            neighbor of weight 0 is never drawn.
        disjoint: Whether each end of a link gets a tree of its own that shares no nodes with other
            trees.
        time_of: For a `TypedDataset`, whose times must not be later than those of links: those of
            "edges", or those of the "nodes" that are drawn. If None, it is what has times.
        temporal_strategy: For sampling with times: "uniform" draws among all edges that are early
            enough, "last" takes the latest of them.
        subgraph_type: Which edges a batch has. "directional": the edges that were drawn.
            "bidirectional": those and their reverse, each once. "induced": all edges that the graph
            has between the sampled nodes.
        direction: "in" draws the sources of incoming edges, "out" the targets of outgoing edges.
            `row` and `col` are sources and destinations in both cases.
        features: Names of the node tables whose rows each batch gets; all tables if None. For a
            `TypedDataset`, names are those of any type, or a dict has the names for some types.
        edge_features: Names of the edge tables whose rows each batch gets; none by default. Without
            a dataset: a dict of `FeatureStore` objects by name. For a `TypedDataset`, a dict may
            have the names for some relations.
        dtype: What rows are converted to while they are loaded: one dtype for all node tables, or a
            dict with a dtype for some tables. Rows stay as stored if None. For a `TypedDataset`,
            the dict may have (type, name) in place of a name.
        memory: How much memory the row caches may use, including their bookkeeping and reads in
            flight. It is for all ranks of one machine together, and each takes its part. Each table
            gets at least 2 MiB for reads in flight, even if `memory` is smaller.
            Batches that are being made or that you hold come on top. If None, the loader takes a
            part of the memory that is free on the machine or in its control group (docs/loading.md
            has the rule), and `stats()` says how much that is.
        prefetch: How many finished batches may wait for the training loop.
        window: How many batches are sampled ahead. A row that several of them need is read once.
        reader: How rows are read from disk: "uring", "pread" or "mapped". "auto" takes what suits
            the file and the system.
        seed: The seed of all randomness: an integer, or several integers. If None, one is drawn
            from torch's generator, or from NumPy's if torch is not loaded.
        rank: Which part of the links this process takes, from 0 to `world_size` - 1. If None, it
            comes from torch.distributed if that is set up. All ranks have the same number of
            batches.
        world_size: How many processes share the links. If None, it comes from torch.distributed if
            that is set up.

    Raises:
        BudgetError: All edges are the links, and they need more than `memory` and more than 64 MiB.
        IdError: A node does not exist, or it is not known whose ids these are.
        MissingDataError: Strict triplets, and negatives by degree, need directions that the file
            was compiled without: see `Graph.sample_negatives`.
        ValueError: Some options contradict each other; or a link is earlier than all nodes that its
            negatives could be.

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_graph(([0, 1, 2, 3], [1, 2, 3, 0]), "g.gl")
        >>> g = gm.Graph("g.gl")
        >>> loader = gm.LinkNeighborLoader(g, [-1], neg_sampling="binary", batch_size=2, seed=1)
        >>> for batch in loader:
        ...     sources, destinations = batch.nodes[batch.edge_label_index]
        ...     print(batch.edge_label, g.has_edge(sources, destinations))
        [1. 1. 0. 0.] [ True  True False False]
        [1. 1. 0. 0.] [ True  True False False]
    """

    @overload
    def __init__(
        self: LinkNeighborLoader[TypedLinkBatch],
        data: TypedDataset,
        num_neighbors: Sequence[int] | Mapping[EdgeType, Sequence[int]],
        **options: Unpack[LinkOptions],
    ) -> None: ...
    @overload
    def __init__(
        self: LinkNeighborLoader[LinkBatch],
        data: OneKindInput,
        num_neighbors: Sequence[int] | Mapping[EdgeType, Sequence[int]],
        **options: Unpack[LinkOptions],
    ) -> None: ...
    @advises(LINK_LOADER_WORDS)
    def __init__(
        self,
        data: LoaderInput,
        num_neighbors: Sequence[int] | Mapping[EdgeType, Sequence[int]],
        *,
        edge_label_index: InputLinks | None = None,
        ids: IdReading | None = None,
        edge_label: ArrayLike | None = None,
        edge_label_time: ArrayLike | None = None,
        neg_sampling: LinkNegatives | str | Sequence[Any] | Mapping[str, Any] | None = None,
        neg_sampling_ratio: float | None = None,
        batch_size: int = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        edge_ids: EdgeIds = "internal",
        replace: bool = False,
        weighted: bool = False,
        disjoint: bool = False,
        time_of: TimeOf | None = None,
        temporal_strategy: TemporalStrategy = "uniform",
        subgraph_type: SubgraphType = "directional",
        direction: Direction = "in",
        features: TableNames | None = None,
        edge_features: EdgeTableNames = (),
        dtype: DTypeLike | Mapping[Any, DTypeLike] | None = None,
        memory: int | str | None = None,
        prefetch: int = 2,
        window: int = 16,
        reader: Reader = "auto",
        seed: Seed = None,
        rank: int | None = None,
        world_size: int | None = None,
    ) -> None:
        opened = open_data(data, features, edge_features)
        ranks = as_ranks(rank, world_size)
        budget = as_budget(memory, opened, ranks)
        self._ends, links = find_ends(edge_label_index, opened)
        if isinstance(opened, TypedData):
            opened = opened.with_seeds_of(self._ends.relation)
        sources, destinations = as_links(links, self._ends, memory=budget.most_bytes, ids=ids)
        whole, fanouts = opened.with_fanouts(num_neighbors)
        times = as_times(edge_label_time, "edge_label_time", len(sources), "links")
        if times is None and time_of is not None:
            raise ValueError(f"time_of={time_of!r} needs edge_label_time=, the time of each link")
        self._times, whose = whole.read_times(times, time_of, direction, sources)
        self._negatives = _of_internal(
            as_negatives(neg_sampling, neg_sampling_ratio), self._ends, ids
        )
        self._labels = _shifted(as_edge_label(edge_label, len(sources)), self._negatives)
        self._links = _core.Links(
            sources=sources,
            destinations=destinations,
            times=np.empty(0, np.int64) if self._times is None else self._times,
        )
        super().__init__(
            whole,
            SamplingRule(
                fanouts=fanouts,
                replace=replace,
                weighted=weighted,
                disjoint=disjoint,
                temporal=self._times is not None,
                time_of=whose,
                temporal_strategy=temporal_strategy,
                subgraph_type=subgraph_type,
                direction=direction,
            ),
            num_inputs=len(sources),
            batch_size=batch_size,
            shuffle=shuffle,
            drop_last=drop_last,
            edge_ids=edge_ids,
            dtype=dtype,
            budget=budget,
            prefetch=prefetch,
            window=window,
            reader=reader,
            seed=seed,
            ranks=ranks,
        )
        self._core_negatives = self._negatives_of_core()
        self._require_what_negatives_need()

    def __getstate__(self) -> dict[str, Any]:
        # Objects of the core do not pickle; what they are made of does.
        return {**super().__getstate__(), "_links": self._links.arrays(), "_core_negatives": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        sources, destinations, times = state["_links"]
        super().__setstate__(state)
        self._links = _core.Links(sources=sources, destinations=destinations, times=times)
        self._core_negatives = self._negatives_of_core()

    def _negatives_of_core(self) -> _core.LinkNegatives:
        """With the times of the nodes that they can be, if they must not be later than links."""
        if self._times is None or self._negatives is None:
            return to_core(self._negatives)
        times = {
            space: self._data.node_times_of(space, self._rule.time_of)
            for space in dict.fromkeys(self._seed_types)
        }
        source, destination = self._seed_types
        return to_core(self._negatives, times[source], times[destination])

    def _require_what_negatives_need(self) -> None:
        try:
            self._make_seeds(np.empty(0, np.int64))
        except MissingDataError as error:
            advised = MissingDataError(
                f"{error}. Or draw negatives that may be edges: "
                "neg_sampling=graphmount.LinkNegatives(..., strict=False)"
            )
            advised.path = error.path
            raise advised from None

    def _input_facts(self) -> dict[str, Any]:
        return {
            "kind": f"links of {self._ends.relation}" if self._data.is_typed else "links",
            "inputs": f"{self._links.checksum():016x}",
            "times": None if self._times is None else checksum_of(self._times),
            **negative_facts(self._negatives),
        }

    def _make_seeds(
        self, order: NDArray[np.int64], batch_size: int | None = None
    ) -> _core.SeedSource:
        source_type, destination_type = map(self._data.number_of, self._seed_types)
        return _core.LinkSeeds(
            graph=self._ends.graph._open(),  # noqa: SLF001
            links=self._links,
            order=np.ascontiguousarray(order),
            batch_size=batch_size or self._batch_size,
            disjoint=self._rule.has_trees,
            negatives=self._core_negatives,
            source_type=source_type,
            destination_type=destination_type,
        )

    def __iter__(self) -> Iterator[LinkBatchT]:
        return self._loop()

    def _make_batch(self, fields: dict[str, Any]) -> Any:  # noqa: ANN401
        return TypedLinkBatch(**fields) if self._data.is_typed else LinkBatch(**fields)

    @property
    def _seed_types(self) -> tuple[IdSpace, IdSpace]:
        """The types of the sources and destinations of links."""
        relation = self._ends.relation
        return (relation[0], relation[2]) if isinstance(relation, tuple) else ("nodes", "nodes")

    def _fields(
        self,
        sample: Any,  # noqa: ANN401
        rows: Rows,
        ends: NDArray[np.int64],
        places: NDArray[np.int64],
    ) -> dict[str, Any]:
        fields = super()._fields(sample, rows, ends, places)
        num_links = len(places)
        is_triplet = self._negatives is not None and self._negatives.mode == "triplet"
        pairs = None if is_triplet else ends.reshape(2, -1)
        num_pairs = num_links if pairs is None else pairs.shape[1]
        # The number of a negative's link is the place of the negative modulo the number of links.
        link_of = np.arange(num_pairs) % max(num_links, 1)
        tree = fields["batch"]
        if tree is not None:
            of_ends = link_of[np.arange(len(ends)) % max(num_pairs, 1)]
            tree = self._links_of_trees(tree, of_ends, num_pairs)
        if self._data.is_typed:
            fields["edge_type"] = self._ends.relation
        negatives = ends[2 * num_links :].reshape(-1, num_links).T if is_triplet else None
        return fields | {
            "batch": tree,
            "edge_label_index": pairs,
            "edge_label": None if is_triplet else self._labels_of(places, num_pairs),
            "edge_label_time": None if self._times is None else self._times[places][link_of],
            "src_index": ends[:num_links] if is_triplet else None,
            "dst_pos_index": ends[num_links : 2 * num_links] if is_triplet else None,
            "dst_neg_index": None if negatives is None else np.ascontiguousarray(negatives),
        }

    def _links_of_trees(
        self,
        tree: Any,  # noqa: ANN401
        of_ends: NDArray[np.int64],
        num_sources: int,
    ) -> Any:  # noqa: ANN401
        """The link of each node, by its tree; `of_ends` has the links of ends as they lie.

        Trees are numbered by the seeds of one type after the other, in the order of types.
        """
        if not self._data.is_typed:
            return of_ends[tree]
        source, destination = map(self._data.number_of, self._seed_types)
        if source > destination:
            of_ends = np.concatenate([of_ends[num_sources:], of_ends[:num_sources]])
        return {name: of_ends[trees] for name, trees in tree.items()}

    def _labels_of(self, places: NDArray[np.int64], num_pairs: int) -> NDArray[Any] | None:
        """The labels of the links at these places, and zeros for their negatives."""
        if self._labels is not None:
            labels = self._labels[places]
        elif self._negatives is not None:
            labels = np.ones(len(places), np.float32)
        else:
            return None
        negatives = np.zeros((num_pairs - len(places), *labels.shape[1:]), labels.dtype)
        return np.concatenate([labels, negatives])


def _of_internal(
    negatives: LinkNegatives | None, ends: LinkEnds, ids: IdReading | None
) -> LinkNegatives | None:
    """Negatives whose weights, if they have any, are in the order of internal ids."""
    if negatives is None:
        return None
    return replace(
        negatives,
        src_weight=values_by_node(negatives.src_weight, "src_weight", ends.sources, ids),
        dst_weight=values_by_node(negatives.dst_weight, "dst_weight", ends.destinations, ids),
    )


def _shifted(labels: NDArray[Any] | None, negatives: LinkNegatives | None) -> NDArray[Any] | None:
    """Labels with room for the 0 of negatives."""
    if labels is None or negatives is None:
        return labels
    if negatives.mode == "triplet":
        raise ValueError(
            "edge_label and triplets do not go together: src_index, dst_pos_index and dst_neg_index"
            " of a batch tell links and negatives apart"
        )
    if labels.size == 0 or labels.min() != 0:
        return labels
    if labels.dtype.kind in "iu" and labels.max() == np.iinfo(labels.dtype).max:
        raise ValueError(
            f"edge_label goes up to {labels.max()}, the largest number of {labels.dtype}, and must "
            "go up by one to make room for the 0 of negatives; give labels of a wider dtype"
        )
    return labels + 1
