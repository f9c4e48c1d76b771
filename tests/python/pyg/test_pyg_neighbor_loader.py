"""`graphmount.pyg.NeighborLoader`: what PyG's loader promises, and what its own pieces give."""

from __future__ import annotations

import numpy as np
import pytest
from pyg_datasets import (
    KINDS,
    NUM_NODES,
    assert_same,
    check_batch,
    check_edges,
    check_trees,
    edge_index_of,
    make_dataset,
    source,
)

import graphmount as gm
from graphmount.errors import MissingDataError

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
from torch_geometric.data import Data  # noqa: E402
from torch_geometric.loader import NodeLoader  # noqa: E402
from torch_geometric.sampler.base import SubgraphType  # noqa: E402
from torch_geometric.utils import is_undirected, k_hop_subgraph  # noqa: E402

from graphmount.pyg import EdgeFeatures, NeighborLoader, NeighborSampler  # noqa: E402


@pytest.mark.parametrize("kind", [*KINDS])
@pytest.mark.parametrize("subgraph_type", ["directional", "bidirectional", "induced"])
@pytest.mark.parametrize("disjoint", [False, True])
def test_full_neighborhoods_are_those_of_pygs_own_loader(datasets, kind, subgraph_type, disjoint):
    dataset = datasets[kind]
    options = {"subgraph_type": subgraph_type, "disjoint": disjoint}
    train = torch.from_numpy(dataset.splits["train"].copy())
    theirs = NodeLoader(
        dataset.to_pyg(),
        NeighborSampler(dataset, [-1, -1], **options),
        input_nodes=train,
        batch_size=6,
        transform=EdgeFeatures(dataset, weights=True),
    )
    ours = NeighborLoader(dataset, [-1, -1], input_nodes=train, batch_size=6, **options)
    assert len(ours) == len(theirs)
    for found, expected in zip(ours, theirs, strict=True):
        assert_same(found, expected)


@pytest.mark.parametrize("kind", [*KINDS])
def test_batches(datasets, kind):
    dataset = datasets[kind]
    loader = NeighborLoader(
        dataset, num_neighbors=[4, 3], input_nodes="train", batch_size=7, shuffle=True
    )
    assert len(loader) == 3
    assert (len(loader.dataset), loader.batch_size) == (20, 7)
    met = []
    for batch in loader:
        assert type(batch) is Data
        assert batch.validate()
        check_batch(batch, dataset, dataset.splits["train"])
        assert (len(batch.num_sampled_nodes), len(batch.num_sampled_edges)) == (3, 2)
        assert batch.batch is None
        assert "seed_time" not in batch
        # Nobody draws more than was asked for.
        first = batch.edge_index[1, : batch.num_sampled_edges[0]]
        assert first.bincount().max() <= 4
        rows = torch.from_numpy(dataset.edge_features["edge_attr"].numpy().copy())
        assert torch.equal(batch.edge_attr, rows[batch.e_id])
        assert np.array_equal(batch.edge_weight.numpy(), dataset.graph.weights[batch.e_id])
        met += batch.input_id.tolist()
    assert sorted(met) == list(range(20))


def test_neighborhoods_of_hops_are_those_of_pyg(dataset):
    edge_index = edge_index_of(dataset.graph)
    for batch in NeighborLoader(dataset, [-1, -1], batch_size=5):
        seeds = batch.n_id[: batch.batch_size]
        nodes, _, _, between = k_hop_subgraph(seeds, 2, edge_index, num_nodes=NUM_NODES)
        assert sorted(batch.n_id.tolist()) == nodes.tolist()
        # PyG has all edges between these nodes; the loader those that hops follow, each once.
        assert between[batch.e_id].all()
        assert len(batch.e_id.unique()) == len(batch.e_id)
        one_hop = k_hop_subgraph(seeds, 1, edge_index, num_nodes=NUM_NODES)[0]
        targets = torch.isin(edge_index[1], one_hop)
        assert sorted(batch.e_id.tolist()) == torch.nonzero(targets).flatten().tolist()


def test_a_model_sees_the_same_in_batches_as_in_the_whole_graph(dataset):
    from torch_geometric.nn import GraphConv

    torch.manual_seed(0)
    layers = torch.nn.ModuleList([GraphConv(5, 8), GraphConv(8, 3)])
    weights = torch.from_numpy(dataset.graph.weights.copy())
    x = torch.from_numpy(source()["x"])
    edge_index = edge_index_of(dataset.graph)
    for layer in layers:
        x = layer(x, edge_index, weights)
    for batch in NeighborLoader(dataset, [-1, -1], batch_size=7):
        out = batch.x
        for layer in layers:
            out = layer(out, batch.edge_index, batch.edge_weight)
        seeds = slice(batch.batch_size)
        assert torch.allclose(out[seeds], x[batch.n_id[seeds]], atol=1e-5)


def test_weighted_sampling_never_takes_weight_0(dataset):
    for batch in NeighborLoader(dataset, [-1, -1], weight_attr="w", batch_size=10):
        assert (batch.w > 0).all()
        assert np.array_equal(batch.w.numpy(), dataset.graph.weights[batch.e_id])
        assert "edge_weight" not in batch
    arrays = source()
    drawn = torch.zeros(dataset.num_edges)
    node = int(np.bincount(arrays["dst"]).argmax())
    loader = NeighborLoader(
        dataset, [1], weight_attr="w", input_nodes=[node] * 4000, batch_size=4000, seed=1
    )
    (batch,) = loader
    drawn = torch.bincount(batch.e_id, minlength=dataset.num_edges).numpy() / 4000
    begin, end = dataset.graph.indptr[node : node + 2]
    weights = dataset.graph.weights[begin:end]
    assert np.abs(drawn[begin:end] - weights / weights.sum()).max() < 0.04


@pytest.mark.parametrize("strategy", ["uniform", "last"])
def test_temporal_sampling(datasets, strategy):
    graph = datasets["temporal"].graph
    times = torch.arange(NUM_NODES) % 20
    loader = NeighborLoader(
        datasets["temporal"],
        [3, 3],
        input_time=times,
        time_attr="edge_time",
        temporal_strategy=strategy,
        batch_size=16,
        is_sorted=True,
    )
    stamps = graph.neighbor_lists().timestamps
    for batch in loader:
        trees = check_trees(batch, datasets["temporal"], times)
        assert np.array_equal(batch.edge_time.numpy(), stamps[batch.e_id])
        assert (batch.edge_time <= batch.seed_time[trees]).all()
        if strategy == "uniform":
            continue
        for seed in range(batch.batch_size):
            begin, end = graph.indptr[batch.n_id[seed] : batch.n_id[seed] + 2]
            known = np.flatnonzero(stamps[begin:end] <= int(batch.seed_time[seed])) + begin
            taken = batch.e_id[: batch.num_sampled_edges[0]][
                batch.edge_index[1, : batch.num_sampled_edges[0]] == seed
            ]
            assert sorted(taken.tolist()) == known[-3:].tolist()
    with pytest.raises(ValueError, match="needs input_time="):
        NeighborLoader(datasets["temporal"], [3], time_attr="time")
    with pytest.raises(MissingDataError, match="no timestamps"):
        NeighborLoader(datasets["directed"], [3], time_attr="time", input_time=times)


def test_bidirectional_and_induced_subgraphs(dataset):
    arrays = source()
    edges = set(zip(arrays["src"].tolist(), arrays["dst"].tolist(), strict=True))
    for batch in NeighborLoader(
        dataset, [3, 3], subgraph_type=SubgraphType.bidirectional, batch_size=8
    ):
        assert is_undirected(batch.edge_index)
        assert "num_sampled_nodes" not in batch
        assert "num_sampled_edges" not in batch
        for s, d in batch.n_id[batch.edge_index].T.tolist():
            assert (s, d) in edges or (d, s) in edges
        rows = torch.from_numpy(dataset.edge_features["edge_attr"].numpy().copy())
        assert torch.equal(batch.edge_attr, rows[batch.e_id])
    for options in ({"subgraph_type": "induced"}, {"directed": False}):
        for batch in NeighborLoader(dataset, [3], batch_size=8, **options):
            check_edges(batch, dataset.graph)
            known = set(batch.n_id.tolist())
            inside = [list(pair) for pair in zip(arrays["src"], arrays["dst"], strict=True)]
            inside = sorted(pair for pair in inside if known.issuperset(pair))
            assert sorted(batch.n_id[batch.edge_index].T.tolist()) == inside


def test_replacement(dataset):
    for batch in NeighborLoader(dataset, [5], replace=True, batch_size=10):
        degrees = np.diff(dataset.graph.indptr)[batch.n_id[: batch.batch_size]]
        drawn = batch.edge_index[1].bincount(minlength=batch.batch_size)
        assert drawn.tolist() == [5 if degree else 0 for degree in degrees]


def test_trimmed_layers_give_the_same_outputs(dataset):
    from torch_geometric.nn import SAGEConv
    from torch_geometric.utils import trim_to_layer

    torch.manual_seed(0)
    layers = [SAGEConv(5, 8), SAGEConv(8, 3)]
    for batch in NeighborLoader(dataset, [3, 3], batch_size=6):
        whole, x, edge_index = batch.x, batch.x, batch.edge_index
        for number, layer in enumerate(layers):
            whole = layer(whole, batch.edge_index)
            x, edge_index, _ = trim_to_layer(
                number, batch.num_sampled_nodes, batch.num_sampled_edges, x, edge_index
            )
            x = layer(x, edge_index)
        seeds = slice(batch.batch_size)
        assert torch.allclose(x[seeds], whole[seeds], atol=1e-5)


def test_graphs_without_weights_and_with_outgoing_lists_only(tmp_path):
    dataset, _ = make_dataset(tmp_path / "plain", weights=False)
    assert "edge_weight" not in next(iter(NeighborLoader(dataset, [2])))
    with pytest.raises(MissingDataError):
        list(NeighborLoader(dataset, [2], weight_attr="edge_weight"))
    arrays = source()
    gm.compile_graph(
        (arrays["src"], arrays["dst"]),
        tmp_path / "out.gl",
        neighbors="out",
        weights=arrays["weights"],
        num_nodes=NUM_NODES,
    )
    known = {}
    for s, d, w in zip(arrays["src"], arrays["dst"], arrays["weights"], strict=True):
        known.setdefault((int(s), int(d)), set()).add(float(w))
    loader = NeighborLoader(gm.Graph(tmp_path / "out.gl"), [-1], direction="out", batch_size=40)
    (batch,) = loader
    assert batch.num_edges == len(arrays["src"])
    ends = batch.n_id[batch.edge_index].T.tolist()
    for (s, d), weight in zip(ends, batch.edge_weight.tolist(), strict=True):
        assert weight in known[s, d]
