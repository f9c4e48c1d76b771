"""Matrices of layers, compared with dense ones that are filled edge by edge, and with PyG's way."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphmount as gm

torch = pytest.importorskip("torch", reason="torch is not installed")
from typed_loader_data import WRITES, make_typed  # noqa: E402

import graphmount.torch  # noqa: E402

NUM_NODES = 40


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    path = tmp_path_factory.mktemp("layers") / "g.gl"
    ends = np.random.default_rng(0).integers(0, 30, (2, 300))  # with edges that are there twice
    gm.compile_graph(ends, path, num_nodes=NUM_NODES)
    return gm.Graph(path)


def mean_of_neighbors(x, row, col, num_targets):
    """The slow twin of a product with reduce="mean": edge by edge, and 0 without neighbors."""
    out = np.zeros((num_targets, x.shape[1]))
    for target in range(num_targets):
        sources = row[col == target]
        if len(sources):
            out[target] = x[sources].mean(0)
    return out


@given(
    seeds=st.lists(st.integers(0, NUM_NODES - 1), min_size=1, max_size=8),  # also twice
    fanouts=st.lists(st.sampled_from([-1, 0, 1, 3]), min_size=1, max_size=3),
    replace=st.booleans(),
    disjoint=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_against_the_slow_twin(graph, seeds, fanouts, replace, disjoint, seed):  # noqa: PLR0917
    loader = gm.torch.NeighborLoader(
        graph,
        fanouts,
        input_nodes=seeds,
        batch_size=len(seeds),
        replace=replace,
        disjoint=disjoint,
        seed=seed,
    )
    (batch,) = loader
    row, col = batch.edge_index.numpy()
    np.testing.assert_array_equal(
        batch.indptr, np.searchsorted(col, np.arange(sum(batch.num_sampled_nodes[:-1]) + 1))
    )
    x = np.random.default_rng(seed).standard_normal((batch.num_nodes, 3))
    assert len(batch.adjs) == len(fanouts)
    for layer, adj in enumerate(batch.adjs):
        hops = len(fanouts) - layer
        edges = sum(batch.num_sampled_edges[:hops])
        assert adj.shape[0] == sum(batch.num_sampled_nodes[:hops])
        assert adj.shape[1] == len(x)
        assert adj.values().shape == (edges,)  # also those that are there twice
        twin = mean_of_neighbors(x, row[:edges], col[:edges], adj.shape[0])
        x = torch.sparse.mm(adj.double(), torch.from_numpy(x), "mean").numpy()
        np.testing.assert_allclose(x, twin, atol=1e-12)
    assert len(x) == len(seeds)


@pytest.fixture
def batch(graph):
    return next(iter(gm.torch.NeighborLoader(graph, [4, 3], batch_size=6, seed=1)))


def test_items(batch):
    assert batch.adjs[0].shape == batch.adjs[-2].shape
    assert batch.adjs[1].shape == batch.adjs[-1].shape
    for layer in (2, -3, "x"):
        with pytest.raises(IndexError, match="there are 2 layers"):
            batch.adjs[layer]
    assert repr(batch.adjs) == f"<LayerMatrices: 2 layers, {batch.num_edges} edges>"


@pytest.mark.parametrize(
    "copied",
    [
        copy.copy,
        copy.deepcopy,
        lambda adjs: pickle.loads(pickle.dumps(adjs)),  # noqa: S301
        lambda adjs: adjs.clone(),
        lambda adjs: adjs.to("cpu"),
    ],
)
def test_copies(batch, copied):
    for mine, other in zip(batch.adjs, copied(batch.adjs), strict=True):
        assert torch.equal(mine.to_dense(), other.to_dense())


def test_on_another_device(batch):
    assert batch.to("meta").adjs.columns.device.type == "meta"


@pytest.mark.parametrize(
    "options", [{"subgraph_type": "induced"}, {"subgraph_type": "bidirectional"}]
)
def test_edges_that_do_not_lie_by_hop(graph, options):
    batch = next(iter(gm.torch.NeighborLoader(graph, [3], batch_size=4, **options)))
    assert batch.indptr is None
    with pytest.raises(ValueError, match='subgraph_type="directional"'):
        _ = batch.adjs


def test_a_sample_of_the_other_direction_has_no_pointers(graph):
    assert graph.sample_neighbors([1, 2], [3], direction="out").indptr is None


@pytest.mark.parametrize(
    ("field", "place", "value"),
    [("columns", 0, 10**6), ("columns", 1, -1), ("indptr", 1, 10**6), ("indptr", -1, 0)],
)
def test_what_was_changed_is_never_followed(batch, field, place, value):
    adjs = batch.adjs.clone()
    getattr(adjs, field)[place] = value
    with pytest.raises(ValueError, match="do not belong to its nodes"):
        list(adjs)


def test_warnings_of_a_training_loop_are_said_once(batch):
    """As without matrices: a step neither changes filters nor makes torch warn."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            list(batch.adjs)
            gm.torch.to_sparse_csr(batch)
            warnings.warn("a step", UserWarning, stacklevel=1)
    assert [str(each.message) for each in caught] == ["a step"]


@pytest.mark.parametrize("merge", [False, True])
def test_no_edge_is_taken_for_another(batch, merge):
    edge_index = batch.edge_index.clone()
    edge_index[0, 0] = batch.num_nodes  # in a merged matrix that would be a place of the next row
    changed = dataclasses.replace(batch, edge_index=edge_index)
    with pytest.raises(ValueError, match="do not belong to its nodes"):
        gm.torch.to_sparse_csr(changed, merge=merge)


class TestPyg:
    @pytest.fixture
    def loader(self, graph):
        pytest.importorskip("torch_geometric", reason="PyG is not installed")
        x = np.random.default_rng(1).standard_normal((NUM_NODES, 5)).astype(np.float32)
        pyg = pytest.importorskip("graphmount.pyg")
        gm.compile_features(x, f"{graph.path}.gd")
        self.tables = {name: gm.FeatureStore(f"{graph.path}.gd") for name in ("x", "adjs")}
        return pyg.NeighborLoader((graph, {"x": self.tables["x"]}), [4, 3], batch_size=6, seed=1)

    def test_layers_of_pyg_give_the_same(self, loader):
        from torch_geometric.nn import SAGEConv
        from torch_geometric.utils import trim_to_layer

        torch.manual_seed(0)
        convs = torch.nn.ModuleList([SAGEConv(5, 7), SAGEConv(7, 2)])
        for batch in loader:
            plain, edges = batch.x, batch.edge_index
            fast = batch.x
            for layer, (conv, adj) in enumerate(zip(convs, batch.adjs, strict=True)):
                plain, edges, _ = trim_to_layer(
                    layer, batch.num_sampled_nodes, batch.num_sampled_edges, plain, edges
                )
                plain = conv(plain, edges).relu()
                fast = conv((fast, fast[: adj.size(0)]), adj).relu()
            torch.testing.assert_close(fast, plain[: batch.batch_size])

    @pytest.mark.parametrize(
        ("layer", "options"),
        [
            ("SAGEConv", {"aggr": "max"}),
            ("GraphConv", {}),
            ("LEConv", {}),
            ("GENConv", {}),
            ("TransformerConv", {}),
            ("GATConv", {"add_self_loops": False}),
            ("GATv2Conv", {"add_self_loops": False}),
        ],
    )
    def test_layers_that_the_docs_name(self, loader, layer, options):
        from torch_geometric import nn

        torch.manual_seed(0)
        conv = getattr(nn, layer)((5, 5), 3, **options)
        for batch in loader:
            adj = batch.adjs[0]
            pair = batch.x, batch.x[: adj.size(0)]
            torch.testing.assert_close(conv(pair, adj), conv(pair, batch.edge_index))

    def test_batches_copy_and_travel(self, loader):
        batch = next(iter(loader))
        sent = pickle.loads(pickle.dumps(batch))  # noqa: S301
        for other in (copy.deepcopy(batch), sent, batch.to("cpu")):
            assert torch.equal(other.adjs[0].to_dense(), batch.adjs[0].to_dense())
        assert batch.to("meta").adjs.indptr.device.type == "meta"
        assert "adjs" in batch.keys()  # noqa: SIM118  (of a Data)
        assert not batch.is_node_attr("adjs")
        assert not batch.is_edge_attr("adjs")

    def test_a_table_of_this_name_is_refused(self, loader, graph):
        with pytest.raises(ValueError, match="adjs"):
            type(loader)((graph, {"adjs": self.tables["adjs"]}), [2])


@pytest.fixture(scope="module")
def typed(tmp_path_factory):
    return make_typed(tmp_path_factory.mktemp("typed") / "d")


class TestManyTypes:
    """`to_sparse_csr` of samples of many types: a matrix for each relation."""

    @pytest.mark.parametrize("hops", [None, 1, 2])
    @pytest.mark.parametrize("merge", [False, True])
    def test_they_are_the_edges(self, typed, hops, merge):
        options = {"input_nodes": "paper", "batch_size": 60, "seed": 1}
        arrays = next(iter(gm.NeighborLoader(typed, [3, 2], **options)))
        tensors = next(iter(gm.torch.NeighborLoader(typed, [3, 2], **options)))
        sample = typed.sample_neighbors(("paper", [1, 2, 3]), [3, 2], ids="internal", seed=1)
        for each in (arrays, tensors, sample):
            values = {WRITES: torch.arange(each.edge_index[WRITES].shape[1]) + 2.0}
            matrices = gm.torch.to_sparse_csr(each, hops=hops, values=values, merge=merge)
            assert list(matrices) == list(typed.edge_types)
            for relation, matrix in matrices.items():
                source, _, target = relation
                nodes, edges = each.num_sampled_nodes, each.num_sampled_edges[relation]
                size = sum(nodes[target][:hops]), sum(nodes[source][: hops and hops + 1])
                count = sum(edges[:hops])
                row, col = (torch.as_tensor(ends[:count]) for ends in each.edge_index[relation])
                weight = values.get(relation, torch.ones(each.edge_index[relation].shape[1]))
                wanted = torch.zeros(size)
                wanted.index_put_((col, row), weight[:count], accumulate=True)
                assert torch.equal(matrix.to_dense(), wanted)

    def test_refusals(self, typed):
        options = {"input_nodes": "paper", "batch_size": 60}
        induced = next(iter(gm.NeighborLoader(typed, [2], subgraph_type="induced", **options)))
        assert gm.torch.to_sparse_csr(induced)[WRITES].shape == (
            len(induced.nodes["paper"]),
            len(induced.nodes["author"]),
        )
        with pytest.raises(ValueError, match="hops: the edges of this sample are not in the order"):
            gm.torch.to_sparse_csr(induced, hops=1)
        with pytest.raises(ValueError, match="values must be a dict of tensors for some of"):
            gm.torch.to_sparse_csr(induced, values=torch.ones(3))
        with pytest.raises(ValueError, match="values must be a dict of tensors for some of"):
            gm.torch.to_sparse_csr(induced, values={"writes": torch.ones(3)})
