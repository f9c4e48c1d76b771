"""PyG's `NodeLoader`, and Lightning's module over it, with `graphmount.pyg`: all is checked."""

from __future__ import annotations

import numpy as np
import pytest
from pyg_datasets import (
    KINDS,
    NUM_NODES,
    check_batch,
    check_edges,
    check_rows,
    check_trees,
    make_dataset,
    source,
)

import graphmount as gm
from graphmount.errors import MissingDataError

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
from torch_geometric.data import Data  # noqa: E402
from torch_geometric.loader import NeighborLoader, NodeLoader  # noqa: E402
from torch_geometric.testing import MyFeatureStore  # noqa: E402

from graphmount.pyg import EdgeFeatures, NeighborSampler  # noqa: E402


@pytest.mark.parametrize("kind", [*KINDS])
def test_node_loader(datasets, kind):
    dataset = datasets[kind]
    train = torch.from_numpy(dataset.splits["train"].copy())
    sampler = NeighborSampler(dataset, [4, 3])
    loader = NodeLoader(dataset.to_pyg(), sampler, input_nodes=train, batch_size=7, shuffle=True)
    assert len(loader) == 3
    met = []
    for batch in loader:
        check_batch(batch, dataset, train)
        assert (len(batch.num_sampled_nodes), len(batch.num_sampled_edges)) == (3, 2)
        assert batch.batch is None
        met += batch.input_id.tolist()
    assert sorted(met) == list(range(20))


def test_node_loader_with_a_mask_and_chosen_attributes(dataset):
    stores = dataset.to_pyg(attributes=["train_mask"], dtype=torch.float64)
    mask = stores[0].get_tensor(None, "train_mask", None)
    loader = NodeLoader(stores, NeighborSampler(stores, [2]), input_nodes=mask, batch_size=20)
    (batch,) = loader
    assert batch.n_id[:20].tolist() == dataset.splits["train"].tolist()
    assert batch.train_mask[:20].all()
    assert "x" not in batch


def test_disjoint_and_temporal_loaders(datasets):
    dataset = datasets["temporal"]
    times = torch.arange(NUM_NODES) % 20
    sampler = NeighborSampler(dataset, [3, 3], temporal_strategy="last")
    loader = NodeLoader(
        dataset.to_pyg(), sampler, torch.arange(NUM_NODES), input_time=times, batch_size=16
    )
    for batch in loader:
        trees = check_trees(batch, dataset, times)
        stamps = dataset.graph.neighbor_lists().timestamps[batch.e_id]
        assert (stamps <= batch.seed_time[trees].numpy()).all()
    # Without times, and disjoint, the same sampler draws from all edges.
    sampler.disjoint = True
    (batch,) = NodeLoader(dataset.to_pyg(), sampler, torch.tensor([0, 0, 1]), batch_size=3)
    assert batch.n_id[:3].tolist() == [0, 0, 1]
    assert "seed_time" not in batch


def test_weighted_loader_never_takes_weight_0(dataset):
    sampler = NeighborSampler(dataset, [-1, -1], weighted=True)
    for batch in NodeLoader(dataset.to_pyg(), sampler, torch.arange(NUM_NODES), batch_size=10):
        assert (dataset.graph.weights[batch.e_id] > 0).all()


@pytest.mark.parametrize(
    ("context", "filter_per_worker"), [("fork", True), ("fork", False), ("spawn", True)]
)
def test_two_workers(datasets, context, filter_per_worker):
    dataset = datasets["wide"]
    torch.manual_seed(5)
    loader = NodeLoader(
        dataset.to_pyg(),
        NeighborSampler(dataset, [4, 4]),
        torch.arange(NUM_NODES),
        batch_size=9,
        num_workers=2,
        multiprocessing_context=context,
        filter_per_worker=filter_per_worker,
        transform=EdgeFeatures(dataset, weights=True),
    )
    batches = list(loader)
    assert torch.cat([batch.input_id for batch in batches]).tolist() == list(range(NUM_NODES))
    for batch in batches:
        check_rows(batch)
        check_edges(batch, dataset.graph)
        # A worker writes rows into shared memory at once.
        assert batch.x.is_shared() == filter_per_worker
        assert np.array_equal(batch.edge_weight.numpy(), dataset.graph.weights[batch.e_id])


def test_samples_of_workers_follow_the_seed_and_differ(dataset):
    def drawn(seed):
        torch.manual_seed(seed)
        loader = NodeLoader(
            dataset.to_pyg(),
            NeighborSampler(dataset, [2, 2]),
            torch.arange(20).repeat(2),
            batch_size=20,
            num_workers=2,
        )
        return [batch.e_id.tolist() for batch in loader]

    first, second = drawn(1)
    assert first != second  # the same seeds, in two workers
    assert drawn(1) == [first, second]
    assert drawn(2) != [first, second]


def test_edge_features(dataset):
    arrays = source()
    rows = {}
    for place, pair in enumerate(zip(arrays["src"], arrays["dst"], strict=True)):
        rows.setdefault(pair, []).append(arrays["edge_attr"][place].tolist())
    loader = NodeLoader(
        dataset.to_pyg(),
        NeighborSampler(dataset, [5]),
        torch.arange(NUM_NODES),
        batch_size=NUM_NODES,
        transform=EdgeFeatures(dataset),
    )
    (batch,) = loader
    ends = batch.n_id[batch.edge_index].T.tolist()
    for (src, dst), row in zip(ends, batch.edge_attr.tolist(), strict=True):
        assert row in rows[src, dst]
    with pytest.raises(ValueError, match=r"no table of edges 'z' .*there are \['edge_attr'\]"):
        EdgeFeatures(dataset, ["z"])


def test_edge_features_without_weights(tmp_path):
    dataset, _ = make_dataset(tmp_path / "dataset", weights=False)
    with pytest.raises(MissingDataError, match="has no weights; compile it with weights="):
        EdgeFeatures(dataset, weights=True)


def test_data_objects_have_their_own_edge_features(tmp_path):
    arrays = source()
    edge_index = torch.from_numpy(np.stack([arrays["src"], arrays["dst"]]))
    data = Data(
        x=torch.from_numpy(arrays["x"]),
        edge_index=edge_index,
        edge_attr=torch.from_numpy(arrays["edge_attr"]),
    )
    gm.compile_graph(data, tmp_path / "g.gl", source_rows=True)
    graph = gm.Graph(tmp_path / "g.gl")
    sampler = NeighborSampler(graph, [3, 3], source_rows=True)
    for batch in NodeLoader(data, sampler, batch_size=8):
        assert torch.equal(batch.x, data.x[batch.n_id])
        assert torch.equal(batch.edge_attr, data.edge_attr[batch.e_id])
        assert torch.equal(edge_index[:, batch.e_id], batch.n_id[batch.edge_index])
    gm.compile_graph(data, tmp_path / "plain.gl")
    with pytest.raises(MissingDataError, match="compile it with source_rows=True"):
        NeighborSampler(gm.Graph(tmp_path / "plain.gl"), [3], source_rows=True)


def test_trimmed_layers_give_the_same_outputs(dataset):
    from torch_geometric.nn import SAGEConv
    from torch_geometric.utils import trim_to_layer

    torch.manual_seed(0)
    layers = [SAGEConv(5, 8), SAGEConv(8, 8), SAGEConv(8, 3)]
    loader = NodeLoader(
        dataset.to_pyg(), NeighborSampler(dataset, [3, 3, 3]), torch.arange(NUM_NODES), batch_size=6
    )
    for batch in loader:
        whole, x, edge_index = batch.x, batch.x, batch.edge_index
        for number, layer in enumerate(layers):
            whole = layer(whole, batch.edge_index)
            x, edge_index, _ = trim_to_layer(
                number, batch.num_sampled_nodes, batch.num_sampled_edges, x, edge_index
            )
            x = layer(x, edge_index)
        seeds = slice(batch.batch_size)
        assert torch.allclose(x[seeds], whole[seeds], atol=1e-5)


def test_neighbor_loader_with_our_sampler(dataset):
    loader = NeighborLoader(
        dataset.to_pyg(),
        num_neighbors=[],
        input_nodes=torch.arange(NUM_NODES),
        neighbor_sampler=NeighborSampler(dataset, [3, 3]),
        batch_size=11,
    )
    for batch in loader:
        check_rows(batch)
        check_edges(batch, dataset.graph)
        assert len(batch.num_sampled_edges) == 2


def test_custom_stores_and_classes(dataset):
    class Mine(Data):
        pass

    features = MyFeatureStore()
    features.put_tensor(torch.arange(NUM_NODES) * 10, group_name=None, attr_name="z", index=None)
    _, graph_store = dataset.to_pyg()
    loader = NodeLoader(
        (features, graph_store),
        NeighborSampler(graph_store, [3]),
        torch.arange(NUM_NODES),
        batch_size=10,
        custom_cls=Mine,
        transform_sampler_output=lambda out: out,
    )
    for batch in loader:
        assert isinstance(batch, Mine)
        assert torch.equal(batch.z, batch.n_id * 10)
        check_edges(batch, dataset.graph)


def test_lightning(dataset, monkeypatch):
    from torch_geometric.data.lightning import LightningNodeData, datamodule

    # PyG's module is but an object with loaders where Lightning is not installed: that is all
    # that matters here.
    if not datamodule._pl_is_available:
        monkeypatch.setattr(datamodule, "_pl_is_available", True)
    train = torch.from_numpy(dataset.splits["train"].copy())
    module = LightningNodeData(
        dataset.to_pyg(),
        input_train_nodes=train,
        input_val_nodes=torch.arange(NUM_NODES),
        node_sampler=NeighborSampler(dataset, [3, 3]),
        eval_loader_kwargs={"num_neighbors": [-1], "batch_size": 40},
        batch_size=5,
        pin_memory=False,
    )
    batches = list(module.train_dataloader())
    assert len(batches) == 4
    for batch in batches:
        check_rows(batch)
        assert len(batch.num_sampled_edges) == 2
    (batch,) = module.val_dataloader()
    assert batch.num_sampled_edges == [dataset.num_edges]
