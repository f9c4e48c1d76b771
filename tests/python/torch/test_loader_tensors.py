"""The loader for PyTorch: the same batches as tensors, pinned memory, profiles."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import graphmount as gm


def test_tensors(loader_folder):
    torch = pytest.importorskip("torch")
    import graphmount.torch

    dataset = gm.Dataset(loader_folder / "hot")
    options = {"input_nodes": "train", "batch_size": 100, "seed": 3, "edge_features": ["w"]}
    loader = graphmount.torch.NeighborLoader(dataset, [3, 2], **options)
    arrays_loader = gm.NeighborLoader(dataset, [3, 2], **options)
    assert len(loader) == len(arrays_loader)
    for tensors, batch in zip(loader, arrays_loader, strict=True):
        assert torch.equal(tensors.nodes, torch.from_numpy(batch.nodes))
        assert tensors.edge_index.tolist() == [batch.row.tolist(), batch.col.tolist()]
        assert np.array_equal(tensors.features["x"].numpy(), batch.features["x"])
        assert np.array_equal(tensors.edge_features["w"].numpy(), batch.edge_features["w"])
        assert tensors.labels.tolist() == batch.labels.tolist()
        assert tensors.batch_size == batch.batch_size


def test_a_path_stands_for_its_dataset(loader_folder):
    torch = pytest.importorskip("torch")
    import graphmount.torch

    tensors = graphmount.torch
    for loader_of in (tensors.NeighborLoader, tensors.LinkNeighborLoader):
        (batch, *_), (wanted, *_) = (
            loader_of(data, [2], batch_size=5000, seed=1)
            for data in (str(loader_folder / "given"), gm.Dataset(loader_folder / "given"))
        )
        assert torch.equal(batch.nodes, wanted.nodes)
        assert torch.equal(batch.features["x"], wanted.features["x"])


def test_external_ids(tmp_path):
    """As batches of arrays have them, also of links, and on another device."""
    pytest.importorskip("torch")
    import graphmount.torch

    gm.compile_dataset(tmp_path / "d", edges=([0, 1], [2, 2]), node_ids=["ann", "bob", "cay"])
    dataset = gm.Dataset(tmp_path / "d")
    for name in ("NeighborLoader", "LinkNeighborLoader"):
        arrays = getattr(gm, name)(dataset, [-1], batch_size=2, seed=1)
        loader = getattr(graphmount.torch, name)(dataset, [-1], batch_size=2, seed=1)
        for batch, tensors in zip(arrays, loader, strict=True):
            assert tensors.external_ids == batch.external_ids
            assert tensors.to("cpu").external_ids == batch.external_ids
            assert tensors.dataset is dataset
    loader = graphmount.torch.NeighborLoader(dataset.graph, [-1])
    with pytest.raises(ValueError, match="the loader was not made of a Dataset"):
        next(iter(loader)).external_ids  # noqa: B018


def test_bfloat16_tensors(tmp_path):
    torch = pytest.importorskip("torch")
    import graphmount.torch

    gm.compile_graph(([1, 2], [0, 0]), tmp_path / "g.gl")
    gm.compile_features([[1.0], [2.0], [3.0]], tmp_path / "x.gd", dtype="bfloat16")
    data = (gm.Graph(tmp_path / "g.gl"), gm.FeatureStore(tmp_path / "x.gd"))
    for batch in graphmount.torch.NeighborLoader(data, [-1], batch_size=3):
        assert batch.features["x"].dtype == torch.bfloat16
        assert batch.features["x"].flatten().tolist() == [1.0, 2.0, 3.0]


@pytest.fixture
def pinned(monkeypatch):
    """Stands in for a GPU: says that there is one, and notes what the core pins."""
    torch = pytest.importorskip("torch")
    import graphmount.torch.host_pinning as pinning

    pages = {}

    def pin(memory, size):
        assert memory not in pages
        pages[memory] = size
        return 0

    def unpin(memory):
        del pages[memory]
        return 0

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(pinning, "use_cuda", lambda: pinning.set_pinning(pin, unpin))
    yield pages
    pinning.stop_pinning()


def test_pinned_memory(loader_folder, pinned):
    import graphmount.torch

    dataset = gm.Dataset(loader_folder / "hot")
    loader = graphmount.torch.NeighborLoader(dataset, [3, 2], batch_size=100, features=["x"])
    kept = []
    for batch in loader:
        rows = batch.features["x"]
        begin = rows.data_ptr()
        assert pinned[begin] >= rows.nbytes
        if batch.number % 10 == 0:
            kept.append(batch)
    assert 0 < len(pinned) <= len(loader)
    loader.close()
    del loader, batch, rows
    assert len(pinned) >= len(kept)
    kept.clear()
    gc.collect()
    assert pinned == {}


def test_memory_that_cannot_be_pinned_is_used_as_it_is(loader_folder, pinned):
    import graphmount.torch
    import graphmount.torch.host_pinning as pinning

    dataset = gm.Dataset(loader_folder / "hot")
    loader = graphmount.torch.NeighborLoader(dataset, [3], batch_size=500, pin_memory=True)

    def refuse(*_):
        raise RuntimeError("no more pages can be locked")

    pinning.set_pinning(refuse, refuse)
    assert len(list(loader)) == len(loader)
    assert pinned == {}


def test_pinning_needs_a_gpu(loader_folder):
    torch = pytest.importorskip("torch")
    import graphmount.torch

    dataset = gm.Dataset(loader_folder / "hot")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(ValueError, match="needs CUDA"):
        graphmount.torch.NeighborLoader(dataset, [3], pin_memory=True)
    with pytest.raises(ValueError, match="pin_memory="):
        graphmount.torch.NeighborLoader(dataset, [3], pin_memory="yes")


def test_ranges_of_the_profiler(loader_folder):
    torch = pytest.importorskip("torch")
    import graphmount.torch

    dataset = gm.Dataset(loader_folder / "hot")
    loader = graphmount.torch.NeighborLoader(dataset, [3], batch_size=500)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        for _ in loader:
            pass
    counts = {event.key: event.count for event in profile.key_averages()}
    assert counts["graphmount.wait"] == len(loader) + 1  # the last one finds the end
    assert counts["graphmount.tensors"] == len(loader)


def test_batches_move_to_devices(loader_folder):
    pytest.importorskip("torch")
    import graphmount.torch

    dataset = gm.Dataset(loader_folder / "hot")
    batch = next(iter(graphmount.torch.NeighborLoader(dataset, [3], edge_features=["w"])))
    moved = batch.to("meta")
    for tensor in (moved.nodes, moved.edge_index, moved.features["x"], moved.edge_features["w"]):
        assert tensor.device.type == "meta"
    assert moved.num_sampled_nodes == batch.num_sampled_nodes
    assert batch.nodes.device.type == "cpu"
