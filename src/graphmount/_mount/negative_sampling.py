"""Negatives for link prediction, and the edge lookup that tells them from edges.

What is drawn depends on the seed, the position and the options only: not on threads, and not on
what else is asked for in the same call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from graphmount import _core
from graphmount._mount.graph_ends import GraphEnds
from graphmount._support.arguments import as_count, as_id, as_native, require_choice
from graphmount._support.seeds import Seed, as_key

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from graphmount._support.direction import Direction

#: How nodes are drawn: all alike, or as often as they are the end of an edge.
NegativeWeighting = Literal["uniform", "degree"]

#: An end of an edge.
EdgeEnd = Literal["source", "destination"]


class NegativeSampling(GraphEnds):
    """What a `Graph` can do for link prediction."""

    def has_edge(self, sources: ArrayLike, destinations: ArrayLike) -> NDArray[np.bool_]:
        """Whether there is an edge from each source to its destination.

        The file may have either direction; if it has both, the shorter list is searched. Lists are
        searched by bisection. In graphs with timestamps they are in the order of time, and are
        searched from end to end.

        Args:
            sources: The source of each pair.
            destinations: The destination of each pair: as many nodes as `sources`.

        Returns:
            One bool for each pair.

        Raises:
            IdError: A node does not exist.
            ValueError: `sources` and `destinations` have different lengths.
            FormatError: The file is damaged where these nodes are.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_graph(([0, 0], [1, 2]), "g.gl")
            >>> gm.Graph("g.gl").has_edge([0, 1, 0], [1, 0, 2])
            array([ True, False,  True])
        """
        core = self._open()
        found = _core.find_edges(
            core,
            self._as_owners(sources, "sources", "out"),
            self._as_owners(destinations, "destinations", "in"),
        )
        return found.view(np.bool_)

    def sample_negatives(
        self,
        kept: ArrayLike,
        *,
        num: int = 1,
        corrupt: EdgeEnd = "destination",
        weighting: NegativeWeighting = "uniform",
        strict: bool = False,
        self_loops: bool | None = None,
        pad: int | None = None,
        seed: Seed = None,
    ) -> NDArray[np.int64]:
        """For each edge, draws nodes to replace one end of it while the other end is kept.

        If the edges lead from nodes of one type to nodes of another, so do the negatives.

        Args:
            kept: The end of each edge that is kept: its source if destinations are drawn, its
                destination if sources are drawn.
            num: How many negatives to draw for each edge.
            corrupt: Which end is drawn: "destination" or "source".
            weighting: "uniform" draws all nodes alike; "degree" draws a destination in proportion
                to its incoming edges, a source in proportion to its outgoing ones.
            strict: Whether to draw only nodes that make no edge of the graph.
            self_loops: Whether a node may be its own negative. In strict mode such a pair is drawn
                only if it is no edge of the graph. By default False in strict mode, else True.
                Nodes of two types are never the same, whatever is given.
            pad: A number below 0 that is returned where no node can be drawn. If None, that is an
                error.
            seed: An integer, or several such as (seed, epoch, batch). The same seed gives the same
                negatives. If None, one is drawn from torch's generator, or from NumPy's if torch is
                not loaded.

        Returns:
            int64 of shape (number of kept ends, `num`).

        Raises:
            IdError: A node does not exist.
            MissingDataError: A node has no negative, or the file lacks a direction. Strict draws
                and draws by degree need `neighbors="out"` or "both" for destinations, "in" or
                "both" for sources. Draws by degree that are strict or without self-loops need
                "both". An undirected graph has all directions.
            FormatError: The file is damaged where these nodes are.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_graph(([0, 0, 1], [1, 2, 3]), "g.gl")
            >>> gm.Graph("g.gl").sample_negatives([0, 0], num=3, strict=True, seed=1)
            array([[3, 3, 3],
                   [3, 3, 3]])
        """
        core = self._open()
        require_choice("corrupt", corrupt, ("destination", "source"))
        direction: Direction = "out" if corrupt == "destination" else "in"
        kept = self._as_owners(kept, "kept", direction)
        num = as_count(num, "num")
        return self._mark_neighbors(
            _core.sample_negatives(
                core,
                kept,
                num,
                corrupt,
                *_options(weighting, strict=strict, self_loops=self_loops, pad=pad),
                as_key(seed),
            ),
            direction,
        )

    def sample_negative_pairs(
        self,
        num: int,
        *,
        weighting: NegativeWeighting = "uniform",
        strict: bool = True,
        self_loops: bool | None = None,
        pad: int | None = None,
        seed: Seed = None,
    ) -> NDArray[np.int64]:
        """Draws pairs of nodes that are not edges.

        If the edges lead from nodes of one type to nodes of another, so do the pairs.

        Args:
            num: How many pairs to draw.
            weighting: "uniform" draws all pairs alike; "degree" draws a source in proportion to its
                outgoing edges and a destination in proportion to its incoming ones.
            strict: Whether to draw only pairs that are no edge of the graph.
            self_loops: Whether a pair may have the same node twice. In strict mode such a pair is
                drawn only if it is no edge of the graph. By default False in strict mode, else
                True. Nodes of two types are never the same, whatever is given.
            pad: A number below 0 that is returned in all pairs if the graph has no negative pair.
                If None, that is an error.
            seed: An integer, or several such as (seed, epoch, batch). The same seed gives the same
                negatives. If None, one is drawn from torch's generator, or from NumPy's if torch is
                not loaded.

        Returns:
            int64 of shape (2, `num`): sources and destinations. Of a relation in a dataset of many
            node types, they are internal ids of two types, which `NodeType.as_internal` marks;
            `TypedDataset.sample_negative_pairs` gives them marked.

        Raises:
            MissingDataError: There is no negative pair, or weighting is "degree" and the file,
                if directed, was compiled without `neighbors="both"`.
            FormatError: The file is damaged.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_graph(([0, 1], [1, 0]), "g.gl", num_nodes=1000)
            >>> g = gm.Graph("g.gl")
            >>> sources, destinations = g.sample_negative_pairs(50, seed=(7, 0))
            >>> g.has_edge(sources, destinations).any()
            np.False_
        """
        core = self._open()
        pairs = as_native(
            _core.sample_negative_pairs(
                core,
                as_count(num, "num"),
                *_options(weighting, strict=strict, self_loops=self_loops, pad=pad),
                as_key(seed),
            )
        )
        return pairs if core.is_rectangular else self._mark(pairs)


def _options(
    weighting: NegativeWeighting, *, strict: bool, self_loops: bool | None, pad: int | None
) -> tuple[NegativeWeighting, bool, bool, int | None]:
    """The options that both calls have, as the core takes them; it checks the range of `pad`."""
    require_choice("weighting", weighting, ("uniform", "degree"))
    require_choice("strict", strict, (False, True))
    require_choice("self_loops", self_loops, (None, False, True))
    return (
        weighting,
        strict,
        not strict if self_loops is None else self_loops,
        None if pad is None else as_id(pad, "pad"),
    )
