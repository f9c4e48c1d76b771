"""Random walks on a mounted graph, and what is made of them.

All calls walk in the same way: a walk depends on the seed, on its place among the walks asked for,
on its start and on the options. It depends neither on the number of threads nor on other walks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from graphmount import _core
from graphmount._mount.handle import Handle
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


class RandomWalks(Handle[_core.Graph]):
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
        the node before in this direction. These probabilities are exact, and no tables are made.

        Args:
            starts: The nodes to start from. A node may be there often.
            length: The number of steps.
            p: Large values keep walks from going back at once.
            q: Small values lead walks away, large ones keep them near.
            restart: The probability, at each step, to be back at the start instead. The step after
                it is like the first: it depends on no node before.
            weighted: Whether a neighbor is chosen in proportion to the weight of its edge.
            dead_end: What happens where there is no neighbor (or none of positive weight). "stay"
                repeats the node, until a restart frees the walk; "end" fills the row with -1.
            direction: Along which edges to walk.
            seed: An integer, or several such as (seed, epoch, batch). The same seed gives the same
                walks. None draws one.

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
        core = self._open()
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
        A window does not reach over a restart: what lies before it and what comes after is not
        near in the graph. Steps that a walk has ended before make no pairs; with
        `dead_end="stay"`, a walk that is stuck makes pairs of a node with itself.

        Args:
            starts: The nodes to start from.
            length: The number of steps of a walk.
            window: How many steps center and context may be apart.
            negatives: How many negatives to draw for each pair. They are drawn from all nodes, so
                one of them may be the context by chance.
            negative_weighting: "uniform" draws all nodes alike; "degree" in proportion to how
                often they are in the lists of this direction, by taking a random entry.
            p: As in `random_walk`.
            q: As in `random_walk`.
            restart: As in `random_walk`.
            weighted: As in `random_walk`.
            dead_end: As in `random_walk`, but walks end by default.
            direction: As in `random_walk`.
            seed: As in `random_walk`.

        Raises:
            IdError: A start does not exist.
            MissingDataError: The file lacks this direction, or weights.
            ValueError: An option has no meaning; as in `random_walk`, or `window` is less than 1,
                or negatives by degree are asked for where there are no edges.
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
        core = self._open()
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

        With a restart, visits divided by their sum approximate personalised PageRank: the more
        walks, and the longer, the better. (A node without neighbors then counts as one that leads
        to itself.) The `top` nodes are the important neighbors of PinSAGE.

        The walks are those of `random_walk(np.repeat(starts, num_walks), length)` with the same
        options and seed, but they are counted as they go, and never all in memory. The start of a
        walk counts as a visit, too.

        Args:
            starts: The nodes to start from.
            num_walks: How many walks from each.
            length: The number of steps of a walk.
            restart: The probability, at each step, to be back at the start instead.
            top: The most nodes to keep for a start, those visited most; all if None.
            p: As in `random_walk`.
            q: As in `random_walk`.
            weighted: As in `random_walk`.
            dead_end: As in `random_walk`. What comes after an end is not counted.
            direction: As in `random_walk`.
            seed: As in `random_walk`.

        Raises:
            IdError: A start does not exist.
            MissingDataError: The file lacks this direction, or weights.
            ValueError: An option has no meaning; as in `random_walk`, or `num_walks` or `top` is
                less than 1.
            FormatError: The file is damaged where a walk came by.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_graph(([0, 1, 2, 0], [1, 2, 0, 2]), "g.gl")
            >>> visits = gm.Graph("g.gl").visit_counts([0], 100, length=50, top=2, seed=1)
            >>> visits.nodes
            array([0, 2])
        """
        core = self._open()
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
