"""`from_pyg`: each attribute of a `Data` is what it should be in the dataset, or a clear error."""

from __future__ import annotations

import numpy as np
import pytest

import graphmount as gm
from graphmount.errors import MissingDataError, SourceError

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
from torch_geometric.data import Data, HeteroData  # noqa: E402
from torch_geometric.datasets import FakeDataset  # noqa: E402

import graphmount.pyg  # noqa: E402

NUM_NODES, NUM_EDGES = 50, 300


def make_data(**more):
    generator = torch.Generator().manual_seed(3)
    data = Data(
        x=torch.rand(NUM_NODES, 4, generator=generator),
        edge_index=torch.randint(0, NUM_NODES, (2, NUM_EDGES), generator=generator),
        edge_attr=torch.rand(NUM_EDGES, 3, generator=generator),
        y=torch.randint(0, 5, (NUM_NODES,), generator=generator),
    )
    for name, value in more.items():
        data[name] = value
    return data


def compiled(data, tmp_path, **options):
    gm.from_pyg(data, tmp_path / "ds", **options)
    return gm.Dataset(tmp_path / "ds")


def assert_edges(ds, edge_index):
    """Every edge is there, and knows its place in `edge_index`."""
    lists = ds.graph.neighbor_lists()
    owners = np.repeat(np.arange(ds.num_nodes), np.diff(lists.indptr))
    ends = np.stack([ds.to_external(lists.indices), ds.to_external(owners)])
    assert np.array_equal(ends, edge_index.numpy()[:, lists.source_rows])
    assert np.array_equal(np.sort(lists.source_rows), np.arange(edge_index.shape[1]))


@pytest.mark.parametrize("order", ["hot", "given"])
def test_everything_is_there(tmp_path, order):
    data = make_data(
        pos=torch.rand(NUM_NODES, dtype=torch.float64),
        level=torch.arange(NUM_NODES, dtype=torch.int16),
        cube=torch.rand(NUM_NODES, 2, 3),
        half=torch.rand(NUM_NODES, 2).bfloat16(),
        odd=torch.arange(NUM_NODES) % 2 == 1,
        train_mask=torch.arange(NUM_NODES) < 20,
        test_mask=torch.arange(NUM_NODES).view(-1, 1) % 2 == torch.arange(2),
        edge_weight=torch.rand(NUM_EDGES),
        edge_time=torch.arange(NUM_EDGES).flip(0),
        kind=torch.arange(NUM_EDGES, dtype=torch.uint8),
        name="a graph",
        edge_label_index=torch.zeros(2, NUM_EDGES, dtype=torch.long),
        edge_label=torch.zeros(NUM_EDGES),
    )
    ds = compiled(data, tmp_path, order=order)
    assert_edges(ds, data.edge_index)
    nodes = ds.to_external(np.arange(NUM_NODES))
    assert set(ds.features) == {"x", "pos", "level", "cube", "half", "odd"}
    for name, store in ds.features.items():
        expected = data[name][nodes]
        assert torch.equal(store.tensor(), expected.reshape(store.shape)), name
        assert (store.tensor().dtype, len(store.shape)) == (expected.dtype, min(expected.ndim, 2))
    assert np.array_equal(np.asarray(ds.labels), data.y[nodes])
    rows = torch.from_numpy(ds.graph.neighbor_lists().source_rows.astype(np.int64))
    assert set(ds.edge_features) == {"edge_attr", "kind"}
    for name, store in ds.edge_features.items():
        assert torch.equal(store.tensor(), data[name][rows])
    assert np.array_equal(ds.graph.weights, data.edge_weight[rows])
    assert np.array_equal(ds.graph.neighbor_lists().timestamps, data.edge_time[rows])
    splits = {name: sorted(ds.to_external(ids).tolist()) for name, ids in ds.splits.items()}
    assert splits == {
        "train": list(range(20)),
        "test_0": list(range(0, NUM_NODES, 2)),
        "test_1": list(range(1, NUM_NODES, 2)),
    }


def test_batches_have_vectors_where_the_data_has_them(tmp_path):
    data = make_data(level=torch.arange(NUM_NODES), kind=torch.arange(NUM_EDGES))
    ds = compiled(data, tmp_path)
    batch = next(iter(gm.pyg.NeighborLoader(ds, [3], batch_size=10)))
    assert torch.equal(batch.level, torch.from_numpy(ds.to_external(batch.n_id)))
    assert batch.kind.shape == (batch.num_edges,)
    assert batch.y.shape == (batch.num_nodes,)


def test_dtypes_and_what_is_left_out(tmp_path):
    data = make_data(z=torch.rand(NUM_NODES), level=torch.arange(NUM_NODES))
    ds = compiled(data, tmp_path, dtype="float16", exclude=["y", "edge_attr"])
    assert {name: str(store.dtype) for name, store in ds.features.items()} == {
        "x": "float16",
        "z": "float16",
        "level": "int64",
    }
    assert ds.labels is None
    assert not ds.edge_features
    gm.from_pyg(data, tmp_path / "ds", dtype={"edge_attr": torch.float16}, overwrite=True)
    ds = gm.Dataset(tmp_path / "ds")
    assert (str(ds.features["x"].dtype), str(ds.edge_features["edge_attr"].dtype)) == (
        "float32",
        "float16",
    )
    with pytest.raises(ValueError, match=r"no table 'w'; there are \['edge_attr', 'level', 'x'"):
        gm.from_pyg(data, tmp_path / "other", dtype={"w": "float16"})
    with pytest.raises(ValueError, match=r"no attribute 'w' that could be left out; it has"):
        gm.from_pyg(data, tmp_path / "other", exclude="w")


def test_weights_and_times_that_are_none_are_tables(tmp_path):
    data = make_data(edge_weight=torch.linspace(-1, 1, NUM_EDGES), time=torch.rand(NUM_EDGES))
    ds = compiled(data, tmp_path)
    assert not ds.graph.has_weights
    assert not ds.graph.has_timestamps
    assert {"edge_weight", "time"} < set(ds.edge_features)


def test_weights_and_times_by_name(tmp_path):
    data = make_data(
        w=torch.rand(NUM_EDGES, 1), when=torch.arange(NUM_EDGES), edge_weight=torch.ones(NUM_EDGES)
    )
    ds = compiled(data, tmp_path, weights="w", timestamps="when")
    rows = ds.graph.neighbor_lists().source_rows
    assert np.array_equal(ds.graph.weights, data.w.numpy()[:, 0][rows])
    assert np.array_equal(ds.graph.neighbor_lists().timestamps, rows)
    assert set(ds.edge_features) == {"edge_attr", "edge_weight"}
    with pytest.raises(
        MissingDataError, match=r"weights='x': .* attribute of edges: it has one of"
    ):
        gm.from_pyg(data, tmp_path / "other", weights="x")
    with pytest.raises(ValueError, match=r"shape \(300, 3\), and one number"):
        gm.from_pyg(data, tmp_path / "other", weights="edge_attr")


def test_times_of_nodes_are_a_table_of_nodes(tmp_path):
    ds = compiled(make_data(time=torch.arange(NUM_NODES)), tmp_path)
    assert "time" in ds.features
    assert not ds.graph.has_timestamps


def test_arrays_that_are_mapped(tmp_path):
    rows = np.lib.format.open_memmap(tmp_path / "x.npy", "w+", np.float32, (NUM_NODES, 8))
    rows[:] = np.random.default_rng(0).random((NUM_NODES, 8))
    ds = compiled(make_data(x=np.load(tmp_path / "x.npy", mmap_mode="r")), tmp_path)
    expected = rows[ds.to_external(np.arange(NUM_NODES))]
    assert np.array_equal(np.asarray(ds.features["x"].numpy()), expected)


def test_a_dataset_of_pyg(tmp_path):
    graph = FakeDataset(num_graphs=1, avg_num_nodes=40, num_channels=8, task="node")[0]
    ds = compiled(graph, tmp_path)
    assert_edges(ds, graph.edge_index)
    assert ds.num_nodes == graph.num_nodes


def test_no_edges_at_all(tmp_path):
    data = make_data()
    data.edge_attr = None
    data.edge_index = torch.empty(2, 0, dtype=torch.long)
    assert compiled(data, tmp_path).num_edges == 0


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"edge_index": None}, SourceError, r"no edge_index; keep .* set torch.empty\(2, 0"),
        (
            {"edge_index": torch.tensor([[0, 1], [2, NUM_NODES]])},
            SourceError,
            r"edge 1: node id 50 is not below num_nodes=50",
        ),
        ({"edge_index": torch.tensor([[0, -1], [2, 3]])}, SourceError, r"edge 1: .*-1"),
        ({"edge_index": torch.zeros(3, 4).long()}, ValueError, r"shape \(3, 4\), and not \(2, edg"),
        ({"edge_index": torch.zeros(2, 4)}, TypeError, r"edge_index must be integers, not float32"),
        (
            {"edge_index": torch.zeros(2, 4, device="meta").long()},
            TypeError,
            r"edge_index is on",
        ),
        (
            {"x": torch.zeros(NUM_NODES, 2, device="meta")},
            TypeError,
            r"data.x is on the device 'm",
        ),
        (
            {"phase": torch.zeros(NUM_NODES, dtype=torch.complex64)},
            TypeError,
            r"data.phase has a row .* dtype complex64, .*exclude=\['phase'\]",
        ),
        ({"names": ["a"] * NUM_NODES}, TypeError, r"data.names .* is a list, and a table holds"),
        (
            {"x": torch.eye(NUM_NODES).to_sparse()},
            TypeError,
            r"data.x .* sparse \(torch.sparse",
        ),
        ({"nodes_index": torch.zeros(2, NUM_NODES)}, TypeError, r"in its last dimension"),
        (
            {"x": np.ma.masked_equal(np.arange(NUM_NODES), 3)},
            ValueError,
            r"data.x: 1 of the values are masked",
        ),
    ],
)
def test_bad_data(tmp_path, change, error, message):
    data = make_data(edge_attr=None, **change)
    with pytest.raises(error, match=message):
        gm.from_pyg(data, tmp_path / "ds")
    assert not list(tmp_path.iterdir())


def test_what_is_no_data(tmp_path):
    with pytest.raises(TypeError, match=r"a Data of PyG, not 'data.pt'"):
        gm.from_pyg("data.pt", tmp_path / "ds")
    with pytest.raises(TypeError, match=r"pass one of its graphs, such as dataset\[0\]"):
        gm.from_pyg(FakeDataset(num_graphs=1), tmp_path / "ds")
    kinds = HeteroData()
    kinds["paper"].x = torch.ones(3, 2)
    kinds["paper", "cites", "paper"].edge_index = torch.tensor([[0, 1], [1, 2]])
    gm.from_pyg(kinds, tmp_path / "kinds")
    assert isinstance(gm.Dataset(tmp_path / "kinds"), gm.TypedDataset)
    gm.from_pyg(kinds.to_homogeneous(), tmp_path / "one_kind")
    assert gm.Dataset(tmp_path / "one_kind").num_edges == 2
    gm.from_pyg(make_data(), tmp_path / "ds")
    with pytest.raises(FileExistsError):
        gm.from_pyg(make_data(), tmp_path / "ds")
