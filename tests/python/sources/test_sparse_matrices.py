"""Samples as sparse matrices, compared with dense ones that are filled edge by edge."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphmount as gm

torch = pytest.importorskip("torch", reason="torch is not installed")
import graphmount.torch  # noqa: E402


def dense_of(row, col, values, shape):
    """The slow twin."""
    matrix = np.zeros(shape, values.dtype)
    for src, dst, value in zip(row, col, values, strict=True):
        matrix[dst, src] += value
    return matrix


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    path = tmp_path_factory.mktemp("sparse") / "g.gl"
    generator = np.random.default_rng(0)
    gm.compile_graph(generator.integers(0, 30, (2, 200)), path, num_nodes=32)  # with multi-edges
    return gm.Graph(path)


@given(
    seeds=st.lists(st.integers(0, 31), max_size=6, unique=True),
    fanouts=st.lists(st.sampled_from([-1, 1, 3]), min_size=1, max_size=3),
    replace=st.booleans(),
    disjoint=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_against_the_dense_twin(graph, seeds, fanouts, replace, disjoint, seed):  # noqa: PLR0917
    sample = graph.sample_neighbors(seeds, fanouts, replace=replace, disjoint=disjoint, seed=seed)
    values = np.arange(1, sample.num_edges + 1, dtype=np.float64)
    shape = (sample.num_nodes, sample.num_nodes)
    whole = gm.torch.to_sparse_csr(sample)
    assert whole.layout == torch.sparse_csr
    assert whole.dtype == torch.float32
    ones = np.ones(sample.num_edges, np.float32)
    np.testing.assert_array_equal(
        whole.to_dense().numpy(), dense_of(sample.row, sample.col, ones, shape)
    )
    assert whole._nnz() == sample.num_edges  # an entry for each edge
    merged = gm.torch.to_sparse_csr(sample, merge=True)
    assert merged._nnz() == len(set(zip(sample.row, sample.col, strict=True)))
    assert torch.equal(merged.to_dense(), whole.to_dense())
    for hops in range(1, len(fanouts) + 1):
        edges = sum(sample.num_sampled_edges[:hops])
        shape = (sum(sample.num_sampled_nodes[:hops]), sum(sample.num_sampled_nodes[: hops + 1]))
        matrix = gm.torch.to_sparse_csr(sample, hops=hops, values=torch.from_numpy(values))
        twin = dense_of(sample.row[:edges], sample.col[:edges], values[:edges], shape)
        np.testing.assert_array_equal(matrix.to_dense().numpy(), twin)


def test_layers_of_products_are_message_passing(graph):
    """Two layers of sums over trimmed matrices give the seeds what whole matrices give them."""
    sample = graph.sample_neighbors([3, 1, 4], [5, 5], seed=1)
    x = torch.from_numpy(np.random.default_rng(1).standard_normal((sample.num_nodes, 4)))
    ones = torch.ones(sample.num_edges, dtype=torch.float64)
    whole = gm.torch.to_sparse_csr(sample, values=ones)
    first = gm.torch.to_sparse_csr(sample, hops=2, values=ones)
    second = gm.torch.to_sparse_csr(sample, hops=1, values=ones)
    torch.testing.assert_close(second @ (first @ x), (whole @ (whole @ x))[:3])


@pytest.mark.parametrize("subgraph_type", ["directional", "bidirectional", "induced"])
def test_batches_of_loaders(loader_folder, subgraph_type):
    dataset = gm.Dataset(loader_folder / "hot")
    options = {"batch_size": 50, "subgraph_type": subgraph_type, "seed": 2, "memory": "1MiB"}
    array = next(iter(gm.NeighborLoader(dataset, [3, 2], **options)))
    tensor = next(iter(gm.torch.NeighborLoader(dataset, [3, 2], **options)))
    shape = (len(array.nodes), len(array.nodes))
    ones = np.ones(len(array.row), np.float32)
    twin = dense_of(array.row, array.col, ones, shape)
    for batch in (array, tensor):
        np.testing.assert_array_equal(gm.torch.to_sparse_csr(batch).to_dense().numpy(), twin)
        if subgraph_type == "directional":
            assert gm.torch.to_sparse_csr(batch, hops=1).shape[0] == 50
        else:
            with pytest.raises(ValueError, match="not in the order of hops"):
                gm.torch.to_sparse_csr(batch, hops=1)


def test_what_is_refused(graph):
    sample = graph.sample_neighbors([0, 1], [-1], seed=0)
    with pytest.raises(ValueError, match="hops must be at least 1 and at most 1"):
        gm.torch.to_sparse_csr(sample, hops=2)
    with pytest.raises(ValueError, match="one number for each of"):
        gm.torch.to_sparse_csr(sample, values=torch.ones(1000))
    with pytest.raises(TypeError, match="a batch or a NeighborSample"):
        gm.torch.to_sparse_csr([1, 2])
    outward = graph.sample_neighbors([0, 1], [-1], direction="out", seed=0)
    with pytest.raises(ValueError, match='direction="out"'):
        gm.torch.to_sparse_csr(outward, hops=1)
    assert gm.torch.to_sparse_csr(outward).shape == (outward.num_nodes, outward.num_nodes)
