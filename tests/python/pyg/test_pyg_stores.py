"""The stores of `Dataset.to_pyg`, by PyG's own calls: what they give, refuse and pickle as."""

from __future__ import annotations

import pickle
from multiprocessing.reduction import ForkingPickler

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mapped_memory import mapping_of
from pyg_datasets import NUM_NODES, make_dataset

import graphmount as gm
from graphmount.errors import MissingDataError

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
from torch_geometric.data import EdgeAttr, TensorAttr  # noqa: E402
from torch_geometric.data.graph_store import EdgeLayout  # noqa: E402

import graphmount.pyg  # noqa: E402


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_dataset(tmp_path_factory.mktemp("stores") / "dataset", index_dtype="int64")


@pytest.fixture
def stores(made):
    return made[0].to_pyg()


@pytest.fixture
def feature_store(stores):
    return stores[0]


@pytest.fixture
def graph_store(stores):
    return stores[1]


# Features.


def test_attributes_are_listed_anew_each_time(feature_store):
    listed = feature_store.get_all_tensor_attrs()
    assert [(attr.group_name, attr.attr_name) for attr in listed] == [(None, "x"), (None, "y")]
    for attr in listed:
        assert not attr.is_set("index")
        attr.index = torch.tensor([1])  # as PyG's loaders do
    assert not any(attr.is_set("index") for attr in feature_store.get_all_tensor_attrs())


def test_chosen_attributes(made):
    dataset, arrays = made
    store, _ = dataset.to_pyg(attributes=["train_mask", "x"])
    assert [attr.attr_name for attr in store.get_all_tensor_attrs()] == ["train_mask", "x"]
    assert store.get_tensor(None, "y", None).tolist() == arrays["labels"].tolist()
    with pytest.raises(KeyError, match=r"no attribute 'z', only \['x', 'y', 'train_mask', 'valid"):
        dataset.to_pyg(attributes=["z"])


def test_whole_tensors_are_the_file(made, feature_store):
    dataset, arrays = made
    mapped = dataset.features["x"].tensor()
    for index in (None, slice(None)):
        tensor = feature_store.get_tensor(None, "x", index)
        assert tensor.data_ptr() == mapped.data_ptr()
        assert np.array_equal(tensor.numpy(), arrays["x"])
    assert feature_store[None, "x", slice(3, 9)].data_ptr() == mapped[3:].data_ptr()
    assert feature_store[TensorAttr(None, "y", None)].tolist() == arrays["labels"].tolist()


def test_views(made, feature_store):
    _, arrays = made
    assert feature_store[None, "x"][torch.tensor([2])].tolist() == arrays["x"][[2]].tolist()
    assert feature_store[None, "y"]().tolist() == arrays["labels"].tolist()
    view = feature_store.view(group_name=None, attr_name="x")
    view.index = torch.tensor([1, 0])
    assert view().tolist() == arrays["x"][[1, 0]].tolist()


def test_masks_of_splits(made, feature_store):
    _, arrays = made
    mask = feature_store.get_tensor(None, "train_mask", None)
    assert mask.dtype == torch.bool
    assert mask.nonzero().view(-1).tolist() == arrays["train"].tolist()
    assert feature_store.get_tensor(None, "valid_mask", torch.tensor([1, 2, 0])).tolist() == [
        1,
        0,
        1,
    ]
    with pytest.raises(IndexError, match="node 40 does not exist: nodes are numbered from 0 to 39"):
        feature_store.get_tensor(None, "valid_mask", torch.tensor([40]))


ids = st.integers(0, NUM_NODES - 1)
indices = st.one_of(
    st.none(),
    ids,
    st.lists(ids, max_size=30).map(lambda found: torch.tensor(found, dtype=torch.int64)),
    st.lists(ids, min_size=1, max_size=9).map(lambda found: torch.tensor(found, dtype=torch.int32)),
    st.lists(st.booleans(), min_size=NUM_NODES, max_size=NUM_NODES).map(torch.tensor),
    st.slices(NUM_NODES).filter(lambda found: (found.step or 1) > 0),
)


@given(index=indices, name=st.sampled_from(["x", "y", "train_mask"]))
def test_any_index(made, feature_store, index, name):
    _, arrays = made
    is_train = np.isin(np.arange(NUM_NODES), arrays["train"])
    whole = {"x": arrays["x"], "y": arrays["labels"], "train_mask": is_train}[name]
    key = index.numpy() if isinstance(index, torch.Tensor) else index
    expected = whole if index is None else whole[key]
    got = feature_store.get_tensor(None, name, index)
    assert got.dtype == torch.from_numpy(whole).dtype
    assert np.array_equal(got.numpy(), expected)
    assert feature_store.get_tensor_size(TensorAttr(None, name, index)) == expected.shape


def test_one_call_for_all_attributes(made, feature_store):
    _, arrays = made
    nodes = torch.tensor([7, 3, 7, 0])
    attrs = feature_store.get_all_tensor_attrs()
    for attr in attrs:
        attr.index = nodes
    x, y = feature_store.multi_get_tensor(attrs)
    assert np.array_equal(x.numpy(), arrays["x"][nodes])
    assert np.array_equal(y.numpy(), arrays["labels"][nodes])
    assert x.data_ptr() != feature_store.get_tensor(None, "x", None).data_ptr()
    x[:] = 0  # the batch is the user's own
    assert np.array_equal(feature_store.get_tensor(None, "x", None).numpy(), arrays["x"])


def test_sizes(feature_store):
    assert feature_store.get_tensor_size(None, "x") == (NUM_NODES, 5)
    assert feature_store.get_tensor_size(None, "y") == (NUM_NODES,)
    assert feature_store.get_tensor_size(None, "nothing") is None
    assert feature_store.get_tensor_size("paper", "x") is None


def test_refusals(feature_store):
    with pytest.raises(KeyError, match="no attribute 'z'"):
        feature_store.get_tensor(None, "z", None)
    with pytest.raises(KeyError, match="no group 'paper'"):
        feature_store.get_tensor("paper", "x", None)
    with pytest.raises(IndexError, match="40"):
        feature_store.get_tensor(None, "x", torch.tensor([0, 40]))
    with pytest.raises(IndexError, match="-1"):
        feature_store.get_tensor(None, "x", torch.tensor([-1]))
    with pytest.raises(ValueError, match=r"a mask of shape \(3,\) for 40 nodes"):
        feature_store.get_tensor(None, "x", torch.tensor([True, False, True]))
    with pytest.raises(TypeError, match="'x' cannot be changed, as a mounted dataset is read-only"):
        feature_store.put_tensor(torch.zeros(2), None, "x", None)
    with pytest.raises(TypeError, match="compile it again"):
        del feature_store[None, "x"]
    assert feature_store.get_tensor(None, "x", None).shape == (NUM_NODES, 5)
    assert repr(feature_store).endswith(": x, y>")


@pytest.mark.parametrize(
    ("options", "dtype", "expected"),
    [
        ({"dtype": "float16"}, None, torch.float16),
        ({"dtype": "float16"}, torch.float32, torch.float32),
        ({"dtype": "bfloat16"}, None, torch.bfloat16),
        ({"dtype": "bfloat16"}, torch.float32, torch.float32),
        ({"quantize": "column"}, None, torch.float32),
        ({"quantize": "column"}, torch.float64, torch.float64),
    ],
)
def test_dtypes(tmp_path, options, dtype, expected):
    dataset, arrays = make_dataset(tmp_path / "dataset", x_options=options)
    store, _ = dataset.to_pyg(dtype=dtype)
    tolerance = np.abs(arrays["x"]).max() / 100
    for index in (None, torch.tensor([4, 2]), slice(2, 8), 5):
        x = store.get_tensor(None, "x", index)
        assert x.dtype == expected
        wanted = arrays["x"] if index is None else arrays["x"][index]
        assert np.allclose(x.float().numpy(), wanted, atol=tolerance)
    assert store.get_tensor(None, "y", None).dtype == torch.int64


def test_labels_in_a_column_and_without(tmp_path):
    columns = {"labels": np.array([[3], [1], [2]]), "order": "given"}
    gm.compile_dataset(tmp_path / "one", edges=([1, 2], [0, 0]), **columns)
    store, _ = gm.Dataset(tmp_path / "one").to_pyg()
    assert store.get_tensor(None, "y", None).tolist() == [3, 1, 2]
    assert store.get_tensor(None, "y", torch.tensor([2, 0])).tolist() == [2, 3]
    assert store.get_tensor(None, "y", 1).item() == 1
    assert store.get_tensor_size(None, "y") == (3,)
    gm.compile_dataset(tmp_path / "none", edges=([1, 2], [0, 0]))
    assert gm.Dataset(tmp_path / "none").to_pyg()[0].get_all_tensor_attrs() == []
    gm.compile_dataset(
        tmp_path / "both",
        edges=([1, 2], [0, 0]),
        features={"y": np.zeros((3, 2))},
        labels=[0, 1, 2],
    )
    with pytest.raises(ValueError, match="labels are called 'y' in PyG, and a table has that name"):
        gm.Dataset(tmp_path / "both").to_pyg()


def test_stores_pickle_by_path(stores):
    feature_store, graph_store = stores
    mapped = feature_store.get_tensor(None, "x", None)
    for dumps in (pickle.dumps, lambda what: bytes(ForkingPickler.dumps(what))):
        sent = dumps(stores)
        assert len(sent) < 1000
        features, graph = pickle.loads(sent)  # noqa: S301
        assert [attr.attr_name for attr in features.get_all_tensor_attrs()] == ["x", "y"]
        nodes = torch.tensor([3, 1])
        for name in ("x", "train_mask"):
            assert torch.equal(
                features.get_tensor(None, name, nodes), feature_store.get_tensor(None, name, nodes)
            )
        assert graph.get_all_edge_attrs() == graph_store.get_all_edge_attrs()
        assert torch.equal(graph.csc()[0], graph_store.csc()[0])
    # What was pickled is still the file, not a copy in shared memory.
    assert not mapped.is_shared()
    assert feature_store.get_tensor(None, "x", None).data_ptr() == mapped.data_ptr()


# Edges.


def test_csc_is_the_file(made, graph_store):
    dataset, arrays = made
    (attr,) = graph_store.get_all_edge_attrs()
    assert (attr.edge_type, attr.layout, attr.size) == (
        None,
        EdgeLayout.CSC,
        (NUM_NODES, NUM_NODES),
    )
    assert attr.is_sorted
    row, colptr, perm = graph_store.csc()
    assert perm is None
    assert (row.dtype, colptr.dtype) == (torch.int64, torch.int64)
    for tensor in (row, colptr):
        assert dataset.graph.path in mapping_of(tensor.data_ptr())
    edges = set(zip(arrays["src"].tolist(), arrays["dst"].tolist(), strict=True))
    col = np.repeat(np.arange(NUM_NODES), colptr.diff().numpy())
    assert set(zip(row.tolist(), col.tolist(), strict=True)) == edges


def test_other_layouts(graph_store):
    row, colptr, _ = graph_store.csc()
    col = torch.repeat_interleave(torch.arange(NUM_NODES), colptr.diff())
    coo_row, coo_col, perm = graph_store.coo()
    assert perm is None
    assert torch.equal(coo_row, row)
    assert torch.equal(coo_col, col)
    assert torch.equal(graph_store[EdgeAttr(None, "coo")][1], col)
    rowptr, csr_col, perm = graph_store.csr()
    # The permutation leads from the order of CSR to edge ids, which is that of CSC.
    assert torch.equal(torch.repeat_interleave(torch.arange(NUM_NODES), rowptr.diff()), row[perm])
    assert torch.equal(csr_col, col[perm])
    assert torch.equal(graph_store[None, "csr"][1], csr_col)
    with pytest.raises(KeyError, match="not found"):
        graph_store.get_edge_index(("a", "to", "b"), "csc")


@pytest.mark.parametrize("options", [{"neighbors": "in"}, {"directed": False}])
def test_csr_without_ids_of_outgoing_edges(tmp_path, options):
    dataset, _ = make_dataset(tmp_path / "dataset", index_dtype="int64", **options)
    _, store = dataset.to_pyg()
    row, colptr, _ = store.csc()
    col = torch.repeat_interleave(torch.arange(NUM_NODES), colptr.diff())
    rowptr, csr_col, perm = store.csr()
    assert torch.equal(torch.repeat_interleave(torch.arange(NUM_NODES), rowptr.diff()), row[perm])
    assert torch.equal(csr_col, col[perm])


def test_small_ids_are_converted_with_a_warning(tmp_path):
    dataset, _ = make_dataset(tmp_path / "dataset")
    _, store = dataset.to_pyg()
    with pytest.warns(ResourceWarning, match=r"int32 neighbors, .* takes 1,600 bytes of memory"):
        row, _, _ = store.csc()
    assert row.dtype == torch.int64
    assert row.tolist() == dataset.graph.indices.tolist()
    assert store.csc()[0].data_ptr() == row.data_ptr()  # once


def test_edges_cannot_be_changed(graph_store):
    with pytest.raises(TypeError, match="edges cannot be changed, as a mounted graph is read-only"):
        graph_store.put_edge_index((torch.zeros(1), torch.zeros(1)), None, "coo")
    with pytest.raises(TypeError, match="compile it again"):
        del graph_store[None, "csc"]
    assert repr(graph_store).startswith("<GraphStore over <Graph ")
    assert isinstance(graph_store.graph, gm.Graph)


def test_a_graph_without_incoming_lists(tmp_path):
    gm.compile_graph(([0], [1]), tmp_path / "out.gl", neighbors="out", index_dtype="int64")
    store = graphmount.pyg.GraphStore(gm.Graph(tmp_path / "out.gl"))
    with pytest.raises(MissingDataError, match="neighbors="):
        store.csc()


def test_pyg_finds_the_sizes(stores):
    from torch_geometric.sampler import NeighborSampler

    with pytest.warns(UserWarning, match="without a 'pyg-lib' installation"):
        sampler = NeighborSampler(stores, [2])
    assert sampler.num_nodes == NUM_NODES
    assert not sampler.is_hetero
    assert sampler.perm is None
    assert stores[1].graph.path in mapping_of(sampler.row.data_ptr())


def test_pyg_lib_samples_from_the_file(stores, made):
    pytest.importorskip("pyg_lib", reason="pyg-lib is not installed")
    from torch_geometric.loader import NeighborLoader

    _, arrays = made
    for batch in NeighborLoader(stores, [3, 3], input_nodes=torch.arange(NUM_NODES), batch_size=8):
        assert np.array_equal(batch.x.numpy(), arrays["x"][batch.n_id])
