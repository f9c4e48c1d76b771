"""How rows that are not in memory get into batches: through the window, or by sweeps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loader_data import check_batch

import graphmount as gm

NUM_NODES = 2000
WIDE = 8192  # columns: what one read brings is about as long as one row


def wide_rows(ids):
    return (np.asarray(ids)[:, None] * 5 + np.arange(WIDE)).astype(np.float32)


@pytest.fixture(scope="module")
def wide_dataset(tmp_path_factory):
    path = tmp_path_factory.mktemp("wide") / "dataset"
    edges = (NUM_NODES * np.random.default_rng(2).random((2, 20_000)) ** 2).astype(np.int64)
    features = {"x": wide_rows(np.arange(NUM_NODES))}
    gm.compile_dataset(path, edges=edges, num_nodes=NUM_NODES, features=features)
    return gm.Dataset(path)


@given(
    memory=st.integers(0, 48_000_000),
    window=st.integers(1, 63),
    batch_size=st.integers(1, 30),
    shuffle=st.booleans(),
    reader=st.sampled_from(["auto", "pread", "mapped"]),
)
def test_the_window_has_the_right_rows(
    wide_dataset, *, memory, window, batch_size, shuffle, reader
):
    seeds = np.arange(0, NUM_NODES, 9)
    loader = gm.NeighborLoader(
        wide_dataset,
        [2],
        input_nodes=seeds,
        ids="internal",
        batch_size=batch_size,
        shuffle=shuffle,
        memory=f"{memory}B",
        window=window,
        reader=reader,
    )
    for batch in loader:
        external = np.asarray(wide_dataset.to_external(batch.nodes))
        np.testing.assert_array_equal(batch.features["x"], wide_rows(external))
    assert not loader.stats().tables["x"].is_swept


def test_the_window_keeps_rows_and_takes_others_along(wide_dataset):
    loader = gm.NeighborLoader(
        wide_dataset, [2], batch_size=20, shuffle=True, memory="32MiB", window=32, seed=1
    )
    list(loader)
    table = loader.stats().tables["x"]
    assert not table.is_swept
    assert min(table.hot_rows, table.window_rows, table.read_rows) > 0
    assert table.hot_rows + table.window_rows + table.read_rows == table.rows


@given(
    order=st.sampled_from(["hot", "given"]),
    memory=st.integers(0, 100_000),
    window=st.integers(4, 63),
    batch_size=st.integers(20, 700),
    reader=st.sampled_from(["auto", "pread", "mapped"]),
)
def test_sweeps_have_the_right_rows(loader_folder, *, order, memory, window, batch_size, reader):
    dataset = gm.Dataset(loader_folder / order)
    loader = gm.NeighborLoader(
        dataset,
        [5, 5],
        batch_size=batch_size,
        edge_features=["w"],
        shuffle=True,
        memory=f"{memory}B",
        window=window,
        reader=reader,
    )
    for batch in loader:
        check_batch(batch, dataset)
    assert loader.stats().tables["x"].is_swept


def test_too_little_is_known_for_a_sweep(dataset):
    loader = gm.NeighborLoader(dataset, [5, 5], batch_size=200, memory=0, window=3)
    for batch in loader:
        check_batch(batch, dataset)
    assert not loader.stats().tables["x"].is_swept


def test_a_sweep_reads_a_row_once_for_several_batches(dataset):
    loader = gm.NeighborLoader(
        dataset, [5, 5], batch_size=200, shuffle=True, memory="60KiB", window=16, prefetch=4
    )
    list(loader)
    table = loader.stats().tables["x"]
    assert table.is_swept
    assert table.window_rows > 0
