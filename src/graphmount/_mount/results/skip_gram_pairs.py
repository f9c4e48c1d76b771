"""Pairs of nodes that are near each other on random walks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True, eq=False)
class SkipGramPairs:
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
