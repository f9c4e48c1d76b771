"""`graphmount.pyg.NeighborLoader`: the options of PyG's loader and ours, taken or refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from pyg_datasets import NUM_NODES, assert_same, check_rows

import graphmount as gm

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
from torch_geometric.data import Data  # noqa: E402

from graphmount.pyg import NeighborLoader  # noqa: E402


def test_seeds_as_masks_tensors_and_names(dataset):
    nodes = torch.from_numpy(dataset.splits["train"].copy())
    mask = torch.zeros(NUM_NODES, dtype=torch.bool)
    mask[nodes] = True
    expected = list(NeighborLoader(dataset, [-1], input_nodes="train", batch_size=8))
    for inputs in (mask, nodes, nodes.tolist()):
        loader = NeighborLoader(dataset, [-1], input_nodes=inputs, batch_size=8)
        for found, other in zip(loader, expected, strict=True):
            if inputs is mask:  # whose places are the ids of its inputs, as in PyG
                assert torch.equal(found.input_id, found.n_id[: found.batch_size])
                found.input_id = other.input_id
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
        NeighborLoader(5, [1])


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
        # Its own id: that of a generator would be its address, different in each process.
        pytest.param({"generator": torch.Generator(), "seed": 1}, ValueError, "give one", id="two"),
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


def test_prefetch_loader_takes_it(dataset):
    from torch_geometric.loader import PrefetchLoader

    loader = NeighborLoader(dataset, [3], batch_size=6)
    batches = list(PrefetchLoader(loader, device=torch.device("cpu")))
    assert len(batches) == len(loader)
    for batch in batches:
        check_rows(batch)
