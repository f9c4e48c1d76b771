"""`store[...]`: rows by number, ids, masks and slices, as NumPy has them, or an error."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphmount as gm

ROWS, COLUMNS = 30, 4
TABLE = np.arange(ROWS * COLUMNS, dtype=np.float32).reshape(ROWS, COLUMNS)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("index") / "x.gd"
    gm.compile_features(TABLE, path)
    return gm.FeatureStore(path)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    path = tmp_path_factory.mktemp("index") / "ds"
    edges = np.random.default_rng(0).integers(0, ROWS, (2, 200)) ** 2 // ROWS
    gm.compile_dataset(
        path,
        edges=edges,
        num_nodes=ROWS,
        features={"x": TABLE},
        labels=np.arange(ROWS),
        splits={"train": [3, 7]},
    )
    ds = gm.Dataset(path)
    assert ds.graph.order != 0
    return ds


rows = st.one_of(
    st.integers(0, ROWS - 1),
    st.slices(ROWS),
    st.lists(st.integers(0, ROWS - 1)),
    st.lists(st.integers(0, ROWS - 1)).map(lambda ids: np.array(ids, np.int64)),
    st.lists(st.booleans(), min_size=ROWS, max_size=ROWS),
    st.lists(st.booleans(), min_size=ROWS, max_size=ROWS).map(np.array),
    st.just(...),
)


@given(index=rows, columns=st.one_of(st.none(), st.integers(0, COLUMNS - 1), st.slices(COLUMNS)))
def test_it_is_what_numpy_has(store, index, columns):
    plain = np.zeros(0, np.int64) if isinstance(index, list) and not index else index
    expected = TABLE[plain]
    found = store[index]
    if columns is not None:
        found, expected = store[index, columns], expected[..., columns]
        if index is ...:
            expected = TABLE[:, columns]
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == np.float32


def test_slices_are_views_and_the_rest_are_copies(store):
    assert not store[2:5].flags.writeable
    assert np.shares_memory(store[2:5], store[...])
    for copied in (store[[2, 3]], store[2], store[np.arange(ROWS) < 3]):
        copied[...] = -1
    assert (store[...] == TABLE).all()


def test_vectors(tmp_path):
    gm.compile_features(np.arange(5), tmp_path / "y.gd")
    y = gm.FeatureStore(tmp_path / "y.gd")
    assert y[3] == 3
    assert y[[4, 0]].tolist() == [4, 0]
    with pytest.raises(IndexError, match=r"2 indices for a table of shape \(5,\)"):
        y[0, 0]


@pytest.mark.parametrize(
    ("index", "error", "message"),
    [
        (-1, gm.errors.IdError, "row -1 .* does not exist"),
        ([0, -1], gm.errors.IdError, "row -1 .* does not exist"),
        (ROWS, gm.errors.IdError, "does not exist"),
        ([True, False], ValueError, "a mask of shape .2,. for 30 rows"),
        (np.ones((ROWS, COLUMNS), bool), ValueError, "a mask of shape .30, 4. for 30 rows"),
        ([[0, 1]], ValueError, "one-dimensional"),
        (1.0, TypeError, "one integer, not 1.0"),
        (True, TypeError, "one integer, not True"),
        ([0.5], TypeError, "must be integers"),
        (None, TypeError, "an integer, a slice, ids or a mask, not None"),
        ("x", TypeError, "an integer, a slice, ids or a mask, not 'x'"),
        ((), TypeError, "an integer, a slice, ids or a mask"),
        (([0, 1], [0, 1]), TypeError, "an index of columns is an integer or a slice"),
        ((0, True), TypeError, "an index of columns is an integer or a slice"),
        ((0, 0, 0), IndexError, "3 indices"),
        ((0, COLUMNS), IndexError, "out of bounds"),
        (np.ma.masked_array([0, 1], [False, True]), ValueError, "masked"),
    ],
)
def test_what_is_no_index_is_refused(store, index, error, message):
    with pytest.raises(error, match=message):
        store[index]


def test_ids_of_a_reordered_dataset(dataset):
    """Whatever is taken gives the rows of the nodes that were meant."""
    x, labels = dataset.features["x"], dataset.labels
    nodes = dataset.to_internal([5, 2])
    assert (x[nodes] == TABLE[[5, 2]]).all()
    assert (x[dataset.splits["train"]] == TABLE[[3, 7]]).all()
    assert sorted(x[labels < 3, 0]) == sorted(TABLE[:3, 0])
    assert sorted(x[x[:, 0] < 12, 0]) == sorted(TABLE[:3, 0])
    assert (x[nodes[0]] == TABLE[5]).all()
    assert x[np.ones(ROWS, bool)].shape == x[...].shape == x.shape
    for wrong in ([5, 2], np.array([5, 2]), np.arange(ROWS) < 3, list(np.arange(ROWS) < 3)):
        with pytest.raises(gm.errors.IdError, match=r"ds\.to_internal"):
            x[wrong]
        with pytest.raises(gm.errors.IdError, match=r"ds\.to_internal"):
            x[wrong, 0]
    whole = x[...]  # it still knows whose rows they are
    with pytest.raises(gm.errors.IdError, match=r"ds\.to_internal"):
        whole[[5, 2]]


def test_marks_of_another_dataset_are_refused(dataset, tmp_path):
    gm.compile_dataset(
        tmp_path / "other", edges=([3, 3, 1], [0, 1, 2]), num_nodes=ROWS, labels=np.arange(ROWS)
    )
    other = gm.Dataset(tmp_path / "other")
    alone = gm.FeatureStore(dataset.features["x"].path)
    assert alone[[0, 1]].shape == (2, COLUMNS)  # a file alone has numbers of rows
    for table in (dataset.features["x"], alone):
        with pytest.raises(gm.errors.IdError, match="another dataset"):
            table[other.to_internal([0])]
        with pytest.raises(gm.errors.IdError, match="another dataset"):
            table[other.labels < 3]


def test_tensors_are_an_index(store):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    assert (store[torch.tensor([4, 1])] == TABLE[[4, 1]]).all()


def test_a_closed_store_has_no_rows(tmp_path):
    gm.compile_features(TABLE, tmp_path / "x.gd")
    closed = gm.FeatureStore(tmp_path / "x.gd")
    closed.close()
    for index in (0, [0], slice(2)):
        with pytest.raises(gm.errors.ClosedError):
            closed[index]
