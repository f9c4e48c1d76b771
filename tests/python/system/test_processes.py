"""Handles travel between processes as their path: pickle, fork, spawn, forkserver."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys

import numpy as np
import pytest
from feature_data import feature_rows
from run_mode import IS_SANITIZED

import graphmount as gm


def use(store, graph):
    """Touches everything that could depend on threads or mappings of the parent."""
    assert np.array_equal(store.numpy(), feature_rows(np.arange(100)))
    total = int(graph.degree(np.tile(np.arange(50), 2000)).sum())  # enough for several threads
    assert total == 2000 * 300
    assert store.prefetch(np.arange(100)) > 0
    return total, os.getpid()


def test_pickle_is_the_path(features_path, graph_path):
    for handle in (gm.FeatureStore(features_path, advice="random"), gm.Graph(graph_path)):
        text = pickle.dumps(handle)
        assert len(text) < 500 + len(handle.path)
        copy = pickle.loads(text)  # noqa: S301
        assert type(copy) is type(handle)
        assert copy.path == handle.path
        assert copy.advice == handle.advice
        assert copy.sections == handle.sections


def test_pickle_works_from_another_folder(features_path, monkeypatch):
    monkeypatch.chdir(features_path.parent)
    text = pickle.dumps(gm.FeatureStore(features_path.name))
    monkeypatch.chdir("/")
    assert pickle.loads(text).shape == (100, 24)  # noqa: S301


def test_pickle_of_a_file_that_is_gone(features_path):
    text = pickle.dumps(gm.FeatureStore(features_path))
    features_path.unlink()
    with pytest.raises(FileNotFoundError):
        pickle.loads(text)  # noqa: S301


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_start_methods(method, features_path, graph_path, capfd):
    if IS_SANITIZED and method != "fork":
        pytest.skip("new interpreters take too long under a sanitizer")
    store, graph = gm.FeatureStore(features_path), gm.Graph(graph_path)
    use(store, graph)  # start the threads of the parent first
    context = multiprocessing.get_context(method)
    with context.Pool(2) as pool:
        results = pool.starmap_async(use, [(store, graph)] * 4).get(timeout=120)
    assert {total for total, _ in results} == {600_000}
    assert os.getpid() not in {pid for _, pid in results}
    use(store, graph)
    assert capfd.readouterr().err == "", "processes end without a word"


def test_a_process_ends_with_files_mounted(features_path, graph_path):
    """Under a sanitizer, where the extension speaks of leaks, there are none."""
    code = """
import sys
import graphmount as gm
store, graph = gm.FeatureStore(sys.argv[1]), gm.Graph(sys.argv[2])
views = store.numpy(), graph.indices, graph.sample_neighbors([0], [2]).nodes
loader = gm.NeighborLoader(graph, [2], batch_size=10)
batch = next(iter(loader))
"""
    done = subprocess.run(
        [sys.executable, "-c", code, features_path, graph_path],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_fork_while_threads_are_at_work(features_path, graph_path, campaign):
    """The child must not wait for a lock or a thread that stayed behind in the parent."""
    import threading

    store, graph = gm.FeatureStore(features_path), gm.Graph(graph_path)
    stop = threading.Event()

    def keep_busy():
        while not stop.is_set():
            graph.degree(np.tile(np.arange(50), 2000))
            gm.FeatureStore(features_path).close()

    threads = [threading.Thread(target=keep_busy) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(campaign(20, 500)):
            child = os.fork()
            if child == 0:
                signal.alarm(60)  # a hang ends as a signal, which the parent sees
                try:
                    use(store, graph)
                    use(gm.FeatureStore(features_path), gm.Graph(graph_path))
                finally:
                    os._exit(0 if sys.exc_info()[0] is None else 1)
            _, status = os.waitpid(child, 0)
            assert status == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()
