"""The memory of loaders: budgets that hold, and what statistics say."""

from __future__ import annotations

import functools
import re
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphmount as gm
from graphmount._loading import link_inputs as _link_inputs
from graphmount._loading.rows import hot_rows as _hot_rows
from graphmount._loading.rows.hot_rows import hottest_nodes


def test_statistics(dataset):
    loader = gm.NeighborLoader(dataset, [5, 5], batch_size=200, memory="60KiB", window=4, seed=1)
    assert loader.stats().batches == 0
    rows = sum(len(batch.nodes) for batch in loader)
    stats = loader.stats()
    assert stats.batches == len(loader)
    assert stats.sampled_nodes == rows
    for table in stats.tables.values():
        assert table.rows == rows
        assert table.hot_rows + table.window_rows + table.read_rows == rows
        assert 0 <= table.hit_rate <= 1
        assert table.cache_bytes > 0
    assert stats.tables["x"].read_rows > 0
    assert "batches in" in str(stats)
    assert stats.bottleneck in ("model", "disk", "sampling", "memory")
    assert stats.memory is not None


def test_all_in_memory_reads_nothing(dataset):
    loader = gm.NeighborLoader(dataset, [5], batch_size=500, memory="1GiB")
    list(loader)
    assert all(table.read_rows == 0 for table in loader.stats().tables.values())


LEAST_READING = 2 << 20  # each table may have this for reads in flight, whatever the budget


@given(
    memory=st.integers(0, 400_000),
    window=st.integers(1, 63),
    batch_size=st.integers(1, 700),
    order=st.sampled_from(["hot", "given"]),
    reader=st.sampled_from(["auto", "pread", "mapped"]),
)
def test_the_budget_holds(loader_folder, *, memory, window, batch_size, order, reader):
    dataset = gm.Dataset(loader_folder / order)
    loader = gm.NeighborLoader(
        dataset,
        [5, 5],
        input_nodes="train",
        batch_size=batch_size,
        edge_features=["w"],
        shuffle=True,
        memory=f"{memory}B",
        window=window,
        reader=reader,
    )
    for batch in loader:
        if batch.number % 10 == 0:
            tables = loader.stats().tables.values()
            total = sum(table.cache_bytes for table in tables)
            # The books, too, are made of whole pages.
            assert total <= memory + len(tables) * (LEAST_READING + 65536)


def test_a_large_budget_holds_to_the_byte(tmp_path):
    """From 32 MiB on, reads in flight are within the budget as well."""
    generator = np.random.default_rng(5)
    num_nodes = 400_000
    gm.compile_dataset(
        tmp_path / "d",
        edges=(num_nodes * generator.random((2, 3_000_000)) ** 2).astype(np.int64),
        num_nodes=num_nodes,
        features={"x": generator.random((num_nodes, 64), dtype=np.float32)},
    )
    dataset = gm.Dataset(tmp_path / "d")
    size = dataset.features["x"].file_bytes
    for memory in (32 << 20, size // 2, size - (4 << 20), size):
        loader = gm.NeighborLoader(
            dataset, [10, 10], batch_size=1000, memory=memory, shuffle=True, seed=1
        )
        for batch in loader:
            if batch.number == 40:
                break
        assert loader.stats().tables["x"].cache_bytes <= memory
        # And it is used.
        assert loader.stats().tables["x"].cache_bytes >= 0.8 * memory


@pytest.mark.parametrize("memory", ["50KiB", "150KiB"])
def test_more_memory_means_fewer_reads(dataset, memory):
    def reads(memory):
        loader = gm.NeighborLoader(
            dataset, [5, 5], batch_size=100, memory=memory, seed=1, shuffle=True
        )
        for _ in loader:
            pass
        return loader.stats().tables["x"].read_rows

    assert reads(memory) < reads(0)


def test_hottest_nodes_by_degree(dataset):
    graph = dataset.graph

    def sample(_):
        raise AssertionError("the file has the lists to count in")

    for direction, other in (("in", "out"), ("out", "in")):
        degrees = graph.degree(direction=other)
        for most in (1, 10, 500, graph.num_nodes):
            hottest = hottest_nodes(graph, direction, most, sample)
            assert len(np.unique(hottest)) == len(hottest) <= most
            found = degrees[hottest]
            assert (np.diff(found) <= 0).all()
            assert found.min() >= 1
            # None that is left out is hotter than one that is named.
            left = np.delete(degrees, hottest)
            assert left.max(initial=0) <= found.min()


def test_hottest_nodes_by_trial(tmp_path):
    gm.compile_graph(([1, 2, 3, 3], [0, 0, 1, 2]), tmp_path / "g.gl", neighbors="in")
    batches = {number: np.array([7, 7, 7, number, 30]) for number in range(16)}
    hottest = hottest_nodes(gm.Graph(tmp_path / "g.gl"), "in", 5, batches.__getitem__)
    assert hottest[:2].tolist() == [7, 30]  # once for each batch, whatever its seeds
    assert len(hottest) == 5


def test_a_file_with_one_direction_has_hot_rows_too(tmp_path):
    generator = np.random.default_rng(2)
    edges = (5000 * generator.random((2, 50_000)) ** 3).astype(np.int64)
    gm.compile_graph(edges, tmp_path / "g.gl", num_nodes=5000, neighbors="in")
    gm.compile_features(np.arange(5000.0)[:, None] * np.ones(64), tmp_path / "x.gd")
    data = (gm.Graph(tmp_path / "g.gl"), gm.FeatureStore(tmp_path / "x.gd"))
    loader = gm.NeighborLoader(data, [5, 5], batch_size=100, memory="400KiB", seed=1)
    for batch in loader:
        assert (batch.features["x"] == batch.nodes[:, None]).all()
    stats = loader.stats().tables["x"]
    assert stats.hot_rows > 0.3 * stats.rows


def peak_of(call):
    """What NumPy and Python take at most while a call runs."""
    tracemalloc.start()
    try:
        return call(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_naming_hot_nodes_takes_what_the_names_take(tmp_path, monkeypatch):
    num_nodes = 300_000
    edges = np.random.default_rng(0).integers(0, num_nodes, (2, num_nodes))
    gm.compile_graph(edges, tmp_path / "g.gl", num_nodes=num_nodes)
    graph = gm.Graph(tmp_path / "g.gl")
    few = functools.partial(_hot_rows.read_degrees, at_once=10_000)
    monkeypatch.setattr(_hot_rows, "read_degrees", few)
    hottest, peak = peak_of(lambda: hottest_nodes(graph, "in", num_nodes, None))
    assert len(hottest) == np.count_nonzero(graph.degree(direction="out"))
    assert peak < hottest.nbytes + (4 << 20)


def test_trials_keep_no_more_than_is_named():
    def sample(number):
        return np.arange(number * 100_000, (number + 1) * 100_000)

    hottest, peak = peak_of(lambda: _hot_rows._hottest_by_trial(sample, 10))
    assert len(hottest) == 10
    assert peak < 16 * 100_000 * 8  # less than all batches have, or even one array of them


def test_trials_need_no_epoch(tmp_path):
    edges = np.random.default_rng(0).integers(0, 50, (2, 500))
    gm.compile_graph(edges, tmp_path / "g.gl", num_nodes=50)
    gm.compile_features(np.ones((50, 4)), tmp_path / "x.gd")
    data = gm.Graph(tmp_path / "g.gl"), gm.FeatureStore(tmp_path / "x.gd")
    inputs = np.zeros(1_000_000, np.int64)
    for shuffle in (False, True):
        loader = gm.NeighborLoader(
            data, [2], input_nodes=inputs, batch_size=4, shuffle=shuffle, memory="400B"
        )
        _, peak = peak_of(loader._make_feeds)
        assert peak < 2 << 20


def test_all_edges_as_links_are_within_the_budget(tmp_path, monkeypatch):
    gm.compile_graph(np.zeros((2, 500), np.int64), tmp_path / "g.gl")
    graph = gm.Graph(tmp_path / "g.gl")
    gm.LinkNeighborLoader(graph, [1], memory=0)  # too few to matter
    monkeypatch.setattr(_link_inputs, "_SMALL_BYTES", 0)
    with pytest.raises(gm.errors.BudgetError, match=r"all 500 edges .* 7.8 KiB") as caught:
        gm.LinkNeighborLoader(graph, [1], memory="7KiB")
    advised = re.search(r"memory='(\d+MiB)' or more", str(caught.value))[1]
    gm.LinkNeighborLoader(graph, [1], memory=advised)
    gm.LinkNeighborLoader(graph, [1], edge_label_index=[[0], [0]], memory=0)
