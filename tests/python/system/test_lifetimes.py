"""Views outlive handles; closed handles say so; many threads at once."""

from __future__ import annotations

import gc
import os
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest
from feature_data import feature_rows

import graphmount as gm


def count_mappings(path):
    return Path("/proc/self/maps").read_text().count(str(path))


def count_descriptors():
    return len(list(Path("/proc/self/fd").iterdir()))


def test_views_outlive_their_store(features_path):
    pytest.importorskip("torch")
    store = gm.FeatureStore(features_path)
    array, tensor, dlpack = store.numpy(), store.tensor(), np.from_dlpack(store)
    part = array[10:20]
    reference = weakref.ref(store)
    del store, array
    gc.collect()
    assert reference() is None
    assert np.array_equal(part, feature_rows(np.arange(10, 20)))
    assert tensor[99, 2].item() == 100.0
    assert dlpack[99, 2] == 100.0
    assert count_mappings(features_path) == 2  # one shared, one private
    del part, tensor, dlpack
    gc.collect()
    assert count_mappings(features_path) == 0


def test_views_outlive_their_graph(graph_path):
    with gm.Graph(graph_path) as graph:
        expected = graph.neighbors(3).tolist()
        neighbors, lists = graph.neighbors(3), graph.neighbor_lists("out")
    gc.collect()
    assert neighbors.tolist() == expected
    assert lists.indptr[-1] == len(lists.indices) == len(lists.weights) == 300


def test_views_survive_deletion_of_the_file(features_path):
    array = gm.FeatureStore(features_path).numpy()
    features_path.unlink()
    assert np.array_equal(array, feature_rows(np.arange(100)))


def test_replacing_a_mounted_file_is_harmless(features_path):
    old = gm.FeatureStore(features_path)
    gm.compile_features(-feature_rows(np.arange(100)), features_path)
    new = gm.FeatureStore(features_path)
    assert old.numpy()[7, 0] == 7.0  # also in a view made after the replacement
    assert new.numpy()[7, 0] == -7.0
    assert old.prefetch([7]) == 4096


def test_closing(features_path, graph_path):
    for handle in (gm.FeatureStore(features_path), gm.Graph(graph_path)):
        assert not handle.closed
        with handle as same:
            assert same is handle
        assert handle.closed
        handle.close()
        with pytest.raises(gm.errors.ClosedError, match="has been closed"), handle:
            pass


def test_closed_handles_say_so(features_path, graph_path):
    store, graph = gm.FeatureStore(features_path), gm.Graph(graph_path)
    store.close()
    graph.close()
    calls = [
        store.numpy,
        store.resident_bytes,
        store.memory,
        store.__dlpack__,
        store.__len__,
        store.__reduce__,
        lambda: store.shape,
        lambda: store.dtype,
        lambda: store.order,
        lambda: store.sections,
        lambda: store.file_bytes,
        lambda: store.prefetch([0]),
        lambda: store.advise("random"),
        lambda: np.asarray(store),
        lambda: graph.num_nodes,
        lambda: graph.num_edges,
        lambda: graph.directed,
        lambda: graph.directions,
        lambda: graph.has_weights,
        lambda: graph.has_timestamps,
        lambda: graph.indptr,
        lambda: graph.indices,
        lambda: graph.weights,
        lambda: graph.node_id_type,
        lambda: graph.degree([0]),
        lambda: graph.neighbors(0),
        lambda: graph.prefetch([0]),
        lambda: graph.to_internal(["x"]),
        lambda: graph.to_external([0]),
        graph.degree_summary,
        graph.neighbor_lists,
        lambda: gm.check_order(graph, store),
        lambda: gm.memory(store),
        lambda: gm.compile_features([1], os.devnull + "-never", order=graph),
    ]
    for call in calls:
        with pytest.raises(gm.errors.ClosedError, match="has been closed"):
            call()
    assert store.path == str(features_path)


def test_tensor_of_a_closed_store(features_path):
    pytest.importorskip("torch")
    store = gm.FeatureStore(features_path)
    store.close()
    with pytest.raises(gm.errors.ClosedError):
        store.tensor()


def test_nothing_is_left_open(features_path, graph_path):
    gc.collect()
    before = count_descriptors()
    for _ in range(50):
        store, graph = gm.FeatureStore(features_path), gm.Graph(graph_path)
        view, lists = store.numpy(), graph.neighbor_lists()
        store.close()
        del view, lists, graph
    gc.collect()
    assert count_descriptors() == before
    assert count_mappings(features_path) == count_mappings(graph_path) == 0


def test_many_threads(features_path, graph_path, campaign):
    store, graph = gm.FeatureStore(features_path), gm.Graph(graph_path)
    degrees = graph.degree()
    failures = []

    def work(seed):
        generator = np.random.default_rng(seed)
        try:
            for _ in range(campaign(200, 20_000)):
                ids = generator.integers(0, 50, 20)
                assert np.array_equal(graph.degree(ids), degrees[ids])
                assert np.array_equal(store.numpy()[ids], feature_rows(ids))
                assert len(graph.neighbors(int(ids[0]))) == degrees[ids[0]]
                own = gm.FeatureStore(features_path, advice="random")
                assert own.numpy()[0, 0] == 0.0
                own.prefetch(ids)
                own.close()
                name = graph.to_external(ids[:2])
                assert graph.to_internal(name).tolist() == ids[:2].tolist()
        except BaseException as error:  # noqa: BLE001  (shown by the main thread)
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_closing_while_others_read(features_path):
    """A call that has begun ends well; one that has not gets a ClosedError."""
    for _ in range(20):
        store = gm.FeatureStore(features_path)
        outcomes = []

        def read(store=store, outcomes=outcomes):
            for _ in range(200):
                try:
                    outcomes.append(float(store.numpy()[3, 0]))
                except gm.errors.ClosedError:
                    outcomes.append("closed")

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        store.close()
        for thread in threads:
            thread.join()
        assert set(outcomes) <= {3.0, "closed"}
