"""Inference layer by layer, against the whole graph at once."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphmount as gm
from graphmount.errors import BudgetError, MissingDataError, OrderError, SourceError

torch = pytest.importorskip("torch", reason="torch is not installed")

from graphmount.torch import layerwise_inference  # noqa: E402


def mount(folder, edges, x, **options):
    src, dst = np.asarray(edges, np.int64).reshape(-1, 2).T
    gm.compile_graph((src, dst), folder / "g.gl", num_nodes=len(x), **options)
    gm.compile_features(x, folder / "x.gd")
    return gm.Graph(folder / "g.gl"), gm.FeatureStore(folder / "x.gd")


def random_data(folder, *, num_nodes=60, num_edges=400, columns=5, **options):
    generator = np.random.default_rng(2)
    edges = (generator.random((num_edges, 2)) ** 2 * num_nodes).astype(np.int64)
    x = generator.standard_normal((num_nodes, columns)).astype(np.float32)
    return mount(folder, edges, x, **options)


def whole_graph(graph, direction="in"):
    """`edge_index` of all edges, and their weights, list by list."""
    lists = graph.neighbor_lists(direction)
    owners = np.repeat(np.arange(graph.num_nodes), np.diff(lists.indptr))
    ends = (lists.indices, owners) if direction == "in" else (owners, lists.indices)
    weights = None if lists.weights is None else torch.from_numpy(lists.weights.copy())
    return torch.from_numpy(np.stack(ends).astype(np.int64)), weights


class Mean(torch.nn.Module):
    """A layer in plain torch: a mean over edges by weight, and the node itself."""

    def __init__(self, inputs, outputs, *, backward=False):
        super().__init__()
        self.ends = (1, 0) if backward else (0, 1)
        self.own, self.others = torch.nn.Linear(inputs, outputs), torch.nn.Linear(inputs, outputs)
        self.dropout = torch.nn.Dropout(0.5)

    def forward(self, x, edge_index, weight=None):
        near, far = edge_index[self.ends[0]], edge_index[self.ends[1]]
        weight = torch.ones(len(near)) if weight is None else weight
        total = torch.zeros_like(x).index_add(0, far, x[near] * weight[:, None])
        count = torch.zeros(len(x)).index_add(0, far, weight)
        mean = total / count.clamp(min=1e-6)[:, None]
        return self.dropout(torch.relu(self.own(x) + self.others(mean)))


def forward(layers, x, *arguments):
    for layer in layers:
        layer.eval()
        x = layer(x, *arguments)
    return x.detach()


@given(
    edges=st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40),
    direction=st.sampled_from(["in", "out"]),
    directed=st.booleans(),
    weighted=st.booleans(),
    num_layers=st.integers(1, 3),
    memory=st.integers(21_000, 60_000),
)
def test_any_graph(*, edges, direction, directed, weighted, num_layers, memory, tmp_path):
    generator = np.random.default_rng(len(edges))
    x = generator.standard_normal((12, 4)).astype(np.float32)
    weights = generator.random(len(edges)).astype(np.float32) if weighted else None
    graph, store = mount(tmp_path, edges, x, directed=directed, weights=weights)
    torch.manual_seed(0)
    layers = [Mean(4, 4, backward=direction == "out") for _ in range(num_layers)]
    call = (
        (lambda layer, block: layer(block.x, block.edge_index, block.edge_weight))
        if weighted
        else None
    )
    done = layerwise_inference(
        (graph, store),
        layers,
        out=tmp_path / "y.gd",
        call=call,
        weights=weighted,
        direction=direction,
        memory=memory,
    )
    edge_index, edge_weight = whole_graph(graph, direction)
    expected = forward(layers, torch.from_numpy(x), edge_index, edge_weight)
    assert torch.allclose(gm.FeatureStore(done.path).tensor(), expected, atol=1e-5)
    assert gm.verify(done.path).ok


def test_layers_of_pyg(tmp_path):
    nn = pytest.importorskip("torch_geometric.nn", reason="torch_geometric is not installed")
    graph, store = random_data(tmp_path)
    torch.manual_seed(1)
    layers = [
        nn.SAGEConv(5, 8),
        nn.GATConv(8, 4, heads=2),
        nn.GINConv(torch.nn.Linear(8, 8)),
        nn.SAGEConv(8, 3, aggr="max"),
    ]
    sizes = []

    def call(layer, block):
        sizes.append(block.num_targets)
        # For two sets of nodes, as PyG's layers have it: those read, and those to compute.
        both = isinstance(layer, nn.SAGEConv)
        x = (block.x, block.x[: block.num_targets]) if both else block.x
        return layer(x, block.edge_index)

    layerwise_inference((graph, store), layers, out=tmp_path / "y.gd", call=call, memory="90KiB")
    expected = forward(layers, store.tensor(), whole_graph(graph)[0])
    got = gm.FeatureStore(tmp_path / "y.gd")
    assert torch.allclose(got.tensor(), expected, atol=1e-5)
    assert got.order == graph.order
    assert sum(sizes) == 4 * graph.num_nodes
    assert len(sizes) > 8  # several blocks for each layer


def test_degrees_of_neighbors_come_by_call(tmp_path):
    nn = pytest.importorskip("torch_geometric.nn", reason="torch_geometric is not installed")
    # PyG keeps the loops that a graph has in place of those that it adds; so there are none.
    graph, store = random_data(tmp_path, self_loops="drop")
    torch.manual_seed(1)
    layers = [nn.GCNConv(5, 6), nn.GCNConv(6, 2)]
    scale = torch.from_numpy((graph.degree() + 1.0) ** -0.5).float()

    def call(layer, block):
        loops = torch.arange(block.num_targets).expand(2, -1)
        edge_index = torch.cat([block.edge_index, loops], dim=1)
        sums = torch.zeros_like(block.x).index_add(
            0,
            edge_index[1],
            block.x[edge_index[0]] * scale[block.nodes[edge_index]].prod(dim=0)[:, None],
        )
        return layer.lin(sums) + layer.bias

    layerwise_inference((graph, store), layers, out=tmp_path / "y.gd", call=call, memory="90KiB")
    expected = forward(layers, store.tensor(), whole_graph(graph)[0])
    assert torch.allclose(gm.FeatureStore(tmp_path / "y.gd").tensor(), expected, atol=1e-5)


def test_a_dataset_with_reordered_nodes(tmp_path):
    generator = np.random.default_rng(4)
    src, dst = generator.integers(0, 30, (2, 100))
    x = generator.standard_normal((30, 3)).astype(np.float32)
    gm.compile_dataset(tmp_path / "d", edges=(src, dst), num_nodes=30, features={"x": x, "z": -x})
    dataset = gm.Dataset(tmp_path / "d")
    layers = [Mean(3, 2)]
    layerwise_inference(dataset, layers, out=tmp_path / "y.gd", features="z")
    y = gm.FeatureStore(tmp_path / "y.gd")
    gm.check_order(dataset.graph, y)
    expected = forward(layers, torch.from_numpy(-x), torch.from_numpy(np.stack([src, dst])))
    nodes = dataset.to_internal(np.arange(30))
    assert torch.allclose(y.tensor()[torch.from_numpy(nodes)], expected, atol=1e-5)
    with pytest.raises(ValueError, match=r"no table 'w' in .*; there are \['x', 'z'\]"):
        layerwise_inference(dataset, layers, out=tmp_path / "y.gd", features="w")


@pytest.mark.parametrize("dtype", ["float16", torch.bfloat16, torch.float64])
def test_dtypes(dtype, tmp_path):
    graph, store = random_data(tmp_path)
    layers = [Mean(5, 4), Mean(4, 4)]
    done = layerwise_inference((graph, store), layers, out=tmp_path / "y.gd", dtype=dtype)
    assert done.dtype == str(dtype).removeprefix("torch.")
    expected = forward(layers, store.tensor(), whole_graph(graph)[0])
    assert torch.allclose(gm.FeatureStore(done.path).tensor().float(), expected, atol=0.05)


def test_what_is_stored_in_other_dtypes_and_shapes(tmp_path):
    graph, store = random_data(tmp_path, num_nodes=20)
    gm.compile_features(store, tmp_path / "q.gd", quantize="column")
    quantized = gm.FeatureStore(tmp_path / "q.gd")
    done = layerwise_inference((graph, quantized), [lambda x, _: x], out=tmp_path / "y.gd")
    assert np.allclose(gm.FeatureStore(done.path).numpy(), store.numpy(), atol=0.05)
    done = layerwise_inference(
        (graph, store), [lambda x, _: x.argmax(dim=1)], out=tmp_path / "y.gd", dtype="float16"
    )
    assert (done.shape, done.dtype) == ((20,), "int64")
    assert gm.FeatureStore(done.path).numpy().tolist() == store.numpy().argmax(axis=1).tolist()
    gm.compile_features(store.numpy().astype(np.float64), tmp_path / "x64.gd")
    wide = gm.FeatureStore(tmp_path / "x64.gd")
    assert (
        layerwise_inference((graph, wide), [lambda x, _: x], out=tmp_path / "y.gd").dtype
        == "float64"
    )


def test_modules_and_generators_are_left_as_they_were(tmp_path):
    data = random_data(tmp_path)
    layer = Mean(5, 5)
    layer.own.eval()
    state = torch.random.get_rng_state()
    layerwise_inference(data, [layer, layer], out=tmp_path / "y.gd", device="cpu")
    assert torch.equal(torch.random.get_rng_state(), state)
    assert (layer.training, layer.own.training, layer.dropout.training) == (True, False, True)


def test_files_and_progress(tmp_path):
    data = random_data(tmp_path)
    (tmp_path / "tmp").mkdir()
    told = []
    met = []

    def layer(x, _):
        met.append(sorted(os.listdir(tmp_path / "tmp")))
        return x

    layerwise_inference(
        data,
        [layer] * 3,
        out=tmp_path / "y.gd",
        tmp=tmp_path / "tmp",
        progress=lambda done, total: told.append((done, total)),
    )
    assert told[-1] == (1000, 1000)
    assert told == sorted(told)
    assert all(len(names) == 1 for names in met)
    assert os.listdir(tmp_path / "tmp") == []
    before = (tmp_path / "y.gd").read_bytes()

    def fail(*_):
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        layerwise_inference(data, [layer, fail], out=tmp_path / "y.gd", tmp=tmp_path / "tmp")
    assert os.listdir(tmp_path / "tmp") == []
    assert (tmp_path / "y.gd").read_bytes() == before


def test_refusals(tmp_path):
    graph, store = data = random_data(tmp_path)
    out = tmp_path / "out.gd"
    with pytest.raises(BudgetError, match=r"node \d+ has \d+ neighbors, .*pass memory="):
        layerwise_inference(data, [lambda x, _: x], out=out, memory="1000B")
    with pytest.raises(ValueError, match=r"layers\[1\] gave 1 rows for 60 nodes"):
        layerwise_inference(data, [lambda x, _: x, lambda x, _: x[:1]], out=out)
    with pytest.raises(
        ValueError, match=r"layers\[0\] gave \(60, 5, 1\), not a tensor of one or two"
    ):
        layerwise_inference(data, [lambda x, _: x[..., None]], out=out)
    with pytest.raises(ValueError, match=r"layers\[0\] gave NoneType"):
        layerwise_inference(data, [lambda *_: None], out=out)
    widths = iter(range(1, 100))
    with pytest.raises(
        ValueError, match=r"gave rows of shape \(2,\) for the block from node \d+ on"
    ):
        layerwise_inference(data, [lambda x, _: x[:, : next(widths)]], out=out, memory="90KiB")
    with pytest.raises(
        SourceError, match=r"layers\[0\], row 0, column 0: .* cannot be stored as float16"
    ):
        layerwise_inference(data, [lambda x, _: x * 0 + 1e6], out=out, dtype="float16")
    with pytest.raises(ValueError, match="layers is empty"):
        layerwise_inference(data, [], out=out)
    with pytest.raises(MissingDataError, match="has no weights; compile it with weights="):
        layerwise_inference(data, [lambda x, _: x], out=out, weights=True)
    with pytest.raises(TypeError, match=r"data must be a Dataset or \(Graph, FeatureStore\)"):
        layerwise_inference(graph, [lambda x, _: x], out=out)
    gm.compile_features(np.zeros((3, 2)), tmp_path / "short.gd")
    with pytest.raises(OrderError, match="has 3 rows"):
        layerwise_inference((graph, gm.FeatureStore(tmp_path / "short.gd")), [None], out=out)
    gm.compile_dataset(
        tmp_path / "d", edges=([1, 2, 2], [0, 0, 1]), features={"x": np.zeros((3, 1))}
    )
    with pytest.raises(OrderError):
        layerwise_inference((gm.Dataset(tmp_path / "d").graph, store), [None], out=out)
    gm.compile_graph(([], []), tmp_path / "empty.gl", num_nodes=0)
    gm.compile_features(np.zeros((0, 2)), tmp_path / "empty.gd")
    empty = gm.Graph(tmp_path / "empty.gl"), gm.FeatureStore(tmp_path / "empty.gd")
    with pytest.raises(ValueError, match="has no nodes, so there is nothing to compute"):
        layerwise_inference(empty, [lambda x, _: x], out=out)
    assert not out.exists()


def test_example(tmp_path):
    script = Path(__file__).parents[3] / "examples/layerwise_inference.py"
    done = subprocess.run(
        [sys.executable, script, tmp_path, "--nodes", "1500", "--epochs", "8", "--memory", "2MiB"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},  # threads would wait for each other
    )
    assert float(re.search(r"whole graph at once: (\S+)", done.stdout)[1]) < 1e-4
    assert float(re.search(r"not trained on: (\S+)", done.stdout)[1]) > 0.7


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_matrix_of_a_block_has_its_edges(tmp_path, dtype, weighted):
    weights = np.random.default_rng(3).random(400).astype(np.float32) if weighted else None
    graph, store = random_data(tmp_path, weights=weights)
    name = str(dtype).removeprefix("torch.")
    gm.compile_features(store, tmp_path / "typed.gd", dtype=name)
    data = graph, gm.FeatureStore(tmp_path / "typed.gd")

    def call(_layer, block):
        dense = torch.zeros(block.num_targets, len(block.x), dtype=dtype)
        values = torch.ones(block.edge_index.shape[1]) if not weighted else block.edge_weight
        columns, rows = block.edge_index
        dense.index_put_((rows, columns), values.to(dtype), accumulate=True)
        assert block.adj.dtype == dtype
        assert torch.equal(block.adj.to_dense(), dense)
        return block.adj @ block.x

    out = layerwise_inference(
        data,
        [None],
        out=tmp_path / "y.gd",
        call=call,
        weights=weighted,
        memory="64KiB",
    )
    edge_index, weight = whole_graph(data[0])
    x = data[1].tensor().to(dtype)
    weight = torch.ones(edge_index.shape[1]) if weight is None or not weighted else weight
    expected = torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]] * weight[:, None])
    assert torch.allclose(gm.FeatureStore(out.path).tensor(), expected.to(dtype), atol=1e-5)


def test_the_matrix_of_a_block_wants_edges_that_lead_to_it(tmp_path):
    data = random_data(tmp_path, neighbors="out")

    def call(_layer, block):
        with pytest.raises(ValueError, match="do not lead to the nodes to compute"):
            _ = block.adj
        return block.x

    layerwise_inference(data, [None], out=tmp_path / "y.gd", call=call, direction="out")
