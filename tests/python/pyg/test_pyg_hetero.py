"""Loaders for PyG over many types: batches of datasets, and of `HeteroData` objects."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from torch_geometric.data import HeteroData  # noqa: E402
from torch_geometric.nn import SAGEConv, to_hetero  # noqa: E402
from typed_loader_data import AT, CITES, COUNTS, REV_AT, WRITES, make_typed, rows_of  # noqa: E402
from typed_outputs import WholeModel, whole_outputs  # noqa: E402

import graphmount as gm  # noqa: E402
import graphmount.pyg  # noqa: E402
from graphmount import errors  # noqa: E402


@pytest.fixture(scope="module")
def ds(tmp_path_factory):
    return make_typed(tmp_path_factory.mktemp("typed") / "d")


@pytest.fixture(scope="module")
def data():
    """Attributes of all kinds: matrices, vectors, masks, times, weights, strings of the whole."""
    generator = torch.Generator().manual_seed(1)

    def integers(high, *shape):
        return torch.randint(0, high, shape, generator=generator)

    data = HeteroData()
    data["paper"].x = torch.rand(60, 4, generator=generator)
    data["paper"].y = integers(3, 60)
    data["paper"].year = integers(9, 60)  # a vector, which stays one
    data["paper"].train_mask = torch.rand(60, generator=generator) < 0.5
    data["author"].x = torch.rand(20, 3, 2, generator=generator)
    data["author"].half = torch.rand(20, 2, generator=generator).to(torch.bfloat16)
    data["venue"].num_nodes = 5
    data["author", "writes", "paper"].edge_index = torch.stack([integers(20, 99), integers(60, 99)])
    data["author", "writes", "paper"].edge_attr = torch.rand(99, 2, generator=generator)
    data["paper", "cites", "paper"].edge_index = integers(60, 2, 300)
    data["paper", "cites", "paper"].weight = torch.rand(300, generator=generator)
    data["paper", "in", "venue"].edge_index = torch.stack([torch.arange(60), integers(5, 60)])
    data["venue", "rev_in", "paper"].edge_index = data["paper", "in", "venue"].edge_index.flip(0)
    data.name = "mine"
    return data


def loader_of(data, tmp_path, *args, **options):
    options = {"batch_size": 8, "seed": 1, "progress": False, "cache": tmp_path, **options}
    return gm.pyg.NeighborLoader(data, *args, **options)


class TestDatasets:
    def test_batches_have_what_pygs_own_have(self, ds):
        options = {
            "input_nodes": ("paper", "train"),
            "batch_size": 40,
            "memory": "30KiB",
            "seed": 1,
        }
        arrays = gm.NeighborLoader(ds, [3, 2], edge_features=["writes"], **options)
        for wanted, batch in zip(arrays, gm.pyg.NeighborLoader(ds, [3, 2], **options), strict=True):
            assert isinstance(batch, HeteroData)
            assert batch.node_types == list(COUNTS)
            assert batch.edge_types == list(ds.edge_types)
            for name, nodes in wanted.nodes.items():
                store = batch[name]
                np.testing.assert_array_equal(store.n_id.numpy(), np.asarray(nodes))
                assert store.num_nodes == len(nodes)
                assert store.num_sampled_nodes == list(wanted.num_sampled_nodes[name])
                for table, rows in wanted.features[name].items():
                    np.testing.assert_array_equal(store[table].numpy(), rows)
                assert "batch" not in store
            for relation, ends in wanted.edge_index.items():
                store = batch[relation]
                np.testing.assert_array_equal(store.edge_index.numpy(), ends)
                np.testing.assert_array_equal(store.e_id.numpy(), wanted.edge_ids[relation])
                assert store.num_sampled_edges == list(wanted.num_sampled_edges[relation])
                assert len(store.edge_weight) == ends.shape[1]
            np.testing.assert_array_equal(
                batch[WRITES].writes.numpy(), wanted.edge_features[WRITES]["writes"]
            )
            # Labels of all nodes, of each type that has some.
            names = wanted.external_ids
            for name in ("paper", "author"):
                np.testing.assert_array_equal(batch[name].y.numpy(), np.asarray(names[name]) % 5)
            assert "y" not in batch["institution"]
            seeds = batch["paper"]
            np.testing.assert_array_equal(seeds.input_id.numpy(), wanted.input_ids)
            assert seeds.batch_size == wanted.batch_size
            assert "seed_time" not in seeds
            assert "input_id" not in batch["author"]
            assert "batch_size" not in batch["author"]

    def test_types_that_are_not_reached_are_there(self, ds):
        batch = next(iter(gm.pyg.NeighborLoader(ds, [2], input_nodes="institution", batch_size=3)))
        assert batch["topic"].num_nodes == 0
        assert batch["topic"].n_id.shape == (0,)
        assert batch["paper"].x.shape == (0, 16)
        assert batch[CITES].edge_index.shape == (2, 0)
        assert batch[CITES].num_sampled_edges == [0]

    def test_disjoint_and_times(self, ds):
        nodes = ds.nodes["paper"].as_internal(np.arange(50))
        times = torch.arange(50) * 2
        loader = gm.pyg.NeighborLoader(
            ds, [3], input_nodes=("paper", nodes), input_time=times, batch_size=20, seed=1
        )
        for batch in loader:
            assert torch.equal(batch["paper"].seed_time, times[batch["paper"].input_id])
            for name in COUNTS:
                assert len(batch[name].batch) == batch[name].num_nodes

    def test_a_path_is_a_dataset(self, ds):
        loader = gm.pyg.NeighborLoader(ds.path, [2], input_nodes="author", batch_size=400)
        batch = next(iter(loader))
        names = np.asarray(ds.nodes["author"].to_external(batch["author"].n_id))
        np.testing.assert_array_equal(batch["author"].x.numpy(), rows_of("author", "x", names))
        assert loader.data.path == ds.path

    def test_calls_transforms_and_classes(self, ds):
        class Mine(HeteroData):
            pass

        def seen(batch):
            batch.seen = True
            return batch

        options = {"input_nodes": ("paper", "train"), "batch_size": 20, "seed": 1}
        loader = gm.pyg.NeighborLoader(
            ds,
            [2],
            custom_cls=Mine,
            transform=seen,
            **options,
        )
        batch = next(iter(loader))
        assert type(batch) is Mine
        assert batch.seen
        called = loader([3, -1])
        assert called["paper"].input_id.tolist() == [3, 299]
        assert torch.equal(called["paper"].n_id[:2], ds_split(ds)[[3, 299]])
        with pytest.raises(TypeError, match="class of HeteroData"):
            gm.pyg.NeighborLoader(ds, [2], custom_cls=dict, **options)

    def test_matrices_are_there_for_each_relation(self, ds):
        model = WholeModel(ds)
        wanted = whole_outputs(model, ds)["paper"]
        loader = gm.pyg.NeighborLoader(ds, [-1, -1], input_nodes="paper", batch_size=90, seed=1)
        arrays = gm.torch.NeighborLoader(ds, [-1, -1], input_nodes="paper", batch_size=90, seed=1)
        for batch, other in zip(loader, arrays, strict=True):
            for relation, matrices in batch.adjs_dict.items():
                for one, two in zip(matrices, other.adjs[relation], strict=True):
                    assert torch.equal(one.to_dense(), two.to_dense())
            found = model(
                {name: batch[name].x for name in ("paper", "author")},
                batch.edge_index_dict,
                {name: batch[name].num_nodes for name in COUNTS},
            )["paper"][: batch["paper"].batch_size]
            seeds = batch["paper"].n_id[: batch["paper"].batch_size]
            torch.testing.assert_close(found, wanted[seeds], rtol=1e-5, atol=1e-5)

    def test_names_that_batches_use_are_refused(self, tmp_path):
        gm.compile_dataset(
            tmp_path / "d",
            nodes={"a": gm.Nodes(features={"n_id": np.eye(3)}), "b": gm.Nodes(num_nodes=2)},
            edges={("b", "to", "a"): ([0, 1], [1, 2])},
        )
        with pytest.raises(ValueError, match="'a' has a table 'n_id', and batches have something"):
            gm.pyg.NeighborLoader(gm.Dataset(tmp_path / "d"), [1], input_nodes="a")


def ds_split(dataset):
    return torch.from_numpy(np.asarray(dataset.nodes["paper"].splits["train"]).copy())


def check_against(batch, data):
    """Every attribute of a batch is that of the object, by the ids of the object."""
    assert batch.validate()
    assert (batch.node_types, batch.edge_types) == (data.node_types, data.edge_types)
    assert batch.name == "mine"
    for name in data.node_types:
        ids = batch[name].n_id
        for key, value in data[name].items():
            if key == "num_nodes":
                continue
            assert batch[name][key].dtype == value.dtype
            assert torch.equal(batch[name][key], value[ids])
    for relation in data.edge_types:
        store, own = batch[relation], data[relation]
        ends = own.edge_index[:, store.e_id]
        found = [batch[relation[i]].n_id[store.edge_index[j]] for i, j in ((0, 0), (2, 1))]
        assert torch.equal(ends, torch.stack(found))
        for key, value in own.items():
            if key != "edge_index":
                assert torch.equal(store[key], value[store.e_id])


class TestObjects:
    def test_batches_are_parts_of_the_object(self, data, tmp_path):
        mask = data["paper"].train_mask
        loader = loader_of(data, tmp_path, [3, 2], ("paper", mask))
        seen = []
        for batch in loader:
            check_against(batch, data)
            seeds = batch["paper"].n_id[: batch["paper"].batch_size]
            # Of a mask, the ids of inputs are the places in the mask.
            assert torch.equal(seeds, batch["paper"].input_id)
            seen += seeds.tolist()
        assert seen == mask.nonzero().view(-1).tolist()
        assert loader.data is data

    def test_seeds_in_all_forms(self, data, tmp_path):
        ids = torch.tensor([40, 3, 17])
        batch = next(iter(loader_of(data, tmp_path, [2], ("paper", ids))))
        assert torch.equal(batch["paper"].n_id[:3], ids)
        assert batch["paper"].input_id.tolist() == [0, 1, 2]
        for nodes in ("venue", ("venue", None)):
            batch = next(iter(loader_of(data, tmp_path, [2], nodes)))
            assert batch["venue"].n_id[:5].tolist() == [0, 1, 2, 3, 4]
        split = loader_of(data, tmp_path, [2], ("paper", "train"), batch_size=60)
        found = next(iter(split))["paper"]
        assert torch.equal(
            found.n_id[: found.batch_size], data["paper"].train_mask.nonzero().view(-1)
        )

    @pytest.mark.parametrize("memory", [0, "5KiB", "1MiB"])
    def test_weights_are_those_of_each_relation(self, data, tmp_path, memory):
        lone = copy.copy(data)
        weight = torch.zeros(300)
        first = {int(node): edge for edge, node in enumerate(data[CITES].edge_index[1])}
        weight[list(first.values())] = 1  # one edge to each paper can be drawn
        lone[CITES].weight = weight
        loader = loader_of(lone, tmp_path, [3], "paper", weight_attr="weight", memory=memory)
        num_writes = 0
        for batch in loader:
            check_against(batch, lone)
            assert (batch[CITES].weight == 1).all()
            num_writes += batch[WRITES].edge_index.shape[1]
        assert num_writes > 60  # relations without weights draw evenly
        with pytest.raises(ValueError, match="no relation of this HeteroData has it"):
            loader_of(data, tmp_path, [3], "paper", weight_attr="w")

    def test_times_of_nodes_and_of_edges(self, data, tmp_path):
        timed = copy.copy(data)
        timed["paper"].time = torch.arange(60) % 7
        loader = loader_of(timed, tmp_path, [5, 5], "paper", time_attr="time")
        for batch in loader:
            store = batch["paper"]
            assert torch.equal(store.seed_time, timed["paper"].time[store.n_id[: store.batch_size]])
            assert (store.time <= store.seed_time[store.batch]).all()
        given = loader_of(
            timed,
            tmp_path,
            [5, 5],
            ("paper", torch.arange(9)),
            input_time=torch.full((9,), 3),
            time_attr="time",
        )
        for batch in given:
            drawn = batch["paper"].time[batch["paper"].batch_size :]
            assert (drawn <= 3).all()
        with pytest.raises(ValueError, match="is neither a node-level or edge-level attribute"):
            loader_of(timed, tmp_path, [5], "paper", time_attr="when")
        timed[CITES].time = torch.arange(300)
        with pytest.raises(ValueError, match="holds both node-level and edge-level information"):
            loader_of(timed, tmp_path, [5], "paper", time_attr="time")
        del timed["paper"].time
        of_edges = loader_of(
            timed, tmp_path, [-1], "paper", time_attr="time", input_time=torch.full((60,), 100)
        )
        for batch in of_edges:
            assert (batch[CITES].time <= 100).all()

    def test_dicts_of_fanouts_as_in_pyg(self, data, tmp_path):
        fanouts = {relation: [0, 0] for relation in data.edge_types} | {CITES: [-1, 0]}
        batch = next(iter(loader_of(data, tmp_path, fanouts, "paper", batch_size=60)))
        assert batch[WRITES].edge_index.shape == (2, 0)
        assert batch[CITES].edge_index.shape == (2, 300)
        with pytest.raises(ValueError, match="no entry for"):
            loader_of(data, tmp_path, {CITES: [1]}, "paper")
        with pytest.raises(ValueError, match="hops must be the same across all"):
            loader_of(data, tmp_path, fanouts | {CITES: [1]}, "paper")

    def test_the_cache_is_used_again(self, data, tmp_path, capsys):
        first = list(loader_of(data, tmp_path, [2], "paper", progress=None))
        assert "compiled this Data into" in capsys.readouterr().err
        again = list(loader_of(copy.copy(data), tmp_path, [2], "paper", progress=None))
        assert "compiled" not in capsys.readouterr().err
        for one, other in zip(first, again, strict=True):
            assert torch.equal(one["paper"].n_id, other["paper"].n_id)
        changed = copy.copy(data)
        changed["author"].x = data["author"].x + 1
        check_against(next(iter(loader_of(changed, tmp_path, [2], "paper"))), changed)

    def test_a_loader_pickles(self, data, tmp_path):
        loader = loader_of(data, tmp_path, [2], "paper")
        copied = pickle.loads(pickle.dumps(loader))  # noqa: S301
        for one, other in zip(loader, copied, strict=True):
            assert torch.equal(one["author"].n_id, other["author"].n_id)

    def test_attributes_that_no_table_holds_come_from_the_object(self, data, tmp_path):
        odd = copy.copy(data)
        odd["paper"].z = torch.complex(torch.rand(60), torch.rand(60))
        batch = next(iter(loader_of(odd, tmp_path, [2], "paper")))
        assert torch.equal(batch["paper"].z, odd["paper"].z[batch["paper"].n_id])

    def test_models_of_pyg_give_what_they_give_on_the_whole(self, data, tmp_path):
        plain = copy.copy(data)
        plain["author"].x = data["author"].x.flatten(1)
        plain["venue"].x = torch.rand(5, 3, generator=torch.Generator().manual_seed(2))
        plain["paper", "rev_writes", "author"].edge_index = plain[WRITES].edge_index.flip(0)

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.first = SAGEConv((-1, -1), 8)
                self.second = SAGEConv((-1, -1), 3)

            def forward(self, x, edge_index):
                return self.second(self.first(x, edge_index).relu(), edge_index)

        torch.manual_seed(1)
        model = to_hetero(Model(), plain.metadata())
        with torch.no_grad():
            wanted = model(plain.x_dict, plain.edge_index_dict)["paper"]
            for batch in loader_of(plain, tmp_path, [-1, -1], "paper", shuffle=True):
                seeds = batch["paper"]
                found = model(batch.x_dict, batch.edge_index_dict)["paper"][: seeds.batch_size]
                torch.testing.assert_close(
                    found, wanted[seeds.n_id[: seeds.batch_size]], rtol=1e-5, atol=1e-5
                )


class TestLinks:
    def test_binary_links_are_where_pyg_has_them(self, data, tmp_path):
        edges = set(zip(*data[WRITES].edge_index.tolist(), strict=True))
        loader = gm.pyg.LinkNeighborLoader(
            data,
            [2, 2],
            WRITES,
            neg_sampling="binary",
            batch_size=20,
            seed=1,
            cache=tmp_path,
            progress=False,
        )
        seen = []
        for batch in loader:
            check_against(batch, data)
            store = batch[WRITES]
            count = len(store.input_id)
            row, col = store.edge_label_index
            ends = torch.stack([batch["author"].n_id[row], batch["paper"].n_id[col]])
            assert torch.equal(ends[:, :count], data[WRITES].edge_index[:, store.input_id])
            assert store.edge_label.tolist() == [1.0] * count + [0.0] * count
            assert not edges & set(zip(*ends[:, count:].tolist(), strict=True))
            assert "edge_label_index" not in batch[CITES]
            seen += store.input_id.tolist()
        assert seen == list(range(99))

    def test_triplets_are_where_pyg_has_them(self, data, tmp_path):
        links = (WRITES, data[WRITES].edge_index[:, :30])
        loader = gm.pyg.LinkNeighborLoader(
            data, [2], links, neg_sampling="triplet", batch_size=10, cache=tmp_path, progress=False
        )
        for batch in loader:
            places = batch[WRITES].input_id
            wanted = data[WRITES].edge_index[:, places]
            assert torch.equal(batch["author"].n_id[batch["author"].src_index], wanted[0])
            assert torch.equal(batch["paper"].n_id[batch["paper"].dst_pos_index], wanted[1])
            assert batch["paper"].dst_neg_index.shape == (10,)
            assert "edge_label_index" not in batch[WRITES]

    def test_outputs_for_ends_are_those_of_the_whole_graph(self, ds):
        model = WholeModel(ds)
        wanted = whole_outputs(model, ds)
        loader = gm.pyg.LinkNeighborLoader(
            ds, [-1, -1], AT, neg_sampling="binary", batch_size=90, seed=1
        )
        for batch in loader:
            found = model(
                {name: batch[name].x for name in ("paper", "author")},
                batch.edge_index_dict,
                {name: batch[name].num_nodes for name in COUNTS},
            )
            row, col = batch[AT].edge_label_index
            for name, ends in (("author", row), ("institution", col)):
                torch.testing.assert_close(
                    found[name][ends], wanted[name][batch[name].n_id[ends]], rtol=1e-5, atol=1e-5
                )

    def test_wrong_links_are_refused(self, data, ds, tmp_path):
        with pytest.raises(ValueError, match="no relation"):
            gm.pyg.LinkNeighborLoader(data, [2], ("paper", "writes", "author"), cache=tmp_path)
        links = (WRITES, torch.tensor([[0], [60]]))
        with pytest.raises(errors.IdError, match="60"):
            gm.pyg.LinkNeighborLoader(data, [2], links, cache=tmp_path, progress=False)
        with pytest.raises(TypeError, match="a relation and its links"):
            gm.pyg.LinkNeighborLoader(ds, [2], torch.zeros(2, 3, dtype=torch.long))
        assert REV_AT in ds.edge_types


def test_seeds_that_do_not_exist_are_refused(data, tmp_path):
    with pytest.raises(ValueError, match="no node type 'papers'"):
        loader_of(data, tmp_path, [2], ("papers", torch.tensor([0])))
    with pytest.raises(ValueError, match="there are the masks \\['train_mask'\\]"):
        loader_of(data, tmp_path, [2], ("paper", "valid"))
    with pytest.raises(TypeError, match="input_nodes must be a node type"):
        loader_of(data, tmp_path, [2], torch.arange(3))
    with pytest.raises(errors.IdError, match="60"):
        loader_of(data, tmp_path, [2], ("paper", torch.tensor([60])))
    with pytest.raises(
        ValueError, match=r"aggregate_last=.* is for datasets of one type.* batch\.adjs has"
    ):
        loader_of(data, tmp_path, [2], "paper", aggregate_last="mean")
