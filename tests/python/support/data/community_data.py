"""A `Data` of communities on which training with the wrong nodes cannot go unseen.

Features hardly tell communities apart, and most edges stay within one, so the graph is needed. The
nodes of no mask have a label that is wrong, always in the same way: whoever trains on them, instead
of those of the mask, learns that and fails. Degrees are uneven, so a dataset that has nodes with
many neighbors first has an order that is far from the one here.
"""

from __future__ import annotations

import numpy as np
import torch
from torch_geometric.data import Data

NUM_NODES, NUM_CLASSES, NUM_FEATURES = 2400, 4, 16


def community_data(*, seed=5, column_of_labels=False):
    """Edges in both directions, `x`, `y`, and three masks that leave half of the nodes out."""
    generator = np.random.default_rng(seed)
    classes = generator.integers(0, NUM_CLASSES, NUM_NODES)
    dst = (generator.random(NUM_NODES * 5) ** 1.5 * NUM_NODES).astype(np.int64)
    dst = generator.permutation(NUM_NODES)[dst]
    src = generator.integers(0, NUM_NODES, len(dst))
    members = [np.flatnonzero(classes == one) for one in range(NUM_CLASSES)]
    is_near = generator.random(len(dst)) < 0.8
    near = [generator.choice(members[one]) for one in classes[dst[is_near]]]
    src[is_near] = near
    centers = 0.25 * generator.standard_normal((NUM_CLASSES, NUM_FEATURES))
    x = generator.standard_normal((NUM_NODES, NUM_FEATURES)) + centers[classes]
    part = generator.permutation(NUM_NODES) * 8 // NUM_NODES
    labels = np.where(part < 4, classes, (classes + 1) % NUM_CLASSES)
    y = torch.from_numpy(labels)
    return Data(
        x=torch.from_numpy(x.astype(np.float32)),
        edge_index=torch.from_numpy(np.stack([np.append(src, dst), np.append(dst, src)])),
        y=y.view(-1, 1) if column_of_labels else y,
        train_mask=torch.from_numpy(part < 2),
        val_mask=torch.from_numpy(part == 2),
        test_mask=torch.from_numpy(part == 3),
    )
