"""What a loader with `aggregate_last` must give: sums and means made edge by edge."""

from __future__ import annotations

import numpy as np


def neighbor_rows(rows, batch, reduce):
    """The sum or mean of the rows of each target's neighbors, in float32 and the order of edges.

    Args:
        rows: Of all nodes of the batch.
        batch: A batch of arrays or tensors.
        reduce: "sum" or "mean".
    """
    sources, targets = (np.asarray(ends) for ends in batch.edge_index)
    num_targets = sum(batch.num_sampled_nodes[:-1])
    out = np.zeros((num_targets, *rows.shape[1:]), np.float32)
    for target in range(num_targets):
        places = np.flatnonzero(targets == target)
        for place in places:
            out[target] += rows[sources[place]]
        if reduce == "mean" and len(places):
            out[target] *= np.float32(1) / np.float32(len(places))
    return out
