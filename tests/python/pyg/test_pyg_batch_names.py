"""Tables that have the name of something else in PyG's batches: refused, never mixed up."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch_geometric", reason="PyG is not installed")
import torch
from pyg_datasets import NUM_NODES
from torch_geometric.data import Data
from torch_geometric.loader import LinkLoader, NodeLoader

import graphmount as gm
import graphmount.pyg
import graphmount.torch

PLAIN = ["x", "y", "pos", "time", "face", "edge_attr", "edge_weight", "train_mask", "my table", "z"]


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """A graph without weights, and a table of its nodes and one of its edges."""
    folder = tmp_path_factory.mktemp("names")
    edges = np.random.default_rng(0).integers(0, NUM_NODES, (2, 100))
    gm.compile_graph(edges, folder / "g.gl", num_nodes=NUM_NODES, timestamps=np.arange(100))
    gm.compile_features(np.arange(2.0 * NUM_NODES).reshape(-1, 2), folder / "x.gd")
    gm.compile_features(np.arange(100.0), folder / "w.gd")
    return gm.Graph(folder / "g.gl"), *map(gm.FeatureStore, (folder / "x.gd", folder / "w.gd"))


def fields_of_batches(dataset):
    """What batches of all loaders have, ours and PyG's, but for tables."""
    sampler = gm.pyg.NeighborSampler(dataset, [2])
    links = (None, torch.tensor([[0, 1], [2, 3]]))
    times = np.zeros(NUM_NODES, np.int64)
    loaders = [
        gm.pyg.NeighborLoader(dataset, [2], input_time=times, batch_size=9),
        gm.pyg.NeighborLoader(dataset, [2], subgraph_type="induced", disjoint=True, batch_size=9),
        gm.pyg.LinkNeighborLoader(dataset, [2], neg_sampling="binary", batch_size=9),
        gm.pyg.LinkNeighborLoader(dataset, [2], neg_sampling="triplet", batch_size=9),
        NodeLoader(dataset.to_pyg(), sampler, torch.arange(9), batch_size=9),
        LinkLoader(dataset.to_pyg(), sampler, links, neg_sampling="binary", batch_size=2),
        LinkLoader(dataset.to_pyg(), sampler, links, neg_sampling="triplet", batch_size=2),
    ]
    fields = {key for loader in loaders for key in next(iter(loader)).to_dict()}
    return fields - {"x", "y", "edge_attr", "edge_weight"}


def test_no_table_takes_the_name_of_something_else(datasets, parts):
    graph, table, edge_table = parts
    taken = fields_of_batches(datasets["temporal"]) | {
        name for name in dir(Data()) if name not in PLAIN
    }
    assert {"n_id", "edge_index", "batch", "batch_size", "input_id", "seed_time"} < taken
    assert {"edge_label_index", "src_index", "num_nodes", "keys", "to", "_store"} < taken
    for name in sorted(taken):
        for loader in (gm.pyg.NeighborLoader, gm.pyg.LinkNeighborLoader):
            with pytest.raises(ValueError, match=f"a table is called '{name}'.*another name"):
                loader((graph, {name: table}), [2])
            with pytest.raises(ValueError, match="leave it out by features= or edge_features="):
                loader(graph, [2], edge_features={name: edge_table})
        # The rule is about PyG: where tables are apart, they keep any name.
        for loader in (gm.NeighborLoader, gm.torch.NeighborLoader):
            batch = next(iter(loader((graph, {name: table}), [2])))
            np.testing.assert_array_equal(batch.features[name], table.gather(batch.nodes))


def test_other_names_are_what_they_say(parts):
    graph, table, edge_table = parts
    for name in PLAIN:
        batch = next(iter(gm.pyg.NeighborLoader((graph, {name: table}), [2], batch_size=5)))
        np.testing.assert_array_equal(batch[name], table.gather(batch.n_id))
        np.testing.assert_array_equal(getattr(batch, name), table.gather(batch.n_id))
        loader = gm.pyg.NeighborLoader(graph, [2], edge_features={name: edge_table}, batch_size=5)
        batch = next(iter(loader))
        np.testing.assert_array_equal(batch[name], edge_table.gather(batch.e_id))


class Mine(Data):
    """A class of batches with a method of its own."""

    def mine(self):
        """Something else than a table."""


def test_names_of_other_classes_and_of_edge_values(parts):
    graph, table, _ = parts
    data = (graph, {"mine": table})
    next(iter(gm.pyg.NeighborLoader(data, [2])))
    with pytest.raises(ValueError, match="an attribute of the class of batches, Mine"):
        gm.pyg.NeighborLoader(data, [2], custom_cls=Mine)
    times = np.zeros(NUM_NODES, np.int64)
    with pytest.raises(ValueError, match=r"called 'n_id'"):
        gm.pyg.NeighborLoader(graph, [2], input_time=times, time_attr="n_id")


def test_stores_and_transforms(tmp_path):
    table = np.arange(6.0).reshape(3, 2)
    gm.compile_dataset(
        tmp_path / "ds",
        edges=gm.EdgeTable(source=([1, 2], [0, 0]), weights=[1.0, 2.0]),
        features={"n_id": table, "x": table, "train_mask": table},
        edge_features={"batch": table[:2], "edge_weight": table[:2]},
        splits={"valid": [0]},
    )
    dataset = gm.Dataset(tmp_path / "ds")
    with pytest.raises(ValueError, match=r"called 'n_id'.*leave it out by attributes="):
        dataset.to_pyg()
    dataset.to_pyg(attributes=["x", "train_mask"])
    with pytest.raises(ValueError, match=r"called 'batch'.*leave it out by features="):
        gm.pyg.EdgeFeatures(dataset)
    gm.pyg.EdgeFeatures(dataset, ["edge_weight"])
    with pytest.raises(ValueError, match="'edge_weight' is the name of a table and of the weights"):
        gm.pyg.EdgeFeatures(dataset, ["edge_weight"], weights=True)
    gm.compile_dataset(
        tmp_path / "mask",
        edges=([1, 2], [0, 0]),
        features={"train_mask": table},
        splits={"train": [0]},
    )
    with pytest.raises(ValueError, match="mask of the split 'train' is called 'train_mask'"):
        gm.Dataset(tmp_path / "mask").to_pyg(attributes=[])
