"""`graphmount.pyg.LinkNeighborLoader`: what PyG's loader promises, and what its own pieces give."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pyg_datasets import KINDS, NUM_NODES, assert_same, check_edges, check_rows, edge_index_of

import graphmount as gm

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
from torch_geometric.data import Data  # noqa: E402
from torch_geometric.loader import LinkLoader  # noqa: E402
from torch_geometric.sampler import NegativeSampling  # noqa: E402

from graphmount.pyg import EdgeFeatures, LinkNeighborLoader, NeighborSampler  # noqa: E402


@pytest.fixture
def links(dataset):
    return edge_index_of(dataset.graph)


class Replayed(NegativeSampling):
    """PyG's negative sampling, which draws what our loader has drawn."""

    def replay(self, batch, *, disjoint):
        count = len(batch.input_id)
        if self.is_binary():
            src, dst = batch.n_id[batch.edge_label_index][:, count:]
        else:
            src, dst = None, batch.n_id[batch.dst_neg_index].view(count, -1)
            # PyG has one draw of all links after the other where trees must be told apart.
            dst = (dst.T if disjoint else dst).reshape(-1)
        self.drawn = {"src": src, "dst": dst}

    def sample(self, num_samples, endpoint, num_nodes=None):
        assert num_nodes == NUM_NODES
        assert len(self.drawn[endpoint]) == num_samples
        return self.drawn[endpoint]


@pytest.mark.parametrize(
    "mode", [None, ("binary", 1), ("binary", 2), ("triplet", 1), ("triplet", 3)]
)
@pytest.mark.parametrize("disjoint", [False, True])
@pytest.mark.parametrize("kind", [*KINDS])
def test_batches_are_those_that_pyg_makes_of_the_same_negatives(datasets, kind, disjoint, mode):
    dataset = datasets[kind]
    links = edge_index_of(dataset.graph)[:, ::3]
    negatives = None if mode is None else Replayed(*mode)
    labels = torch.arange(links.shape[1]) if mode is None or mode[0] == "binary" else None
    options = {"edge_label": labels, "batch_size": 9}
    if "temporal" in kind:
        options["edge_label_time"] = torch.arange(links.shape[1]) % 20
    ours = LinkNeighborLoader(
        dataset, [-1, -1], edge_label_index=links, neg_sampling=mode, disjoint=disjoint, **options
    )
    theirs = LinkLoader(
        dataset.to_pyg(),
        NeighborSampler(dataset, [-1, -1], disjoint=disjoint),
        edge_label_index=(None, links),
        neg_sampling=negatives,
        transform=EdgeFeatures(dataset, weights=True),
        **options,
    )
    has_trees = disjoint or "temporal" in kind
    begin = 0
    for found in ours:
        if negatives is not None:
            negatives.replay(found, disjoint=has_trees)
        end = begin + len(found.input_id)
        expected = theirs(list(range(begin, end)))
        assert_same(found, expected)
        begin = end
    assert begin == links.shape[1]


@pytest.mark.parametrize("ratio", [None, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("subgraph_type", ["directional", "bidirectional", "induced"])
def test_pairs(dataset, links, ratio, subgraph_type):
    loader = LinkNeighborLoader(
        dataset,
        num_neighbors=[3, 3],
        edge_label_index=links,
        neg_sampling_ratio=ratio,
        subgraph_type=subgraph_type,
        batch_size=20,
        shuffle=True,
    )
    assert len(loader) == len(loader.dataset) / 20 == 10
    met = []
    for batch in loader:
        assert type(batch) is Data
        check_rows(batch)
        if subgraph_type != "bidirectional":
            check_edges(batch, dataset.graph)
        negatives = math.ceil(20 * (ratio or 0))
        ends = batch.n_id[batch.edge_label_index]
        assert ends.shape == (2, 20 + negatives)
        assert torch.equal(ends[:, :20], links[:, batch.input_id])
        assert "edge_label_time" not in batch
        assert "batch_size" not in batch
        if ratio is None:
            assert "edge_label" not in batch
        else:
            assert batch.edge_label.dtype == torch.float32
            assert batch.edge_label.tolist() == [1.0] * 20 + [0.0] * negatives
            assert not dataset.graph.has_edge(*ends[:, 20:].numpy()).any()
        met += batch.input_id.tolist()
    assert sorted(met) == list(range(200))


@pytest.mark.parametrize("amount", [1, 3])
def test_triplets(dataset, links, amount):
    loader = LinkNeighborLoader(
        dataset,
        [2],
        edge_label_index=(None, links),
        neg_sampling=NegativeSampling("triplet", amount),
        batch_size=16,
        drop_last=True,
    )
    assert len(loader) == 12
    for batch in loader:
        pairs = torch.stack([batch.n_id[batch.src_index], batch.n_id[batch.dst_pos_index]])
        assert torch.equal(pairs, links[:, batch.input_id])
        assert batch.dst_neg_index.shape == ((16,) if amount == 1 else (16, amount))
        assert "edge_label_index" not in batch
        assert "edge_label" not in batch
        assert "seed_time" not in batch
        negatives = batch.n_id[batch.dst_neg_index].view(16, amount)
        sources = pairs[0][:, None].expand(16, amount)
        assert not dataset.graph.has_edge(sources.flatten().numpy(), negatives.flatten()).any()


def test_negatives_by_the_weights_of_pygs_options(dataset, links):
    weights = torch.zeros(NUM_NODES)
    weights[torch.tensor([38, 39])] = 1  # which have no edges
    options = NegativeSampling("triplet", 2, dst_weight=weights)
    loader = LinkNeighborLoader(
        dataset, [2], edge_label_index=links, neg_sampling=options, batch_size=50
    )
    for batch in loader:
        assert set(batch.n_id[batch.dst_neg_index].flatten().tolist()) == {38, 39}


def test_labels_make_room_for_negatives(dataset, links):
    labels = torch.arange(200) % 4
    for first in (0, 1):
        loader = LinkNeighborLoader(
            dataset,
            [1],
            edge_label_index=links,
            edge_label=labels + first,
            neg_sampling="binary",
            batch_size=50,
        )
        for batch in loader:
            assert batch.edge_label.dtype == torch.int64
            assert torch.equal(batch.edge_label[:50], labels[batch.input_id] + 1)
            assert not batch.edge_label[50:].any()
    with pytest.raises(ValueError, match="do not go together"):
        LinkNeighborLoader(dataset, [1], edge_label=labels, neg_sampling="triplet")


@pytest.mark.parametrize("mode", [None, "binary", "triplet"])
def test_links_in_time(datasets, mode):
    dataset = datasets["temporal"]
    links = edge_index_of(dataset.graph)
    times = torch.from_numpy(dataset.graph.neighbor_lists().timestamps.copy()) - 1
    loader = LinkNeighborLoader(
        dataset,
        [3, 2],
        edge_label_index=links,
        edge_label_time=times,
        time_attr="time",
        neg_sampling=mode,
        batch_size=25,
    )
    for batch in loader:
        check_rows(batch)
        check_edges(batch, dataset.graph)
        seed_time = batch.seed_time if mode == "triplet" else batch.edge_label_time[:25]
        assert torch.equal(seed_time, times[batch.input_id])
        trees = batch.batch[batch.edge_index]
        assert torch.equal(trees[0], trees[1])
        assert (batch.time <= seed_time[trees[0]]).all()
    with pytest.raises(ValueError, match="'edge_label_time' is not set"):
        LinkNeighborLoader(dataset, [3], time_attr="time")


def test_all_edges_are_the_links_by_default(dataset, links):
    (batch,) = LinkNeighborLoader(dataset, [1], batch_size=1000)
    assert torch.equal(batch.n_id[batch.edge_label_index], links)
    assert torch.equal(batch.input_id, torch.arange(200))  # which are ids of edges


def test_a_graph_without_edges(tmp_path):
    gm.compile_graph(([], []), tmp_path / "g.gl", num_nodes=100)
    graph = gm.Graph(tmp_path / "g.gl")
    links = torch.stack([torch.arange(40), torch.arange(40) + 50])
    for ratio, most in ((None, 40), (1.0, 80)):
        loader = LinkNeighborLoader(
            graph, [-1, -1], edge_label_index=links, neg_sampling_ratio=ratio, batch_size=20
        )
        assert len(loader) == 2
        for batch in loader:
            assert batch.num_nodes <= most
            assert batch.edge_index.shape == (2, 0)
            assert torch.equal(batch.n_id[batch.edge_label_index][:, :20], links[:, batch.input_id])


def test_weighted_links_paths_and_transforms(dataset, links):
    loader = LinkNeighborLoader(
        dataset.path,
        [-1],
        edge_label_index=links,
        weight_attr="edge_weight",
        transform=lambda batch: (batch, batch.num_nodes),
        input_id=torch.arange(200) * 2,
        batch_size=64,
    )
    for number, (batch, num_nodes) in enumerate(loader):
        assert num_nodes == len(batch.n_id)
        assert (batch.edge_weight > 0).all()
        assert batch.input_id.tolist() == [
            2 * (64 * number + i) for i in range(len(batch.input_id))
        ]


def test_a_model_learns_links(dataset):
    """Ends meet: an encoder over batches tells edges from negatives better than chance."""
    from torch_geometric.nn import SAGEConv

    torch.manual_seed(0)
    numbers = torch.nn.Embedding(NUM_NODES, 16)
    layer = SAGEConv(16, 16)
    optimizer = torch.optim.Adam([*numbers.parameters(), *layer.parameters()], lr=0.02)
    loader = LinkNeighborLoader(
        dataset, [5], neg_sampling="binary", batch_size=50, shuffle=True, seed=1
    )
    losses = []
    for _ in range(40):
        for batch in loader:
            out = layer(numbers(batch.n_id), batch.edge_index)
            src, dst = out[batch.edge_label_index]
            loss = torch.nn.functional.binary_cross_entropy_with_logits(
                (src * dst).sum(1), batch.edge_label
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    assert np.mean(losses[-20:]) < 0.6 < np.mean(losses[:4])
