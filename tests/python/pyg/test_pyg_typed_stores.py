"""PyG's own loaders over a dataset of many node types: our stores and our sampler."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import graphmount as gm

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from torch_geometric.data import HeteroData  # noqa: E402
from torch_geometric.loader import LinkLoader, NodeLoader  # noqa: E402
from torch_geometric.nn import HeteroConv, SAGEConv  # noqa: E402
from torch_geometric.sampler import NegativeSampling, NumNeighbors  # noqa: E402

import graphmount.pyg  # noqa: E402

WRITES, CITES = ("author", "writes", "paper"), ("paper", "cites", "paper")
REV_WRITES = ("paper", "rev_writes", "author")


@pytest.fixture(scope="module")
def data():
    generator = np.random.default_rng(0)

    def tensor(high, shape):
        return torch.from_numpy(generator.integers(0, high, shape))

    data = HeteroData()
    data["paper"].x = torch.from_numpy(generator.random((60, 4), np.float32))
    data["paper"].y = tensor(3, 60)
    data["paper"].train_mask = torch.arange(60) % 3 == 0
    data["paper"].time = tensor(100, 60)
    data["author"].x = torch.from_numpy(generator.random((25, 3), np.float32))
    data["venue"].num_nodes = 5
    data[WRITES].edge_index = torch.stack([tensor(25, 150), tensor(60, 150)])
    data[CITES].edge_index = tensor(60, (2, 200))
    data[REV_WRITES].edge_index = data[WRITES].edge_index.flip(0)
    return data


@pytest.fixture(scope="module")
def dataset(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("typed") / "mag"
    gm.from_pyg(data, path, progress=False)
    return gm.Dataset(path)


class Model(torch.nn.Module):
    """Two layers over all relations, each with weights of its own."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        sizes = {"paper": 4, "author": 3}
        self.first = HeteroConv(
            {
                name: SAGEConv((sizes[name[0]], sizes[name[2]]), 8)
                for name in (WRITES, CITES, REV_WRITES)
            }
        )
        self.second = HeteroConv(
            {name: SAGEConv((8, 8), 5) for name in (WRITES, CITES, REV_WRITES)}
        )

    def forward(self, x, edges):
        x = {name: rows.relu() for name, rows in self.first(x, edges).items()}
        return self.second(x, edges)["paper"]


def features(batch):
    return {name: batch[name].x for name in ("paper", "author")}


@pytest.mark.parametrize("workers", [0, 2])
def test_all_neighbors_give_the_outputs_of_the_whole_graph(data, dataset, workers):
    model = Model()
    whole = model(data.x_dict, data.edge_index_dict)
    sampler = gm.pyg.NeighborSampler(dataset, [-1, -1], ids="external")
    inputs = ("paper", data["paper"].train_mask)
    loader = NodeLoader(dataset.to_pyg(), sampler, inputs, batch_size=7, num_workers=workers)
    seen = []
    for batch in loader:
        paper = batch["paper"]
        own = dataset.nodes["paper"].to_external(paper.n_id.numpy())
        seeds = own[: paper.batch_size]
        out = model(features(batch), batch.edge_index_dict)[: paper.batch_size]
        assert torch.allclose(out, whole[seeds], atol=1e-5)
        assert torch.equal(paper.y, data["paper"].y[own])
        assert torch.equal(paper.time, data["paper"].time[own])
        assert batch["venue"].n_id.shape == (0,)
        assert paper.input_id.tolist() == seeds.tolist()  # of a mask: the node itself
        seen += seeds.tolist()
    assert sorted(seen) == data["paper"].train_mask.nonzero().view(-1).tolist()


def test_edges_are_those_of_the_source(data, tmp_path):
    gm.from_pyg(data, tmp_path / "rows", progress=False)
    dataset = gm.Dataset(tmp_path / "rows")
    sampler = gm.pyg.NeighborSampler(dataset, [4, 4], ids="external", source_rows=True)
    batch = next(iter(NodeLoader(dataset.to_pyg(), sampler, "paper", batch_size=60)))
    for relation in (WRITES, CITES, REV_WRITES):
        source = dataset.nodes[relation[0]].to_external(batch[relation[0]].n_id.numpy())
        target = dataset.nodes[relation[2]].to_external(batch[relation[2]].n_id.numpy())
        row, col = batch[relation].edge_index.numpy()
        given = data[relation].edge_index[:, batch[relation].e_id].numpy()
        assert np.array_equal(np.stack([source[row], target[col]]), given)


def test_fanouts_as_pyg_has_them(dataset):
    only = {WRITES: [2, 0], CITES: [0, 1], REV_WRITES: [0, 0]}
    for given in (only, NumNeighbors(only), NumNeighbors({WRITES: [2, 0], CITES: [0, 1]}, [0, 0])):
        sampler = gm.pyg.NeighborSampler(dataset, given, ids="external")
        assert sampler.num_neighbors == only
    for wrong, message in (
        ({WRITES: [2]}, "Missing number of neighbors"),
        ({**only, ("a", "b", "c"): [1, 1]}, "Not all edge types"),
        ({**only, WRITES: [1]}, "Number of hops"),
    ):
        with pytest.raises(ValueError, match=message):
            gm.pyg.NeighborSampler(dataset, wrong, ids="external")
        with pytest.raises(ValueError, match=message):
            sampler.num_neighbors = wrong
    assert sampler.num_neighbors == only
    with pytest.raises(TypeError, match="a list with one number for each hop"):
        gm.pyg.NeighborSampler(dataset, 5, ids="external")


def test_the_same_seed_has_the_same_batches_for_any_threads(dataset):
    def draw():
        torch.manual_seed(5)
        sampler = gm.pyg.NeighborSampler(dataset, [3, 3], ids="external")
        batch = next(iter(NodeLoader(dataset.to_pyg(), sampler, "paper", batch_size=60)))
        return [batch[name].n_id for name in dataset.node_types]

    threads = gm.num_threads()
    try:
        found = []
        for count in (1, 2, 7):
            gm.set_num_threads(count)
            found.append(draw())
    finally:
        gm.set_num_threads(threads)
    for other in found[1:]:
        assert all(torch.equal(one, two) for one, two in zip(found[0], other, strict=True))


def test_links_between_two_types(data, dataset):
    sampler = gm.pyg.NeighborSampler(dataset, [-1], ids="external")
    for mode in ("binary", "triplet"):
        loader = LinkLoader(
            dataset.to_pyg(),
            sampler,
            edge_label_index=(WRITES, data[WRITES].edge_index),
            neg_sampling=NegativeSampling(mode, 2),
            batch_size=50,
        )
        authors, papers = (dataset.nodes[name].to_external for name in ("author", "paper"))
        found = []
        for batch in loader:
            if mode == "binary":
                ends = batch[WRITES].edge_label_index[:, batch[WRITES].edge_label > 0]
            else:
                ends = torch.stack([batch["author"].src_index, batch["paper"].dst_pos_index])
                assert batch["paper"].dst_neg_index.shape == (50, 2)
            found.append(
                np.stack(
                    [
                        authors(batch["author"].n_id[ends[0]].numpy()),
                        papers(batch["paper"].n_id[ends[1]].numpy()),
                    ]
                )
            )
        assert np.array_equal(np.concatenate(found, axis=1), data[WRITES].edge_index.numpy())


def test_time_is_that_of_nodes(data, dataset):
    sampler = gm.pyg.NeighborSampler(dataset, [5, 5], ids="external", time_of="nodes")
    seeds = torch.arange(60)
    loader = NodeLoader(
        dataset.to_pyg(), sampler, ("paper", seeds), input_time=torch.full((60,), 50), batch_size=20
    )
    num_drawn = 0
    for batch in loader:
        drawn = batch["paper"].time[batch["paper"].batch_size :]
        assert (drawn <= 50).all()
        num_drawn += len(drawn)
        assert batch["paper"].seed_time.tolist() == [50] * 20
        assert batch["paper"].batch is not None
    assert num_drawn > 0
    links = LinkLoader(
        dataset.to_pyg(),
        sampler,
        edge_label_index=(CITES, data[CITES].edge_index),
        edge_label_time=torch.full((200,), 99),
        neg_sampling=NegativeSampling("triplet"),
        batch_size=20,
    )
    assert next(iter(links))["paper"].src_index.shape == (20,)


def test_stores(data, dataset):
    features, graphs = dataset.to_pyg()
    assert {(attr.group_name, attr.attr_name) for attr in features.get_all_tensor_attrs()} == {
        ("paper", "x"),
        ("paper", "y"),
        ("paper", "time"),
        ("author", "x"),
    }
    order = dataset.nodes["paper"].to_external(np.arange(60))
    assert torch.equal(features["paper", "x", None], data["paper"].x[order])
    assert torch.equal(features["paper", "train_mask", None], data["paper"].train_mask[order])
    assert features.get_tensor_size("author", "x") == (25, 3)
    with pytest.raises(KeyError, match=r"there is no group 'topic'"):
        features["topic", "x", None]
    with pytest.raises(KeyError, match=r"no attribute 'z'"):
        dataset.to_pyg(attributes=["z"])
    assert [attr.size for attr in graphs.get_all_edge_attrs()] == [(25, 60), (60, 60), (60, 25)]
    with pytest.warns(ResourceWarning, match="int64"):
        row, colptr, perm = graphs.csc()
    assert row[WRITES].shape == (150,)
    assert colptr[WRITES].shape == (61,)
    assert perm[WRITES] is None
    with pytest.warns(ResourceWarning, match="int64"):
        rowptr, col, ids = graphs.csr()
    assert torch.equal(
        row[WRITES][ids[WRITES]], torch.arange(25).repeat_interleave(rowptr[WRITES].diff())
    )
    assert col[CITES].max() < 60
    with pytest.raises(AttributeError, match="a graph for each relation"):
        graphs.graph  # noqa: B018
    for store in (features, graphs, gm.pyg.NeighborSampler(dataset, [1], ids="external")):
        assert repr(pickle.loads(pickle.dumps(store))) == repr(store)  # noqa: S301


def test_wrong_inputs(data, dataset):
    with pytest.raises(gm.errors.IdError, match=r"external.*internal"):
        gm.pyg.NeighborSampler(dataset, [2])
    sampler = gm.pyg.NeighborSampler(dataset, [2], ids="external")
    with pytest.raises(ValueError, match=r"None; give the loader a node type with them"):
        next(iter(NodeLoader(dataset.to_pyg(), sampler, torch.arange(4))))
    with pytest.raises(ValueError, match=r"'topic'; give the loader a node type with them"):
        next(iter(NodeLoader(dataset.to_pyg(), sampler, ("topic", torch.arange(4)))))
    with pytest.raises(gm.errors.IdError, match="60"):
        next(iter(NodeLoader(dataset.to_pyg(), sampler, ("paper", torch.tensor([60])))))
    wrong = (("author", "reads", "paper"), data[WRITES].edge_index)
    with pytest.raises(ValueError, match=r"give the loader a relation with them"):
        next(iter(LinkLoader(dataset.to_pyg(), sampler, edge_label_index=wrong)))
    with pytest.raises(ValueError, match="time_of"):
        sampler.time_of = "links"
    with pytest.raises(AttributeError, match="a graph for each relation"):
        sampler.graph  # noqa: B018


def test_a_table_with_the_name_of_times(tmp_path):
    gm.compile_dataset(
        tmp_path / "two",
        nodes={"a": gm.Nodes(features={"time": np.ones((3, 1))}, timestamps=[1, 2, 3])},
        edges={("a", "to", "a"): ([0], [1])},
    )
    with pytest.raises(ValueError, match=r"times are called 'time' in PyG"):
        gm.Dataset(tmp_path / "two").to_pyg()


def test_edge_features_go_along(data, tmp_path):
    given = data.clone()
    given[WRITES].edge_attr = torch.arange(150.0)[:, None]
    given[CITES].edge_weight = torch.arange(200.0) + 1
    gm.from_pyg(given, tmp_path / "rows", progress=False)
    dataset = gm.Dataset(tmp_path / "rows")
    sampler = gm.pyg.NeighborSampler(dataset, [3], ids="external", source_rows=False)
    transform = gm.pyg.EdgeFeatures(dataset, weights=True)
    loader = NodeLoader(dataset.to_pyg(), sampler, "paper", batch_size=60, transform=transform)
    batch = next(iter(loader))
    for relation, values in (
        (WRITES, batch[WRITES].edge_attr[:, 0]),
        (CITES, batch[CITES].edge_weight - 1),
    ):
        row, col = given[relation].edge_index[:, values.long()].numpy()
        own = [
            dataset.nodes[name].to_external(batch[name].n_id[ends].numpy())
            for name, ends in zip(
                (relation[0], relation[2]), batch[relation].edge_index, strict=True
            )
        ]
        assert np.array_equal(own[0], row)
        assert np.array_equal(own[1], col)
    assert "edge_attr" not in batch[CITES]
    assert "edge_weight" not in batch[WRITES]
    with pytest.raises(ValueError, match=r"no table of edges 'z'"):
        gm.pyg.EdgeFeatures(dataset, ["z"])
