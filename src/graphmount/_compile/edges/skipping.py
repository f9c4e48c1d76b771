"""Edges that cannot be used, and are left out with `on_error="skip"`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphmount._compile.edges.key_map import shown_key
from graphmount._sources.contract.batches import MOST_EXAMPLES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from graphmount._sources.contract.batches import EdgeBatch, EdgeSource


def usable_edges(
    src: NDArray[np.int64],
    dst: NDArray[np.int64],
    weights: NDArray[np.float32] | None,
    ends: tuple[int | None, int | None],
) -> NDArray[np.bool_]:
    """Which edges have ends that exist, and a weight that can be one.

    Args:
        src: Where edges begin, as numbers; -1 for what is none.
        dst: Where they end.
        weights: Their weights, if they have any.
        ends: How many sources and destinations there are, where that is known.
    """
    fine: NDArray[np.bool_] = (src >= 0) & (dst >= 0)
    for ids, count in ((src, ends[0]), (dst, ends[1])):
        if count is not None:
            fine &= ids < count
    if weights is not None:
        fine &= np.isfinite(weights) & (weights >= 0)
    return fine


def count_skipped(
    source: EdgeSource, batch: EdgeBatch, fine: NDArray[np.bool_], first_row: int
) -> None:
    """Counts the edges of a batch that cannot be used, and keeps the messages of some."""
    bad = np.flatnonzero(~fine)
    source.skipped.add(
        len(bad),
        [
            f"{source.name}, edge {first_row + int(row)}: "
            f"{shown_key(batch.src, int(row))} to {shown_key(batch.dst, int(row))}"
            + ("" if batch.weights is None else f" of weight {batch.weights[row]}")
            for row in bad[:MOST_EXAMPLES]
        ],
    )
