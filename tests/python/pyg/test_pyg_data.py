"""Loaders that are made of a `Data`: they have its ids and its values everywhere.

The behaviours are those that PyG's own loaders have for one kind of nodes.
"""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import graphmount as gm
from graphmount.errors import IdError, MissingDataError, SourceError

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
from pyg_data import NUM_EDGES, NUM_NODES, check_batch, make_data  # noqa: E402
from torch_geometric.data import Data, HeteroData  # noqa: E402
from torch_geometric.nn import GraphConv  # noqa: E402
from torch_geometric.sampler import EdgeSamplerInput, NodeSamplerInput  # noqa: E402
from torch_geometric.sampler.base import SubgraphType  # noqa: E402
from torch_geometric.utils import to_undirected  # noqa: E402

from graphmount.pyg import LinkNeighborLoader, NeighborLoader  # noqa: E402

SUBGRAPHS = list(SubgraphType)


def rich_data(**more):
    generator = torch.Generator().manual_seed(1)
    return make_data(
        y=torch.rand(NUM_NODES, 1, generator=generator),
        cube=torch.rand(NUM_NODES, 2, 3, generator=generator),
        train_mask=torch.arange(NUM_NODES) % 3 == 0,
        fold_mask=torch.arange(NUM_NODES).view(-1, 1) % 4 == torch.arange(4),
        phase=torch.rand(NUM_NODES, generator=generator) + 1j,
        edge_weight=torch.rand(NUM_EDGES, dtype=torch.float64, generator=generator),
        edge_time=torch.arange(NUM_EDGES),
        edge_phase=torch.rand(NUM_EDGES, generator=generator) - 1j,
        **more,
    )


def test_what_is_too_large_for_the_cache_is_compiled_by_hand(tmp_path, monkeypatch):
    data = make_data()
    monkeypatch.setenv("GRAPHMOUNT_CACHE_LIMIT", "1KiB")
    with pytest.raises(gm.errors.BudgetError, match="from_pyg and pass that folder"):
        NeighborLoader(data, [2])
    gm.from_pyg(data, tmp_path / "ds")
    loader = NeighborLoader(tmp_path / "ds", [2], input_nodes=[7], ids="external")
    assert next(iter(loader)).x[0].tolist() == data.x[7].tolist()


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
@pytest.mark.parametrize("subgraph_type", SUBGRAPHS)
def test_all_nodes_in_their_order(subgraph_type, dtype):
    data = make_data(dtype=dtype)
    is_bidirectional = subgraph_type is SubgraphType.bidirectional
    loader = NeighborLoader(data, [5, 5], batch_size=20, subgraph_type=subgraph_type)
    assert str(loader) == repr(loader)
    assert str(loader).endswith(": 5 batches of 20, num_neighbors=[5, 5]>")
    assert len(loader) == 5
    assert loader.data is data
    for number, batch in enumerate(loader):
        assert type(batch) is Data
        assert batch.input_id.numel() == batch.batch_size == 20
        assert batch.n_id[:20].tolist() == list(range(20 * number, 20 * number + 20))
        check_batch(batch, data, is_bidirectional=is_bidirectional)
    batch = loader([0])
    assert batch.n_id[0] == 0
    check_batch(batch, data, is_bidirectional=is_bidirectional)


def test_every_attribute_of_nodes_and_edges():
    data = rich_data(name="a graph", palette=torch.rand(3))
    for batch in NeighborLoader(data, [4, 3], batch_size=30, shuffle=True):
        check_batch(batch, data)
        assert batch.name == "a graph"
        assert batch.palette is data.palette
        assert batch.y.shape == (batch.num_nodes, 1)


class TestInputs:
    def test_a_mask_has_the_ids_of_its_places(self):
        data = rich_data()
        nodes = data.train_mask.nonzero().view(-1)
        batches = list(NeighborLoader(data, [2], input_nodes=data.train_mask, batch_size=10))
        assert torch.equal(torch.cat([batch.input_id for batch in batches]), nodes)
        for batch in batches:
            assert torch.equal(batch.n_id[: batch.batch_size], batch.input_id)

    def test_masks_of_a_dataset_have_the_same_ids(self, tmp_path):
        data = rich_data()
        gm.from_pyg(data, tmp_path / "ds", exclude=["phase", "edge_phase"])
        ds = gm.Dataset(tmp_path / "ds")
        mask, nodes = data.train_mask, data.train_mask.nonzero().view(-1)
        for inputs in (mask, mask.numpy(), mask.tolist()):
            for ids in ("external", "internal"):
                for batch in NeighborLoader(ds, [2], input_nodes=inputs, ids=ids, batch_size=10):
                    seeds = batch.n_id[: batch.batch_size]
                    known = ds.to_external(seeds) if ids == "external" else seeds.numpy()
                    assert known.tolist() == batch.input_id.tolist()
                    assert set(batch.input_id.tolist()) <= set(nodes.tolist())
        loader = NeighborLoader(ds, [2], input_nodes=nodes, ids="external", batch_size=10)
        places = torch.cat([batch.input_id for batch in loader])
        assert places.tolist() == list(range(len(nodes)))

    def test_names_of_masks(self):
        data = rich_data()
        expected = data.train_mask.nonzero().view(-1)
        for name in ("train", "train_mask"):
            (batch,) = NeighborLoader(data, [2], input_nodes=name, batch_size=NUM_NODES)
            assert torch.equal(batch.n_id[: batch.batch_size], expected)
        with pytest.raises(
            ValueError, match=r"'test': there are the masks \['fold_mask', 'train_mask'\]"
        ):
            NeighborLoader(data, [2], input_nodes="test")

    def test_inputs_may_be_the_third_argument_as_in_pyg(self):
        data = make_data()
        (batch,) = NeighborLoader(data, [2], torch.tensor([7, 3]), batch_size=2)
        assert batch.n_id[:2].tolist() == [7, 3]
        (batch,) = LinkNeighborLoader(data, [2], data.edge_index[:, 4:6], batch_size=2)
        ends = batch.n_id[batch.edge_label_index]
        assert torch.equal(ends, data.edge_index[:, 4:6])

    def test_ids_in_any_order_and_twice(self):
        data = make_data()
        for nodes in ([99, 3, 3, 0], torch.tensor([99, 3, 3, 0]), np.array([99, 3, 3, 0])):
            (batch,) = NeighborLoader(data, [2], input_nodes=nodes, batch_size=4)
            assert batch.n_id[:4].tolist() == [99, 3, 3, 0]
            assert batch.input_id.tolist() == [0, 1, 2, 3]

    def test_ids_that_are_none_of_the_data(self, dataset):
        data = make_data()
        with pytest.raises(IdError, match=r"input_nodes, as ids of the source: .*100"):
            NeighborLoader(data, [2], input_nodes=[3, 100])
        with pytest.raises(ValueError, match=r"a mask of shape \(7,\) for 100 nodes"):
            NeighborLoader(data, [2], input_nodes=torch.ones(7, dtype=torch.bool))
        for name in ("ids", "edge_ids"):
            with pytest.raises(ValueError, match=rf"{name}='internal': a loader of a Data"):
                NeighborLoader(data, [2], **{name: "internal"})
        with pytest.raises(ValueError, match="cache= is for a Data"):
            NeighborLoader(dataset, [2], cache="somewhere")

    def test_links_and_their_negatives(self):
        data = make_data()
        for batch in LinkNeighborLoader(data, [3], batch_size=50, neg_sampling_ratio=1.0):
            check_batch(batch, data)
            ends = batch.n_id[batch.edge_label_index]
            assert torch.equal(ends[:, :50], data.edge_index[:, batch.input_id])
            pairs = set(map(tuple, data.edge_index.t().tolist()))
            assert not pairs & set(map(tuple, ends[:, 50:].t().tolist()))

    def test_weights_of_negatives_are_in_the_order_of_the_data(self):
        data = make_data()
        weight = torch.zeros(NUM_NODES)
        weight[[4, 77]] = 1.0
        sampling = gm.LinkNegatives("triplet", 2, dst_weight=weight, strict=False)
        for batch in LinkNeighborLoader(data, [1], batch_size=50, neg_sampling=sampling):
            assert set(batch.n_id[batch.dst_neg_index].flatten().tolist()) <= {4, 77}


def test_calls_leave_the_loop_alone():
    data = rich_data()
    loader = NeighborLoader(data, [-1], input_nodes=[7, 9, 50], batch_size=1, seed=1)
    batches = iter(loader)
    assert next(batches).n_id[0] == 7
    check_batch(loader([2, 0]), data)
    assert loader([2, 0]).n_id[:2].tolist() == [50, 7]
    assert loader(torch.tensor([1])).input_id.tolist() == [1]
    assert [batch.n_id[0].item() for batch in batches] == [9, 50]
    for index in ([3], [-4], [], torch.zeros(3, dtype=torch.bool)):
        with pytest.raises(IndexError, match="positions of the inputs, from 0 to 2"):
            loader(index)


@pytest.mark.parametrize("kind", ["nodes", "links"])
def test_calls_read_positions_as_pygs_loaders_do(kind):
    """PyG's own calls need no sampler to say which inputs they mean."""
    data = rich_data()
    if kind == "nodes":
        inputs = torch.tensor([7, 9, 50])
        ours = NeighborLoader(data, [1], input_nodes=inputs)
        theirs = NodeSamplerInput(input_id=None, node=inputs)
    else:
        links = data.edge_index[:, :3]
        ours = LinkNeighborLoader(data, [1], edge_label_index=links)
        theirs = EdgeSamplerInput(None, links[0], links[1])
    mask = torch.tensor([True, False, True])
    for index in ([0, 2], [2], [-1, 0], [-3], torch.tensor([1, 1]), mask, np.array([0, 1])):
        meant = theirs[torch.as_tensor(index)]
        batch = ours(index)
        if kind == "nodes":
            found = batch.n_id[: batch.batch_size].unique()
            assert found.tolist() == meant.node.unique().tolist()
        else:
            ends = batch.n_id[batch.edge_label_index]
            assert ends.tolist() == [meant.row.tolist(), meant.col.tolist()]
        assert batch.input_id.tolist() == torch.arange(3)[torch.as_tensor(index)].tolist()
    for index in ([[0, 1], [1, 2]], 1):
        with pytest.raises(ValueError, match="index must be one-dimensional"):
            ours(index)
    with pytest.raises(IndexError, match=r"index is a mask of shape \(2,\) for 3 inputs"):
        ours(mask[:2])
    with pytest.raises(TypeError, match="index must be integers, not bool"):
        ours([True, False, True])


def test_calls_of_links_and_transforms():
    data = rich_data()
    options = {"batch_size": 20, "transform": lambda batch: ("made", batch)}
    loader = LinkNeighborLoader(data, [2], neg_sampling="binary", **options)
    made, batch = loader([0, 10])
    assert made == "made"
    assert torch.equal(batch.n_id[batch.edge_label_index][:, :2], data.edge_index[:, [0, 10]])
    assert batch.edge_label.tolist() == [1, 1, 0, 0]
    check_batch(batch, data)
    _, batch = LinkNeighborLoader(data, [2], neg_sampling=("triplet", 3), **options)([4])
    assert batch.n_id[batch.src_index].tolist() == data.edge_index[0, [4]].tolist()
    assert batch.dst_neg_index.shape == (1, 3)


def test_calls_draw_anew_and_by_the_seed(dataset):
    first, again = (NeighborLoader(dataset, [1], seed=3) for _ in range(2))
    drawn = [tuple(first([0, 1, 2]).n_id.tolist()) for _ in range(8)]
    assert drawn == [tuple(again([0, 1, 2]).n_id.tolist()) for _ in range(8)]
    assert len(set(drawn)) > 1


def test_data_of_other_loaders(dataset):
    assert NeighborLoader(dataset, [1]).data is dataset
    assert NeighborLoader(dataset.graph, [1]).data is dataset.graph
    assert isinstance(LinkNeighborLoader(dataset.path, [1]).data, gm.Dataset)


@pytest.mark.parametrize("subgraph_type", SUBGRAPHS)
def test_a_model_sees_the_same_as_in_the_whole_graph(subgraph_type):
    data = make_data()
    ends = data.edge_index[:, data.edge_index[0] < data.edge_index[1]]
    edge_index, edge_weight = to_undirected(ends, torch.rand(ends.shape[1]), NUM_NODES)
    data = Data(x=torch.rand(NUM_NODES, 5), edge_index=edge_index, edge_weight=edge_weight)
    nodes = torch.tensor([5, 6, 7])
    loader = NeighborLoader(
        data, [-1, -1], input_nodes=nodes, batch_size=3, subgraph_type=subgraph_type
    )
    (batch,) = loader
    torch.manual_seed(0)
    layers = [GraphConv(5, 8), GraphConv(8, 3)]
    whole, part = data.x, batch.x
    for layer in layers:
        whole = layer(whole, data.edge_index, data.edge_weight)
        part = layer(part, batch.edge_index, batch.edge_weight)
    assert torch.allclose(part[:3], whole[nodes], atol=1e-6)


def test_rows_of_a_mapped_file(tmp_path):
    rows = np.lib.format.open_memmap(tmp_path / "x.npy", "w+", np.float32, (NUM_NODES, 32))
    rows[:] = np.random.default_rng(0).random((NUM_NODES, 32))
    data = make_data(x=np.load(tmp_path / "x.npy", mmap_mode="r"))
    batch = next(iter(NeighborLoader(data, [5, 5], batch_size=20)))
    assert torch.equal(batch.x, torch.from_numpy(rows[batch.n_id]))


def test_how_much_was_sampled_in_each_hop():
    sources = [1, 4, 6, 8, 9, 5, 11, 13, 12, 3]
    destinations = [0, 2, 1, 4, 1, 4, 6, 9, 6, 6]
    data = Data(edge_index=torch.tensor([sources, destinations]), num_nodes=14)
    (batch,) = NeighborLoader(data, [3, 2, 3], input_nodes=[0, 2], batch_size=2)
    assert batch.num_sampled_nodes == [2, 2, 4, 4]
    assert batch.num_sampled_edges == [2, 4, 4]


@pytest.mark.parametrize("loader_type", [NeighborLoader, LinkNeighborLoader])
def test_edges_are_those_of_the_data(loader_type):
    data = make_data()
    for batch in loader_type(data, [1], batch_size=2, shuffle=True):
        assert torch.equal(batch.n_id[batch.edge_index], data.edge_index[:, batch.e_id])


def test_weights_of_zero_are_never_drawn():
    data = Data(
        num_nodes=5,
        edge_index=torch.tensor([[0, 4, 3, 1], [2, 2, 4, 3]]),
        strength=torch.tensor([0.0, 1.0, 1.0, 0.0]),
    )
    loader = NeighborLoader(data, [1, 1], input_nodes=[2], weight_attr="strength")
    (batch,) = loader
    assert batch.n_id.tolist() == [2, 4, 3]
    assert batch.n_id[batch.edge_index].tolist() == [[4, 3], [2, 4]]
    assert batch.strength.tolist() == [1.0, 1.0]


def test_no_edge_is_later_than_its_seed():
    data = rich_data()
    for options in ({"time_attr": "edge_time"}, {}):
        times = torch.arange(NUM_NODES) * 4
        loader = NeighborLoader(data, [-1, -1], input_time=times, **options)
        for batch in loader:
            check_batch(batch, data)
            assert batch.seed_time.tolist() == [4 * batch.n_id[0]]
            assert (batch.edge_time <= batch.seed_time).all()
        assert sum(len(batch.e_id) for batch in loader) > 0
    with pytest.raises(ValueError, match=r"time_attr='cube': one integer is needed for each node"):
        NeighborLoader(data, [1], time_attr="cube", input_time=times)
    with pytest.raises(MissingDataError, match=r"weight_attr='strength': this Data has no such"):
        NeighborLoader(data, [1], weight_attr="strength")


class TestLinks:
    @pytest.mark.parametrize("subgraph_type", ["directional", "bidirectional"])
    @pytest.mark.parametrize("ratio", [None, 1.0])
    def test_edges_and_pairs_that_are_none(self, subgraph_type, ratio):
        half = NUM_NODES // 2
        edges, others = torch.randint(0, half, (2, NUM_EDGES)), torch.randint(0, half, (2, 500))
        data = make_data(edge_index=edges)
        links = torch.cat([edges, others + half], dim=1)
        label = torch.cat([torch.ones(NUM_EDGES), torch.zeros(500)])
        loader = LinkNeighborLoader(
            data,
            [-1, -1],
            edge_label_index=links,
            edge_label=label if ratio is None else None,
            neg_sampling_ratio=ratio,
            subgraph_type=subgraph_type,
            batch_size=20,
            shuffle=True,
        )
        assert str(loader).endswith(": 50 batches of 20, num_neighbors=[-1, -1]>")
        assert len(loader) == 50
        for batch in loader:
            check_batch(batch, data, is_bidirectional=subgraph_type == "bidirectional")
            ends = batch.n_id[batch.edge_label_index]
            assert torch.equal(ends[:, :20], links[:, batch.input_id])
            if ratio is not None:
                assert batch.edge_label.tolist() == [1.0] * 20 + [0.0] * 20
                continue
            sampled = set(map(tuple, batch.edge_index.t().tolist()))
            pairs = batch.edge_label_index.t().tolist()
            for pair, is_edge in zip(pairs, batch.edge_label, strict=True):
                assert (tuple(pair) in sampled) == bool(is_edge)

    @pytest.mark.parametrize("dtype", [None, torch.long])
    def test_labels_keep_their_dtype(self, dtype):
        label = None if dtype is None else torch.ones(NUM_EDGES, dtype=dtype)
        loader = LinkNeighborLoader(
            make_data(), [-1], batch_size=10, edge_label=label, neg_sampling_ratio=1.0
        )
        for batch in loader:
            assert batch.edge_label.dtype == (dtype or torch.float)
            assert batch.edge_label.tolist() == [1] * 10 + [0] * 10

    def test_without_edges_and_hops(self):
        links = torch.randint(0, 100, (2, 100))
        data = Data(num_nodes=100)
        for batch in LinkNeighborLoader(data, [], edge_label_index=links, batch_size=20):
            assert torch.equal(batch.n_id[batch.edge_label_index], links[:, batch.input_id])
            assert batch.num_nodes == batch.edge_label_index.unique().numel()
        with pytest.raises(SourceError, match="no edge_index"):
            LinkNeighborLoader(data, [1], edge_label_index=links)
        with pytest.raises(SourceError, match="no edges to be the links; pass edge_label_index="):
            LinkNeighborLoader(data, [])

    @pytest.mark.parametrize("disjoint", [False, True])
    @pytest.mark.parametrize("amount", [1, 2])
    def test_triplets(self, disjoint, amount):
        data = make_data(edge_label_index=torch.randint(0, NUM_NODES, (2, 300)))
        loader = LinkNeighborLoader(
            data,
            [-1, -1],
            edge_label_index=data.edge_label_index,
            disjoint=disjoint,
            neg_sampling={"mode": "triplet", "amount": amount},
            batch_size=20,
            shuffle=True,
        )
        for batch in loader:
            links = data.edge_label_index[:, batch.input_id]
            assert torch.equal(batch.x[batch.src_index], links[0])
            assert torch.equal(batch.x[batch.dst_pos_index], links[1])
            assert batch.dst_neg_index.shape == ((20,) if amount == 1 else (20, amount))
            assert "edge_label_index" not in batch
            if disjoint:
                places = torch.cat([batch.src_index, batch.dst_pos_index])
                assert torch.equal(places, torch.arange(40))
                assert sorted(batch.dst_neg_index.flatten().tolist()) == list(
                    range(40, 40 + 20 * amount)
                )
                assert torch.equal(
                    batch.batch[: 40 + 20 * amount], torch.arange(20).repeat(2 + amount)
                )


def test_chosen_attributes():
    data = rich_data()
    loader = NeighborLoader(data, [2], features=["phase", "cube"], edge_features=[], batch_size=9)
    batch = next(iter(loader))
    assert set(batch.keys()) & set(data.keys()) == {"edge_index", "y", "phase", "cube"}
    with pytest.raises(ValueError, match="there is no table 'z'"):
        NeighborLoader(data, [2], features=["z"])


def test_what_scripts_do_to_the_data_of_a_loader():
    """They delete what evaluation does not need, and number the nodes themselves."""
    data = rich_data()
    loader = NeighborLoader(copy.copy(data), [-1], batch_size=30)
    del loader.data.x, loader.data.y
    loader.data.num_nodes = data.num_nodes
    loader.data.n_id = 1000 + torch.arange(NUM_NODES)
    for batch in loader:
        assert "x" not in batch
        assert "y" not in batch
        ends = data.edge_index[:, batch.e_id]
        assert torch.equal(batch.n_id[batch.edge_index], ends + 1000)
    tables = {"cube", "edge_attr", "edge_weight", "edge_time"}
    assert set(loader.stats().tables) == tables
    assert "x" in next(iter(NeighborLoader(data, [1])))


def test_a_class_of_its_own():
    class Mine(Data):
        pass

    data = make_data()
    mine = Mine(**data.to_dict())
    assert type(next(iter(NeighborLoader(mine, [1])))) is Mine
    assert type(next(iter(NeighborLoader(data, [1], custom_cls=Mine)))) is Mine


def test_a_copy_in_another_process():
    data = rich_data()
    sent = pickle.dumps(NeighborLoader(data, [3], batch_size=10, seed=1))
    loader = pickle.loads(sent)  # noqa: S301
    for batch in loader:
        check_batch(batch, loader.data)


def test_no_kinds_of_nodes_are_refused():
    with pytest.raises(SourceError, match="this HeteroData has no nodes"):
        NeighborLoader(HeteroData(), [1])


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"edge_index": None}, SourceError, "no edge_index"),
        ({"edge_index": torch.tensor([[0], [100]])}, SourceError, "node id 100 is not below"),
        ({"x": torch.zeros(NUM_NODES, device="meta")}, TypeError, "data.x is on the device 'meta'"),
        ({"names": ["n"] * NUM_NODES}, TypeError, "data.names has an item for each .* a list"),
    ],
)
def test_bad_data(cache, change, error, message):
    with pytest.raises(error, match=message):
        NeighborLoader(make_data(edge_attr=None, **change), [1])
    assert not [path for path in cache.rglob("*") if path.suffix not in (".lock", ".used")]


def test_edges_of_a_data_are_not_all_of_it(tmp_path):
    data = make_data()
    with pytest.warns(UserWarning, match=r"gm\.from_pyg\(data, out\) compiles"):
        gm.compile_dataset(tmp_path / "ds", edges=data)
    gm.compile_dataset(tmp_path / "ds2", edges=data, features={"x": data.x})


class TestRowsOfTheSource:
    """`edge_ids="source"` for datasets."""

    @pytest.fixture
    def compiled(self, tmp_path):
        data = rich_data()
        gm.from_pyg(data, tmp_path / "ds", exclude=["phase", "edge_phase"])
        return data, gm.Dataset(tmp_path / "ds")

    @pytest.mark.parametrize("subgraph_type", ["directional", "bidirectional", "induced"])
    def test_in_batches_of_pyg(self, compiled, subgraph_type):
        data, dataset = compiled
        loader = NeighborLoader(
            dataset, [3, 2], batch_size=20, edge_ids="source", subgraph_type=subgraph_type
        )
        for batch in loader:
            assert torch.equal(batch.edge_attr, batch.e_id)
            # What the graph has for edges goes by its own ids.
            assert torch.equal(batch.edge_weight, data.edge_weight[batch.e_id].float())
            assert torch.equal(batch.x, torch.from_numpy(dataset.to_external(batch.n_id)))
        batch = loader([1, 2])
        assert torch.equal(batch.edge_attr, batch.e_id)
        assert torch.equal(batch.edge_weight, data.edge_weight[batch.e_id].float())

    def test_in_other_batches(self, compiled):
        _, dataset = compiled
        options = {"edge_features": ["edge_attr"], "batch_size": 50, "edge_ids": "source"}
        for batch in gm.NeighborLoader(dataset, [3], **options):
            assert np.array_equal(batch.edge_features["edge_attr"], batch.edge_ids)
        for batch in gm.LinkNeighborLoader(dataset, [3], **options):
            assert np.array_equal(batch.edge_features["edge_attr"], batch.edge_ids)

    @pytest.mark.parametrize("direction", ["in", "out"])
    def test_without_tables_of_edges(self, compiled, direction):
        """The sampler writes them by itself, where no table is read by ids of edges."""
        data, dataset = compiled
        loader = gm.NeighborLoader(
            dataset, [3, 2], batch_size=20, edge_ids="source", edge_features=[], direction=direction
        )
        for batch in loader:
            ends = data.edge_index[:, torch.from_numpy(batch.edge_ids)].numpy()
            named = np.asarray(dataset.to_external(batch.nodes))
            assert np.array_equal(ends, [named[batch.row], named[batch.col]])
            assert len(batch.edge_ids) > 0

    def test_a_graph_that_does_not_know_them(self, tmp_path):
        gm.compile_dataset(tmp_path / "ds", edges=([0, 1], [1, 2]))
        with pytest.raises(MissingDataError, match="compile it with source_rows=True"):
            gm.NeighborLoader(gm.Dataset(tmp_path / "ds"), [1], edge_ids="source")
        with pytest.raises(ValueError, match="edge_ids"):
            gm.NeighborLoader(gm.Dataset(tmp_path / "ds"), [1], edge_ids="external")
        gm.compile_dataset(
            tmp_path / "ds", edges=([0, 1], [1, 2]), source_rows=True, overwrite=True
        )
        loader = gm.NeighborLoader(gm.Dataset(tmp_path / "ds"), [1], edge_ids="source")
        assert sorted(edge for batch in loader for edge in batch.edge_ids.tolist()) == [0, 1]
