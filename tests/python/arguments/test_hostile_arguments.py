"""Every argument of loaders, sampling, walks, negatives and inference, with hostile values."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from hostile_values import complaints, parameters_of

import graphmount as gm

NUM_NODES = 20


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    path = tmp_path_factory.mktemp("hostile") / "dataset"
    generator = np.random.default_rng(0)
    gm.compile_dataset(
        path,
        edges=gm.EdgeTable(
            source=generator.integers(0, NUM_NODES, (2, 60)),
            weights=generator.random(60),
            timestamps=np.arange(60),
        ),
        num_nodes=NUM_NODES,
        features={"x": generator.random((NUM_NODES, 2), dtype=np.float32)},
        edge_features={"w": generator.random(60)},
        labels=np.arange(NUM_NODES),
        splits={"train": np.arange(10)},
    )
    return gm.Dataset(path)


def looping(make):
    """Makes a loader, and takes its first batch."""

    @functools.wraps(make)
    def call(**options):
        loader = make(**options)
        next(iter(loader), None)
        if hasattr(loader, "close"):
            loader.close()

    return call


OF_GRAPHS = {
    "sample_neighbors": {"seeds": [0, 1], "fanouts": [2, 2]},
    "random_walk": {"starts": [0, 1], "length": 3},
    "skip_gram_pairs": {"starts": [0, 1], "length": 3, "window": 2, "negatives": 2},
    "visit_counts": {"starts": [0, 1], "num_walks": 3, "length": 2},
    "has_edge": {"sources": [0, 1], "destinations": [1, 2]},
    "sample_negatives": {"kept": [0, 1]},
    "sample_negative_pairs": {"num": 3},
    "degree": {"ids": [0, 1]},
    "neighbors": {"id": 1},
    "neighbor_lists": {},
    "prefetch": {"ids": [0, 1]},
    "degree_summary": {},
    "to_external": {"ids": [0]},
    "to_internal": {"keys": [0]},
    "advise": {"advice": "normal"},
}


@pytest.mark.parametrize("method", OF_GRAPHS)
def test_graphs(dataset, method):
    call = getattr(dataset.graph, method)
    too_long = [("num_walks", "2**63 - 1")]  # which means something, and takes years
    assert complaints(call, lambda: dict(OF_GRAPHS[method]), but=too_long) == []


WRITES = ("author", "writes", "paper")
OF_TYPED_DATASETS = {
    "sample_neighbors": {"seeds": ("paper", [0, 1]), "fanouts": [2, 2]},
    "sample_neighbors in time": {
        "seeds": ("paper", [0, 1]),
        "fanouts": {WRITES: [1], "default": [2]},
        "time": [3, 4],
        "time_of": "nodes",
    },
    "random_walk": {"starts": [0, 1], "relations": [WRITES]},
    "sample_negatives": {"relation": WRITES, "kept": [0, 1]},
    "sample_negative_pairs": {"relation": WRITES, "num": 3},
}


@pytest.fixture(scope="module")
def typed(tmp_path_factory):
    path = tmp_path_factory.mktemp("hostile") / "typed"
    generator = np.random.default_rng(0)
    gm.compile_dataset(
        path,
        nodes={"paper": gm.Nodes(timestamps=np.arange(20)), "author": gm.Nodes(num_nodes=12)},
        edges={
            WRITES: (generator.integers(0, 12, 60), generator.integers(0, 20, 60)),
            ("paper", "cites", "paper"): generator.integers(0, 20, (2, 60)),
        },
        order="given",
        progress=False,
    )
    return gm.Dataset(path)


@pytest.mark.parametrize("call", OF_TYPED_DATASETS)
def test_typed_datasets(typed, call):
    method = getattr(typed, call.partition(" ")[0])
    assert complaints(method, lambda: dict(OF_TYPED_DATASETS[call])) == []


def test_tables(dataset):
    store = dataset.features["x"]
    assert complaints(store.gather, lambda: {"ids": [0, 1]}) == []
    assert complaints(store.prefetch, lambda: {"ids": [0, 1]}) == []
    assert complaints(store.advise, lambda: {"advice": "random"}) == []


@pytest.mark.parametrize("name", ["to_external", "to_internal"])
def test_datasets(dataset, name):
    argument = "ids" if name == "to_external" else "keys"
    assert complaints(getattr(dataset, name), lambda: {argument: [0, 1]}) == []


def test_threads():
    before = gm.num_threads()
    assert complaints(gm.set_num_threads, dict) == []
    gm.set_num_threads(before)


def test_node_loaders(dataset):
    base = {"data": dataset, "num_neighbors": [2], "batch_size": 4, "memory": "1MiB"}
    found = complaints(looping(gm.NeighborLoader), lambda: dict(base), but=[("data", "null")])
    found += complaints(
        looping(gm.NeighborLoader), lambda: base | {"input_nodes": [0, 1]}, ["input_time"]
    )
    assert found == []


def test_link_loaders(dataset):
    base = {"data": dataset, "num_neighbors": [2], "batch_size": 4, "memory": "1MiB"}
    found = complaints(looping(gm.LinkNeighborLoader), lambda: dict(base), but=[("data", "null")])
    assert found == []


def test_link_negatives(dataset):
    def make(**options):
        negatives = gm.LinkNegatives(**options)
        next(iter(gm.LinkNeighborLoader(dataset, [1], neg_sampling=negatives, batch_size=2)))

    names = ["mode", "amount", "weighting", "strict", "self_loops", "src_weight", "dst_weight"]
    assert complaints(make, lambda: {"mode": "binary"}, names) == []


def test_states(dataset):
    loader = gm.NeighborLoader(dataset, [2], batch_size=4, seed=1)
    state = loader.state_dict()
    assert complaints(loader.load_state_dict, lambda: {"state": state}) == []

    def load(**parts):
        loader.load_state_dict({**state, **parts})

    assert complaints(load, dict, ["epoch", "batch", "key", "version", "order"]) == []


def test_data_of_loaders(dataset):
    def in_a_pair(tables):
        next(iter(gm.NeighborLoader((dataset.graph, tables), [1])))

    def in_a_dict(store):
        next(iter(gm.NeighborLoader((dataset.graph, {"x": store}), [1])))

    for call in (in_a_pair, in_a_dict):
        assert complaints(call, dict) == []


def test_tensors(dataset, typed):
    pytest.importorskip("torch", reason="torch is not installed")
    from graphmount import torch

    base = {"data": dataset, "num_neighbors": [2], "batch_size": 4, "memory": "1MiB"}
    # All other arguments are those of the loaders of arrays.
    for make in (torch.NeighborLoader, torch.LinkNeighborLoader):
        found = complaints(looping(make), lambda: dict(base), but=[("data", "null")])
        assert found == []
    links = {"edge_label_index": [[0, 1], [1, 2]], "ids": "external"}
    names = ["edge_label_index", "edge_label", "edge_label_time"]
    assert complaints(looping(torch.LinkNeighborLoader), lambda: base | links, names) == []

    batches = torch.BatchDataset(torch.NeighborLoader(**base))
    walks = {"graph": dataset.graph, "length": 3, "window": 2, "batch_size": 4}
    options = ["negatives", "negative_weighting", "p", "q", "restart", "weighted", "dead_end"]
    found = complaints(torch.BatchDataset, lambda: {"loader": None})
    found += complaints(batches.set_epoch, dict)
    found += complaints(looping(torch.SkipGramDataset), lambda: dict(walks))
    found += complaints(looping(torch.SkipGramDataset), lambda: dict(walks), options)
    found += complaints(torch.SkipGramDataset(**walks).set_epoch, dict)
    store = dataset.features["x"]
    nodes = dataset.to_internal([0, 1])
    found += complaints(torch.gather, lambda: {"store": store, "ids": nodes})
    found += complaints(torch.as_tensor, lambda: {"store": store})
    sample = dataset.graph.sample_neighbors(nodes, [2, 2])
    found += complaints(torch.to_sparse_csr, lambda: {"sample": sample})
    of_many = typed.sample_neighbors(("paper", [0, 1]), [2, 2])
    found += complaints(torch.to_sparse_csr, lambda: {"sample": of_many})
    assert found == []


def test_checkpoints(dataset, tmp_path):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    import graphmount.torch  # noqa: F401

    model = torch.nn.Linear(1, 1)
    base = {
        "path": tmp_path / "last.pt",
        "model": model,
        "optimizer": torch.optim.SGD(model.parameters()),
        "loader": gm.torch.NeighborLoader(dataset, [2], batch_size=4, memory="1MiB"),
    }
    names = ["model", "optimizer", "loader", "ranks"]
    found = complaints(gm.torch.save_checkpoint, lambda: dict(base), [*names, "extra"])
    found += complaints(gm.torch.load_checkpoint, lambda: dict(base), names)
    found += complaints(gm.torch.RankGroup, dict, ["backend", "timeout", "start_timeout"])
    assert found == []


def test_inference(dataset, typed, tmp_path):
    pytest.importorskip("torch", reason="torch is not installed")
    from graphmount.torch import layerwise_inference

    def base():
        return {"data": dataset, "layers": [lambda x, _: x], "out": tmp_path / "out.gd"}

    names = [name for name in parameters_of(layerwise_inference) if name not in ("out", "tmp")]
    assert complaints(layerwise_inference, base, names) == []

    def of_many():
        options = {"features": {}, "call": lambda _, block: block.nodes[block.target_type]}
        return {"data": typed, "layers": [None], "out": tmp_path / "out", **options}

    assert complaints(layerwise_inference, of_many, names) == []


def test_pyg(dataset):
    pytest.importorskip("torch_geometric", reason="PyG is not installed")
    from graphmount import pyg

    base = {"data": dataset, "num_neighbors": [2], "batch_size": 4, "memory": "1MiB"}
    found = []
    for make in (pyg.NeighborLoader, pyg.LinkNeighborLoader):
        # A path is a matter of Dataset.
        found += complaints(looping(make), lambda: dict(base), but=[("data", "null")])
        found += complaints(looping(make), lambda: dict(base), ["num_workers", "generator"])
    options = {"data": dataset, "num_neighbors": [2], "ids": "external"}
    found += complaints(pyg.NeighborSampler, lambda: dict(options))
    found += complaints(pyg.EdgeFeatures, lambda: {"dataset": dataset})
    found += complaints(pyg.FeatureStore, lambda: {"dataset": dataset})
    found += complaints(pyg.GraphStore, lambda: {"graph": dataset})
    found += complaints(dataset.to_pyg, dict)
    sampler = pyg.NeighborSampler(**options)
    for name in ("num_neighbors", "subgraph_type"):
        found += complaints(
            lambda name=name, **value: setattr(sampler, name, *value.values()), dict, ["value"]
        )
    assert found == []
