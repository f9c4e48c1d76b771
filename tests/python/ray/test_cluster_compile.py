"""Graphs that tasks on a cluster compile have the bytes of those that one process compiles."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ray_data import quiet_ray_data
from run_mode import IS_SANITIZED

import graphmount as gm
from graphmount.errors import BudgetError, SourceError

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
#: A node that is added to the cluster.
NODE = {"num_cpus": 2, "object_store_memory": 200 << 20, "node_ip_address": "127.0.0.2"}


@pytest.fixture(scope="module")
def data(cluster):
    """The module ray.data, without bars and messages."""
    del cluster
    return quiet_ray_data()


def random_edges(generator, num_edges, num_nodes):
    """Edges with hubs, loops and repetitions, weights and times."""
    src = (generator.random(num_edges) ** 3 * num_nodes).astype(np.int64)
    dst = (generator.random(num_edges) ** 2 * num_nodes).astype(np.int64)
    weights = generator.integers(0, 9, num_edges).astype(np.float32) / 8
    return pa.table({"s": src, "d": dst, "w": weights, "t": generator.integers(0, 5, num_edges)})


def on_cluster(data, table, num_blocks=3, **options):
    step = max(1, -(-table.num_rows // num_blocks))
    blocks = [table.slice(first, step) for first in range(0, max(1, table.num_rows), step)]
    return gm.ray.ClusterEdges(
        dataset=data.from_arrow(blocks), **({"task_memory": "64MiB"} | options)
    )


OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "neighbors": st.sampled_from(["both", "in", "out"]),
        "directed": st.booleans(),
        "weights": st.just("w"),
        "timestamps": st.just("t"),
        "ids": st.sampled_from(["dense", "map"]),
        "dedup": st.sampled_from([False, True]),
        "self_loops": st.sampled_from(["keep", "drop"]),
        "index_dtype": st.sampled_from([None, "int64"]),
        "source_rows": st.booleans(),
    },
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cluster")


def test_the_same_bytes_for_any_options(data, folder, campaign):
    @settings(
        max_examples=campaign(8, 150),
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(OPTIONS, st.integers(1, 300), st.integers(1, 40), st.integers(1, 3), st.integers(0, 99))
    def check(options, num_edges, num_nodes, num_blocks, seed):
        table = random_edges(np.random.default_rng(seed), num_edges, num_nodes)
        gm.compile_graph(table, folder / "local.gl", **options)
        edges = on_cluster(data, table, num_blocks)
        done = gm.compile_graph(edges, folder / "cluster.gl", **options)
        assert (folder / "cluster.gl").read_bytes() == (folder / "local.gl").read_bytes()
        assert done.num_nodes == gm.Graph(folder / "local.gl").num_nodes

    check()


@pytest.mark.parametrize(
    "options",
    [
        {"dedup": "sum", "weights": "w"},
        {"num_sources": 40, "num_destinations": 50, "timestamps": "t"},
        {"num_nodes": 60, "weights": "w", "timestamps": "t", "source_rows": True},
        {"node_ids": [f"node {i}" for i in range(40)]},
    ],
)
def test_the_same_bytes_for_options_that_do_not_go_with_others(data, tmp_path, options):
    table = random_edges(np.random.default_rng(1), 500, 40)
    gm.compile_graph(table, tmp_path / "local.gl", **options)
    gm.compile_graph(on_cluster(data, table), tmp_path / "cluster.gl", **options)
    assert (tmp_path / "cluster.gl").read_bytes() == (tmp_path / "local.gl").read_bytes()


@pytest.mark.parametrize("ids", ["dense", "map"])
def test_a_whole_dataset_in_hot_order_has_the_same_bytes(data, tmp_path, ids):
    generator = np.random.default_rng(2)
    table = random_edges(generator, 900, 50)
    x = generator.random((50, 3), np.float32)
    more = {"node_ids": np.arange(50)[::-1].copy()} if ids == "map" else {}
    for name, edges in (("local", table), ("cluster", on_cluster(data, table))):
        gm.compile_dataset(
            tmp_path / name,
            edges=gm.EdgeTable(source=edges, weights="w"),
            num_nodes=50,
            ids=ids,
            features={"x": x},
            labels=np.arange(50) % 3,
            splits={"train": np.arange(10)},
            edge_features={"t": table.select(["t"])},
            **more,
        )
    files = sorted(path.relative_to(tmp_path / "local") for path in (tmp_path / "local").rglob("*"))
    assert len(files) >= 7
    for file in files:
        if (tmp_path / "local" / file).is_file():
            there = (tmp_path / "cluster" / file).read_bytes()
            assert there == (tmp_path / "local" / file).read_bytes(), file


def test_ranges_of_nodes_fit_into_a_task():
    pytest.importorskip("ray", reason="Ray is not installed")
    from graphmount.ray.data import node_ranges

    degrees = np.zeros(300_000, np.int64)
    degrees[[0, 7, 70_000, 299_999]] = [900, 800, 500, 1000]
    degrees[100_000:100_050] = 100

    def count(window):
        return window.tally(np.repeat(np.arange(len(degrees)), degrees))

    limits = node_ranges.Limits(memory=24 * 100_000 + 1000 * 40, entry_bytes=40, num_parts=1)
    ends = node_ranges.cut_nodes(len(degrees), limits, count, is_owner=True).tolist()
    assert ends[-1] == len(degrees)
    for first, end in zip([0, *ends], ends, strict=False):
        assert first < end
        assert limits.fits(int(degrees[first:end].sum()), end - first)
    small = limits._replace(memory=900 * 40)
    with pytest.raises(BudgetError, match=r"node 0 has 900 neighbors.*task_memory='1MiB'"):
        node_ranges.cut_nodes(len(degrees), small, count, is_owner=True)


TURNING = """
import sys
import numpy as np
from graphmount.ray.data import tasks

def memory_of(name):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith(name))

size, task = int(sys.argv[1]), int(sys.argv[2])
offsets = np.linspace(0, size, size // 8 + 1).astype(np.int64)
neighbors = np.random.default_rng(0).integers(0, 10**6, size).astype(np.int32)
before = memory_of("VmRSS")
ends = np.array([3 * 10**5, 10**6], np.uint64)
turned = tasks.turn_lists((offsets, neighbors, None, None, None), 5, 70, ends, task)
assert sum(len(pairs) for some in turned for pairs, *_ in some) == 2 * size
print(memory_of("VmHWM") - before)
"""


@pytest.mark.skipif(IS_SANITIZED, reason="it measures memory")
def test_turning_lists_takes_what_a_task_may_take():
    """All that fit into a task by what lists take while they are made."""
    pytest.importorskip("ray", reason="Ray is not installed")
    from graphmount import _core

    kinds = dict.fromkeys(("rows", "weights", "timestamps", "wide_indices"), False)
    task = 96 << 20
    size = task // _core.part_bytes_per_entry(**kinds)
    command = [sys.executable, "-c", TURNING, str(size), str(task)]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert int(found) <= task


def test_what_does_not_go_together_is_refused(data, tmp_path):
    table = random_edges(np.random.default_rng(3), 20, 5)
    edges = on_cluster(data, table)
    with pytest.raises(ValueError, match="on_error='skip' does not go with ClusterEdges"):
        gm.compile_graph(edges, tmp_path / "g.gl", on_error="skip")
    with pytest.raises(ValueError, match="weights of ClusterEdges must be a column"):
        gm.compile_graph(edges, tmp_path / "g.gl", weights=np.ones(20))
    with pytest.raises(ValueError, match="ClusterEdges are for graphs of one node type"):
        gm.compile_dataset(
            tmp_path / "d", nodes={"a": gm.Nodes(num_nodes=5)}, edges={("a", "to", "a"): edges}
        )
    with pytest.raises(TypeError, match=r"is no ray\.data\.Dataset"):
        gm.ray.ClusterEdges(dataset=table)
    with pytest.raises(ValueError, match="task_memory='1MiB' is too little"):
        on_cluster(data, table, task_memory="1MiB")
    with pytest.raises(BudgetError, match="is more than any node of the cluster has"):
        gm.compile_graph(on_cluster(data, table, task_memory="90TiB"), tmp_path / "g.gl")
    bad = pa.table({"s": [0, 999], "d": [1, 2]})
    with pytest.raises(SourceError, match="999 is not among node_ids"):
        gm.compile_graph(on_cluster(data, bad), tmp_path / "g.gl", ids="map", node_ids=[0, 1, 2])
    assert list(tmp_path.iterdir()) == []


def test_a_node_with_room_for_one_task(data, tmp_path):
    """A task that waits for others must not keep the memory that they need."""
    import ray

    memory = int(0.6 * max(node["Resources"].get("memory", 0) for node in ray.nodes()))
    table = random_edges(np.random.default_rng(8), 300, 40)
    gm.compile_graph(table, tmp_path / "local.gl")
    edges = on_cluster(data, table, task_memory=memory)
    gm.compile_graph(edges, tmp_path / "cluster.gl")
    assert (tmp_path / "cluster.gl").read_bytes() == (tmp_path / "local.gl").read_bytes()


def test_workers_that_are_killed_are_started_again(data, tmp_path):
    """Ray runs what they did again, and the bytes are the same."""
    table = random_edges(np.random.default_rng(4), 400_000, 5000)
    gm.compile_graph(table, tmp_path / "local.gl", weights="w")
    stop = threading.Event()
    killed = []

    def kill():
        import psutil

        while not stop.wait(0.01) and len(killed) < 3:
            for process in psutil.process_iter(["cmdline"]):
                if (process.info["cmdline"] or [""])[0].startswith(
                    ("ray::make_lists", "ray::cut_block", "ray::count_cells", "ray::turn_lists")
                ):
                    os.kill(process.pid, signal.SIGKILL)
                    killed.append(process.pid)
                    break

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        for _ in range(20):
            gm.compile_graph(on_cluster(data, table, 6), tmp_path / "cluster.gl", weights="w")
            assert (tmp_path / "cluster.gl").read_bytes() == (tmp_path / "local.gl").read_bytes()
            if killed:
                break
    finally:
        stop.set()
        killer.join()
    assert killed, "no worker was met at work"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cluster.gl", "local.gl"]


def test_a_node_that_is_lost(cluster, data, tmp_path):
    """What was there is made anew on the others."""
    if not os.environ.get("GRAPHMOUNT_LONG"):
        pytest.skip("takes a while: GRAPHMOUNT_LONG=1")
    table = random_edges(np.random.default_rng(7), 2_000_000, 50_000)
    gm.compile_graph(table, tmp_path / "local.gl", weights="w")

    def same(batch):
        return batch

    for seconds in (1.0, 3.0, 5.0):
        nodes = [cluster.add_node(**NODE) for _ in range(2)]
        cluster.wait_for_nodes()
        edges = on_cluster(data, table, 12).dataset.map_batches(same)
        timer = threading.Timer(seconds, cluster.remove_node, [nodes[1]], {"allow_graceful": False})
        timer.start()
        gm.compile_graph(
            gm.ray.ClusterEdges(dataset=edges, task_memory="64MiB"),
            tmp_path / "cluster.gl",
            weights="w",
        )
        timer.join()
        cluster.remove_node(nodes[0])
        assert (tmp_path / "cluster.gl").read_bytes() == (tmp_path / "local.gl").read_bytes()


def test_a_block_that_was_made_anew_with_other_rows_is_refused(data, tmp_path, monkeypatch):
    from graphmount.ray.data.cluster_intake import ClusterIntake

    write = ClusterIntake._write

    def write_what_was_lost(self, *args):
        first = self._blocks[0]
        before = first.place._replace(digest=first.place.digest ^ 1)  # other rows, as many
        self._blocks[0] = first._replace(place=before)
        return write(self, *args)

    monkeypatch.setattr(ClusterIntake, "_write", write_what_was_lost)
    table = random_edges(np.random.default_rng(5), 50, 9)
    with pytest.raises(SourceError, match=r"block 0 was lost and made anew, with other rows"):
        gm.compile_graph(on_cluster(data, table), tmp_path / "g.gl")
    assert list(tmp_path.iterdir()) == []


def test_an_error_in_the_middle_leaves_nothing(data, tmp_path, monkeypatch):
    from graphmount import _core

    class Full(_core.JoinedGraph):
        def append(self, *args):
            del args
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(_core, "JoinedGraph", Full)
    table = random_edges(np.random.default_rng(5), 50, 9)
    (tmp_path / "old.gl").write_bytes(b"old")
    with pytest.raises(OSError, match="No space left"):
        gm.compile_graph(on_cluster(data, table), tmp_path / "old.gl")
    assert [path.name for path in tmp_path.iterdir()] == ["old.gl"]
    assert (tmp_path / "old.gl").read_bytes() == b"old"


def slow_second_block(batch):
    time.sleep(60 if batch["s"][0] == 1 else 0)
    return batch


def end_by_ctrl_c(data, path, seconds):
    """Compiles what takes a minute, and says how long it took until Ctrl-C ended it.

    Args:
        data: The module ray.data.
        path: The graph to make.
        seconds: When Ctrl-C comes; None if something else sends it.
    """
    blocks = [pa.table({"s": [number] * 5, "d": [0] * 5}) for number in range(2)]
    edges = data.from_arrow(blocks).map_batches(slow_second_block)
    if seconds is not None:
        threading.Timer(seconds, os.kill, [os.getpid(), signal.SIGINT]).start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        gm.compile_graph(gm.ray.ClusterEdges(dataset=edges, task_memory="64MiB"), path)
    return time.monotonic() - begin


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_it_and_leaves_nothing(data, tmp_path):
    assert end_by_ctrl_c(data, tmp_path / "g.gl", 2.0) < 40
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_while_ray_lets_go_of_something_ends_it(data, tmp_path, monkeypatch):
    """Python drops what is raised there; once, a compile went on for that."""
    from ray.data._internal.execution.streaming_executor import _ClosingIterator

    deleted = []

    def delete(_):
        if not deleted:
            deleted.append(True)
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(_ClosingIterator, "__del__", delete)
    assert end_by_ctrl_c(data, tmp_path / "g.gl", None) < 40
    assert deleted
    assert list(tmp_path.iterdir()) == []
