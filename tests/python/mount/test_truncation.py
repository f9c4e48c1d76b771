"""A file truncated while it is mounted: our calls raise, views end as the system defines."""

from __future__ import annotations

import faulthandler
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from run_mode import IS_SANITIZED

import graphmount as gm


@pytest.fixture
def large_graph(tmp_path):
    generator = np.random.default_rng(5)
    path = tmp_path / "large.gl"
    gm.compile_graph(
        generator.integers(0, 100_000, (2, 1_000_000)),
        path,
        num_nodes=100_000,
        node_ids=range(100_000),
    )
    return path


def calls_of(graph):
    every = np.arange(graph.num_nodes)
    return [
        lambda: graph.degree(every, direction="out"),
        lambda: graph.degree(direction="out"),
        lambda: graph.degree_summary(direction="out"),
        lambda: graph.neighbors(99_999, direction="out"),
        lambda: graph.prefetch(every, direction="out"),
        lambda: graph.has_edge(every, every),
        lambda: graph.sample_negatives(every, strict=True),
        lambda: graph.to_external(every),
        lambda: graph.to_internal(every),
        lambda: graph.advise("populate"),
    ]


@pytest.mark.parametrize("size", [0, 4096, 100_001, 5_000_000])
def test_every_call_raises(size, large_graph):
    graph = gm.Graph(large_graph)
    assert graph.degree([0]).shape == (1,)
    os.truncate(large_graph, size)
    for call in calls_of(graph):
        with pytest.raises(gm.errors.FileChangedError, match=f"to {size} bytes while mounted"):
            call()
    # For good: zeros in place of the lost pages must never be taken for data.
    with large_graph.open("r+b") as file:
        file.truncate(graph.file_bytes)
    with pytest.raises(gm.errors.FileChangedError):
        graph.degree(direction="out")


def test_loss_of_part_of_a_page_is_noticed(tmp_path):
    """The rest of the last page reads as zeros without a signal; the size tells."""
    gm.compile_graph(([0, 1], [1, 2]), tmp_path / "g.gl")
    graph = gm.Graph(tmp_path / "g.gl")
    os.truncate(tmp_path / "g.gl", graph.file_bytes - 1)
    with pytest.raises(gm.errors.FileChangedError):
        graph.degree([0])


def test_truncation_during_calls(large_graph, campaign):
    """Threads that are in the middle of a call get the exception too."""
    for _ in range(campaign(5, 100)):
        data = large_graph.read_bytes()
        graph = gm.Graph(large_graph)
        outcomes = []

        def work(graph=graph, outcomes=outcomes):
            every = np.arange(graph.num_nodes)
            try:
                while True:
                    graph.degree(every, direction="out")
            except gm.errors.FileChangedError:
                outcomes.append("raised")

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        os.truncate(large_graph, 70_000)
        for thread in threads:
            thread.join(timeout=60)
        assert outcomes == ["raised"] * 3
        large_graph.write_bytes(data)


def test_verify_of_a_shrinking_file(tmp_path):
    gm.compile_features(np.zeros((64, 1 << 20), np.uint8), tmp_path / "x.gd")

    def shrink(done, _total):
        if done > 1 << 20:
            os.truncate(tmp_path / "x.gd", 1 << 20)

    with pytest.raises(gm.errors.FileChangedError, match="truncated"):
        gm.verify(tmp_path / "x.gd", progress=shrink)


def test_handlers_installed_later_do_not_shut_ours_out(large_graph):
    graph = gm.Graph(large_graph)
    was_enabled = faulthandler.is_enabled()
    faulthandler.disable()
    faulthandler.enable()  # takes SIGBUS for itself
    try:
        os.truncate(large_graph, 4096)
        with pytest.raises(gm.errors.FileChangedError):
            graph.degree(direction="out")
    finally:
        if not was_enabled:
            faulthandler.disable()


@pytest.mark.parametrize("with_faulthandler", [False, True])
def test_views_end_with_sigbus_as_documented(with_faulthandler, large_graph):
    """And not with a loop between handlers: faulthandler has its say, then the process ends."""
    code = """
import faulthandler, os, sys
import graphmount as gm
if sys.argv[2] == "True":
    faulthandler.enable()
graph = gm.Graph(sys.argv[1])
view = graph.neighbor_lists("out").indices
graph.degree([0])
os.truncate(sys.argv[1], 4096)
try:
    graph.degree(direction="out")
except gm.errors.FileChangedError:
    print("raised", flush=True)
print(int(view.sum()))
"""
    result = subprocess.run(
        [sys.executable, "-c", code, large_graph, str(with_faulthandler)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.stdout == "raised\n"
    if not IS_SANITIZED:
        assert result.returncode == -signal.SIGBUS
    if with_faulthandler:
        assert "Fatal Python error: Bus error" in result.stderr
