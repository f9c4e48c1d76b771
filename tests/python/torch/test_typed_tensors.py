"""Batches of many types as tensors: the same values as arrays."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from typed_loader_data import make_typed  # noqa: E402

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
