"""A graph to sample from."""

from __future__ import annotations

import numpy as np
import pytest

import graphmount as gm


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """20,000 nodes, 400,000 edges, very skewed, with weights and times."""
    generator = np.random.default_rng(1)
    edges = (20_000 * generator.random((2, 400_000)) ** 4).astype(np.int64)
    path = tmp_path_factory.mktemp("large") / "g.gl"
    weights = generator.choice([0.0, 1.0, 3.0], 400_000).astype(np.float32)
    times = generator.integers(0, 100, 400_000)
    gm.compile_graph(edges, path, weights=weights, timestamps=times, num_nodes=20_000)
    return path
