"""`graphmount.pyg.NeighborSampler` by itself: what it draws, against a slow twin; what it is."""

from __future__ import annotations

import copy
import pickle
from multiprocessing.reduction import ForkingPickler

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyg_datasets import KINDS, NUM_NODES, make_dataset
from sampling_twin import Lists, induced, replay

from graphmount.errors import IdError, MissingDataError

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
from torch_geometric.data import Data  # noqa: E402
from torch_geometric.sampler import NodeSamplerInput, NumNeighbors  # noqa: E402
from torch_geometric.sampler.base import SubgraphType  # noqa: E402

from graphmount.pyg import NeighborSampler  # noqa: E402

seeds = st.lists(st.integers(0, NUM_NODES - 1), min_size=1, max_size=8)


@given(
    kind=st.sampled_from([*KINDS]),
    seeds=seeds,
    fanouts=st.lists(st.integers(-1, 4), max_size=3),
    replace=st.booleans(),
    weighted=st.booleans(),
    disjoint=st.booleans(),
    temporal=st.sampled_from([None, "uniform", "last"]),
    subgraph_type=st.sampled_from(["directional", "induced"]),
    direction=st.sampled_from(["in", "out"]),
    data=st.data(),
)
def test_against_the_twin(
    datasets,
    *,
    kind,
    seeds,
    fanouts,
    replace,
    weighted,
    disjoint,
    temporal,
    subgraph_type,
    direction,
    data,
):
    graph = datasets[kind].graph
    temporal = temporal if graph.has_timestamps and not (replace and temporal == "last") else None
    if temporal == "last":
        weighted = False
    times = None
    if temporal is not None:
        times = data.draw(st.lists(st.integers(0, 20), min_size=len(seeds), max_size=len(seeds)))
    sampler = NeighborSampler(
        datasets[kind].to_pyg(),
        fanouts,
        replace=replace,
        weighted=weighted,
        disjoint=disjoint,
        temporal_strategy=temporal or "uniform",
        direction=direction,
    )
    is_disjoint = disjoint or times is not None
    inputs = NodeSamplerInput(
        input_id=torch.arange(len(seeds)) + 5,
        node=torch.tensor(seeds),
        time=None if times is None else torch.tensor(times),
    )
    torch.manual_seed(1)
    out = sampler.sample_from_nodes(inputs)
    lists = Lists(graph, direction)
    nodes, neighbors, targets, batch, num_nodes, num_edges = replay(
        lists,
        seeds,
        fanouts,
        out.edge.tolist(),
        replace=replace,
        weighted=weighted,
        disjoint=is_disjoint,
        times=times,
        last=temporal == "last",
    )
    row, col = (neighbors, targets) if direction == "in" else (targets, neighbors)
    assert out.node.tolist() == nodes
    assert (out.row.tolist(), out.col.tolist()) == (row, col)
    assert (out.num_sampled_nodes, out.num_sampled_edges) == ([*num_nodes], [*num_edges])
    assert (out.batch.tolist() if is_disjoint else out.batch) == (batch if is_disjoint else None)
    assert out.metadata[0].tolist() == [place + 5 for place in range(len(seeds))]
    assert out.metadata[1] is inputs.time
    for tensor in (out.node, out.row, out.col, out.edge):
        assert tensor.dtype == torch.int64
    if subgraph_type == "induced":
        sampler.subgraph_type = "induced"
        torch.manual_seed(1)
        whole = sampler.sample_from_nodes(inputs)
        assert whole.node.tolist() == nodes
        assert whole.num_sampled_nodes is None
        assert whole.num_sampled_edges is None
        near, far = (whole.row, whole.col) if direction == "in" else (whole.col, whole.row)
        found = sorted(zip(near.tolist(), far.tolist(), whole.edge.tolist(), strict=True))
        assert found == induced(lists, nodes, batch, disjoint=is_disjoint, times=times)


@given(seeds=seeds, kind=st.sampled_from([*KINDS]))
def test_bidirectional(datasets, seeds, kind):
    graph = datasets[kind].graph
    sampler = NeighborSampler(graph, [3, 2], subgraph_type=SubgraphType.bidirectional)
    inputs = NodeSamplerInput(None, torch.tensor(seeds))
    torch.manual_seed(3)
    out = sampler.sample_from_nodes(inputs)
    pairs = list(zip(out.row.tolist(), out.col.tolist(), strict=True))
    assert set(pairs) == {(b, a) for a, b in pairs}
    assert len(set(pairs)) == len(pairs)
    assert out.num_sampled_edges is None
    sampler.subgraph_type = "directional"
    torch.manual_seed(3)
    drawn = sampler.sample_from_nodes(inputs)
    ways = set(zip(drawn.row.tolist(), drawn.col.tolist(), strict=True))
    assert set(pairs) == ways | {(b, a) for a, b in ways}
    # PyG's own way to it gives the same edges.
    theirs = drawn.to_bidirectional()
    assert torch.equal(theirs.row, out.row)
    assert torch.equal(theirs.col, out.col)


def test_pickling_and_copying(dataset):
    sampler = NeighborSampler(dataset, [3, -1], replace=True, weighted=True)
    for dumps in (pickle.dumps, lambda what: bytes(ForkingPickler.dumps(what))):
        assert len(dumps(sampler)) < 1000
        again = pickle.loads(dumps(sampler))  # noqa: S301
        assert again.num_neighbors == [3, -1]
        assert again.graph.path == sampler.graph.path
    other = copy.copy(sampler)
    other.num_neighbors = NumNeighbors([1])
    other.replace = False
    assert (sampler.num_neighbors, sampler.replace) == ([3, -1], True)
    out = other.sample_from_nodes(NodeSamplerInput(None, torch.tensor([0])))
    assert len(out.num_sampled_edges) == 1
    assert sampler.edge_permutation is None
    assert repr(sampler).endswith("num_neighbors=[3, -1]>")


def test_refusals(dataset, tmp_path):
    with pytest.raises(TypeError, match="data must be a Dataset, a Graph, or the stores of"):
        NeighborSampler(Data(), [1])
    with pytest.raises(TypeError, match="is by types of edges, and a graph has one type"):
        NeighborSampler(dataset, {("a", "to", "b"): [1]})
    with pytest.raises(ValueError, match=r"num_neighbors\[1\] must be at least -1"):
        NeighborSampler(dataset, [1, -2])
    with pytest.raises(ValueError, match="weighted=1; choose"):
        NeighborSampler(dataset, [1], weighted=1)
    with pytest.raises(ValueError, match="'sideways'"):
        NeighborSampler(dataset, [1], subgraph_type="sideways")
    sampler = NeighborSampler(dataset, [1])
    with pytest.raises(ValueError, match="the inputs are of type 'paper', and a graph has one"):
        sampler.sample_from_nodes(NodeSamplerInput(None, torch.tensor([0]), None, "paper"))
    with pytest.raises(IdError, match="40"):
        sampler.sample_from_nodes(NodeSamplerInput(None, torch.tensor([40])))
    with pytest.raises(MissingDataError, match="timestamps"):
        sampler.sample_from_nodes(NodeSamplerInput(None, torch.tensor([0]), torch.tensor([1])))
    plain, _ = make_dataset(tmp_path / "plain", weights=False)
    with pytest.raises(MissingDataError, match="weights"):
        NeighborSampler(plain, [1], weighted=True).sample_from_nodes(
            NodeSamplerInput(None, torch.tensor([0]))
        )
