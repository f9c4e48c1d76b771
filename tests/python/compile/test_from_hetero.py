"""`from_pyg` of a `HeteroData`: every attribute of every type and relation, by the ids of PyG."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from torch_geometric.data import HeteroData  # noqa: E402
from torch_geometric.transforms import ToUndirected  # noqa: E402

import graphmount as gm  # noqa: E402
from graphmount.errors import MissingDataError, SourceError  # noqa: E402

WRITES = ("author", "writes", "paper")
CITES = ("paper", "cites", "paper")


@pytest.fixture
def data():
    torch.manual_seed(0)
    data = HeteroData()
    data["paper"].x = torch.rand(30, 4)
    data["paper"].y = torch.randint(0, 5, (30,))
    data["paper"].time = torch.arange(30) * 10
    data["paper"].train_mask = torch.arange(30) % 3 == 0
    data["author"].num_nodes = 20
    data[WRITES].edge_index = torch.stack(
        [torch.randint(0, 20, (90,)), torch.randint(0, 30, (90,))]
    )
    data[WRITES].edge_attr = torch.rand(90, 3)
    data[WRITES].edge_weight = torch.rand(90)
    data[CITES].edge_index = torch.randint(0, 30, (2, 60))
    data[CITES].edge_time = torch.arange(60)
    return data


def edges_of(ds, relation):
    """Edges by the ids of PyG, in the order of edge ids, and their places in edge_index."""
    graph = ds.edges[relation].graph
    lists = graph.neighbor_lists()
    owners = np.repeat(np.arange(len(lists.indptr) - 1), np.diff(lists.indptr))
    source, destination = ds.nodes[relation[0]], ds.nodes[relation[2]]
    src = source.to_external(source.as_internal(np.asarray(lists.indices, np.int64)))
    dst = destination.to_external(destination.as_internal(owners))
    return np.stack([src, dst]), np.asarray(lists.source_rows)


@pytest.mark.parametrize("order", ["hot", "given"])
def test_every_attribute(data, order, tmp_path):
    gm.from_pyg(data, tmp_path / "ds", order=order)
    ds = gm.Dataset(tmp_path / "ds")
    assert ds.node_types == tuple(data.node_types)
    assert ds.edge_types == tuple(data.edge_types)
    papers = ds.nodes["paper"]
    inside = papers.to_internal(np.arange(30))
    assert np.array_equal(papers.features["x"].gather(inside), data["paper"].x.numpy())
    assert np.asarray(papers.labels)[inside].tolist() == data["paper"].y.tolist()
    assert np.asarray(papers.timestamps)[inside].tolist() == data["paper"].time.tolist()
    train = sorted(papers.to_external(papers.splits["train"]).tolist())
    assert train == np.flatnonzero(data["paper"].train_mask.numpy()).tolist()
    assert ds.nodes["author"].num_nodes == 20
    for relation in data.edge_types:
        edges, rows = edges_of(ds, relation)
        assert np.array_equal(edges, data[relation].edge_index.numpy()[:, rows])
    _, rows = edges_of(ds, WRITES)
    writes = ds.edges[WRITES]
    assert sorted(writes.features) == ["edge_attr"]
    assert np.array_equal(
        writes.features["edge_attr"].numpy(), data[WRITES].edge_attr.numpy()[rows]
    )
    assert np.array_equal(writes.graph.weights, data[WRITES].edge_weight.numpy()[rows])
    assert ds.edges[CITES].graph.has_timestamps


def test_reverse_as_pyg_does(data, tmp_path):
    gm.from_pyg(data, tmp_path / "ds", reverse=True)
    ds = gm.Dataset(tmp_path / "ds")
    expected = ToUndirected(merge=False)(data)
    assert ds.edge_types == tuple(expected.edge_types)
    for relation in expected.edge_types:
        edges, rows = edges_of(ds, relation)
        assert np.array_equal(edges, expected[relation].edge_index.numpy()[:, rows])


def test_dtypes_and_exclusions(data, tmp_path):
    gm.from_pyg(data, tmp_path / "ds", dtype="float16", exclude=["y", "edge_attr"], weights=None)
    ds = gm.Dataset(tmp_path / "ds")
    assert ds.nodes["paper"].features["x"].dtype == "float16"
    assert ds.nodes["paper"].labels is None
    assert sorted(ds.edges[WRITES].features) == ["edge_weight"]


def test_bad_input(data, tmp_path):
    with pytest.raises(ValueError, match="no attribute 'z' that could be left out"):
        gm.from_pyg(data, tmp_path / "ds", exclude=["z"])
    with pytest.raises(MissingDataError, match="weights='w': no relation or type"):
        gm.from_pyg(data, tmp_path / "ds", weights="w")
    with pytest.raises(ValueError, match="no table 'w'"):
        gm.from_pyg(data, tmp_path / "ds", dtype={"w": "float16"})
    with pytest.raises(ValueError, match="HeteroData, which has relations"):
        gm.from_pyg(data.to_homogeneous(), tmp_path / "ds", reverse=True)
    data["paper"].names = ["x"] * 30
    with pytest.raises(TypeError, match=r"names has a row for each .* exclude=\['names'\]"):
        gm.from_pyg(data, tmp_path / "ds")
    del data["paper"].names
    data["author", "reads", "paper"].edge_attr = torch.rand(3, 1)
    with pytest.raises(SourceError, match=r"'reads', 'paper'\): this Data has no edge_index"):
        gm.from_pyg(data, tmp_path / "ds")
    assert list(tmp_path.iterdir()) == []
