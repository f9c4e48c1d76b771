"""Datasets of many node types within little memory: the same bytes, and advice that is true."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_mode import IS_SANITIZED

import graphmount as gm
from graphmount._compile.dataset import nodes, typed_order
from graphmount._compile.dataset.typed_edges import RelationIntake
from graphmount._compile.edges import graph_options
from graphmount._compile.order import new_id_store, new_ids
from graphmount._compile.order.new_id_store import NewIdStore
from graphmount._compile.order.new_ids import inverted
from graphmount._compile.rows import writer
from graphmount.errors import BudgetError

COUNTS = {"paper": 3_000, "author": 4_000, "place": 20, "alone": 7}
RELATIONS = [("paper", "cites", "paper"), ("author", "writes", "paper"), ("author", "at", "place")]


def digest(folder):
    """Of all files with their names."""
    found = hashlib.sha256()
    for path in sorted(Path(folder).rglob("*")):
        if path.is_file():
            found.update(str(path.relative_to(folder)).encode() + path.read_bytes())
    return found.hexdigest()


def some_parts(seed, kind, num_edges=4_000):
    """What `compile_dataset` takes: skewed edges, ids of a kind, rows for papers only."""
    generator = np.random.default_rng(seed)
    ids = {}
    for name, count in COUNTS.items():
        if kind == "int":
            ids[name] = generator.permutation(count) * 7 - 1000
        elif kind == "str":
            ids[name] = [f"{name} {i * i}" for i in range(count)]
    edges = {}
    for source, name, destination in RELATIONS:
        ends = generator.random((2, num_edges)) ** 3
        edges[source, name, destination] = (
            (ends[0] * COUNTS[source]).astype(np.int64),
            (ends[1] * COUNTS[destination]).astype(np.int64),
        )
    rows = generator.random((COUNTS["paper"], 16)).astype(np.float16)
    nodes = {
        name: gm.Nodes(
            features={"x": rows} if name == "paper" else None,
            labels=np.arange(count) % 5 if name == "paper" else None,
            timestamps=np.arange(count) if name == "paper" else None,
            splits={"train": np.arange(count) % 3 == 0} if name == "paper" else None,
            node_ids=ids.get(name),
            num_nodes=None if ids else count,
        )
        for name, count in COUNTS.items()
    }
    return {"nodes": nodes, "edges": edges}


def with_keys(parts):
    """The edges with the external ids of their ends."""
    ids = {name: np.array(nodes.node_ids) for name, nodes in parts["nodes"].items()}
    return {
        relation: gm.EdgeTable(
            source=pl.DataFrame({"s": ids[relation[0]][src], "d": ids[relation[2]][dst]}),
            columns=("s", "d"),
        )
        for relation, (src, dst) in parts["edges"].items()
    }


@pytest.fixture
def any_memory(monkeypatch):
    """Budgets may be so small that a few thousand edges do not fit."""
    monkeypatch.setattr(graph_options, "_LEAST_MEMORY", 0)
    monkeypatch.setattr(writer, "_LEAST_ROW_BYTES", 1 << 10)


def compile_advised(folder, memory, **parts):
    """Compiles, with as much memory as each error asks for."""
    for _ in range(8):
        why = refusal(folder, memory, **parts)
        if why is None:
            return
        assert not os.path.lexists(folder)
        advised = re.search(r"pass memory='?(\d+)(MiB)?|pass a larger memory=", why)
        assert advised, why
        # How large a map will be is not known before all edges are read.
        more = int(advised[1]) << (20 if advised[2] else 0) if advised[1] else 2 * memory
        assert more > memory, why
        memory = more
    raise AssertionError("advice that does not help")


def refusal(folder, memory, **parts):
    """The message of a BudgetError, or None."""
    try:
        gm.compile_dataset(folder, **parts, memory=memory, progress=False)
    except BudgetError as error:
        return str(error)
    return None


@pytest.mark.usefixtures("any_memory")
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_the_bytes_do_not_depend_on_the_budget(data, tmp_path_factory):
    kind = data.draw(st.sampled_from(["dense", "int", "str"]))
    parts = some_parts(data.draw(st.integers(0, 3)), kind)
    if kind != "dense" and data.draw(st.booleans()):
        parts |= {"ids": "map", "edges": with_keys(parts)}
    parts["order"] = data.draw(st.sampled_from(["hot", "hot", "given"]))
    parts["reverse"] = data.draw(st.sampled_from([True, False, "merge"]))
    parts["neighbors"] = data.draw(st.sampled_from(["in", "out", "both"]))
    memory = data.draw(st.sampled_from([64, 100, 150, 250, 500, 1000, 4000])) << 10
    folder = tmp_path_factory.mktemp("budget")
    compile_advised(folder / "small", memory, **parts)
    compile_advised(folder / "large", 1 << 30, **parts)
    assert digest(folder / "small") == digest(folder / "large")
    assert sorted(os.listdir(folder)) == ["large", "small"]


@pytest.mark.usefixtures("any_memory")
@pytest.mark.parametrize("order", ["hot", "scores", "given"])
def test_neither_do_those_of_one_type(order, tmp_path):
    generator = np.random.default_rng(1)
    edges = (generator.random((2, 20_000)) ** 3 * 3_000).astype(np.int64)
    parts = {"edges": edges, "features": {"x": np.eye(3_000, 20, dtype=np.float16)}}
    parts |= {"order": generator.integers(0, 40, 3_000) if order == "scores" else order}
    gm.compile_dataset(tmp_path / "large", **parts, memory="1GiB")
    for memory in (70_000, 200_000, 800_000):
        compile_advised(tmp_path / str(memory), memory, **parts)
        assert digest(tmp_path / str(memory)) == digest(tmp_path / "large")


@pytest.mark.usefixtures("any_memory")
@pytest.mark.parametrize("kind", ["dense", "int", "str"])
def test_numbers_of_eight_bytes_are_the_same(kind, tmp_path, monkeypatch):
    parts = some_parts(0, kind)
    gm.compile_dataset(tmp_path / "narrow", **parts, reverse=True, memory="1GiB")
    monkeypatch.setattr(new_ids, "MOST_NARROW", 100)
    gm.compile_dataset(tmp_path / "wide", **parts, reverse=True, memory="1GiB")
    compile_advised(tmp_path / "small", 100_000, **parts, reverse=True)
    assert digest(tmp_path / "wide") == digest(tmp_path / "narrow")
    assert digest(tmp_path / "small") == digest(tmp_path / "narrow")


def test_the_advice_is_true_and_comes_before_edges_are_read(tmp_path, monkeypatch):
    """Ordering takes 8 bytes for each node of the largest type, which may be half of the budget."""
    num_nodes = 6_000_000
    nodes = {"user": gm.Nodes(num_nodes=num_nodes), "item": gm.Nodes(num_nodes=num_nodes)}
    relation = ("user", "likes", "item")
    edges = np.array([[5, num_nodes - 1, 5], [1, 2, 3]])
    parts = {"nodes": nodes, "edges": {relation: edges}}
    with monkeypatch.context() as patch:
        patch.delattr(RelationIntake, "read")
        why = refusal(tmp_path / "ds", 64 << 20, **parts)
    assert why.startswith("ordering 6,000,000 nodes of type 'user' takes 45.8 MiB")
    assert "pass memory=96000000 or more, or order='given'" in why
    assert list(tmp_path.iterdir()) == []
    done = gm.compile_dataset(tmp_path / "ds", **parts, memory=96_000_000, reverse=True)
    assert done.num_nodes == 2 * num_nodes
    ds = gm.Dataset(tmp_path / "ds")
    assert list(ds.nodes["user"].to_internal([5, num_nodes - 1, 0])) == [0, 1, 2]


def test_numbers_that_wait_in_files(tmp_path):
    arrays = {name: np.random.default_rng(i).permutation(1_000) for i, name in enumerate("abc")}
    arrays["none"] = np.arange(0)
    store = NewIdStore(memory=100, folder=str(tmp_path))
    for name, array in arrays.items():
        store.keep(name, array.astype(np.uint32), total=12_000)
    assert store.held_bytes == 0
    assert list(tmp_path.iterdir()) == []  # they have no names
    for names in (["a", "b"], ["b", "b"], ["c"], ["a", "none"], ["other"]):
        found = store.load(*names)
        for name in names:
            if name == "other":
                assert found[name] is None
            else:
                assert np.array_equal(found[name], arrays[name])
        assert store.held_bytes == sum(4 * len(arrays.get(name, [])) for name in set(names))
    small = NewIdStore(memory=12_000, folder=str(tmp_path))
    small.keep("a", arrays["a"].astype(np.uint32), total=12_000)
    assert small.held_bytes == 4_000
    assert small.load("b") == {"b": None}
    assert small.held_bytes == 4_000  # there is room for all of them
    os.ftruncate(store._files["b"].file.fileno(), 8)
    with pytest.raises(OSError, match="shorter than it was"):
        store.load("b")
    store.close()
    assert store.load("a") == {"a": None}
    with pytest.raises(OSError, match="No such file or directory: new ids of nodes wait here"):
        NewIdStore(memory=0, folder=str(tmp_path / "none")).keep("a", arrays["a"], total=1)


def test_a_disk_that_is_full(tmp_path, monkeypatch):
    class FullFile:
        def write(self, _):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        def close(self):
            pass

    monkeypatch.setattr(typed_order, "_KEPT_PART", 1 << 40)
    monkeypatch.setattr(new_id_store.tempfile, "TemporaryFile", lambda **_: FullFile())
    with pytest.raises(OSError, match=r"No space left.*new ids of nodes wait here") as e:
        gm.compile_dataset(tmp_path / "ds", **some_parts(0, "dense"), memory="64MiB")
    assert e.value.errno == errno.ENOSPC
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("has_tmp", [False, True])
def test_a_disk_without_room_is_told_before_edges_are_read(has_tmp, tmp_path, monkeypatch):
    """Papers have 96 MB of rows, of which 96 MB more wait in the temporary folder."""
    (tmp_path / "tmp").mkdir()
    tmp = tmp_path / "tmp" if has_tmp else None
    parts = some_parts(0, "dense")
    rows = np.zeros((3_000, 16_000), np.float16)
    parts["nodes"]["paper"] = gm.Nodes(features={"x": rows})
    free = {tmp_path: 98 << 20, tmp_path / "tmp": 80 << 20}
    monkeypatch.setattr(shutil, "disk_usage", lambda place: SimpleNamespace(free=free[Path(place)]))
    monkeypatch.delattr(RelationIntake, "read")
    message = r"compiling 7,027 nodes and about 12,000 edges needs about .* are free"
    with pytest.raises(OSError, match=message) as e:
        gm.compile_dataset(tmp_path / "ds", **parts, memory="64MiB", tmp=tmp)
    assert e.value.errno == errno.ENOSPC
    assert e.value.filename == str(tmp or tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["tmp"]


MEASURED = """
import sys
import threading
import graphmount as gm

def anonymous():
    with open("/proc/self/status") as file:
        return 1024 * next(int(line.split()[1]) for line in file if line.startswith("RssAnon"))

def watch():
    global peak
    while not done.wait(0.002):
        peak = max(peak, anonymous())

done, peak, before = threading.Event(), 0, anonymous()
watcher = threading.Thread(target=watch)
watcher.start()
num_nodes = int(sys.argv[1])
gm.compile_dataset(
    "ds",
    nodes={name: gm.Nodes(num_nodes=num_nodes) for name in "ab"},
    edges={("a", "to", "b"): "edges.npy", ("b", "in", "b"): "edges.npy"},
    reverse=True,
    memory=16 * num_nodes,
)
done.set()
watcher.join()
print(peak - before)
"""


@pytest.mark.skipif(IS_SANITIZED, reason="sanitizers need memory of their own")
def test_memory_that_is_really_used(tmp_path):
    """With the least budget that the order is allowed in; buffers of fixed sizes come on top."""
    num_nodes = 6_000_000
    ends = np.random.default_rng(0).random((2, 6_000_000)) ** 2 * num_nodes
    np.save(tmp_path / "edges.npy", ends.astype(np.int64))
    found = subprocess.run(
        [sys.executable, "-c", MEASURED, str(num_nodes)],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    # With 8 bytes for each new id of all types, as before, it would be 96 MiB more.
    assert int(found.stdout) < 16 * num_nodes + (90 << 20)


def test_inverted():
    for count in (0, 1, 5, (1 << 20) + 3):
        numbers = np.random.default_rng(count).permutation(count)
        assert np.array_equal(inverted(numbers), np.argsort(numbers))
        assert inverted(numbers).dtype == np.uint32


def test_scores_are_sorted_as_before():
    scores = np.array([3.0, 1.0, 3.0, -2.0, 1.0, 9.0])
    assert list(nodes._by_scores(scores)) == [5, 0, 2, 1, 4, 3]


KILLED = """
import sys
import numpy as np
import graphmount as gm
from graphmount._compile.dataset import typed_order
from graphmount._compile.order.new_id_store import NewIdStore

typed_order._KEPT_PART = 1 << 40
load, loads = NewIdStore.load, []

def slow(self, *names):
    loads.append(names)
    if len(loads) == int(sys.argv[2]):
        print("here", flush=True)
        sys.stdin.read()
    return load(self, *names)

NewIdStore.load = slow
edges = np.random.default_rng(0).integers(0, 1000, (2, 100_000))
gm.compile_dataset(
    sys.argv[1],
    nodes={"a": gm.Nodes(features={"x": np.ones((1000, 4))}), "b": gm.Nodes(num_nodes=1000)},
    edges={("a", "to", "b"): edges, ("b", "in", "b"): edges},
    reverse=True,
    memory="64MiB",
)
"""


@pytest.mark.parametrize("load", [1, 3, 5])
def test_killed_on_the_way(load, tmp_path):
    """Nothing is there under the name, and the next attempt takes away what is beside it."""
    folder = tmp_path / "ds"
    command = [sys.executable, "-c", KILLED, str(folder), str(load)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"here\n"
        process.send_signal(signal.SIGKILL)
    assert not folder.exists()
    subprocess.run([*command[:-1], "0"], check=True, stdin=subprocess.DEVNULL)
    assert os.listdir(tmp_path) == ["ds"]
    assert not gm.verify(folder).problems


def test_progress_has_a_step_for_the_order(tmp_path):
    told = []
    parts = some_parts(0, "dense")
    gm.compile_dataset(tmp_path / "ds", **parts, progress=lambda *now: told.append(now))
    assert told[-1] == (1000, 1000)
    assert told == sorted(told)
    # Three sources, the order, three graphs, and three tables of papers: the fourth of ten steps.
    assert any(300 < done <= 400 for done, _ in told)
