"""Ctrl-C ends every long call soon, nothing is left behind, and what it was called on goes on.

The calls here would take minutes. Where exactly a call can be ended, and that it then leaves
nothing half done, is looked at in tests/cpp/base/test_interrupt.cpp.
"""

from __future__ import annotations

import re
import signal
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import graphmount as gm

#: It should be less than one, also on a busy machine; what does not end at all takes minutes.
SECONDS = 5.0
NUM_NODES = 1000


@contextmanager
def interrupted_soon(after=0.2):
    """Expects the block to be ended by a Ctrl-C that comes while it is at work."""

    def press(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, press)
    start = time.monotonic()
    try:
        signal.setitimer(signal.ITIMER_REAL, after)
        with pytest.raises(KeyboardInterrupt):
            yield
        assert time.monotonic() - start < after + SECONDS
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    path = tmp_path_factory.mktemp("graph") / "g.gl"
    rng = np.random.default_rng(1)
    edges = rng.integers(0, NUM_NODES, (2, 10 * NUM_NODES))
    gm.compile_graph((edges[0], edges[1]), path, num_nodes=NUM_NODES)
    return gm.Graph(path)


WALKS = {
    "many walks": {"length": 1000, "num_walks": 10**7},
    "one long walk": {"length": 2 * 10**9, "num_walks": 1},
    "one long walk, node2vec": {"length": 2 * 10**9, "num_walks": 1, "p": 0.5, "q": 2.0},
}


@pytest.mark.parametrize("options", WALKS.values(), ids=WALKS)
@pytest.mark.parametrize("threads", [1, 3])
def test_walks(graph, options, threads):
    starts = np.arange(1 if options["num_walks"] == 1 else NUM_NODES)
    before, few = gm.num_threads(), {**options, "length": 10, "num_walks": 2}
    gm.set_num_threads(threads)
    try:
        expected = graph.visit_counts(starts, seed=1, **few)
        with interrupted_soon():
            graph.visit_counts(starts, seed=1, **options)
        found = graph.visit_counts(starts, seed=1, **few)
    finally:
        gm.set_num_threads(before)
    np.testing.assert_array_equal(found.nodes, expected.nodes)
    np.testing.assert_array_equal(found.counts, expected.counts)


def test_edges_that_are_searched_for(tmp_path):
    # In lists that are sorted by time an edge may be anywhere: both are gone through to the end.
    count = 200_000
    others, zeros = np.arange(2, count + 2), np.zeros(count, np.int64)
    edges = np.concatenate([zeros, others]), np.concatenate([others, zeros + 1])
    times = np.arange(2 * count)
    gm.compile_graph(edges, tmp_path / "g.gl", timestamps=times)
    graph = gm.Graph(tmp_path / "g.gl")
    with interrupted_soon():
        graph.has_edge(zeros, zeros + 1)
    assert graph.has_edge([0, 1, 0], [5, 0, 1]).tolist() == [True, False, False]


def test_other_threads_are_not_ended(graph):
    # Python gives signals to the main thread; what others do is theirs.
    found = []
    options = {"length": 1000, "num_walks": 1000, "seed": 1}
    thread = threading.Thread(
        target=lambda: found.append(graph.visit_counts(np.arange(20), **options))
    )
    thread.start()
    with interrupted_soon(after=0.05):
        graph.visit_counts(np.arange(NUM_NODES), length=1000, num_walks=10**7, seed=1)
    thread.join()
    (counts,) = found
    assert counts.counts.sum() == 20 * 1000 * 1001


def test_a_handler_that_returns_ends_nothing(graph):
    calls = []
    before = signal.signal(signal.SIGALRM, lambda *_: calls.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        counts = graph.visit_counts(np.arange(100), length=1000, num_walks=100, seed=1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert calls == [1]
    assert counts.counts.sum() == 100 * 100 * 1001


def test_every_binding_can_be_ended():
    # All release the GIL by `GilRelease`, which Ctrl-C ends, and only what tidies up by the other:
    # bindings/gil.hpp. That there is no third way, test_thread_rules.py finds out.
    bindings = Path(__file__).parents[3] / "bindings"
    closing = {
        path.name: len(re.findall(r"\bClosingRelease\b", path.read_text()))
        for path in bindings.glob("*.cpp")
        if path.name != "gil.cpp"
    }
    assert {name: count for name, count in closing.items() if count} == {
        "loading.cpp": 1,  # BatchPipeline.stop
        "parts.cpp": 1,  # JoinedFile.close
        "table.cpp": 1,  # FeatureWriter.close
    }
