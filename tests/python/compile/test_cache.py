"""The cache of what loaders compile: its key, its locks, its limit, and what may be in its way."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from graphmount._compile.cache import compiled_data, folder
from graphmount._compile.cache.folder import CacheFolder
from graphmount.cli import main
from graphmount.errors import BudgetError

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
from pyg_data import NUM_EDGES, NUM_NODES, check_batch, make_data  # noqa: E402

from graphmount.pyg import LinkNeighborLoader, NeighborLoader  # noqa: E402


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHMOUNT_CACHE", str(tmp_path / "cache"))
    return CacheFolder()


@pytest.fixture
def compiles(monkeypatch):
    """The paths that were compiled to."""
    paths = []
    compile_parts = compiled_data.compile_parts

    def counted(parts, path, **options):
        paths.append(path)
        return compile_parts(parts, path, **options)

    monkeypatch.setattr(compiled_data, "compile_parts", counted)
    return paths


def other_rows(data):
    data.x = data.x + 1


def one_edge_less(data):
    data.edge_index, data.edge_attr = data.edge_index[:, 1:], data.edge_attr[1:]


def other_edges(data):
    data.edge_index = data.edge_index.flip(0)


def other_dtype(data):
    data.x = data.x.int()


def other_shape(data):
    data.x = data.x.view(-1, 1)


def other_name(data):
    data.pos = data.x
    del data.x


def more_nodes(data):
    del data.x
    data.num_nodes = NUM_NODES + 1


class TestKey:
    def test_the_same_content_is_compiled_once(self, cache, compiles, capsys):
        NeighborLoader(make_data(), [1])
        NeighborLoader(make_data(train_mask=torch.ones(NUM_NODES, dtype=torch.bool)), [2, 2])
        LinkNeighborLoader(make_data(name="another object"), [1])
        assert len(compiles) == 1
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) == 1
        assert f"graphmount: compiled this Data into {cache.path}" in lines[0]

    def test_memory_may_lie_otherwise(self, cache, compiles):
        data = make_data()
        NeighborLoader(data, [1])
        data.edge_index = data.edge_index.t().contiguous().t()
        data.x = torch.stack([data.x, data.x], dim=1)[:, 0]
        NeighborLoader(data, [1], progress=False)
        assert len(compiles) == 1
        assert cache.entries()[0].path == compiles[0]

    @pytest.mark.parametrize(
        "change",
        [other_rows, one_edge_less, other_edges, other_dtype, other_shape, other_name, more_nodes],
    )
    def test_other_content_is_compiled_anew(self, cache, compiles, change):
        data = make_data()
        NeighborLoader(data, [1], progress=False)
        change(data)
        NeighborLoader(data, [1], progress=False)
        assert len(set(compiles)) == 2
        assert {entry.path for entry in cache.entries()} == set(compiles)

    def test_weights_and_times_are_compiled_where_they_are_wanted(self, cache, compiles):
        data = make_data(w=torch.rand(NUM_EDGES), t=torch.arange(NUM_EDGES))
        times = torch.zeros(NUM_NODES, dtype=torch.long)
        for options in ({}, {"weight_attr": "w"}, {"time_attr": "t", "input_time": times}):
            for _ in range(2):
                NeighborLoader(data, [1], progress=False, **options)
        assert len(compiles) == len(cache.entries()) == 3

    def test_changes_in_place_are_seen_by_new_loaders(self, cache, compiles):
        data = make_data(z=torch.zeros(NUM_NODES))
        loader = NeighborLoader(data, [1], batch_size=NUM_NODES, progress=False)
        data.z += 1
        assert next(iter(loader)).z.sum() == 0
        fresh = NeighborLoader(data, [1], batch_size=NUM_NODES, progress=False)
        assert next(iter(fresh)).z.sum() == NUM_NODES
        assert len(compiles) == len(cache.entries()) == 2


class TestWhere:
    def test_the_usual_place(self, monkeypatch, tmp_path):
        monkeypatch.delenv("GRAPHMOUNT_CACHE", raising=False)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert CacheFolder().path == str(tmp_path / "graphmount")
        monkeypatch.delenv("XDG_CACHE_HOME")
        monkeypatch.setenv("HOME", str(tmp_path))
        assert CacheFolder().path == str(tmp_path / ".cache" / "graphmount")

    def test_a_place_of_ones_own(self, cache, tmp_path, capsys):
        loader = NeighborLoader(make_data(), [1], cache=tmp_path / "mine", progress=False)
        assert len(CacheFolder(tmp_path / "mine").entries()) == 1
        assert cache.entries() == []
        assert capsys.readouterr().err == ""
        check_batch(next(iter(loader)), loader.data)


CHILD = """
import os, signal, sys
import torch
from graphmount._compile.cache import compiled_data
from graphmount._compile.dataset import compiler
from graphmount.pyg import NeighborLoader
from pyg_data import check_batch, make_data

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

if sys.argv[1] == "die":
    compiler.write_description = die
data = make_data()
loader = NeighborLoader(data, [2], batch_size=10)
for batch in loader:
    check_batch(batch, data)
if sys.argv[1] == "hold":
    print("here", flush=True)
    sys.stdin.read()
"""


def start(mode):
    support = Path(__file__).parents[1] / "support"
    environment = os.environ | {"PYTHONPATH": str(support)}
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, mode],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


class TestProcesses:
    def test_one_of_several_compiles(self, cache):
        children = [start("run") for _ in range(3)]
        told = [child.communicate(timeout=120)[1] for child in children]
        assert [child.returncode for child in children] == [0, 0, 0], told
        assert sum(text.count("compiled this Data") for text in told) == 1
        assert len(cache.entries()) == 1

    def test_who_is_killed_leaves_nothing_in_the_way(self, cache, compiles):
        child = start("die")
        child.communicate(timeout=120)
        assert child.returncode == -9
        assert cache.entries() == []
        assert any("partial" in name for name in os.listdir(cache.path))
        assert cache.clear() == ([], [])
        assert os.listdir(cache.path) == []
        start("die").communicate(timeout=120)
        data = make_data()
        check_batch(next(iter(NeighborLoader(data, [2], progress=False))), data)
        assert len(compiles) == len(cache.entries()) == 1

    def test_what_another_process_uses_stays(self, cache):
        child = start("hold")
        assert child.stdout.readline() == "here\n"
        (entry,) = cache.entries()
        assert entry.is_used
        assert cache.clear() == ([], [entry])
        child.communicate("", timeout=60)
        (entry,) = cache.entries()
        assert not entry.is_used
        assert cache.clear() == ([entry], [])
        assert cache.entries() == []

    def test_what_this_process_uses_stays(self, cache):
        loader = NeighborLoader(make_data(), [2], progress=False)
        assert [entry.is_used for entry in cache.entries()] == [True]
        assert cache.clear()[0] == []
        check_batch(next(iter(loader)), loader.data)
        del loader
        assert len(cache.clear()[0]) == 1

    def test_a_loader_outlives_what_somebody_removes(self, cache, compiles):
        """As with `rm -r`: files that are open stay, and the next loader makes them again."""
        loader = NeighborLoader(make_data(), [2], progress=False)
        for path in sorted(Path(compiles[0]).rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        Path(compiles[0]).rmdir()
        fresh = NeighborLoader(make_data(), [2], progress=False)
        for some in (loader, fresh):
            check_batch(next(iter(some)), some.data)
        assert len(compiles) == 2
        assert len(cache.entries()) == 1


class TestLimit:
    def test_those_not_used_for_the_longest_time_go_first(self, cache, compiles, monkeypatch):
        used = NeighborLoader(make_data(0), [1], progress=False)
        for seed in (1, 2):
            NeighborLoader(make_data(seed), [1], progress=False)
        first, second, third = (os.path.basename(path) for path in compiles)
        sizes = {entry.name: entry.bytes for entry in cache.entries()}
        for age, name in ((300, first), (200, third), (100, second)):
            os.utime(cache.path_of(name) + ".used", (time.time() - age,) * 2)
        monkeypatch.setattr(compiled_data, "_expected_bytes", lambda _: sizes[first])
        monkeypatch.setenv("GRAPHMOUNT_CACHE_LIMIT", str(sum(sizes.values()) + 1))
        NeighborLoader(make_data(3), [1], progress=False)
        names = {entry.name for entry in cache.entries()}
        assert {first, second} < names
        assert third not in names
        check_batch(next(iter(used)), used.data)

    def test_what_is_larger_than_the_limit(self, cache, compiles, monkeypatch):
        monkeypatch.setenv("GRAPHMOUNT_CACHE_LIMIT", "10KiB")
        with pytest.raises(
            BudgetError, match=r"takes about .* KiB .* 10.0 KiB; set GRAPHMOUNT_CAC"
        ):
            NeighborLoader(make_data(), [1])
        assert compiles == []
        monkeypatch.setenv("GRAPHMOUNT_CACHE_LIMIT", "plenty")
        with pytest.raises(ValueError, match="GRAPHMOUNT_CACHE_LIMIT='plenty' is not a size"):
            NeighborLoader(make_data(), [1])
        monkeypatch.delenv("GRAPHMOUNT_CACHE_LIMIT")
        assert cache.limit == 50 << 30


class TestInTheWay:
    def test_files_that_are_missing_are_made_again(self, cache, compiles):
        NeighborLoader(make_data(), [1], progress=False)
        os.unlink(os.path.join(compiles[0], "graph.gl"))
        data = make_data()
        check_batch(next(iter(NeighborLoader(data, [1], progress=False))), data)
        assert len(compiles) == 2
        assert len(cache.entries()) == 1

    def test_a_damaged_description_is_never_trusted(self, cache, compiles):
        NeighborLoader(make_data(), [1], progress=False)
        Path(compiles[0], "dataset.json").write_text("{}")
        with pytest.raises(FileExistsError, match="no dataset that this graphmount knows"):
            NeighborLoader(make_data(), [1], progress=False)
        _, (kept,) = cache.clear()
        assert kept.path == compiles[0]

    def test_another_dataset_is_never_trusted(self, compiles, cache):
        for seed in (0, 1):
            NeighborLoader(make_data(seed), [1], progress=False)
        cache.clear([os.path.basename(compiles[0])])
        os.rename(compiles[1], compiles[0])
        with pytest.raises(FileExistsError, match="a dataset that the cache did not make; move it"):
            NeighborLoader(make_data(0), [1], progress=False)

    @pytest.mark.parametrize(
        ("number", "message"),
        [
            (errno.ENOSPC, "no room for this Data in the cache; `graphmount cache clear` empties"),
            (
                errno.EROFS,
                "nothing can be written into the cache; set GRAPHMOUNT_CACHE to a folder",
            ),
        ],
    )
    def test_a_disk_that_takes_nothing(self, cache, monkeypatch, number, message):
        def fail(*_, **__):
            raise OSError(number, os.strerror(number), "somewhere")

        monkeypatch.setattr(compiled_data, "compile_parts", fail)
        with pytest.raises(OSError, match=message) as raised:
            NeighborLoader(make_data(), [1])
        assert (raised.value.errno, raised.value.filename) == (number, cache.path)

    def test_a_folder_that_nobody_may_write_to(self, cache, compiles, monkeypatch):
        NeighborLoader(make_data(), [1], progress=False)

        def refuse(path, **_):
            raise PermissionError(errno.EACCES, "Permission denied", path)

        monkeypatch.setattr(folder, "take_lock", refuse)
        data = make_data()
        check_batch(next(iter(NeighborLoader(data, [1]))), data)
        with pytest.raises(PermissionError, match="nothing can be written into the cache"):
            NeighborLoader(make_data(1), [1])
        assert len(compiles) == 1
        assert [entry.is_used for entry in cache.entries()] == [False]


class TestCommand:
    def test_list_and_clear(self, cache, capsys):
        assert main(["cache", "list"]) == 0
        assert capsys.readouterr().out == f"{cache.path}: 0 entries, 0 B of 50.0 GiB\n"
        loader = NeighborLoader(make_data(), [1], progress=False)
        NeighborLoader(make_data(1), [1], progress=False)
        assert main(["cache", "list"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == 3
        assert sum(line.endswith(", in use") for line in lines) == 1
        assert main(["cache", "list", "--json"]) == 0
        entries = json.loads(capsys.readouterr().out)
        assert [entry["is_used"] for entry in entries] == [False, True]
        assert main(["cache", "clear"]) == 0
        told = capsys.readouterr()
        assert "1 entry removed" in told.out
        assert f"{entries[1]['path']} stays: a process uses it" in told.err
        assert main(["cache", "clear", entries[1]["name"]]) == 2
        assert main(["cache", "clear", "pyg-none"]) == 2
        assert "there is no 'pyg-none' in the cache" in capsys.readouterr().err
        del loader
        assert main(["cache", "clear", "--folder", cache.path, entries[1]["name"]]) == 0
        assert cache.entries() == []
