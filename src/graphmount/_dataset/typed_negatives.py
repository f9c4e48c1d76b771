"""Negatives of a dataset with many node types: between the two types of a relation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphmount._mount.node_ids import mark_ids
from graphmount._support.arguments import require_choice

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from graphmount._dataset.node_type import NodeType, Relation
    from graphmount._dataset.typed.results import EdgeType
    from graphmount._dataset.typed.sampling import TypedSampling
    from graphmount._mount.negative_sampling import EdgeEnd, NegativeWeighting
    from graphmount._mount.node_ids import IdReading
    from graphmount._support.seeds import Seed


class TypedNegatives:
    """What a `TypedDataset` can do for link prediction."""

    nodes: Mapping[str, NodeType]
    edges: Mapping[EdgeType, Relation]
    _sampling: TypedSampling

    if TYPE_CHECKING:

        def _seeds(self, seeds: Any, ids: IdReading | None, argument: str = "seeds") -> Any: ...  # noqa: ANN401

    def sample_negatives(
        self,
        relation: EdgeType,
        kept: ArrayLike | str,
        *,
        ids: IdReading | None = None,
        num: int = 1,
        corrupt: EdgeEnd = "destination",
        weighting: NegativeWeighting = "uniform",
        strict: bool = False,
        self_loops: bool | None = None,
        pad: int | None = None,
        seed: Seed = None,
    ) -> NDArray[np.int64]:
        """For each edge of a relation, draws nodes to replace one end while the other is kept.

        Args:
            relation: The type of the sources, the name, and the type of the destinations.
            kept: The end of each edge that is kept: sources if destinations are drawn, else
                destinations. Ids, a mask, or the name of a split.
            ids: Whether `kept` are "internal" ids or "external" ones, those of the source. Needed
                for integers and masks where the two differ.
            num: How many negatives to draw for each edge.
            corrupt: Which end is drawn: "destination" or "source".
            weighting: "uniform" draws all nodes of the type alike; "degree" draws a destination in
                proportion to its incoming edges of this relation, a source in proportion to its
                outgoing ones.
            strict: Whether to draw only nodes that make no edge of this relation.
            self_loops: Whether a node may be its own negative, where both ends are of one type. By
                default False in strict mode, else True.
            pad: A number below 0 that is returned where no node can be drawn. If None, that is an
                error.
            seed: An integer, or several. The same seed gives the same negatives.

        Returns:
            Internal ids of the type that is drawn: (number of kept ends, `num`).

        Raises:
            IdError: A node does not exist, or `kept` are ids of another type.
            MissingDataError: A node has no negative, or the relation lacks a direction.
            ValueError: There is no such relation.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_dataset(
            ...     "sales", nodes={"user": gm.Nodes(num_nodes=2), "item": gm.Nodes(num_nodes=3)},
            ...     edges={("user", "buys", "item"): ([0, 0, 1], [0, 2, 1])}, order="given",
            ... )
            >>> ds = gm.Dataset("sales")
            >>> ds.sample_negatives(("user", "buys", "item"), [0], num=4, strict=True)
            NodeIds([[1, 1, 1, 1]])
        """
        relation = self._sampling.relation(relation)
        require_choice("corrupt", corrupt, ("destination", "source"))
        own = relation[2] if corrupt == "source" else relation[0]
        nodes = self._seeds({own: kept}, ids, "kept")[own]
        return self.edges[relation].graph.sample_negatives(
            mark_ids(nodes, self.nodes[own].order),
            num=num,
            corrupt=corrupt,
            weighting=weighting,
            strict=strict,
            self_loops=self_loops,
            pad=pad,
            seed=seed,
        )

    def sample_negative_pairs(
        self,
        relation: EdgeType,
        num: int,
        *,
        weighting: NegativeWeighting = "uniform",
        strict: bool = True,
        self_loops: bool | None = None,
        pad: int | None = None,
        seed: Seed = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Draws pairs of nodes that are not edges of a relation, between its two types.

        Args:
            relation: The type of the sources, the name, and the type of the destinations.
            num: How many pairs to draw.
            weighting: "uniform" draws all pairs alike; "degree" draws a source in proportion to its
                outgoing edges of this relation and a destination in proportion to its incoming
                ones.
            strict: Whether to draw only pairs that are no edge of this relation.
            self_loops: Whether a pair may have the same node twice, where both ends are of one
                type. By default False in strict mode, else True.
            pad: A number below 0 that is returned in all pairs if there is no negative pair. If
                None, that is an error.
            seed: An integer, or several. The same seed gives the same negatives.

        Returns:
            Internal ids of sources, and of as many destinations.

        Raises:
            MissingDataError: There is no negative pair, or the relation lacks a direction.
            ValueError: There is no such relation.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_dataset(
            ...     "likes", nodes={"user": gm.Nodes(num_nodes=2), "film": gm.Nodes(num_nodes=2)},
            ...     edges={("user", "likes", "film"): ([0, 0, 1], [0, 1, 1])}, order="given",
            ... )
            >>> ds = gm.Dataset("likes")
            >>> ds.sample_negative_pairs(("user", "likes", "film"), 3)
            (NodeIds([1, 1, 1]), NodeIds([0, 0, 0]))
        """
        relation = self._sampling.relation(relation)
        pairs = self.edges[relation].graph.sample_negative_pairs(
            num, weighting=weighting, strict=strict, self_loops=self_loops, pad=pad, seed=seed
        )
        sources, destinations = pairs
        return (
            mark_ids(sources, self.nodes[relation[0]].order),
            mark_ids(destinations, self.nodes[relation[2]].order),
        )
