"""PyG's `LinkLoader` with `graphmount.pyg`: edges, labels, negatives and times of a batch."""

from __future__ import annotations

import pytest
from pyg_datasets import check_edges, check_rows, edge_index_of

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
from torch_geometric.loader import LinkLoader  # noqa: E402
from torch_geometric.sampler import NegativeSampling  # noqa: E402

from graphmount.pyg import NeighborSampler  # noqa: E402


@pytest.fixture
def links(dataset):
    return edge_index_of(dataset.graph)


def test_link_loader(dataset, links):
    labels = torch.arange(links.shape[1])
    loader = LinkLoader(
        dataset.to_pyg(),
        NeighborSampler(dataset, [2, 2]),
        edge_label_index=(None, links),
        edge_label=labels,
        batch_size=32,
    )
    met = []
    for batch in loader:
        check_rows(batch)
        check_edges(batch, dataset.graph)
        assert torch.equal(batch.n_id[batch.edge_label_index], links[:, batch.input_id])
        assert torch.equal(batch.edge_label, labels[batch.input_id])
        met += batch.input_id.tolist()
    assert met == list(range(links.shape[1]))


@pytest.mark.parametrize("disjoint", [False, True])
def test_binary_negatives(dataset, links, disjoint):
    loader = LinkLoader(
        dataset.to_pyg(),
        NeighborSampler(dataset, [2], disjoint=disjoint),
        edge_label_index=(None, links),
        neg_sampling=NegativeSampling("binary", amount=2),
        batch_size=10,
    )
    for batch in loader:
        count = len(batch.input_id)
        assert batch.edge_label.tolist() == [1.0] * count + [0.0] * (2 * count)
        ends = batch.n_id[batch.edge_label_index]
        assert torch.equal(ends[:, :count], links[:, batch.input_id])
        assert ends.shape == (2, 3 * count)
        check_rows(batch)
        check_edges(batch, dataset.graph)
        if disjoint:
            trees = batch.batch[batch.edge_index]
            assert torch.equal(trees[0], trees[1])
            assert batch.batch.max() < count


@pytest.mark.parametrize("disjoint", [False, True])
def test_triplets(dataset, links, disjoint):
    loader = LinkLoader(
        dataset.to_pyg(),
        NeighborSampler(dataset, [2], disjoint=disjoint),
        edge_label_index=(None, links),
        neg_sampling=NegativeSampling("triplet", amount=3),
        batch_size=10,
    )
    for batch in loader:
        count = len(batch.input_id)
        pairs = torch.stack([batch.n_id[batch.src_index], batch.n_id[batch.dst_pos_index]])
        assert torch.equal(pairs, links[:, batch.input_id])
        assert batch.dst_neg_index.shape == (count, 3)


def test_links_in_time(datasets):
    dataset = datasets["temporal"]
    graph = dataset.graph
    links = edge_index_of(graph)
    times = torch.from_numpy(graph.neighbor_lists().timestamps.copy())
    loader = LinkLoader(
        dataset.to_pyg(),
        NeighborSampler(dataset, [3, 2]),
        edge_label_index=(None, links),
        edge_label_time=times - 1,
        neg_sampling=NegativeSampling("binary"),
        batch_size=25,
        num_workers=2,
    )
    for batch in loader:
        check_rows(batch)
        check_edges(batch, graph)
        count = len(batch.input_id)
        tree = batch.batch[batch.edge_index[1]]
        latest = batch.edge_label_time[:count][tree]
        assert (graph.neighbor_lists().timestamps[batch.e_id] <= latest.numpy()).all()


def test_lightning(dataset, links, monkeypatch):
    from torch_geometric.data.lightning import LightningLinkData, datamodule

    # PyG's module is but an object with loaders where Lightning is not installed: that is all
    # that matters here.
    if not datamodule._pl_is_available:
        monkeypatch.setattr(datamodule, "_pl_is_available", True)
    module = LightningLinkData(
        dataset.to_pyg(),
        input_train_edges=(None, links),
        link_sampler=NeighborSampler(dataset, [2, 2]),
        neg_sampling=NegativeSampling("binary"),
        batch_size=50,
        num_workers=2,
        pin_memory=False,
    )
    batches = list(module.train_dataloader())
    assert sorted(torch.cat([batch.input_id for batch in batches]).tolist()) == list(range(200))
    for batch in batches:
        check_rows(batch)
        check_edges(batch, dataset.graph)
        assert len(batch.edge_label) == 2 * len(batch.input_id)
