"""What loaders over many kinds of nodes yield: a sample of all types, and its rows in tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic

import numpy as np
from numpy.typing import NDArray

from graphmount._dataset.typed.results import TypedSampleParts
from graphmount._loading.batches.batch_parts import LinkParts, Values
from graphmount._mount.results import Ids
from graphmount._support.display import one_line
from graphmount._support.shown import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphmount._dataset.typed.results import EdgeType
    from graphmount._dataset.typed_dataset import TypedDataset


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TypedBatchParts(TypedSampleParts[Ids], Generic[Ids, Values]):
    """A batch of many kinds, of whatever its fields are made: see `TypedBatch`."""

    features: Mapping[str, Mapping[str, Values]]
    edge_features: Mapping[EdgeType, Mapping[str, Values]]
    labels: Mapping[str, Values]
    input_ids: Ids
    number: int
    epoch: int
    num_repeated: int
    dataset: TypedDataset

    @property
    def x_dict(self) -> dict[str, Values]:
        """For each type that has a table called "x", or only one table, the rows of its nodes."""
        found = {}
        for name, tables in self.features.items():
            if "x" in tables:
                found[name] = tables["x"]
            elif len(tables) == 1:
                found[name] = next(iter(tables.values()))
        return found

    @property
    def edge_index_dict(self) -> Mapping[EdgeType, Ids]:
        """PyG's name for `edge_index`."""
        return self.edge_index

    @property
    def external_ids(self) -> dict[str, NDArray[np.int64] | list[str]]:
        """For each type, what the source of the dataset calls the nodes."""
        nodes: Mapping[str, Any] = self.nodes
        return {name: self.dataset.nodes[name].to_external(ids) for name, ids in nodes.items()}

    def _told(self, seeds: str) -> str:
        """The batch as one line of text, which says what its seeds are."""
        sizes = ", ".join(f"{len(ids):,} {shown(name)}" for name, ids in self.nodes.items())
        return one_line(
            f"<{type(self).__name__} {self.number} of epoch {self.epoch}: {seeds}, nodes: {sizes}; "
            f"{self.num_edges:,} edges of {len(self.edge_index)} relations>"
        )


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TypedSeedParts(TypedBatchParts[Ids, Values]):
    """A batch of many kinds whose seeds are nodes of one type."""

    seed_type: str

    @property
    def num_seeds(self) -> int:
        """How many of the nodes of the seed type, at the front, are seeds."""
        return self.num_sampled_nodes[self.seed_type][0]

    @property
    def batch_size(self) -> int:
        """How many seeds there are: PyG's name for `num_seeds`."""
        return self.num_seeds

    @property
    def y(self) -> Values | None:
        """The labels of the seeds; None if their type has none."""
        return self.labels.get(self.seed_type)

    def __repr__(self) -> str:
        return self._told(f"{self.num_seeds:,} seeds of type {self.seed_type!r}")


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TypedLinkParts(LinkParts[Ids, Values], TypedBatchParts[Ids, Values]):
    """A batch of many kinds whose seeds are the ends of links."""

    edge_type: EdgeType

    def __repr__(self) -> str:
        return self._told(f"{self.num_links:,} links of {self.edge_type}")


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TypedBatch(TypedSeedParts[NDArray[np.int64], NDArray[Any]]):
    """One batch of a `NeighborLoader` over a `TypedDataset`. It is yours: no later one changes it.

    Nodes of each type are numbered by themselves, from 0 on. Every type and every relation is
    there, also those that were not reached: their arrays are empty.

    Attributes:
        nodes: For each type, the node of each number: position i has the id of the node that
            `edge_index` calls i. The seeds come first.
        edge_index: For each relation, the numbers of the sources and of the destinations of its
            edges: (2, edges).
        edge_ids: For each relation, the id of each edge; None where edges of the reverse relation
            are among them: of bidirectional subgraphs.
        batch: For each type, the place of the seed whose tree each node belongs to, if sampling is
            disjoint; else None.
        num_sampled_nodes: For each type, how many seeds there are, then how many new nodes each hop
            brought.
        num_sampled_edges: For each relation, how many edges each hop has; None where edges are not
            in the order of hops.
        indptr: For each relation, where the edges of each destination begin: those that lead to
            node i are `indptr[i]` to `indptr[i + 1]`, for every node of all hops but the last. None
            where edges do not lie by destination.
        features: For each type, the rows of its nodes in each table.
        edge_features: For each relation, the rows of its edges in each table.
        labels: The labels of the seeds, by their type; empty if that has none.
        seed_type: The type of the seeds.
        input_ids: The places of the seeds in `input_nodes` of the loader.
        number: The place of the batch in its epoch, from 0 on.
        epoch: The number of the epoch, from 0 on.
        num_repeated: How many of the inputs, at the end of the batch, are there a second time, to
            fill the last batch of an epoch: 0, or 1 where several ranks share the inputs and they
            do not divide evenly.
        dataset: The dataset that the loader was made from.

    Examples:
        >>> import numpy as np
        >>> import graphmount as gm
        >>> _ = gm.compile_dataset(
        ...     "shelf", nodes={"book": gm.Nodes(features={"x": np.eye(3)}), "reader": gm.Nodes()},
        ...     edges={("reader", "lends", "book"): ([0, 1, 1], [2, 2, 0])}, order="given",
        ... )
        >>> loader = gm.NeighborLoader(gm.Dataset("shelf"), [-1], input_nodes=("book", [2]))
        >>> batch = next(iter(loader))
        >>> batch.nodes["reader"], batch.features["book"]["x"]
        (NodeIds([0, 1]), array([[0., 0., 1.]]))
        >>> batch.edge_index["reader", "lends", "book"]
        array([[0, 1],
               [0, 0]])
    """


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TypedLinkBatch(TypedLinkParts[NDArray[np.int64], NDArray[Any]]):
    """One batch of a `LinkNeighborLoader` over a `TypedDataset`. It is yours alone.

    It has all attributes of a `TypedBatch` but `seed_type`. Seeds are the ends of the links and of
    their negatives, each once and in sorted order for each type; if sampling is disjoint, as often
    as it is an end. The numbers of sources below are positions in the nodes of the type that the
    relation leads from, those of destinations in the nodes of the type that it leads to.

    Attributes:
        edge_type: The relation that the links are of.
        input_ids: The places of the batch's links in `edge_label_index` of the loader.
        batch: For each type, the place of the link whose tree each node belongs to, if sampling is
            disjoint. Nodes of a negative have the place of its link.
        edge_label_index: The numbers of the ends of each link, of shape (2, links): sources and
            destinations. Negatives come after the links. None for triplets.
        edge_label: The label of each of these links, 0 for negatives. None for triplets; also None
            without negatives, if the loader was given no labels.
        edge_label_time: The time of each of these links, or for triplets of each link. A negative
            has the time of its link. None if the loader was given no times.
        src_index: For triplets, the number of the source of each link; else None.
        dst_pos_index: For triplets, the number of the destination of each link; else None.
        dst_neg_index: For triplets, the numbers of the negative destinations of each link, of shape
            (links, amount); else None.

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_dataset(
        ...     "loan", nodes={"book": gm.Nodes(num_nodes=3), "reader": gm.Nodes(num_nodes=2)},
        ...     edges={("reader", "lends", "book"): ([0, 1, 1], [2, 2, 0])}, order="given",
        ... )
        >>> links = (("reader", "lends", "book"), [[1, 0], [0, 2]])
        >>> loader = gm.LinkNeighborLoader(
        ...     gm.Dataset("loan"), [-1], edge_label_index=links, batch_size=2
        ... )
        >>> batch = next(iter(loader))
        >>> readers, books = batch.edge_label_index
        >>> batch.nodes["reader"][readers], batch.nodes["book"][books]
        (NodeIds([1, 0]), NodeIds([0, 2]))
    """
