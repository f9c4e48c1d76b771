"""Loaders: batches against calls made by hand, order, resuming, ranks, refusals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loader_data import NUM_NODES, check_batch, rows_of, same

import graphmount as gm
from graphmount import errors


@pytest.mark.parametrize("memory", [0, "1000B", "20KiB", "100KiB", "1GiB"])
@pytest.mark.parametrize("window", [1, 4, 63])
def test_batches_have_the_right_rows(dataset, memory, window):
    loader = gm.NeighborLoader(
        dataset,
        [5, 5],
        input_nodes="train",
        batch_size=64,
        shuffle=True,
        edge_features=["w"],
        memory=memory,
        window=window,
        seed=1,
    )
    seeds = []
    for _ in range(2):
        batches = list(loader)
        assert len(batches) == len(loader) == 16
        for batch in batches:
            check_batch(batch, dataset)
        seeds.append(np.concatenate([batch.nodes[: batch.batch_size] for batch in batches]))
    assert sorted(seeds[0]) == sorted(seeds[1]) == sorted(dataset.splits["train"])
    assert seeds[0].tolist() != seeds[1].tolist()


@pytest.mark.parametrize("reader", ["auto", "mapped", "pread", "uring"])
def test_batches_depend_on_the_seed_only(dataset, reader):
    options = {"input_nodes": "train", "batch_size": 100, "shuffle": True, "seed": (1, 2)}
    expected = list(gm.NeighborLoader(dataset, [4, 3], **options))
    before = gm.num_threads()
    try:
        for threads, memory, window, prefetch in ((1, 0, 1, 1), (2, "30KiB", 7, 3), (7, 0, 20, 1)):
            gm.set_num_threads(threads)
            try:
                loader = gm.NeighborLoader(
                    dataset,
                    [4, 3],
                    memory=memory,
                    window=window,
                    prefetch=prefetch,
                    reader=reader,
                    **options,
                )
                found = list(loader)
            except OSError as error:
                pytest.skip(str(error))
            assert len(found) == len(expected)
            assert all(map(same, found, expected))
    finally:
        gm.set_num_threads(before)


def test_batches_are_samples(dataset):
    times = np.arange(len(dataset.splits["train"])) % 100
    loader = gm.NeighborLoader(
        dataset,
        [3, -1],
        input_nodes="train",
        input_time=times,
        batch_size=50,
        weighted=True,
        subgraph_type="induced",
        seed=3,
    )
    for batch in loader:
        ids = batch.input_ids
        np.testing.assert_array_equal(dataset.splits["train"][ids], batch.nodes[: len(ids)])
        assert batch.num_sampled_edges is None
        assert batch.batch is not None
        check_batch(batch, dataset)


@pytest.mark.parametrize("subgraph_type", ["directional", "bidirectional", "induced"])
def test_edges_have_their_rows(dataset, subgraph_type):
    loader = gm.NeighborLoader(
        dataset, [4, 3], batch_size=300, subgraph_type=subgraph_type, edge_features=["w"]
    )
    for batch in loader:
        assert len(batch.edge_features["w"]) == len(batch.row)
        check_batch(batch, dataset)


def test_resuming_in_the_middle(dataset):
    def make():
        return gm.NeighborLoader(
            dataset, [4], input_nodes="train", batch_size=100, shuffle=True, memory="50KiB", seed=5
        )

    loader = make()
    expected = [list(loader) for _ in range(3)]
    loader = make()
    list(loader)
    state = None
    for batch in loader:
        if batch.number == 3:
            state = loader.state_dict()
            break
    assert (state["epoch"], state["batch"]) == (1, 4)
    other = gm.NeighborLoader(
        dataset, [4], input_nodes="train", batch_size=100, shuffle=True, seed=99
    )
    other.load_state_dict(state)
    found = list(other)
    assert [batch.number for batch in found] == list(range(4, 10))
    assert all(map(same, found, expected[1][4:]))
    assert all(map(same, other, expected[2]))


def test_ranks_share_the_seeds_evenly(dataset):
    train = dataset.splits["train"]
    for drop_last in (False, True):
        for shuffle in (False, True):
            loaders = [
                gm.NeighborLoader(
                    dataset,
                    [2],
                    input_nodes=train[:-3],
                    batch_size=30,
                    shuffle=shuffle,
                    drop_last=drop_last,
                    rank=rank,
                    world_size=4,
                    seed=8,
                )
                for rank in range(4)
            ]
            assert len({len(loader) for loader in loaders}) == 1
            seeds = [[b.nodes[: b.batch_size] for b in loader] for loader in loaders]
            assert {len(batches) for batches in seeds} == {len(loaders[0])}
            together = np.concatenate([np.concatenate(batches) for batches in seeds])
            if drop_last:
                assert len(np.unique(together)) == len(together)
            else:
                assert set(together) == set(train[:-3])


@pytest.mark.filterwarnings(r"ignore:num_neighbors=\[\] has no hops")
@given(st.data())
@settings(max_examples=25)
def test_any_options(loader_folder, data):
    dataset = gm.Dataset(loader_folder / data.draw(st.sampled_from(["hot", "given"])))
    inputs = data.draw(
        st.one_of(
            st.none(),
            st.just("train"),
            st.lists(st.integers(0, NUM_NODES - 1), max_size=300),
        )
    )
    loader = gm.NeighborLoader(
        dataset,
        data.draw(st.lists(st.sampled_from([-1, 0, 1, 5]), max_size=2)),
        input_nodes=inputs,
        ids=data.draw(st.sampled_from(["internal", "external"])),
        batch_size=data.draw(st.sampled_from([1, 7, 100, 5000]))
        if inputs is not None and not isinstance(inputs, str)
        else 1000,
        shuffle=data.draw(st.booleans()),
        drop_last=data.draw(st.booleans()),
        disjoint=data.draw(st.booleans()),
        direction=data.draw(st.sampled_from(["in", "out"])),
        memory=data.draw(st.sampled_from([0, 5000, 50_000, 10**9])),
        window=data.draw(st.integers(1, 63)),
        prefetch=data.draw(st.integers(1, 4)),
        seed=1,
    )
    batches = list(loader)
    assert len(batches) == len(loader)
    for batch in batches:
        check_batch(batch, dataset)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"input_nodes": "valid"}, ValueError, "there are the splits"),
        ({"input_nodes": [NUM_NODES], "ids": "internal"}, errors.IdError, "input_nodes.0. is 3000"),
        ({"input_nodes": [NUM_NODES], "ids": "external"}, errors.IdError, "source.*3000"),
        ({"input_nodes": [0], "ids": "outside"}, ValueError, "ids='outside'"),
        ({"ids": "outside"}, ValueError, "ids='outside'"),
        ({"input_nodes": [0.5]}, TypeError, "input_nodes must be integers"),
        ({"input_nodes": np.ones(3, bool)}, ValueError, "mask of shape"),
        ({"batch_size": 0}, ValueError, "batch_size must be at least 1"),
        ({"window": 64}, ValueError, "window must be"),
        ({"prefetch": 0}, ValueError, "prefetch must be"),
        ({"memory": "much"}, ValueError, "is not a size"),
        ({"features": ["z"]}, ValueError, "there is no table 'z'"),
        ({"edge_features": ["z"]}, ValueError, "there is no table 'z'"),
        ({"rank": 1}, ValueError, "go together"),
        ({"rank": 2, "world_size": 2}, ValueError, "rank must be"),
        ({"input_time": [1]}, ValueError, "1 times for 3000"),
        ({"shuffle": "yes"}, ValueError, "shuffle='yes'"),
        ({"reader": "fast"}, ValueError, "reader='fast'"),
        ({"num_neighbors": [-2]}, ValueError, "num_neighbors.0."),
    ],
    ids=str,
)
def test_refusals(loader_folder, options, error, message):
    with pytest.raises(error, match=message):
        gm.NeighborLoader(gm.Dataset(loader_folder / "hot"), **({"num_neighbors": [2]} | options))


def test_data_of_other_kinds(loader_folder, tmp_path):
    dataset = gm.Dataset(loader_folder / "given")
    for data in (
        dataset.graph,
        (dataset.graph, dataset.features["x"]),
        (dataset.graph, {"x": dataset.features["x"]}),
    ):
        for batch in gm.NeighborLoader(data, [2], batch_size=1000, memory="10KiB"):
            if "x" in batch.features:
                np.testing.assert_array_equal(batch.features["x"], rows_of(batch.nodes))
            with pytest.raises(ValueError, match="Dataset"):
                _ = batch.external_ids
    with pytest.raises(TypeError, match="data must be a Dataset or its path, a Graph, or"):
        gm.NeighborLoader(7, [2])
    with pytest.raises(FileNotFoundError, match="loader_folder"):
        gm.NeighborLoader("loader_folder", [2])
    gm.compile_features(np.ones((5, 2)), tmp_path / "small.gd")
    with pytest.raises(ValueError, match="5 rows for 3000 nodes"):
        gm.NeighborLoader((dataset.graph, gm.FeatureStore(tmp_path / "small.gd")), [2])


@pytest.mark.parametrize("as_path", [str, Path])
@pytest.mark.parametrize("loader_of", [gm.NeighborLoader, gm.LinkNeighborLoader])
def test_a_path_stands_for_its_dataset(loader_folder, loader_of, as_path):
    path = loader_folder / "given"
    options = {"batch_size": 1000, "seed": 1, "memory": "10KiB"}
    wanted = next(iter(loader_of(gm.Dataset(path), [2], **options)))
    batch = next(iter(loader_of(as_path(path), [2], **options)))
    np.testing.assert_array_equal(batch.nodes, wanted.nodes)
    np.testing.assert_array_equal(batch.features["x"], wanted.features["x"])
    assert batch.dataset.path == str(path)


def test_edge_features_without_a_dataset(loader_folder):
    dataset = gm.Dataset(loader_folder / "given")
    table = dataset.edge_features["w"]
    loader = gm.NeighborLoader(dataset.graph, [3], edge_features={"w": table}, batch_size=1000)
    for batch in loader:
        np.testing.assert_array_equal(batch.edge_features["w"], table.numpy()[batch.edge_ids])
    with pytest.raises(ValueError, match="3000 rows for 40000 edges"):
        gm.NeighborLoader(dataset.graph, [3], edge_features={"w": dataset.features["x"]})
    with pytest.raises(ValueError, match="only a Dataset knows tables by their names"):
        gm.NeighborLoader(dataset.graph, [3], edge_features=["w"])
    with pytest.raises(ValueError, match="'x' is a table of nodes and of edges"):
        gm.NeighborLoader(dataset, [3], edge_features={"x": table})


@pytest.mark.parametrize("memory", [0, "30KiB", "1GiB"])
def test_rows_are_converted(loader_folder, tmp_path, memory):
    graph = gm.Dataset(loader_folder / "given").graph
    rows = np.random.default_rng(3).standard_normal((NUM_NODES, 6)).astype(np.float32)
    tables = {}
    for name, options in {
        "half": {"dtype": "float16"},
        "brain": {"dtype": "bfloat16"},
        "quantized": {"quantize": "column"},
        "count": {},
    }.items():
        source = np.arange(NUM_NODES, dtype=np.int32) if name == "count" else rows
        gm.compile_features(source, tmp_path / f"{name}.gd", **options)
        tables[name] = gm.FeatureStore(tmp_path / f"{name}.gd")
    dtypes = dict.fromkeys(("half", "brain", "quantized"), "float32") | {"count": np.int64}
    loader = gm.NeighborLoader(
        (graph, tables), [3], batch_size=500, dtype=dtypes, memory=memory, seed=2
    )
    for batch in loader:
        for name, table in tables.items():
            expected = table.gather(batch.nodes, dtype=dtypes[name])
            assert batch.features[name].dtype == expected.dtype
            np.testing.assert_array_equal(batch.features[name], expected)
    everything = gm.NeighborLoader((graph, tables), [3], batch_size=500, dtype="float64")
    assert {str(rows.dtype) for rows in next(iter(everything)).features.values()} == {"float64"}


def test_conversions_that_there_are_not(loader_folder):
    dataset = gm.Dataset(loader_folder / "given")
    with pytest.raises(ValueError, match="there is no table 'y'"):
        gm.NeighborLoader(dataset, [3], dtype={"y": "float32"})
    with pytest.raises(ValueError, match="float99"):
        gm.NeighborLoader(dataset, [3], dtype="float99")
    with pytest.raises(ValueError, match="float32"):
        list(gm.NeighborLoader(dataset, [3], dtype={"x": "int8"}))
