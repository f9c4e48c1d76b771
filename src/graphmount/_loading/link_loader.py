"""The loader of links: batches of their end nodes, with negatives, made ahead of the training step.

Negatives are drawn where batches are sampled, for one batch at a time: an epoch has no array of
them. They are a function of the seed, the epoch and the number of the batch, as all else is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount import _core
from graphmount._loading.batch import LinkBatch
from graphmount._loading.batch_loader import BatchLoader
from graphmount._loading.inputs import as_rank, as_times, open_data
from graphmount._loading.link_inputs import as_edge_label, as_links
from graphmount._loading.link_negatives import LinkNegatives, as_negatives, negative_facts, to_core
from graphmount._loading.memory_budget import as_budget
from graphmount._loading.state import checksum_of
from graphmount._mount.node_reading import values_by_node
from graphmount._mount.sampling_rule import SamplingRule
from graphmount.errors import MissingDataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from graphmount._dataset.dataset import Dataset
    from graphmount._loading.inputs import EdgeIds, IdSpace, LoaderData
    from graphmount._mount.features import FeatureStore, Reader
    from graphmount._mount.graph import Graph
    from graphmount._mount.node_ids import IdReading
    from graphmount._mount.results import NeighborSample
    from graphmount._mount.sampling_rule import SubgraphType, TemporalStrategy
    from graphmount._support.direction import Direction
    from graphmount._support.seeds import Seed


class LinkNeighborLoader(BatchLoader):
    """Batches of links with sampled neighbors of their ends, and the rows of all nodes.

    It works as `NeighborLoader` does, also with threads and processes, but with links for seeds.
    Argument names are PyG's where it has them, and so is what they mean, but for negatives: these
    are no edges of the graph.

    Args:
        data: A `Dataset`; or a `Graph` alone, or with a `FeatureStore` or a dict of them.
        num_neighbors: How many neighbors to draw in each hop; -1 for all.
        edge_label_index: The links: sources and destinations, (2, links). They need not be edges of
            the graph. All edges if None, in the order of edge ids; these take 16 bytes each, for
            which there must be room in `memory`.
        ids: Whose ids the ends of the links are, and in whose order `src_weight` and `dst_weight`
            of negatives come: "internal" or "external", as for `NeighborLoader`.
        edge_label: A label for each link. With binary negatives, labels that begin with 0 go up by
            one: 0 is for negatives.
        edge_label_time: The time of each link. Both of its ends, and those of its negatives, then
            sample edges of that time or before, and sampling is disjoint.
        neg_sampling: Which negatives to draw: a `LinkNegatives`, PyG's `NegativeSampling`,
            "binary", "triplet", or ("triplet", 5). None for none.
        neg_sampling_ratio: Another way to ask for so many binary negatives for each link.
        batch_size: Links of a batch.
        shuffle: Order the links anew in each epoch.
        drop_last: Leave out the last batch if it is smaller.
        edge_ids: What batches have for ids of edges, "internal" or "source", as for
            `NeighborLoader`.
        replace: As for `Graph.sample_neighbors`, and so for the next ones.
        weighted: See there.
        disjoint: See there: every end of a link has its own tree.
        temporal_strategy: See there.
        subgraph_type: See there.
        direction: See there.
        features: As for `NeighborLoader`, and so for all that follow.
        edge_features: See there.
        dtype: See there.
        memory: See there.
        prefetch: See there.
        window: See there.
        reader: See there.
        seed: See there.
        rank: See there.
        world_size: See there.

    Raises:
        BudgetError: All edges are the links, and they take more than `memory`, and 64 MiB.
        IdError: A node does not exist, or it is not known whose ids these are.
        MissingDataError: Strict triplets, and negatives by degree, need directions that the file
            was compiled without: see `Graph.sample_negatives`.
        ValueError: Options that do not go together.

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

    def __init__(
        self,
        data: Dataset | Graph | tuple[Graph, FeatureStore | Mapping[str, FeatureStore]],
        num_neighbors: Sequence[int],
        *,
        edge_label_index: ArrayLike | tuple[ArrayLike, ArrayLike] | None = None,
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
        temporal_strategy: TemporalStrategy = "uniform",
        subgraph_type: SubgraphType = "directional",
        direction: Direction = "in",
        features: Iterable[str] | None = None,
        edge_features: Iterable[str] | Mapping[str, FeatureStore] = (),
        dtype: DTypeLike | Mapping[str, DTypeLike] | None = None,
        memory: int | str | None = None,
        prefetch: int = 2,
        window: int = 16,
        reader: Reader = "auto",
        seed: Seed = None,
        rank: int | None = None,
        world_size: int | None = None,
    ) -> None:
        opened = open_data(data, features, edge_features)
        own_rank, num_ranks = as_rank(rank, world_size)
        budget = as_budget(memory, opened, num_ranks)
        sources, destinations = as_links(
            edge_label_index, opened, memory=budget.most_bytes, ids=ids
        )
        self._times = as_times(edge_label_time, "edge_label_time", len(sources), "links")
        self._negatives = _of_internal(as_negatives(neg_sampling, neg_sampling_ratio), opened, ids)
        self._core_negatives = to_core(self._negatives)
        self._labels = _shifted(as_edge_label(edge_label, len(sources)), self._negatives)
        self._links = _core.Links(
            sources=sources,
            destinations=destinations,
            times=np.empty(0, np.int64) if self._times is None else self._times,
        )
        super().__init__(
            opened,
            SamplingRule(
                fanouts=num_neighbors,
                replace=replace,
                weighted=weighted,
                disjoint=disjoint,
                temporal=self._times is not None,
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
            rank=own_rank,
            world_size=num_ranks,
        )
        self._require_what_negatives_need()

    def __getstate__(self) -> dict[str, Any]:
        # Objects of the core do not pickle; what they are made of does.
        return {**super().__getstate__(), "_links": self._links.arrays(), "_core_negatives": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        sources, destinations, times = state["_links"]
        super().__setstate__(state)
        self._links = _core.Links(sources=sources, destinations=destinations, times=times)
        self._core_negatives = to_core(self._negatives)

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
            "kind": "links",
            "inputs": f"{self._links.checksum():016x}",
            "times": None if self._times is None else checksum_of(self._times),
            **negative_facts(self._negatives),
        }

    def _make_seeds(
        self, order: NDArray[np.int64], batch_size: int | None = None
    ) -> _core.SeedSource:
        return _core.LinkSeeds(
            graph=self._data.graph._open(),  # noqa: SLF001
            links=self._links,
            order=np.ascontiguousarray(order),
            batch_size=batch_size or self._batch_size,
            disjoint=self._rule.has_trees,
            negatives=self._core_negatives,
        )

    def __iter__(self) -> Iterator[LinkBatch]:
        return self._loop()

    def _make_batch(self, fields: dict[str, Any]) -> Any:  # noqa: ANN401
        return LinkBatch(**fields)

    def _fields(
        self,
        sample: NeighborSample,
        rows: dict[IdSpace, dict[str, NDArray[Any]]],
        ends: NDArray[np.int64],
        places: NDArray[np.int64],
    ) -> dict[str, Any]:
        fields = super()._fields(sample, rows, ends, places)
        num_links = len(places)
        is_triplet = self._negatives is not None and self._negatives.mode == "triplet"
        pairs = None if is_triplet else ends.reshape(2, -1)
        num_pairs = num_links if pairs is None else pairs.shape[1]
        # A negative belongs to the link that is its place modulo their number.
        link_of = np.arange(num_pairs) % max(num_links, 1)
        tree = fields["batch"]
        if tree is not None:
            tree = link_of[np.arange(len(ends)) % max(num_pairs, 1)][tree]
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
    negatives: LinkNegatives | None, data: LoaderData, ids: IdReading | None
) -> LinkNegatives | None:
    """Negatives whose weights, if they have any, are in the order of internal ids."""
    if negatives is None:
        return None
    graph = data.graph
    return replace(
        negatives,
        src_weight=values_by_node(negatives.src_weight, "src_weight", graph, ids),
        dst_weight=values_by_node(negatives.dst_weight, "dst_weight", graph, ids),
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
