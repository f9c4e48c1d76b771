"""Edges of a layer for tests: lists of sources, as a sparse matrix and as an `edge_index`."""

from __future__ import annotations

import numpy as np
import torch


def matrix(lists, num_sources):
    """A CSR tensor with an entry for each edge, in the order given, repeated ones and all."""
    starts = np.cumsum([0, *map(len, lists)])
    columns = torch.tensor([source for sources in lists for source in sources], dtype=torch.int64)
    return torch.sparse_csr_tensor(
        torch.from_numpy(starts),
        columns,
        torch.ones(len(columns)),
        size=(len(lists), num_sources),
        check_invariants=False,
    )


def edge_index(lists):
    ends = [(source, target) for target, sources in enumerate(lists) for source in sources]
    return torch.tensor(ends, dtype=torch.int64).reshape(-1, 2).T.contiguous()


def random_lists(seed=0, *, targets=12, sources=30, most=6):
    generator = np.random.default_rng(seed)
    lists = [
        generator.integers(0, sources, generator.integers(0, most)).tolist() for _ in range(targets)
    ]
    lists[0] = [0, 5, 0]  # an edge to itself, twice
    return lists
