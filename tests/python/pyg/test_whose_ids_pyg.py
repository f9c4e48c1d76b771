"""Ids that cannot be confused, in PyG's form: masks and splits of the source, its own loaders."""

from __future__ import annotations

import numpy as np
import pytest

import graphmount as gm

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")
from torch_geometric.loader import LinkLoader, NodeLoader  # noqa: E402
from torch_geometric.sampler import NegativeSampling  # noqa: E402

import graphmount.pyg  # noqa: E402

NUM_NODES = 60
TRAIN = torch.tensor([3, 50, 8, 41, 17])
MASK = torch.zeros(NUM_NODES, dtype=torch.bool).index_fill(0, TRAIN, True)
BOTH_READINGS = r"ids of the source or of the dataset.*external.*internal"


@pytest.fixture(scope="module")
def edges():
    return torch.from_numpy(np.random.default_rng(5).integers(0, NUM_NODES, (2, 400)))


@pytest.fixture(scope="module")
def reordered(tmp_path_factory, edges):
    path = tmp_path_factory.mktemp("ids") / "hot"
    gm.compile_dataset(
        path,
        edges=tuple(edges.numpy()),
        features={"x": np.arange(NUM_NODES, dtype=np.float32)[:, None]},
    )
    return gm.Dataset(path)


@pytest.mark.parametrize("nodes", [TRAIN, MASK])
def test_nodes_of_the_source(reordered, nodes):
    with pytest.raises(gm.errors.IdError, match=BOTH_READINGS):
        gm.pyg.NeighborLoader(reordered, [2], input_nodes=nodes)
    loader = gm.pyg.NeighborLoader(reordered, [2], input_nodes=nodes, ids="external", batch_size=5)
    batch = next(iter(loader))
    expected = TRAIN if nodes is TRAIN else TRAIN.sort().values
    assert batch.x[:5, 0].tolist() == expected.tolist()
    again = gm.pyg.NeighborLoader(reordered, [2], input_nodes=batch.n_id, batch_size=99)
    assert torch.equal(next(iter(again)).x[: len(batch.x)], batch.x)


def test_links_of_the_source(reordered, edges):
    with pytest.raises(gm.errors.IdError, match=BOTH_READINGS):
        gm.pyg.LinkNeighborLoader(reordered, [2], edge_label_index=edges)
    loader = gm.pyg.LinkNeighborLoader(
        reordered, [2], edge_label_index=edges, ids="external", batch_size=400
    )
    batch = next(iter(loader))
    assert torch.equal(batch.x[:, 0][batch.edge_label_index].long(), edges)


def test_a_sampler_must_know_whose_ids_loaders_have(reordered):
    with pytest.raises(gm.errors.IdError, match=BOTH_READINGS):
        gm.pyg.NeighborSampler(reordered, [2])


def test_the_sampler_in_loaders_of_pyg(reordered, edges):
    sampler = gm.pyg.NeighborSampler(reordered, [2], ids="external")
    loader = NodeLoader(reordered.to_pyg(), sampler, MASK, batch_size=5)
    assert next(iter(loader)).x[:5, 0].tolist() == TRAIN.sort().values.tolist()
    links = LinkLoader(reordered.to_pyg(), sampler, (None, edges), batch_size=400)
    batch = next(iter(links))
    assert torch.equal(batch.x[:, 0][batch.edge_label_index].long(), edges)
    inside = gm.pyg.NeighborSampler(reordered, [2], ids="internal")
    loader = NodeLoader(reordered.to_pyg(), inside, torch.arange(5), batch_size=5)
    expected = reordered.to_external(np.arange(5))
    assert next(iter(loader)).x[:5, 0].tolist() == expected.tolist()


@pytest.mark.parametrize("reading", ["external", "internal"])
def test_weights_of_negatives_follow_ids(reordered, edges, reading):
    weight = torch.zeros(NUM_NODES).index_fill(0, torch.tensor([42]), 1.0)
    sampler = gm.pyg.NeighborSampler(reordered, [2], ids=reading)
    negatives = NegativeSampling("triplet", 2, dst_weight=weight)
    links = LinkLoader(
        reordered.to_pyg(), sampler, (None, edges), neg_sampling=negatives, batch_size=9
    )
    batch = next(iter(links))
    drawn = set(batch.x[:, 0][batch.dst_neg_index].flatten().tolist())
    assert drawn == ({42} if reading == "external" else set(reordered.to_external([42]).tolist()))
    if reading == "external":
        assert torch.equal(batch.x[:, 0][batch.src_index].long(), edges[0, :9])
        assert torch.equal(batch.x[:, 0][batch.dst_pos_index].long(), edges[1, :9])
