"""Batches: counts, edges and `x` and `y`, of arrays and of tensors."""

from __future__ import annotations

import numpy as np
import pytest

import graphmount as gm


def loaders(dataset, **options):
    options = {"input_nodes": "train", "batch_size": 64, "seed": 1} | options
    yield gm.NeighborLoader(dataset, [4, 3], **options)
    try:
        from graphmount import torch
    except ImportError:
        return
    yield torch.NeighborLoader(dataset, [4, 3], **options)


def test_counts_and_edges(dataset):
    for loader in loaders(dataset):
        batch = next(iter(loader))
        assert batch.num_seeds == batch.batch_size == 64
        assert batch.num_nodes == len(batch.nodes)
        assert batch.num_edges == len(batch.edge_ids) == sum(batch.num_sampled_edges)
        assert tuple(batch.edge_index.shape) == (2, batch.num_edges)
    plain = next(iter(gm.NeighborLoader(dataset, [2])))
    assert (plain.edge_index == [plain.row, plain.col]).all()
    sample = dataset.graph.sample_neighbors(dataset.splits["train"][:3], [2])
    assert (sample.edge_index == [sample.row, sample.col]).all()


def test_links_have_them_too(dataset):
    batch = next(iter(gm.LinkNeighborLoader(dataset, [2], batch_size=5)))
    assert batch.num_seeds == len(np.unique(batch.nodes[: batch.num_seeds]))
    assert batch.edge_index.shape == (2, batch.num_edges)
    assert batch.num_links == 5


def test_x_is_the_table_of_that_name_or_the_only_one(dataset):
    for loader in loaders(dataset):
        batch = next(iter(loader))
        assert batch.x is batch.features["x"]
        assert batch.y is batch.labels
    for loader in loaders(dataset, features=["year"]):
        batch = next(iter(loader))
        assert batch.x is batch.features["year"]
    for loader in loaders(dataset, features=[]):
        batch = next(iter(loader))
        assert not hasattr(batch, "x")
        with pytest.raises(AttributeError, match="this batch has none"):
            _ = batch.x


def test_x_of_several_tables_is_none_of_them(tmp_path):
    tables = {"a": np.ones((3, 1)), "b": np.ones((3, 1))}
    gm.compile_dataset(tmp_path / "d", edges=([0], [1]), num_nodes=3, features=tables)
    batch = next(iter(gm.NeighborLoader(gm.Dataset(tmp_path / "d"), [1])))
    with pytest.raises(AttributeError, match=r"\['a', 'b'\]; take one from batch.features"):
        _ = batch.x
    assert batch.y is None


def test_tensors_move_and_are_pinned(dataset, monkeypatch):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    import graphmount.torch

    batch = next(iter(graphmount.torch.NeighborLoader(dataset, [2], batch_size=8)))
    moved = batch.to("meta", non_blocking=False)
    assert moved.x.device.type == moved.nodes.device.type == "meta"
    assert moved.number == batch.number
    pinned = []
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda self: pinned.append(self) or self)
    batch.pin_memory()
    # Nodes, edges, their ids, pointers and edges by source, two tables, labels, inputs.
    assert len(pinned) == 9
