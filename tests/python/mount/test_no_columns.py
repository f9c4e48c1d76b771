"""Tables of no columns: their rows have no bytes, but there are as many as in any other table."""

from __future__ import annotations

import numpy as np
import pytest

import graphmount as gm

NUM_NODES, NUM_EDGES = 40, 200


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    path = tmp_path_factory.mktemp("empty") / "dataset"
    gm.compile_dataset(
        path,
        edges=np.random.default_rng(0).integers(0, NUM_NODES, (2, NUM_EDGES)),
        num_nodes=NUM_NODES,
        features={
            "x": np.zeros((NUM_NODES, 0), np.float32),
            "half": np.zeros((NUM_NODES, 0), np.float16),
            "full": np.ones((NUM_NODES, 2), np.float32),
        },
        edge_features={"w": np.zeros((NUM_EDGES, 0), np.int16)},
        labels=np.zeros((NUM_NODES, 0), np.int64),
    )
    return gm.Dataset(path)


def check(batch, edge_count):
    assert len(batch.nodes) > 0
    assert batch.features["x"].shape == batch.features["half"].shape == (len(batch.nodes), 0)
    assert batch.features["full"].shape == (len(batch.nodes), 2)
    assert batch.edge_features["w"].shape == (edge_count, 0)
    assert batch.labels.shape == (batch.batch_size, 0)


@pytest.mark.parametrize("memory", [0, "1MiB"])
@pytest.mark.parametrize("reader", ["auto", "mapped", "pread"])
@pytest.mark.parametrize("subgraph_type", ["directional", "bidirectional", "induced"])
def test_loaders(dataset, memory, reader, subgraph_type):
    options = {"batch_size": 7, "edge_features": ["w"], "memory": memory, "reader": reader}
    options |= {"subgraph_type": subgraph_type, "dtype": {"half": "float32"}}
    loader = gm.NeighborLoader(dataset, [3, 2], **options)
    for batch in loader:
        check(batch, len(batch.row))
        assert batch.features["half"].dtype == np.float32
        assert batch.edge_features["w"].dtype == np.int16
    assert loader.stats().tables["x"].rows > 0
    for batch in gm.LinkNeighborLoader(dataset, [2], neg_sampling="binary", **options):
        check(batch, len(batch.row))


def test_gathering(dataset, tmp_path):
    store = dataset.features["x"]
    for reader in ("auto", "mapped", "pread"):
        assert store.gather(dataset.to_internal([3, 3, 5]), reader=reader).shape == (3, 0)
    out = np.empty((3, 0), np.float32)
    assert store.gather(dataset.to_internal([0, 1, 2]), out) is out
    with pytest.raises(gm.errors.IdError, match=f"row {NUM_NODES}"):
        gm.FeatureStore(store.path).gather([0, NUM_NODES])
    with pytest.raises(ValueError, match="out has the shape"):
        store.gather(dataset.to_internal([0]), np.empty((2, 0), np.float32))
    assert store.numpy().shape == (NUM_NODES, 0)
    gm.compile_features(store, tmp_path / "again.gd")
    assert gm.FeatureStore(tmp_path / "again.gd").shape == (NUM_NODES, 0)


def test_tensors(dataset, tmp_path):
    pytest.importorskip("torch", reason="torch is not installed")
    from graphmount.torch import LinkNeighborLoader, NeighborLoader

    loaders = [
        NeighborLoader(dataset, [3], batch_size=7, edge_features=["w"]),
        LinkNeighborLoader(dataset, [3], batch_size=7, edge_features=["w"]),
    ]
    for loader in loaders:
        for batch in loader:
            check(batch, batch.edge_index.shape[1])
    assert gm.torch.gather(dataset.features["x"], dataset.to_internal([1, 2])).shape == (2, 0)
    assert dataset.features["x"].tensor().shape == (NUM_NODES, 0)
    for features, columns in [("x", slice(None)), ("full", slice(0, 0))]:
        gm.torch.layerwise_inference(
            dataset,
            [None, None],
            out=tmp_path / "out.gd",
            features=features,
            call=lambda _, block, columns=columns: block.x[:, columns],
        )
        assert gm.FeatureStore(tmp_path / "out.gd").shape == (NUM_NODES, 0)


def test_pyg(dataset):
    pytest.importorskip("torch_geometric", reason="PyG is not installed")
    import torch
    from torch_geometric.loader import NodeLoader

    from graphmount import pyg

    for loader in (
        pyg.NeighborLoader(dataset, [3], batch_size=7),
        pyg.LinkNeighborLoader(dataset, [3], batch_size=7),
        NodeLoader(
            dataset.to_pyg(),
            pyg.NeighborSampler(dataset, [3], ids="external"),
            torch.arange(20),
            batch_size=7,
        ),
    ):
        for batch in loader:
            assert batch.x.shape == batch.half.shape == (len(batch.n_id), 0)
            assert batch.y.shape == (len(batch.n_id), 0)
            if not isinstance(loader, NodeLoader):
                assert batch.w.shape == (batch.edge_index.shape[1], 0)
    store = dataset.to_pyg()[0]
    for index, count in [(None, NUM_NODES), (torch.tensor([1, 2]), 2), (slice(0, 5), 5)]:
        assert store.get_tensor(group_name=None, attr_name="x", index=index).shape == (count, 0)
