"""Neighbor sampling: the calls of `Graph` that draw neighbors."""

from __future__ import annotations

from dataclasses import replace as changed
from typing import TYPE_CHECKING, Literal

from graphmount import _core
from graphmount._mount.graph_ends import GraphEnds
from graphmount._mount.sampling_rule import SamplingRule
from graphmount._support.arguments import as_count, as_ids, require_choice
from graphmount._support.direction import require_direction
from graphmount._support.foreign_words import SAMPLING_WORDS
from graphmount._support.keywords import advises
from graphmount._support.seeds import as_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from graphmount._mount.results import NeighborSample
    from graphmount._mount.sampling_rule import SubgraphType, TemporalStrategy
    from graphmount._support.direction import Direction
    from graphmount._support.seeds import Seed


class NeighborSampling(GraphEnds):
    """What `Graph` can sample."""

    def batch_random_fanout(
        self,
        nodes: ArrayLike,
        k: int,
        *,
        replace: bool = False,
        weighted: bool = False,
        pad: Literal["repeat", -1] = "repeat",
        direction: Direction = "in",
        seed: Seed = None,
    ) -> NDArray[np.int64]:
        """Draws the same number of random neighbors for each node.

        Args:
            nodes: The nodes. A node may appear several times, and draws new neighbors each time.
            k: How many neighbors to draw for each node. They are distinct entries of its list, in
                random order, if it has that many.
            replace: Whether a neighbor may be drawn more than once for the same node.
            weighted: Whether to draw in proportion to the weights of edges. Neighbors of weight 0
                are never drawn.
            pad: What fills the row of a node with fewer neighbors. "repeat" repeats all of them
                equally often, with the remainder drawn at random, so that the mean over the row is
                a fair mean of the neighbors; a node without neighbors stands for itself. Or -1, for
                code that masks: never use it as an index.
            direction: "in" draws the sources of incoming edges, "out" the targets of outgoing
                edges.
            seed: An integer, or several such as (seed, epoch, batch). The same seed gives the same
                result. If None, one is drawn from torch's generator, or from NumPy's if torch is
                not loaded.

        Returns:
            int64 of shape (number of nodes, k).

        Raises:
            IdError: A node does not exist.
            MissingDataError: The file was compiled without this direction, or without weights.
            FormatError: The file is damaged where these lists are.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_graph(([1, 2, 3], [0, 0, 1]), "g.gl")
            >>> g = gm.Graph("g.gl")
            >>> g.batch_random_fanout([1, 3], 2)
            array([[3, 3],
                   [3, 3]])
            >>> g.batch_random_fanout([1, 3], 2, pad=-1)
            array([[ 3, -1],
                   [-1, -1]])
        """
        core = self._open()
        require_direction(direction)
        require_choice("pad", pad, ("repeat", -1))
        require_choice("replace", replace, (False, True))
        require_choice("weighted", weighted, (False, True))
        return self._mark_neighbors(
            _core.random_fanout(
                core,
                self._as_owners(nodes, "nodes", direction),
                as_count(k, "k"),
                replace,
                weighted,
                pad == "repeat",
                direction,
                as_key(seed),
            ),
            direction,
        )

    @advises(SAMPLING_WORDS)
    def sample_neighbors(
        self,
        seeds: ArrayLike,
        fanouts: Sequence[int],
        *,
        replace: bool = False,
        weighted: bool = False,
        disjoint: bool = False,
        time: ArrayLike | None = None,
        temporal_strategy: TemporalStrategy = "uniform",
        subgraph_type: SubgraphType = "directional",
        direction: Direction = "in",
        seed: Seed = None,
    ) -> NeighborSample:
        """Draws a sample of several hops, and numbers its nodes from 0.

        Each seed draws neighbors; in the next hop, the nodes that are new draw theirs, and so on. A
        node that is there already keeps its number. Seeds come first, in the given order. A seed
        that is given several times has several numbers and draws neighbors for each of them; edges
        of other nodes to it use its first number.

        Args:
            seeds: The nodes to begin with.
            fanouts: For each hop, how many neighbors to draw for each node; -1 for all.
            replace: Whether a neighbor may be drawn more than once for the same node.
            weighted: Whether to draw in proportion to the weights of edges. Neighbors of weight 0
                are never drawn. Without replacement, this is as if neighbors were taken out of the
                list one after the other.
            disjoint: Whether each seed gets a tree of its own that shares no nodes with the trees
                of other seeds.
            time: For each seed, a time: only edges of that time or before are drawn in its tree.
                Sampling is then disjoint.
            temporal_strategy: "uniform" draws among all edges that are early enough, "last" takes
                the latest of them.
            subgraph_type: Which edges to return. "directional": the edges that were drawn.
                "bidirectional": those and their reverse, each once, sorted by destination.
                "induced": all edges that the lists have between the sampled nodes, and that are not
                later than the time of their tree, sorted by destination.
            direction: "in" draws the sources of incoming edges, "out" the targets of outgoing
                edges. `row` and `col` are sources and destinations in both cases.
            seed: An integer, or several such as (seed, epoch, batch). The same seed gives the same
                result. If None, one is drawn from torch's generator, or from NumPy's if torch is
                not loaded.

        Raises:
            IdError: A node does not exist.
            MissingDataError: The file was compiled without this direction, weights or timestamps.
            ValueError: Some options contradict each other, or a fanout is below -1.
            BudgetError: The sample has more than 2^32 edges.
            FormatError: The file is damaged where these lists are.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_graph(([1, 2, 3], [0, 0, 1]), "g.gl")
            >>> sample = gm.Graph("g.gl").sample_neighbors([0, 3], [1, 1], seed=7)
            >>> sample.nodes[:2], sample.num_seeds
            (array([0, 3]), 2)
        """
        core = self._one_type("sample_neighbors")
        rule = SamplingRule(
            fanouts=fanouts,
            replace=replace,
            weighted=weighted,
            disjoint=disjoint,
            temporal=time is not None,
            temporal_strategy=temporal_strategy,
            subgraph_type=subgraph_type,
            direction=direction,
            argument="fanouts",
        )
        if temporal_strategy == "last" and time is None:
            raise ValueError("temporal_strategy='last' needs time=, the time of each seed")
        times = as_ids([] if time is None else time, "time")
        sample = rule.sample(core, self._as_nodes(seeds, "seeds"), times, as_key(seed))
        return changed(sample, nodes=self._mark(sample.nodes))
