"""`graphmount.pyg.NeighborLoader`: what PyG's loader promises, and what its own pieces give."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from pyg_datasets import (
    KINDS,
    NUM_NODES,
    check_edges,
    check_rows,
    make_dataset,
    make_kinds,
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


@pytest.fixture(scope="module")
def datasets(tmp_path_factory):
    return make_kinds(tmp_path_factory.mktemp("pyg"))


@pytest.fixture
def dataset(datasets):
    return datasets["directed"]


def edge_index_of(graph):
    """All edges in the order of their ids, as PyG has them."""
    col = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    return torch.from_numpy(np.stack([graph.indices.astype(np.int64), col]))


def assert_same(found, expected):
    """Whether two batches have the same attributes, with the same values."""
    assert set(found.keys()) == set(expected.keys())
    for name in expected.keys():  # noqa: SIM118  (a Data object iterates over something else)
        one, other = found[name], expected[name]
        if isinstance(other, torch.Tensor):
            assert one.dtype == other.dtype, name
            assert torch.equal(one, other), name
        else:
            assert one == other, name


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
        check_rows(batch)
        check_edges(batch, dataset.graph)
        assert batch.batch_size == len(batch.input_id)
        seeds = dataset.splits["train"][batch.input_id]
        assert batch.n_id[: batch.batch_size].tolist() == seeds.tolist()
        assert batch.num_nodes == len(batch.n_id) == sum(batch.num_sampled_nodes)
        assert batch.num_edges == len(batch.e_id) == sum(batch.num_sampled_edges)
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


def test_seeds_as_masks_tensors_and_names(dataset):
    nodes = torch.from_numpy(dataset.splits["train"].copy())
    mask = torch.zeros(NUM_NODES, dtype=torch.bool)
    mask[nodes] = True
    expected = list(NeighborLoader(dataset, [-1], input_nodes="train", batch_size=8))
    for inputs in (mask, nodes, nodes.tolist()):
        loader = NeighborLoader(dataset, [-1], input_nodes=inputs, batch_size=8)
        for found, other in zip(loader, expected, strict=True):
            assert_same(found, other)
    loader = NeighborLoader(
        dataset, [1], input_nodes=nodes, input_id=nodes * 10, batch_size=8, drop_last=True
    )
    assert len(loader) == 2
    for batch in loader:
        assert torch.equal(batch.input_id, 10 * batch.n_id[: batch.batch_size])
    with pytest.raises(ValueError, match="3 ids for 20 inputs"):
        NeighborLoader(dataset, [1], input_nodes=nodes, input_id=torch.arange(3))


def test_data_as_path_graph_and_tables(dataset):
    expected = list(NeighborLoader(dataset, [-1], batch_size=16))
    for found, other in zip(
        NeighborLoader(dataset.path, [-1], batch_size=16), expected, strict=True
    ):
        assert_same(found, other)
    pair = (dataset.graph, dataset.features["x"])
    for found, other in zip(NeighborLoader(pair, [-1], batch_size=16), expected, strict=True):
        assert torch.equal(found.x, other.x)
        assert torch.equal(found.edge_index, other.edge_index)
        assert "y" not in found
        assert "edge_attr" not in found
    (batch,) = NeighborLoader(dataset.graph, [-1], batch_size=100, weight_attr="w")
    assert batch.num_nodes == NUM_NODES
    assert "x" not in batch
    with pytest.raises(TypeError, match="data must be"):
        NeighborLoader(Data(), [1])


def test_chosen_tables_and_dtypes(dataset):
    loader = NeighborLoader(
        dataset, [2], features=[], edge_features=[], dtype=torch.float64, batch_size=40
    )
    (batch,) = loader
    assert "x" not in batch
    assert "edge_attr" not in batch
    assert batch.y.dtype == torch.int64
    (batch,) = NeighborLoader(dataset, [2], dtype=torch.float64, batch_size=40)
    assert batch.x.dtype == torch.float64
    assert batch.y.dtype == torch.int64


def test_labels_of_several_columns_and_in_one(tmp_path):
    edges = ([1, 2], [0, 0])
    for labels, shape in ((np.eye(3), (3, 3)), (np.arange(3)[:, None], (3,))):
        folder = tmp_path / str(shape)
        gm.compile_dataset(folder, edges=edges, labels=labels, order="given")
        (batch,) = NeighborLoader(folder, [-1], input_nodes=[0])
        assert batch.y.shape == shape
        assert batch.y.tolist() == labels.reshape(shape)[batch.n_id].tolist()
    gm.compile_dataset(tmp_path / "y", edges=edges, features={"y": np.eye(3)}, labels=[0, 1, 2])
    with pytest.raises(ValueError, match="labels are called 'y'"):
        NeighborLoader(tmp_path / "y", [1])
    (batch,) = NeighborLoader(tmp_path / "y", [-1], features=[], batch_size=3)
    assert batch.y.shape == (3,)


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
        check_rows(batch)
        check_edges(batch, graph)
        assert torch.equal(batch.seed_time, times[batch.input_id])
        assert batch.batch[: batch.batch_size].tolist() == list(range(batch.batch_size))
        trees = batch.batch[batch.edge_index]
        assert torch.equal(trees[0], trees[1])
        assert np.array_equal(batch.edge_time.numpy(), stamps[batch.e_id])
        assert (batch.edge_time <= batch.seed_time[trees[0]]).all()
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


def test_transform_and_class(dataset):
    class Mine(Data):
        pass

    def transform(batch):
        batch.doubled = 2 * batch.x
        return batch

    for batch in NeighborLoader(dataset, [2], batch_size=20, transform=transform, custom_cls=Mine):
        assert isinstance(batch, Mine)
        assert torch.equal(batch.doubled, 2 * batch.x)
    loader = NeighborLoader(dataset, [2], batch_size=20, transform=lambda batch: batch.num_nodes)
    assert all(isinstance(count, int) for count in loader)


def test_options_of_workers_have_one_warning(dataset):
    options = {
        "num_workers": 4,
        "persistent_workers": True,
        "filter_per_worker": False,
        "prefetch_factor": 2,
        "pin_memory": True,
    }
    with pytest.warns(UserWarning, match="without effect") as caught:
        loader = NeighborLoader(dataset, [2], batch_size=20, **options)
    (warning,) = caught
    assert warning.filename == __file__
    message = str(warning.message)
    ignored = [name for name in options if name != "pin_memory" or not torch.cuda.is_available()]
    assert all(name in message for name in ignored)
    for batch in loader:
        check_rows(batch)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        NeighborLoader(dataset, [2], num_workers=0, pin_memory=False, filter_per_worker=None)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"sampler": [1]}, ValueError, "sampler: orders of its own"),
        ({"batch_sampler": [[1]]}, ValueError, "batch_sampler: orders of its own"),
        ({"neighbor_sampler": 1}, ValueError, "neighbor_sampler: the loader samples by itself"),
        ({"transform_sampler_output": len}, ValueError, r"transform= gets the batch"),
        ({"generator": torch.Generator(), "seed": 1}, ValueError, "give one"),
        ({"subgraph_type": "other"}, ValueError, "subgraph_type='other'"),
        ({"colour": "red"}, TypeError, "colour"),
        ({"weight_attr": "edge_attr"}, ValueError, "'edge_attr' is the name of a table"),
        ({"input_nodes": "test"}, ValueError, "there are the splits"),
    ],
    ids=str,
)
def test_refusals(dataset, options, error, message):
    with pytest.raises(error, match=message):
        NeighborLoader(dataset, [2], **options)


def test_randomness_follows_seed_generator_and_torch(dataset):
    def drawn(**options):
        loader = NeighborLoader(dataset, [2, 2], batch_size=10, shuffle=True, **options)
        return [batch.e_id.tolist() for batch in loader]

    assert drawn(seed=1) == drawn(seed=1) != drawn(seed=2)
    one = drawn(generator=torch.Generator().manual_seed(1))
    assert one == drawn(generator=torch.Generator().manual_seed(1))
    assert one != drawn(generator=torch.Generator().manual_seed(2))
    torch.manual_seed(3)
    first = drawn()
    torch.manual_seed(3)
    assert drawn() == first


def test_methods_of_our_loaders(dataset):
    loader = NeighborLoader(dataset, [2], batch_size=5, seed=1, memory="1MiB", window=3)
    expected = [batch.n_id.tolist() for batch in loader]
    for number, _ in enumerate(loader):
        if number == 2:
            break
    state = loader.state_dict()
    assert (state["epoch"], state["batch"]) == (1, 3)
    loader.load_state_dict({**state, "epoch": 0})
    assert [batch.n_id.tolist() for batch in loader] == expected[3:]
    assert set(loader.stats().tables) == {"x", "y", "edge_attr"}
    assert "NeighborLoader of" in repr(loader)
    loader.close()


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


def test_prefetch_loader_takes_it(dataset):
    from torch_geometric.loader import PrefetchLoader

    loader = NeighborLoader(dataset, [3], batch_size=6)
    batches = list(PrefetchLoader(loader, device=torch.device("cpu")))
    assert len(batches) == len(loader)
    for batch in batches:
        check_rows(batch)


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
