"""Datasets for the tests of `graphmount.pyg`, with the arrays that they were made of."""

from __future__ import annotations

import numpy as np

import graphmount as gm

NUM_NODES = 40

KINDS = {
    "directed": {},
    "undirected": {"directed": False},
    "temporal": {"timestamps": True},
    "undirected, temporal": {"directed": False, "timestamps": True},
    "wide": {"index_dtype": "int64"},
}


def source(seed=0):
    """Arrays of a graph with multi-edges, loops, isolated nodes, weights of 0 and equal times."""
    generator = np.random.default_rng(seed)
    src, dst = (generator.random((2, 200)) ** 1.7 * (NUM_NODES - 4)).astype(np.int64)
    weights = generator.random(len(src)).astype(np.float32)
    weights[::7] = 0
    return {
        "src": src,
        "dst": dst,
        "weights": weights,
        "timestamps": generator.integers(0, 20, len(src)),
        "x": generator.standard_normal((NUM_NODES, 5)).astype(np.float32),
        "labels": generator.integers(0, 3, NUM_NODES),
        "train": np.sort(generator.permutation(NUM_NODES)[:20]),
        "edge_attr": generator.standard_normal((len(src), 3)).astype(np.float32),
    }


def make_dataset(folder, *, weights=True, timestamps=False, x_options=None, **options):
    """A compiled dataset and the arrays it was made of; nodes keep their numbers."""
    arrays = source()
    edges = gm.EdgeTable(
        source=(arrays["src"], arrays["dst"]),
        weights=arrays["weights"] if weights else None,
        timestamps=arrays["timestamps"] if timestamps else None,
    )
    gm.compile_dataset(
        folder,
        edges=edges,
        num_nodes=NUM_NODES,
        features={"x": gm.Table(source=arrays["x"], **(x_options or {}))},
        edge_features={"edge_attr": arrays["edge_attr"]},
        labels=arrays["labels"],
        splits={"train": arrays["train"], "valid": [1, 0]},
        order="given",
        **options,
    )
    return gm.Dataset(folder), arrays


def make_kinds(folder):
    """A dataset of each kind."""
    return {name: make_dataset(folder / name, **options)[0] for name, options in KINDS.items()}


def edge_index_of(graph):
    """All edges in the order of their ids, as PyG has them."""
    # Here, so that tests can be collected, and skipped, without torch.
    import torch

    col = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    return torch.from_numpy(np.stack([graph.indices.astype(np.int64), col]))


def check_rows(batch):
    """Whether a batch has the rows of its nodes."""
    arrays = source()
    assert np.array_equal(batch.x.numpy(), arrays["x"][batch.n_id])
    assert np.array_equal(batch.y.numpy(), arrays["labels"][batch.n_id])


def check_edges(batch, graph):
    """Whether each edge of a batch is the edge of its id, between the nodes of its numbers."""
    source_nodes, targets = batch.n_id[batch.edge_index].numpy()
    assert np.array_equal(graph.indices[batch.e_id], source_nodes)
    owners = np.searchsorted(graph.indptr, batch.e_id.numpy(), side="right") - 1
    assert np.array_equal(owners, targets)


def check_batch(batch, dataset, seeds):
    """Whether rows, edges, numbers of hops and seeds of a batch are what they should be."""
    check_rows(batch)
    check_edges(batch, dataset.graph)
    assert batch.batch_size == len(batch.input_id)
    assert batch.n_id[: batch.batch_size].tolist() == seeds[batch.input_id].tolist()
    assert batch.num_nodes == len(batch.n_id) == sum(batch.num_sampled_nodes)
    assert batch.num_edges == len(batch.e_id) == sum(batch.num_sampled_edges)


def check_trees(batch, dataset, times):
    """Whether the trees of a temporal batch are apart, and each knows the time of its seed."""
    check_rows(batch)
    check_edges(batch, dataset.graph)
    assert batch.seed_time.equal(times[batch.input_id])
    assert batch.batch[: batch.batch_size].tolist() == list(range(batch.batch_size))
    trees = batch.batch[batch.edge_index]
    assert trees[0].equal(trees[1])
    return trees[0]


def assert_same(found, expected):
    """Whether two batches have the same attributes, with the same values.

    The matrices of layers, which PyG's loaders do not have, must be those of the edges.
    """
    names = set(expected.keys()) - {"adjs"}
    assert set(found.keys()) - {"adjs"} == names
    for layer, adj in enumerate(found.adjs if "adjs" in found else ()):
        edges = gm.torch.to_sparse_csr(expected, hops=len(found.adjs) - layer)
        assert adj.shape == edges.shape
        assert adj.crow_indices().equal(edges.crow_indices())
        assert adj.col_indices().equal(edges.col_indices())
    for name in names:
        one, other = found[name], expected[name]
        if hasattr(other, "dtype"):
            assert one.dtype == other.dtype, name
            assert one.equal(other), name
        else:
            assert one == other, name
