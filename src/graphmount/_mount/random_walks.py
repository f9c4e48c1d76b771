"""Random walks on a mounted graph, and what is made of them.

All calls walk in the same way: a walk depends on the seed, on its place among the walks asked for,
on its start and on the options. It depends neither on the number of threads nor on other walks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from graphmount import _core
from graphmount._mount.graph_ends import GraphEnds
from graphmount._mount.results import SkipGramPairs, VisitCounts
from graphmount._support.arguments import as_count, as_native, as_number, require_choice
from graphmount._support.direction import Direction, require_direction
from graphmount._support.seeds import Seed, as_key

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from graphmount._mount.negative_sampling import NegativeWeighting

#: What a walk does at a node without neighbors: "stay" there, or "end".
DeadEnd = Literal["stay", "end"]


class RandomWalks(GraphEnds):
    """The calls of `Graph` that walk. Use `Graph`; this is a part of it."""

    def random_walk(
        self,
        starts: ArrayLike,
        length: int,
        *,
        p: float = 1.0,
        q: float = 1.0,
        restart: float = 0.0,
        weighted: bool = False,
        dead_end: DeadEnd = "stay",
        direction: Direction = "out",
        seed: Seed = None,
    ) -> NDArray[np.int64]:
        """Walks at random from each start, all at once.

        With `p` and `q`, steps are those of node2vec (Grover and Leskovec, 2016): the probability
        of a neighbor is proportional to its weight (1, unless `weighted`), times 1/p if the step
        leads back to the node before, and times 1/q if it leads to a node that is no neighbor of
        the node before in this direction. These probabilities are exact, and need no tables.

        Args:
            starts: The nodes to start from. The same node may appear several times.
            length: The number of steps of a walk.
            p: The larger, the less likely a walk goes straight back to the node it came from.
            q: Small values lead walks away from where they were, large values keep them near.
            restart: The probability, at each step, of jumping back to the start. The step after a
                jump is like the first one: it does not depend on the nodes before.
            weighted: Whether a neighbor is chosen in proportion to the weight of its edge.
            dead_end: What a walk does at a node without neighbors (or without any of positive
                weight). "stay" repeats the node until a restart frees the walk; "end" fills the
                rest of the row with -1.
            direction: Along which edges to walk: "out" follows edges from source to destination,
                "in" goes against them.
            seed: An integer, or several such as (seed, epoch, batch). The same seed gives the same
                walks. If None, one is drawn from torch's generator, or from NumPy's if torch is not
                loaded.

        Returns:
            int64 of shape (starts, length + 1), a walk in each row, its start first.

        Raises:
            IdError: A start does not exist.
            MissingDataError: The file lacks this direction, or weights.
            ValueError: `p` or `q` is not positive and finite, `restart` is no probability, or
                `length` is negative or too large.
            BudgetError: There is not enough memory for the walks.
            FormatError: The file is damaged where a walk came by.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_graph(([0, 1, 2], [1, 2, 0]), "ring.gl")
            >>> gm.Graph("ring.gl").random_walk([0, 1], 4)
            array([[0, 1, 2, 0, 1],
                   [1, 2, 0, 1, 2]])
        """
        core = self._one_type("random_walk")
        walks = _core.random_walk(
            core,
            self._as_nodes(starts, "starts"),
            as_count(length, "length"),
            _walk_options(
                p=p,
                q=q,
                restart=restart,
                weighted=weighted,
                dead_end=dead_end,
                direction=direction,
            ),
            as_key(seed),
        )
        return self._mark(walks)

    def skip_gram_pairs(
        self,
        starts: ArrayLike,
        length: int,
        *,
        window: int,
        negatives: int = 0,
        negative_weighting: NegativeWeighting = "uniform",
        p: float = 1.0,
        q: float = 1.0,
        restart: float = 0.0,
        weighted: bool = False,
        dead_end: DeadEnd = "end",
        direction: Direction = "out",
        seed: Seed = None,
    ) -> SkipGramPairs:
        """Walks, and gives all pairs of nodes within a window, with negatives: for skip-gram.

        The walks are those that `random_walk` gives with the same options and seed. Each node of a
        walk is a center, and the nodes at most `window` steps before and after it are its contexts.
        A window does not reach over a restart, because the nodes before and after it are not near
        each other in the graph. A walk makes no pairs after its end. With `dead_end="stay"`, a walk
        that is stuck makes pairs of a node with itself.

        Args:
            starts: The nodes to start from. The same node may appear several times.
            length: The number of steps of a walk.
            window: How many steps a center and its context may be apart.
            negatives: How many negatives to draw for each pair. They are drawn from all nodes, so a
                negative may happen to be the context.
            negative_weighting: "uniform" draws all nodes alike; "degree" draws a node in proportion
                to how often it appears in the neighbor lists of this direction.
            p: The larger, the less likely a walk goes straight back to the node it came from.
            q: Small values lead walks away from where they were, large values keep them near.
            restart: The probability, at each step, of jumping back to the start. The step after a
                jump is like the first one: it does not depend on the nodes before.
            weighted: Whether a neighbor is chosen in proportion to the weight of its edge.
            dead_end: What a walk does at a node without neighbors (or without any of positive
                weight). "end", the default, ends the walk there; "stay" repeats the node until a
                restart frees the walk.
            direction: Along which edges to walk: "out" follows edges from source to destination,
                "in" goes against them.
            seed: An integer, or several such as (seed, epoch, batch). The same seed gives the same
                walks and negatives. If None, one is drawn from torch's generator, or from NumPy's
                if torch is not loaded.

        Raises:
            IdError: A start does not exist.
            MissingDataError: The file lacks this direction, or weights.
            ValueError: `p` or `q` is not positive and finite, `restart` is no probability, `length`
                is negative or too large, `window` is less than 1, or negatives by degree are asked
                for where there are no edges.
            BudgetError: There is not enough memory for the pairs.
            FormatError: The file is damaged where a walk came by.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_graph(([0, 1, 2], [1, 2, 3]), "path.gl")
            >>> pairs = gm.Graph("path.gl").skip_gram_pairs([0, 2], 3, window=1, negatives=5)
            >>> list(zip(pairs.centers.tolist(), pairs.contexts.tolist()))
            [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2), (2, 3), (3, 2)]
            >>> pairs.negatives.shape
            (8, 5)
        """
        core = self._one_type("skip_gram_pairs")
        require_choice("negative_weighting", negative_weighting, ("uniform", "degree"))
        centers, contexts, drawn = _core.skip_gram_pairs(
            core,
            self._as_nodes(starts, "starts"),
            as_count(length, "length"),
            _walk_options(
                p=p,
                q=q,
                restart=restart,
                weighted=weighted,
                dead_end=dead_end,
                direction=direction,
            ),
            as_key(seed),
            as_count(window, "window", least=1),
            as_count(negatives, "negatives"),
            negative_weighting,
        )
        return SkipGramPairs(
            centers=self._mark(centers), contexts=self._mark(contexts), negatives=self._mark(drawn)
        )

    def visit_counts(
        self,
        starts: ArrayLike,
        num_walks: int,
        *,
        length: int,
        restart: float = 0.15,
        top: int | None = None,
        p: float = 1.0,
        q: float = 1.0,
        weighted: bool = False,
        dead_end: DeadEnd = "stay",
        direction: Direction = "out",
        seed: Seed = None,
    ) -> VisitCounts:
        """Walks several times from each start, and counts where the walks have been.

        With a restart, visits divided by their sum approximate personalised PageRank. More walks
        and longer walks make it more exact. (A node without neighbors then counts as if it had an
        edge to itself.) The `top` nodes are the important neighbors of PinSAGE.

        The walks are those of `random_walk(np.repeat(starts, num_walks), length)` with the same
        options and seed. They are counted while they run, so they never all lie in memory. The
        start of a walk counts as a visit, too.

        Args:
            starts: The nodes to start from.
            num_walks: How many walks to start at each node.
            length: The number of steps of a walk.
            restart: The probability, at each step, of jumping back to the start. The step after a
                jump is like the first one: it does not depend on the nodes before.
            top: How many nodes to keep for each start, those that were visited most; all if None.
            p: The larger, the less likely a walk goes straight back to the node it came from.
            q: Small values lead walks away from where they were, large values keep them near.
            weighted: Whether a neighbor is chosen in proportion to the weight of its edge.
            dead_end: What a walk does at a node without neighbors (or without any of positive
                weight). "stay" repeats the node until a restart frees the walk; "end" ends the
                walk, and steps after that are not counted.
            direction: Along which edges to walk: "out" follows edges from source to destination,
                "in" goes against them.
            seed: An integer, or several such as (seed, epoch, batch). The same seed gives the same
                walks. If None, one is drawn from torch's generator, or from NumPy's if torch is not
                loaded.

        Raises:
            IdError: A start does not exist.
            MissingDataError: The file lacks this direction, or weights.
            ValueError: `p` or `q` is not positive and finite, `restart` is no probability, `length`
                is negative or too large, or `num_walks` or `top` is less than 1.
            FormatError: The file is damaged where a walk came by.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_graph(([0, 1, 2, 0], [1, 2, 0, 2]), "g.gl")
            >>> visits = gm.Graph("g.gl").visit_counts([0], 100, length=50, top=2, seed=1)
            >>> visits.nodes
            array([0, 2])
        """
        core = self._one_type("visit_counts")
        counted = _core.visit_counts(
            core,
            self._as_nodes(starts, "starts"),
            as_count(num_walks, "num_walks", least=1),
            as_count(length, "length"),
            _walk_options(
                p=p,
                q=q,
                restart=restart,
                weighted=weighted,
                dead_end=dead_end,
                direction=direction,
            ),
            as_key(seed),
            None if top is None else as_count(top, "top", least=1),
        )
        indptr, nodes, counts = map(as_native, counted)
        return VisitCounts(indptr=indptr, nodes=self._mark(nodes), counts=counts)


def _walk_options(
    *, p: float, q: float, restart: float, weighted: bool, dead_end: DeadEnd, direction: Direction
) -> _core.WalkOptions:
    """The options of a walk as the core takes them; it checks their ranges."""
    require_choice("weighted", weighted, (False, True))
    require_choice("dead_end", dead_end, ("stay", "end"))
    require_direction(direction)
    return _core.WalkOptions(
        p=_as_real(p, "p"),
        q=_as_real(q, "q"),
        restart=_as_real(restart, "restart"),
        weighted=weighted,
        dead_end=dead_end,
        direction=direction,
    )


def _as_real(value: object, name: str) -> float:
    number = as_number(value)
    if number is None:
        raise TypeError(f"{name} must be a number, not {value!r}")
    return float(number)
