"""Edges in memory: arrays, tensors, PyG, NetworkX."""

from __future__ import annotations

import numpy as np
import pytest
from draining import drain_edges
from open_sources import open_edges

from graphmount.errors import SourceError


@pytest.mark.parametrize(
    "source",
    [
        ([0, 1], [1, 2]),
        (np.array([0, 1], np.int32), np.array([1, 2], np.uint8)),
        (np.array([0, 1], ">i8"), range(1, 3)),
        np.array([[0, 1], [1, 2]]),
        np.array([[0, 1], [1, 2]], order="F", dtype=np.uint64),
        [[0, 1], [1, 2]],
    ],
)
def test_arrays(source):
    opened = open_edges(source, weights=[0.5, 2])
    assert (opened.num_edges, opened.num_nodes, opened.size) == (2, None, 2)
    edges = drain_edges(opened, memory=1)
    assert edges.pairs == [(0, 1), (1, 2)]
    assert edges.weights == [0.5, 2.0]
    assert edges.num_batches == 2


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        (
            np.zeros((3, 2), int),
            ValueError,
            r"has shape \(2, edges\), not \(3, 2\); pass its trans",
        ),
        (([0.5], [1]), TypeError, "sources must be integers, not float64"),
        (([0], np.array([True])), TypeError, "destinations must be integers, not bool"),
        (([0], [2**63]), SourceError, r"destinations\[0\] is 9223372036854775808"),
        (([0], [1], [2]), ValueError, "a pair .*, not 3 arrays"),
        (([0, 1], [1]), SourceError, r"destinations has shape \(1,\), but there are 2 edges"),
        (([[0]], [[1]]), ValueError, "sources must be one-dimensional"),
        (3, TypeError, "edges cannot be taken from a int; supported are"),
        ({"a": 1}, TypeError, r"edges cannot be taken from a dict.*\.parquet"),
    ],
)
def test_what_is_no_edges(source, error, message):
    with pytest.raises(error, match=message):
        open_edges(source)


def test_arrays_are_not_copied():
    edges = np.arange(20).reshape(2, 10)
    (batch,) = open_edges(edges).batches(memory=1 << 20)
    assert np.shares_memory(batch.src, edges)


def test_torch():
    torch = pytest.importorskip("torch")
    edge_index = torch.tensor([[0, 1, 1], [1, 2, 0]])
    weights = torch.tensor([1.0, 2.0, 3.0], dtype=torch.bfloat16, requires_grad=True)
    edges = drain_edges(open_edges(edge_index, weights=weights))
    assert edges.pairs == [(0, 1), (1, 2), (1, 0)]
    assert edges.weights == [1.0, 2.0, 3.0]
    assert drain_edges(open_edges((edge_index[0].int(), edge_index[1]))).dst == [1, 2, 0]
    with pytest.raises(TypeError, match=r"the tensor is on the device 'meta', so it has no values"):
        open_edges(edge_index.to("meta"))
    with pytest.raises(TypeError, match="sparse"):
        open_edges(torch.eye(3).to_sparse())


def test_pyg():
    torch = pytest.importorskip("torch")
    data_module = pytest.importorskip("torch_geometric.data")
    data = data_module.Data(
        edge_index=torch.tensor([[0, 1, 1], [1, 2, 0]]),
        edge_weight=torch.tensor([1.0, 2.0, 3.0]),
        edge_attr=torch.tensor([[4.0], [5.0], [6.0]]),
        time=torch.tensor([7, 8, 9]),
        wide=torch.zeros(3, 2),
        num_nodes=5,
    )
    source = open_edges(data)
    assert source.num_nodes == 5
    assert drain_edges(source).pairs == [(0, 1), (1, 2), (1, 0)]
    assert not source.has_weights
    for weights in (True, "edge_weight"):
        assert drain_edges(open_edges(data, weights=weights)).weights == [1.0, 2.0, 3.0]
    edges = drain_edges(open_edges(data, weights="edge_attr", timestamps="time"))
    assert (edges.weights, edges.timestamps) == ([4.0, 5.0, 6.0], [7, 8, 9])
    with pytest.raises(SourceError, match=r"wide has shape \(3, 2\).*data\.wide\[:, 0\]"):
        open_edges(data, weights="wide")
    with pytest.raises(SourceError, match=r"this Data has no nothing; it has .*edge_index"):
        open_edges(data, weights="nothing")
    with pytest.raises(SourceError, match="no edge_index"):
        open_edges(data_module.Data(x=torch.ones(3, 1)))
    with pytest.raises(SourceError, match="only an adj_t"):
        open_edges(data_module.Data(adj_t=torch.eye(3).to_sparse()))
    hetero = data_module.HeteroData()
    hetero["paper", "cites", "paper"].edge_index = data.edge_index
    with pytest.raises(TypeError, match=r"HeteroData.*\('paper', 'cites', 'paper'\)\]\.edge_index"):
        open_edges(hetero)
    picked = open_edges(hetero["paper", "cites", "paper"].edge_index)
    assert drain_edges(picked).src == [0, 1, 1]


def test_pyg_edge_index():
    torch = pytest.importorskip("torch")
    pyg = pytest.importorskip("torch_geometric")
    edge_index = pyg.EdgeIndex(torch.tensor([[0, 1], [1, 2]]), sparse_size=(3, 3))
    assert drain_edges(open_edges(edge_index)).pairs == [(0, 1), (1, 2)]


def test_networkx_kinds():
    networkx = pytest.importorskip("networkx")
    edges = [(0, 1, 0.5), (1, 2, 1.5), (2, 2, 2.5)]
    for kind in (networkx.Graph, networkx.DiGraph, networkx.MultiGraph, networkx.MultiDiGraph):
        graph = kind()
        graph.add_nodes_from(range(4))
        graph.add_weighted_edges_from(edges)
        if graph.is_multigraph():
            graph.add_edge(0, 1, weight=9)
        for memory in (1, 1 << 20):
            source = open_edges(graph, weights="weight")
            assert source.is_symmetric == (not graph.is_directed())
            assert (source.num_nodes, source.has_text_ids) == (4, False)
            found = drain_edges(source, memory=memory)
            expected = [*edges, (0, 1, 9.0)] if graph.is_multigraph() else edges
            triples = zip(found.src, found.dst, found.weights, strict=True)
            assert sorted(triples) == sorted(expected)
    assert drain_edges(open_edges(graph, weights=True)).weights == found.weights
    assert drain_edges(open_edges(graph, weights=[1, 2, 3, 4])).weights == [1, 2, 3, 4]


def test_networkx_nodes():
    networkx = pytest.importorskip("networkx")
    assert open_edges(networkx.Graph([(5, 7)])).num_nodes is None
    source = open_edges(networkx.DiGraph([("ä", "b"), ("b", "")]))
    assert source.has_text_ids
    assert drain_edges(source).pairs == [("ä", "b"), ("b", "")]
    assert open_edges(networkx.Graph()).num_nodes == 0
    for bad in ([("a", 1)], [((0, 1), (1, 1))], [("\ud800", "b")]):
        with pytest.raises(SourceError, match="all integers or all strings: use networkx"):
            open_edges(networkx.Graph(bad))
    with pytest.raises(ValueError, match="key_type='str', but the nodes of the graph are integers"):
        open_edges(networkx.Graph([(0, 1)]), keys="text")
    with pytest.raises(SourceError, match="no node or row can have for its number"):
        drain_edges(open_edges(networkx.Graph([(0, 2**70)])))


def test_networkx_attributes():
    networkx = pytest.importorskip("networkx")
    graph = networkx.DiGraph()
    graph.add_edge(0, 1, at=5, weight=1)
    graph.add_edge(1, 2, at="noon")
    with pytest.raises(SourceError, match="edge from 1 to 2: its 'weight' is missing"):
        drain_edges(open_edges(graph, weights="weight"))
    with pytest.raises(SourceError, match="edge from 1 to 2: its 'at' is 'noon', not an integer"):
        drain_edges(open_edges(graph, timestamps="at"))
    graph.edges[1, 2]["at"] = 7
    assert drain_edges(open_edges(graph, timestamps="at")).timestamps == [5, 7]
