"""What PyG can do with samples works with ours: global ends, merging, collating, both directions.

Of many kinds, PyG itself has no merging yet: it says so with our samples as with its own.
"""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from torch_geometric.data import Data, HeteroData  # noqa: E402
from torch_geometric.sampler import (  # noqa: E402
    EdgeSamplerInput,
    HeteroSamplerOutput,
    NodeSamplerInput,
    SamplerOutput,
)

import graphmount as gm  # noqa: E402
import graphmount.pyg  # noqa: E402

NUM_NODES, NUM_EDGES = 30, 100
SUBGRAPHS = ["directional", "bidirectional", "induced"]


@pytest.fixture(scope="module")
def edge_index():
    return torch.randint(0, NUM_NODES, (2, NUM_EDGES), generator=torch.Generator().manual_seed(1))


@pytest.fixture(scope="module")
def one(edge_index, tmp_path_factory):
    path = tmp_path_factory.mktemp("one") / "d"
    gm.from_pyg(Data(edge_index=edge_index, num_nodes=NUM_NODES), path, order="given")
    return gm.Dataset(path)


@pytest.fixture(scope="module")
def many(edge_index, tmp_path_factory):
    data = HeteroData()
    data["u"].num_nodes = data["v"].num_nodes = NUM_NODES
    data["u", "to", "v"].edge_index = edge_index
    data["v", "rev_to", "u"].edge_index = edge_index.flip(0)
    data["v", "near", "v"].edge_index = edge_index.roll(1, 1)
    path = tmp_path_factory.mktemp("many") / "d"
    gm.from_pyg(data, path, order="given")
    return gm.Dataset(path)


def sample(data, nodes, kind=None, **options):
    sampler = gm.pyg.NeighborSampler(data, [3, 2], **options)
    places = torch.arange(len(nodes))
    return sampler.sample_from_nodes(NodeSamplerInput(places, torch.tensor(nodes), None, kind))


def edges_of(out):
    """Edges by their ids, with the nodes at both ends."""
    return set(
        zip(out.edge.tolist(), out.global_row.tolist(), out.global_col.tolist(), strict=True)
    )


@pytest.mark.parametrize("subgraph_type", SUBGRAPHS)
@pytest.mark.parametrize("disjoint", [False, True])
def test_global_ends_are_those_of_the_graph(one, edge_index, subgraph_type, disjoint):
    options = {"subgraph_type": subgraph_type, "disjoint": disjoint, "source_rows": True}
    out = sample(one, [0, 1, 2], **options)
    rows = gm.pyg.NeighborSampler(one, [1], source_rows=True).edge_permutation[out.edge].long()
    ends = torch.stack([out.global_row, out.global_col])
    wanted = edge_index[:, rows]
    if subgraph_type == "bidirectional":  # some edges are there the other way round
        ends, wanted = ends.sort(dim=0).values, wanted.sort(dim=0).values
    assert torch.equal(ends, wanted)
    if disjoint:
        assert torch.equal(out.seed_node, torch.tensor([0, 1, 2])[out.batch])
    else:
        assert out.seed_node is None


@pytest.mark.parametrize("disjoint", [False, True])
def test_merged_samples_have_the_nodes_and_edges_of_both(one, disjoint):
    first = sample(one, [0, 1], disjoint=disjoint)
    second = sample(one, [1, 2], disjoint=disjoint)
    merged = first.merge_with(second)
    assert edges_of(merged) == edges_of(first) | edges_of(second)
    assert set(merged.node.tolist()) == set(first.node.tolist()) | set(second.node.tolist())
    assert sum(merged.num_sampled_nodes) == len(merged.node)
    assert sum(merged.num_sampled_edges) == len(merged.row)
    if not disjoint:
        assert len(merged.node.unique()) == len(merged.node)
    joined = first.merge_with(second, replace=False)
    assert len(joined.node) == len(first.node) + len(second.node)
    assert len(joined.row) == len(first.row) + len(second.row)
    assert edges_of(joined) == edges_of(merged)


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("subgraph_type", SUBGRAPHS)
def test_collating_is_merging_one_after_the_other(one, subgraph_type, replace):
    outs = [sample(one, [i, i + 1], subgraph_type=subgraph_type) for i in range(3)]
    collated = SamplerOutput.collate(outs, replace=replace)
    merged = outs[0].merge_with(outs[1], replace=replace).merge_with(outs[2], replace=replace)
    assert str(collated) == str(merged)
    assert edges_of(collated) == set().union(*map(edges_of, outs))
    with pytest.raises(ValueError, match="empty list"):
        SamplerOutput.collate([])


def test_samples_of_links_merge_as_well(one, edge_index):
    sampler = gm.pyg.NeighborSampler(one, [3])
    outs = [
        sampler.sample_from_edges(EdgeSamplerInput(None, edge_index[0, i], edge_index[1, i]))
        for i in (torch.arange(3), torch.arange(3, 6))
    ]
    assert edges_of(SamplerOutput.collate(outs)) == edges_of(outs[0]) | edges_of(outs[1])


def test_both_directions_keep_the_edges_as_they_were(one, many):
    out = sample(one, [0, 1])
    back = out.to_bidirectional(keep_orig_edges=True)
    assert torch.equal(back.global_orig_row, out.global_row)
    assert torch.equal(back.global_orig_col, out.global_col)
    pairs = set(zip(back.row.tolist(), back.col.tolist(), strict=True))
    assert pairs == {(col, row) for row, col in pairs}
    typed = sample(many, [0, 1], "v")
    turned = typed.to_bidirectional(keep_orig_edges=True)
    for relation, rows in typed.global_row.items():
        assert torch.equal(turned.global_orig_row[relation], rows)


@pytest.mark.parametrize("disjoint", [False, True])
def test_many_kinds(many, disjoint):
    out = sample(many, [0, 1], "v", disjoint=disjoint)
    for relation, rows in out.row.items():
        graph = many.edges[relation].graph
        assert graph.has_edge(out.global_row[relation], out.global_col[relation]).all()
        assert len(rows) == sum(out.num_sampled_edges[relation])
    assert (out.seed_node is None) == (not disjoint)
    for merge in (lambda: out.merge_with(out), lambda: HeteroSamplerOutput.collate([out, out])):
        with pytest.raises(NotImplementedError):
            merge()
