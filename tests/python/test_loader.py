"""Loaders: batches against calls made by hand, order, resuming, leaving early, errors, memory."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphmount as gm
from graphmount import errors

NUM_NODES = 3000
COLUMNS = 16


def rows_of(ids):
    """The features of the nodes of the source: a function of their ids."""
    return (np.asarray(ids)[:, None] * 7 + np.arange(COLUMNS)).astype(np.float32)


def edge_rows_of(rows):
    return (np.asarray(rows)[:, None] * 3 + np.arange(2)).astype(np.int32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    generator = np.random.default_rng(1)
    edges = (NUM_NODES * generator.random((2, 40_000)) ** 3).astype(np.int64)
    path = tmp_path_factory.mktemp("datasets")
    for order in ("hot", "given"):
        gm.compile_dataset(
            path / order,
            edges=gm.EdgeTable(
                source=edges,
                weights=generator.random(40_000),
                timestamps=generator.integers(0, 100, 40_000),
            ),
            num_nodes=NUM_NODES,
            features={"x": rows_of(np.arange(NUM_NODES)), "year": np.arange(NUM_NODES)},
            edge_features={"w": edge_rows_of(np.arange(40_000))},
            labels=np.arange(NUM_NODES) % 5,
            splits={"train": np.arange(0, NUM_NODES, 3)},
            order=order,
        )
    return path


@pytest.fixture(params=["hot", "given"])
def dataset(folder, request):
    return gm.Dataset(folder / request.param)


def check_batch(batch, dataset):
    external = np.asarray(dataset.to_external(batch.nodes))
    np.testing.assert_array_equal(batch.features["x"], rows_of(external))
    np.testing.assert_array_equal(batch.features["year"], external)
    np.testing.assert_array_equal(batch.labels, external[: batch.batch_size] % 5)
    if "w" in batch.edge_features:
        rows = dataset.graph.neighbor_lists().source_rows[batch.edge_ids]
        np.testing.assert_array_equal(batch.edge_features["w"], edge_rows_of(rows))


@pytest.mark.parametrize("memory", [0, 1000, "20KiB", "100KiB", "1GiB"])
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


def arrays(batch):
    return [batch.nodes, batch.row, batch.col, batch.edge_ids, batch.features["x"]]


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(arrays(one), arrays(other), strict=True))


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
    assert state == {"epoch": 1, "batch": 4, "key": state["key"]}
    other = gm.NeighborLoader(
        dataset, [4], input_nodes="train", batch_size=100, shuffle=True, seed=99
    )
    other.load_state_dict(state)
    found = list(other)
    assert [batch.number for batch in found] == list(range(4, 10))
    assert all(map(same, found, expected[1][4:]))
    assert all(map(same, other, expected[2]))


def test_leaving_early_and_beginning_again(dataset):
    loader = gm.NeighborLoader(
        dataset, [5, 5], input_nodes="train", batch_size=10, memory="50KiB", seed=1
    )
    threads = threading.active_count()
    kept = []
    for stop in (0, 1, 5, 20):
        for batch in loader:
            kept.append((batch, [array.copy() for array in arrays(batch)]))
            check_batch(batch, dataset)
            if batch.number >= stop:
                break
    for batch, copies in kept:
        assert all(np.array_equal(a, b) for a, b in zip(arrays(batch), copies, strict=True))
    assert threading.active_count() == threads
    loader.close()
    assert len(list(loader)) == len(loader)


def test_a_second_loop_ends_the_first(dataset):
    loader = gm.NeighborLoader(dataset, [2], batch_size=100, memory="20KiB")
    first = iter(loader)
    next(first)
    second = iter(loader)
    next(second)
    with pytest.raises(RuntimeError, match="ended"):
        list(first)
    assert len(list(second)) == len(loader) - 1


def test_several_loaders_at_once(dataset):
    loaders = [
        gm.NeighborLoader(dataset, [5], batch_size=100, memory="40KiB", seed=i) for i in range(3)
    ]
    for batches in zip(*loaders, strict=True):
        for batch in batches:
            check_batch(batch, dataset)


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


def test_an_error_comes_to_the_consumer(tmp_path):
    generator = np.random.default_rng(1)
    edges = generator.integers(0, 5000, (2, 50_000))
    gm.compile_dataset(
        tmp_path / "d",
        edges=edges,
        num_nodes=5000,
        features={"x": generator.random((5000, 256), dtype=np.float32)},
    )
    dataset = gm.Dataset(tmp_path / "d")
    loader = gm.NeighborLoader(dataset, [5], batch_size=50, memory=0, window=2, seed=1)
    batches = iter(loader)
    next(batches)
    os.truncate(dataset.features["x"].path, 1 << 17)
    with pytest.raises(errors.FileChangedError):
        list(batches)
    with pytest.raises(errors.FileChangedError):
        list(loader)


def test_exit_in_the_middle_of_a_loop(folder):
    code = (
        "import sys, graphmount as gm\n"
        "loader = gm.NeighborLoader(gm.Dataset(sys.argv[1]), [5, 5], batch_size=10, memory=0)\n"
        "batches = iter(loader)\n"
        "next(batches)\n"
        "print('fine')\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, folder / "hot"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "fine\n", "")


def test_a_loop_does_not_go_on_in_a_child(dataset):
    loader = gm.NeighborLoader(dataset, [2], batch_size=100, memory="20KiB", seed=1)
    batches = iter(loader)
    next(batches)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            next(batches)
        except RuntimeError:
            again = gm.NeighborLoader(dataset, [2], batch_size=100, memory="20KiB", seed=1)
            status = 0 if len(list(again)) == len(again) else 2
        os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(list(batches)) == len(loader) - 1


def test_memory_is_flat(dataset):
    """Restarts, early exits and kept batches leave nothing behind."""
    loader = gm.NeighborLoader(dataset, [5, 5], batch_size=100, memory="60KiB", shuffle=True)

    def some(count):
        for _ in range(count):
            for batch in loader:
                if batch.number == 7:
                    break
        gc.collect()
        return gm.memory().anonymous_bytes

    some(5)
    before = some(5)
    assert some(40) < before + (8 << 20)


@given(st.data())
@settings(max_examples=25)
def test_any_options(folder, data):
    dataset = gm.Dataset(folder / data.draw(st.sampled_from(["hot", "given"])))
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
        ({"input_nodes": [NUM_NODES]}, errors.IdError, "input_nodes.0. is 3000"),
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
def test_refusals(folder, options, error, message):
    with pytest.raises(error, match=message):
        gm.NeighborLoader(gm.Dataset(folder / "hot"), **({"num_neighbors": [2]} | options))


def test_data_of_other_kinds(folder, tmp_path):
    dataset = gm.Dataset(folder / "given")
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
    with pytest.raises(TypeError, match="data must be"):
        gm.NeighborLoader("folder", [2])
    gm.compile_features(np.ones((5, 2)), tmp_path / "small.gd")
    with pytest.raises(ValueError, match="5 rows for 3000 nodes"):
        gm.NeighborLoader((dataset.graph, gm.FeatureStore(tmp_path / "small.gd")), [2])


def test_tensors(folder):
    torch = pytest.importorskip("torch")
    import graphmount.torch

    dataset = gm.Dataset(folder / "hot")
    options = {"input_nodes": "train", "batch_size": 100, "seed": 3, "edge_features": ["w"]}
    loader = graphmount.torch.NeighborLoader(dataset, [3, 2], **options)
    arrays_loader = gm.NeighborLoader(dataset, [3, 2], **options)
    assert len(loader) == len(arrays_loader)
    for tensors, batch in zip(loader, arrays_loader, strict=True):
        assert torch.equal(tensors.nodes, torch.from_numpy(batch.nodes))
        assert tensors.edge_index.tolist() == [batch.row.tolist(), batch.col.tolist()]
        assert np.array_equal(tensors.features["x"].numpy(), batch.features["x"])
        assert np.array_equal(tensors.edge_features["w"].numpy(), batch.edge_features["w"])
        assert tensors.labels.tolist() == batch.labels.tolist()
        assert tensors.batch_size == batch.batch_size


def test_bfloat16_tensors(tmp_path):
    torch = pytest.importorskip("torch")
    import graphmount.torch

    gm.compile_graph(([1, 2], [0, 0]), tmp_path / "g.gl")
    gm.compile_features([[1.0], [2.0], [3.0]], tmp_path / "x.gd", dtype="bfloat16")
    data = (gm.Graph(tmp_path / "g.gl"), gm.FeatureStore(tmp_path / "x.gd"))
    for batch in graphmount.torch.NeighborLoader(data, [-1], batch_size=3):
        assert batch.features["x"].dtype == torch.bfloat16
        assert batch.features["x"].flatten().tolist() == [1.0, 2.0, 3.0]
