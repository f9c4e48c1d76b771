"""PyG's `PrefetchLoader` over our loaders: the same batches, on a device."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
from torch_geometric.loader import PrefetchLoader  # noqa: E402

import graphmount.pyg  # noqa: E402
import graphmount.torch  # noqa: E402


def make(package, dataset):
    return package.NeighborLoader(dataset, [3], batch_size=8, shuffle=True, seed=1)


def facts(batch):
    ids = batch.n_id if hasattr(batch, "n_id") else batch.nodes
    return ids.tolist(), batch.x.tolist(), batch.edge_index.tolist()


@pytest.mark.parametrize("package", [graphmount.pyg, graphmount.torch])
def test_the_same_batches(dataset, package):
    loader = PrefetchLoader(make(package, dataset), device="cpu")
    other = make(package, dataset)
    assert len(loader) == len(other)
    for _ in range(2):
        assert [facts(batch) for batch in loader] == [facts(batch) for batch in other]


@pytest.mark.parametrize("package", [graphmount.pyg, graphmount.torch])
def test_batches_can_be_moved(dataset, package, monkeypatch):
    """As with a GPU, of which there may be none here: pinned, then moved without waiting."""
    pinned = []
    monkeypatch.setattr(
        torch.Tensor, "pin_memory", lambda self, *_args: pinned.append(self) or self
    )
    loader = PrefetchLoader(make(package, dataset), device="cpu")
    monkeypatch.setattr(loader.device_helper, "device", torch.device("meta"))
    monkeypatch.setattr(loader.device_helper, "is_gpu", True)
    monkeypatch.setattr(loader.device_helper, "maybe_init_stream", lambda: None)
    count = 0
    for batch in loader:
        count += 1
        assert batch.x.device.type == batch.edge_index.device.type == "meta"
    assert count == len(loader)
    assert pinned
