"""A dataset of many types whose rows are functions of ids, and batches checked by them.

Papers and authors have tables, institutions have none, and nothing leads to topics. Two types have
a table of the same name, and one table of edges is called like a relation.
"""

from __future__ import annotations

import numpy as np

import graphmount as gm

COUNTS = {"paper": 900, "author": 400, "institution": 30, "topic": 7}
WRITES = ("author", "writes", "paper")
CITES = ("paper", "cites", "paper")
AT = ("author", "at", "institution")
REV_WRITES = ("paper", "rev_writes", "author")
REV_AT = ("institution", "rev_at", "author")
NUM_EDGES = {WRITES: 3000, CITES: 5000, AT: 500}
#: Rows of tables, as (factor, columns).
TABLES = {("paper", "x"): (7, 16), ("author", "x"): (11, 24), ("paper", "year"): (1, 1)}


def rows_of(kind, name, ids):
    """The rows of the nodes that the source calls so."""
    factor, columns = TABLES[kind, name]
    return (np.asarray(ids)[:, None] * factor + np.arange(columns)).astype(np.float32)


def edge_rows_of(rows):
    return (np.asarray(rows)[:, None] * 3 + np.arange(2)).astype(np.int32)


def source_edges():
    """The edges of each relation of the source, skewed, as (sources, destinations)."""
    generator = np.random.default_rng(1)
    edges = {}
    for relation, count in NUM_EDGES.items():
        largest = np.array([[COUNTS[relation[0]]], [COUNTS[relation[2]]]])
        edges[relation] = (largest * generator.random((2, count)) ** 3).astype(np.int64)
    return edges


def make_typed(path, order="hot", reverse=(WRITES, AT)):
    """Compiles it. All relations have weights, and all but one have times."""
    generator = np.random.default_rng(2)
    edges = {
        relation: gm.EdgeTable(
            source=(ends[0].copy(), ends[1].copy()),
            weights=generator.choice([0.0, 1.0, 3.0], ends.shape[1]).astype(np.float32),
            timestamps=generator.integers(0, 100, ends.shape[1]) if relation != AT else None,
        )
        for relation, ends in source_edges().items()
    }
    tables = {kind: {} for kind in COUNTS}
    for kind, name in TABLES:
        tables[kind][name] = rows_of(kind, name, np.arange(COUNTS[kind]))
    gm.compile_dataset(
        path,
        nodes={
            kind: gm.Nodes(
                num_nodes=count,
                features=tables[kind] or None,
                labels=np.arange(count) % 5 if kind in ("paper", "author") else None,
                splits={"train": np.arange(0, count, 3)} if kind in ("paper", "author") else None,
            )
            for kind, count in COUNTS.items()
        },
        edges=edges,
        edge_features={WRITES: {"writes": edge_rows_of(np.arange(NUM_EDGES[WRITES]))}},
        reverse=list(reverse),
        order=order,
    )
    return gm.Dataset(path)


def check_rows(batch):
    """Every row and label is that of its node or edge, as the source calls it."""
    dataset = batch.dataset
    external = {name: np.asarray(ids) for name, ids in batch.external_ids.items()}
    assert list(batch.nodes) == list(batch.features) == list(COUNTS)
    assert list(batch.edge_index) == list(batch.edge_ids) == list(dataset.edge_types)
    for kind, name in TABLES:
        if name in batch.features[kind]:
            np.testing.assert_array_equal(
                batch.features[kind][name], rows_of(kind, name, external[kind])
            )
    for kind, labels in batch.labels.items():
        seeds = external[kind][: batch.num_sampled_nodes[kind][0]]
        np.testing.assert_array_equal(labels, seeds % 5)
    for relation, tables in batch.edge_features.items():
        if "writes" in tables:
            lists = dataset.edges[relation].graph.neighbor_lists()
            rows = lists.source_rows[batch.edge_ids[relation]]
            np.testing.assert_array_equal(tables["writes"], edge_rows_of(rows))


def arrays_of(batch):
    """All arrays of a batch, in an order."""
    parts = [batch.nodes, batch.edge_index, batch.edge_ids, batch.labels]
    parts += [batch.num_sampled_nodes, batch.num_sampled_edges or {}, batch.batch or {}]
    parts += [*batch.features.values(), *batch.edge_features.values()]
    return [np.asarray(array) for part in parts for array in part.values()]


def same(one, other):
    pairs = zip(arrays_of(one), arrays_of(other), strict=True)
    return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in pairs)


def all_same(batches, others):
    """Whether there are as many, each the same."""
    return all(same(one, other) for one, other in zip(batches, others, strict=True))
