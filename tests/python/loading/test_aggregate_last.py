"""Loaders with `aggregate_last`: right sums wherever rows lie, and what is refused."""

from __future__ import annotations

import itertools
import pickle
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from neighbor_twin import neighbor_rows

import graphmount as gm

NUM_NODES = 400


@contextmanager
def threads(count):
    before = gm.num_threads()
    gm.set_num_threads(count)
    try:
        yield
    finally:
        gm.set_num_threads(before)


def float_rows(num_nodes, columns, seed=1):
    return np.random.default_rng(seed).standard_normal((num_nodes, columns)).astype(np.float32)


def make_dataset(path, *, order="hot", columns=70, num_nodes=NUM_NODES):
    """Tables of all kinds that can be aggregated. Some nodes have no neighbors."""
    generator = np.random.default_rng(3)
    edges = (num_nodes * generator.random((2, 8 * num_nodes)) ** 2).astype(np.int64)
    x = float_rows(num_nodes, columns)
    gm.compile_dataset(
        path,
        edges=gm.EdgeTable(
            source=edges,
            weights=generator.random(edges.shape[1]),
            timestamps=generator.integers(0, 100, edges.shape[1]),
        ),
        num_nodes=num_nodes,
        features={
            "x": x,
            "half": gm.Table(source=x, dtype="float16"),
            "brain": gm.Table(source=x, dtype="bfloat16"),
            "quantized": gm.Table(source=x, quantize="column"),
            "counts": generator.integers(0, 200, (num_nodes, 5)).astype(np.uint8),
            "one": x[:, 0],
            "none": x[:, :0],
        },
        labels=np.arange(num_nodes) % 5,
        source_rows=True,
        order=order,
    )
    return gm.Dataset(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("aggregated")
    for order in ("hot", "given"):
        make_dataset(path / order, order=order)
    make_dataset(path / "wide", columns=1024, num_nodes=2000)
    return path


def stored_rows(dataset, name, nodes):
    """The rows of nodes as batches have them without `aggregate_last`."""
    return dataset.features[name].gather(nodes, dtype="float32")


def check(batch, dataset, names):
    """Compares all tables of a batch with the twin."""
    assert batch.aggregated.keys() == set(names)
    for name, found in batch.aggregated.items():
        rows = stored_rows(dataset, name, batch.nodes)
        expected = neighbor_rows(rows, batch, batch.aggregate_last)
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, expected, err_msg=name)
        np.testing.assert_array_equal(batch.features[name], rows[: len(found)], err_msg=name)


@given(
    order=st.sampled_from(["hot", "given"]),
    name=st.sampled_from(["x", "half", "brain", "quantized", "counts", "one", "none"]),
    reduce=st.sampled_from(["mean", "sum"]),
    fanouts=st.lists(st.integers(-1, 4), min_size=1, max_size=3),
    batch_size=st.integers(1, 200),
    memory=st.sampled_from([0, 30_000, 100_000, 10_000_000]),
    window=st.integers(1, 20),
    reader=st.sampled_from(["auto", "pread", "mapped"]),
    num_threads=st.sampled_from([1, 2, 7]),
    disjoint=st.booleans(),
)
def test_sums_are_those_of_the_twin(
    folder,
    *,
    order,
    name,
    reduce,
    fanouts,
    batch_size,
    memory,
    window,
    reader,
    num_threads,
    disjoint,
):
    dataset = gm.Dataset(folder / order)
    with threads(num_threads):
        loader = gm.NeighborLoader(
            dataset,
            fanouts,
            input_nodes=np.arange(0, NUM_NODES, 5),
            ids="internal",
            batch_size=batch_size,
            shuffle=True,
            features=[name],
            dtype="float32",
            aggregate_last=reduce,
            memory=memory,
            window=window,
            reader=reader,
            disjoint=disjoint,
            replace=disjoint,
        )
        for batch in itertools.islice(loader, 4):
            check(batch, dataset, [name])


@given(
    num_nodes=st.integers(1, 30),
    ends=st.lists(st.tuples(st.integers(0, 29), st.integers(0, 29)), max_size=60),
    columns=st.integers(1, 200),
    fanouts=st.lists(st.integers(-1, 3), min_size=1, max_size=3),
    reduce=st.sampled_from(["mean", "sum"]),
)
def test_any_graph(tmp_path, *, num_nodes, ends, columns, fanouts, reduce):
    edges = np.array(ends, np.int64).reshape(-1, 2).T % num_nodes
    x = float_rows(num_nodes, columns)
    gm.compile_dataset(
        tmp_path / "d", edges=edges, num_nodes=num_nodes, features={"x": x}, overwrite=True
    )
    dataset = gm.Dataset(tmp_path / "d")
    for batch in gm.NeighborLoader(dataset, fanouts, batch_size=7, aggregate_last=reduce):
        check(batch, dataset, ["x"])


def test_the_same_bits_however_rows_come(folder):
    """All rows hot, some of them, none, swept or through a window, by any number of threads."""
    kinds, found = set(), {}
    for name, num_threads, (memory, window) in itertools.product(
        ("hot", "given", "wide"),
        (1, 2, 7),
        ((0, 16), (0, 3), (1_000_000, 16), (6_000_000, 32), (1 << 28, 16)),
    ):
        with threads(num_threads):
            loader = gm.NeighborLoader(
                gm.Dataset(folder / name),
                [2] if name == "wide" else [3, 2],
                input_nodes=np.arange(300),
                ids="internal",
                batch_size=10,
                features=["x", "half"],
                dtype="float32",
                aggregate_last="mean",
                memory=memory,
                window=window,
                seed=1,
            )
            bits = b"".join(
                batch.aggregated[table].tobytes() + batch.features[table].tobytes()
                for batch in loader
                for table in ("x", "half")
            )
        table = loader.stats().tables["x"]
        kinds |= {
            "swept" * table.is_swept,
            "window" * (table.window_rows > 0 and not table.is_swept),
            "some hot" * (0 < table.hot_rows < table.rows),
            "all hot" * (table.hot_rows == table.rows),
            "none hot" * (table.hot_rows == 0),
        }
        assert found.setdefault(name, bits) == bits, (name, num_threads, memory, window)
    assert kinds == {"", "swept", "window", "some hot", "all hot", "none hot"}


@pytest.mark.parametrize("more", [{"weighted": True}, {"input_time": True}, {"edge_ids": "source"}])
def test_other_ways_to_sample(folder, more):
    dataset = gm.Dataset(folder / "hot")
    if "input_time" in more:
        more = {"input_time": np.full(NUM_NODES, 50)}
    loader = gm.NeighborLoader(
        dataset, [3, 3], batch_size=60, features=["x"], aggregate_last="sum", **more
    )
    for batch in loader:
        check(batch, dataset, ["x"])


def test_what_else_a_batch_has_stays(folder):
    dataset = gm.Dataset(folder / "hot")
    options = {"batch_size": 50, "seed": 1, "features": ["x", "one", "counts"]}
    plain = gm.NeighborLoader(dataset, [4, 3], **options)
    loader = gm.NeighborLoader(dataset, [4, 3], **options, aggregate_last="mean")
    for one, two in zip(plain, loader, strict=True):
        assert (one.aggregated, one.aggregate_last) == ({}, None)
        for name in ("nodes", "edge_index", "edge_ids", "indptr", "labels", "input_ids"):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
        # Integers are no rows to aggregate: all nodes have theirs.
        np.testing.assert_array_equal(one.features["counts"], two.features["counts"])
        check(two, dataset, ["x", "one"])
        assert two.aggregated["one"].shape == (sum(two.num_sampled_nodes[:-1]),)
        assert one.num_nodes == two.num_nodes > len(two.x)
    assert "aggregate_last" in loader._shown_fields()
    assert "aggregate_last" not in plain._shown_fields()
    assert loader.stats().tables["x"].rows == plain.stats().tables["x"].rows


def test_a_state_is_that_of_any_loader(folder):
    """What is made of rows does not change the order of seeds."""
    dataset = gm.Dataset(folder / "hot")
    options = {"batch_size": 50, "seed": 1, "features": ["x"], "shuffle": True}
    plain = gm.NeighborLoader(dataset, [4, 3], **options)
    loader = gm.NeighborLoader(dataset, [4, 3], **options, aggregate_last="mean")
    _ = next(iter(plain))
    loader.load_state_dict(plain.state_dict())
    copied = pickle.loads(pickle.dumps(loader))  # noqa: S301
    for one, two in zip(loader, copied, strict=True):
        assert one.number == two.number > 0
        np.testing.assert_array_equal(one.aggregated["x"], two.aggregated["x"])
    kept = loader.replay(2)
    assert [batch.aggregated["x"].shape[1] for batch in kept][:3] == [70] * 3


def test_batches_are_kept(folder):
    """No later batch changes the arrays of one that is held."""
    dataset = gm.Dataset(folder / "hot")
    loader = gm.NeighborLoader(
        dataset, [4, 3], batch_size=20, features=["x"], aggregate_last="sum", memory="1MiB"
    )
    for batch in list(loader):
        check(batch, dataset, ["x"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"aggregate_last": "max"}, "aggregate_last"),
        ({"aggregate_last": True}, "aggregate_last"),
        ({"subgraph_type": "induced"}, "needs subgraph_type='directional', not 'induced'"),
        ({"subgraph_type": "bidirectional"}, "needs subgraph_type='directional'"),
        ({"direction": "out"}, "needs direction='in', not 'out'"),
        ({"dtype": "float64"}, "float64 rows of table 'x', and only float32"),
        ({"features": ["half"]}, r"float16 rows of table 'half'.*dtype=\{'half': 'float32'\}"),
        ({"features": ["x", "brain"]}, "bfloat16 rows of table 'brain'"),
        ({"features": ["x", "quantized"]}, "quantized int8 rows of table 'quantized'"),
        ({"features": ["counts"]}, r"there is 'counts' \(uint8\)"),
        ({"features": []}, "there is none"),
    ],
)
def test_refused(folder, options, message):
    dataset = gm.Dataset(folder / "hot")
    with pytest.raises(ValueError, match=message):
        gm.NeighborLoader(
            dataset, [3, 3], **{"aggregate_last": "mean", "features": ["x"], **options}
        )


def test_no_hops_and_no_tables_are_refused(folder):
    dataset = gm.Dataset(folder / "hot")
    with (
        pytest.warns(UserWarning, match="no hops"),
        pytest.raises(ValueError, match="needs a hop to aggregate"),
    ):
        gm.NeighborLoader(dataset, [], features=["x"], aggregate_last="mean")
    with pytest.raises(ValueError, match="there is none"):
        gm.NeighborLoader(dataset.graph, [2], aggregate_last="mean")
    with pytest.raises(TypeError, match="aggregate_last"):
        gm.LinkNeighborLoader(dataset, [2], aggregate_last="mean")
