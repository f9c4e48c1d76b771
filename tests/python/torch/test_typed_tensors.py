"""Batches of many types as tensors: the same values, and the same outputs of a model."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from typed_loader_data import AT, CITES, COUNTS, WRITES, make_typed  # noqa: E402
from typed_outputs import WholeModel, whole_outputs  # noqa: E402

import graphmount as gm  # noqa: E402
import graphmount.torch  # noqa: E402


@pytest.fixture(scope="module")
def ds(tmp_path_factory):
    return make_typed(tmp_path_factory.mktemp("typed") / "d")


def pairs(dataset, fanouts=(3, 2), **options):
    options = {"input_nodes": ("paper", "train"), "batch_size": 50, "seed": 1, **options}
    arrays = gm.NeighborLoader(dataset, list(fanouts), **options)
    tensors = gm.torch.NeighborLoader(dataset, list(fanouts), **options)
    return zip(arrays, tensors, strict=True)


@pytest.mark.parametrize("options", [{}, {"disjoint": True}, {"edge_features": ["writes"]}])
def test_tensors_are_the_arrays(ds, options):
    for arrays, tensors in pairs(ds, **options):
        assert type(tensors) is gm.torch.TypedTensorBatch
        for field in ("nodes", "edge_index", "edge_ids", "labels", "batch"):
            wanted, found = getattr(arrays, field), getattr(tensors, field)
            if wanted is None:
                assert found is None
                continue
            assert list(found) == list(wanted)
            for name, array in wanted.items():
                np.testing.assert_array_equal(found[name].numpy(), np.asarray(array))
        for field in ("features", "edge_features"):
            for name, tables in getattr(arrays, field).items():
                found = getattr(tensors, field)[name]
                assert list(found) == list(tables)
                for table, rows in tables.items():
                    np.testing.assert_array_equal(found[table].numpy(), rows)
        assert tensors.num_sampled_nodes == arrays.num_sampled_nodes
        assert (tensors.number, tensors.epoch) == (arrays.number, arrays.epoch)
        assert tensors.seed_type == "paper"
        for name, ids in arrays.external_ids.items():
            np.testing.assert_array_equal(tensors.external_ids[name], ids)


def test_ids_of_tensors_know_their_type(ds):
    batch = next(iter(gm.torch.NeighborLoader(ds, [2], input_nodes="author", batch_size=4)))
    with pytest.raises(gm.errors.IdError, match="nodes of another dataset"):
        ds.nodes["paper"].to_external(batch.nodes["author"])
    assert len(ds.nodes["author"].to_external(batch.nodes["author"])) >= 4


def test_batches_move_to_a_device(ds):
    batch = next(iter(gm.torch.NeighborLoader(ds, [2], input_nodes="author", batch_size=4)))
    moved = batch.to("meta")
    assert moved.nodes["paper"].device.type == "meta"
    assert moved.features["author"]["x"].device.type == "meta"
    assert moved.num_sampled_nodes == batch.num_sampled_nodes


def test_matrices_of_relations_are_their_edges(ds):
    loader = gm.torch.NeighborLoader(ds, [3, 2, 2], input_nodes="paper", batch_size=100, seed=1)
    for batch in loader:
        for relation, matrices in batch.adjs.items():
            assert len(matrices) == 3
            row, col = batch.edge_index[relation]
            for layer, adj in enumerate(matrices):
                hops = 3 - layer
                targets = sum(batch.num_sampled_nodes[relation[2]][:hops])
                sources = sum(batch.num_sampled_nodes[relation[0]][: hops + 1])
                assert tuple(adj.shape) == (targets, sources)
                dense = torch.zeros(targets, sources)
                count = sum(batch.num_sampled_edges[relation][:hops])
                dense.index_put_((col[:count], row[:count]), torch.ones(count), accumulate=True)
                assert torch.equal(adj.to_dense(), dense)
    induced = gm.torch.NeighborLoader(ds, [2], input_nodes="paper", subgraph_type="induced")
    with pytest.raises(ValueError, match="do not lie by hop"):
        _ = next(iter(induced)).adjs


def outputs_of(model, batch, edge_index):
    return model(batch.x_dict, edge_index, {name: len(ids) for name, ids in batch.nodes.items()})


@pytest.mark.parametrize("seed_type", ["paper", "author"])
def test_outputs_are_those_of_the_whole_graph(ds, seed_type):
    """All neighbors drawn: a model must give the seeds what it gives them on the whole graph."""
    model = WholeModel(ds)
    wanted = whole_outputs(model, ds)[seed_type]
    loader = gm.torch.NeighborLoader(
        ds, [-1, -1], input_nodes=seed_type, batch_size=64, memory="30KiB", shuffle=True, seed=1
    )
    for batch in loader:
        found = outputs_of(model, batch, batch.edge_index)[seed_type][: batch.num_seeds]
        torch.testing.assert_close(found, wanted[batch.nodes[seed_type][: batch.num_seeds]])


def test_outputs_by_matrices_are_those_of_the_whole_graph(ds):
    model = WholeModel(ds)
    wanted = whole_outputs(model, ds)["paper"]
    loader = gm.torch.NeighborLoader(ds, [-1, -1], input_nodes="paper", batch_size=64, seed=1)
    for batch in loader:
        found = model.by_matrices(batch)["paper"][: batch.num_seeds]
        torch.testing.assert_close(found, wanted[batch.nodes["paper"][: batch.num_seeds]])


def swapped_relations(batch):
    """Edges of one relation in the place of those of another with the same types."""
    edges = dict(batch.edge_index)
    edges[CITES] = edges[CITES].flip(0)
    return batch.x_dict, edges


def swapped_ids(batch):
    """Rows of a type in the order of its ids, and not in that of the batch."""
    x = dict(batch.x_dict)
    x["author"] = x["author"][batch.nodes["author"].argsort()]
    return x, batch.edge_index


@pytest.mark.parametrize("plant", [swapped_relations, swapped_ids])
def test_the_check_of_outputs_notices_what_is_planted(ds, plant):
    """A swapped relation, and ids in a wrong order: the check above must fail for both."""
    model = WholeModel(ds)
    wanted = whole_outputs(model, ds)["paper"]
    loader = gm.torch.NeighborLoader(ds, [-1, -1], input_nodes="paper", batch_size=64, seed=1)
    num_noticed = 0
    for batch in loader:
        x, edges = plant(batch)
        counts = {name: len(ids) for name, ids in batch.nodes.items()}
        found = model(x, edges, counts)["paper"][: batch.num_seeds]
        close = torch.allclose(
            found, wanted[batch.nodes["paper"][: batch.num_seeds]], rtol=1e-5, atol=1e-5
        )
        num_noticed += not close
    assert num_noticed == len(loader)


@pytest.mark.parametrize("relation", [WRITES, AT, CITES])
def test_outputs_for_ends_of_links_are_those_of_the_whole_graph(ds, relation):
    model = WholeModel(ds)
    wanted = whole_outputs(model, ds)
    loader = gm.torch.LinkNeighborLoader(
        ds, [-1, -1], edge_label_index=relation, neg_sampling="binary", batch_size=100, seed=1
    )
    for batch in loader:
        assert type(batch) is gm.torch.TypedLinkTensorBatch
        found = outputs_of(model, batch, batch.edge_index)
        row, col = batch.edge_label_index
        for name, ends in ((relation[0], row), (relation[2], col)):
            torch.testing.assert_close(found[name][ends], wanted[name][batch.nodes[name][ends]])
        assert batch.edge_label.sum() == batch.num_links
    assert set(COUNTS) == set(wanted)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_workers_of_torch_make_the_same_batches(ds):
    def make():
        return gm.torch.NeighborLoader(
            ds, [3, 2], input_nodes=("paper", "train"), batch_size=40, memory="30KiB", seed=1
        )

    wanted = {batch.number: batch for batch in make()}
    dataset = gm.torch.BatchDataset(make())
    found = torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=2)
    numbers = []
    for batch in found:
        numbers.append(batch.number)
        for name, nodes in wanted[batch.number].nodes.items():
            assert torch.equal(batch.nodes[name], nodes)
    assert sorted(numbers) == sorted(wanted)
