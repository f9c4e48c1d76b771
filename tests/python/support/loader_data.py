"""Datasets whose rows are functions of node ids, and batches compared with these functions."""

from __future__ import annotations

import numpy as np

import graphmount as gm

NUM_NODES = 3000
COLUMNS = 16


def rows_of(ids):
    """The features of the nodes of the source: a function of their ids."""
    return (np.asarray(ids)[:, None] * 7 + np.arange(COLUMNS)).astype(np.float32)


def edge_rows_of(rows):
    return (np.asarray(rows)[:, None] * 3 + np.arange(2)).astype(np.int32)


def make_datasets(path):
    """The same data twice, as datasets "hot" and "given"."""
    generator = np.random.default_rng(1)
    edges = (NUM_NODES * generator.random((2, 40_000)) ** 3).astype(np.int64)
    for order in ("hot", "given"):
        gm.compile_dataset(
            path / order,
            edges=gm.EdgeTable(
                source=edges,
                weights=generator.random(40_000),
                timestamps=generator.integers(0, 100, 40_000),
            ),
            num_nodes=NUM_NODES,
            features={"x": rows_of(np.arange(NUM_NODES)), "year": np.arange(NUM_NODES)},
            edge_features={"w": edge_rows_of(np.arange(40_000))},
            labels=np.arange(NUM_NODES) % 5,
            splits={"train": np.arange(0, NUM_NODES, 3)},
            order=order,
        )


def check_batch(batch, dataset):
    external = np.asarray(dataset.to_external(batch.nodes))
    np.testing.assert_array_equal(batch.features["x"], rows_of(external))
    np.testing.assert_array_equal(batch.features["year"], external)
    np.testing.assert_array_equal(batch.labels, external[: batch.batch_size] % 5)
    if "w" in batch.edge_features:
        rows = dataset.graph.neighbor_lists().source_rows[batch.edge_ids]
        np.testing.assert_array_equal(batch.edge_features["w"], edge_rows_of(rows))


def arrays(batch):
    return [batch.nodes, batch.row, batch.col, batch.edge_ids, batch.features["x"]]


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(arrays(one), arrays(other), strict=True))
