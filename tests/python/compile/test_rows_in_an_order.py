"""Rows that know the order they are in are not taken for rows of another: tables and labels of a
reordered dataset, and what inference wrote, as sources."""

from __future__ import annotations

import numpy as np
import pytest

import graphmount as gm

NUM_NODES = 40
ROWS = np.arange(NUM_NODES, dtype=np.float32)[:, None]
ORDERS = r"in the order of another graph"


@pytest.fixture(scope="module")
def edges():
    return tuple(np.random.default_rng(4).integers(0, NUM_NODES, (2, 300)))


@pytest.fixture(scope="module")
def reordered(tmp_path_factory, edges):
    path = tmp_path_factory.mktemp("rows") / "hot"
    gm.compile_dataset(path, edges=edges, features={"x": ROWS}, labels=np.arange(NUM_NODES))
    return gm.Dataset(path)


def rows_of(dataset):
    """Everything that has the rows of a dataset in its own order."""
    store = dataset.features["x"]
    return [store, store.path, store.numpy(), gm.Table(source=store, dtype="float16")]


def test_a_new_dataset_refuses_them(reordered, edges, tmp_path):
    for rows in rows_of(reordered):
        with pytest.raises(gm.errors.OrderError, match=ORDERS):
            gm.compile_dataset(tmp_path / "new", edges=edges, features={"x": rows})
    with pytest.raises(gm.errors.OrderError, match=ORDERS):
        gm.compile_dataset(tmp_path / "new", edges=edges, labels=reordered.labels)
    assert not (tmp_path / "new").exists()


def test_the_graph_that_they_go_with_takes_them(reordered, tmp_path):
    for order in ("hot", "given"):
        gm.compile_dataset(
            tmp_path / order,
            edges=reordered.graph,
            features={"x": reordered.features["x"]},
            order=order,
        )
        again = gm.Dataset(tmp_path / order)
        known = again.to_internal(np.arange(NUM_NODES))
        assert again.features["x"].gather(known).tolist() == ROWS.tolist()


def test_keys_say_more_than_an_order(reordered, edges, tmp_path):
    keys = reordered.to_external(np.arange(NUM_NODES))
    table = gm.Table(source=reordered.features["x"].numpy(), key=keys)
    gm.compile_dataset(tmp_path / "new", edges=edges, features={"x": table}, order="given")
    assert gm.Dataset(tmp_path / "new").features["x"].numpy().tolist() == ROWS.tolist()


def test_datasets_that_grow_refuse_them(reordered, edges, tmp_path):
    gm.compile_dataset(tmp_path / "given", edges=edges, num_nodes=NUM_NODES, order="given")
    given = gm.Dataset(tmp_path / "given")
    for rows in rows_of(reordered):
        with pytest.raises(gm.errors.OrderError, match=ORDERS):
            given.add_features("x", rows)
    with pytest.raises(gm.errors.OrderError, match=ORDERS):
        given.set_labels(reordered.labels)
    grown = reordered.set_labels(reordered.labels)
    assert grown.labels[grown.to_internal([7])].tolist() == [7]


def test_a_copy_of_a_table_keeps_its_order(reordered, edges, tmp_path):
    done = gm.compile_features(reordered.features["x"], tmp_path / "half.gd", dtype="float16")
    assert done.dtype == "float16"
    gm.check_order(reordered.graph, gm.FeatureStore(tmp_path / "half.gd"))
    with pytest.raises(gm.errors.OrderError, match=ORDERS):
        gm.compile_dataset(tmp_path / "new", edges=edges, features={"x": tmp_path / "half.gd"})


def test_another_graph_refuses_them(reordered, edges, tmp_path):
    gm.compile_graph(edges, tmp_path / "g.gl", num_nodes=NUM_NODES)
    for rows in rows_of(reordered)[:3]:
        with pytest.raises(gm.errors.OrderError, match=ORDERS):
            gm.compile_features(rows, tmp_path / "x.gd", order=tmp_path / "g.gl")
        gm.compile_features(rows, tmp_path / "x.gd", order=reordered.graph)


def test_keys_are_ids_of_the_source(reordered, tmp_path):
    known = reordered.to_internal(np.arange(NUM_NODES))
    with pytest.raises(ValueError, match=r"key are marked as internal ids.*of the source"):
        gm.compile_features(ROWS, tmp_path / "x.gd", order=reordered.graph, key=known)
    with pytest.raises(ValueError, match=r"key are marked as internal ids"):
        reordered.add_features("y", gm.Table(source=ROWS, key=known))


def test_edges_are_between_ids_of_the_source(reordered, tmp_path):
    known = reordered.to_internal(np.arange(NUM_NODES))
    for edges in ((known, known), (np.arange(NUM_NODES), known)):
        with pytest.raises(ValueError, match=r"marked as internal ids.*ds\.to_external"):
            gm.compile_graph(edges, tmp_path / "g.gl")
    assert not (tmp_path / "g.gl").exists()


def test_one_part_that_knows_its_order_is_enough(reordered, edges, tmp_path):
    gm.compile_features(ROWS[:0], tmp_path / "none.gd")
    parts = [tmp_path / "none.gd", reordered.features["x"].path]
    with pytest.raises(gm.errors.OrderError, match=ORDERS):
        gm.compile_dataset(tmp_path / "new", edges=edges, features={"x": parts})
