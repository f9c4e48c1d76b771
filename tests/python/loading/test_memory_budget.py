"""What loaders take if nobody says: a part of what is free, one share for all of a process."""

from __future__ import annotations

import gc
import pickle
import re

import numpy as np
import pytest

import graphmount as gm
from graphmount._loading import memory_budget
from graphmount._mount.free_memory import FreeMemory, free_memory

GIB = 1 << 30


@pytest.fixture(autouse=True)
def share(monkeypatch):
    """A share that nobody has taken of yet, on a machine with 64 GiB free and large tables."""
    gc.collect()
    monkeypatch.setattr(memory_budget, "_share", memory_budget._Share())
    monkeypatch.delenv("LOCAL_WORLD_SIZE", raising=False)
    free = FreeMemory(num_bytes=64 * GIB, place="on the machine")
    monkeypatch.setattr(memory_budget, "free_memory", lambda: free)
    monkeypatch.setattr(memory_budget, "_TABLE_BYTES", 1 << 50)


def budget_of(loader):
    return loader.stats().budget_bytes


def test_each_loader_takes_half_of_what_is_left(dataset):
    loaders = [gm.NeighborLoader(dataset, [1]) for _ in range(4)]
    assert [budget_of(loader) for loader in loaders] == [16 * GIB, 8 * GIB, 4 * GIB, 2 * GIB]
    del loaders[0]
    gc.collect()
    assert budget_of(gm.LinkNeighborLoader(dataset, [1])) == 9 * GIB


def test_what_is_free_is_asked_when_nobody_has_a_part(dataset, monkeypatch):
    loader = gm.NeighborLoader(dataset, [1])
    less = FreeMemory(num_bytes=4 * GIB, place="in the control group")
    monkeypatch.setattr(memory_budget, "free_memory", lambda: less)
    assert budget_of(gm.NeighborLoader(dataset, [1])) == 8 * GIB  # our own caches are not free
    del loader
    gc.collect()
    found = gm.NeighborLoader(dataset, [1])
    assert budget_of(found) == GIB
    assert "half of the 4.0 GiB that were free in the control group" in str(found.stats())


def test_no_more_than_the_tables_need(dataset, monkeypatch):
    monkeypatch.setattr(memory_budget, "_TABLE_BYTES", 1 << 20)
    loader = gm.NeighborLoader(dataset, [1])
    assert budget_of(loader) < 4 << 20
    assert "all that its tables need" in loader.stats().budget_source
    list(loader)
    assert all(table.read_rows == 0 for table in loader.stats().tables.values())
    assert budget_of(gm.NeighborLoader(dataset, [1], features=[])) == 0


def test_ranks_of_a_machine_divide_it(dataset, monkeypatch):
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "4")
    loader = gm.NeighborLoader(dataset, [1], rank=0, world_size=8)
    assert budget_of(loader) == 4 * GIB
    assert "divided among 4 processes" in loader.stats().budget_source
    del loader
    gc.collect()
    monkeypatch.delenv("LOCAL_WORLD_SIZE")
    assert budget_of(gm.NeighborLoader(dataset, [1], rank=0, world_size=8)) == 2 * GIB


@pytest.mark.parametrize("wrong", ["", "two", "0", "-1", "1.5"])
def test_a_wrong_number_of_ranks_is_told(dataset, monkeypatch, wrong):
    monkeypatch.setenv("LOCAL_WORLD_SIZE", wrong)
    with pytest.raises(ValueError, match=re.escape(f"LOCAL_WORLD_SIZE={wrong!r}")):
        gm.NeighborLoader(dataset, [1])
    gm.NeighborLoader(dataset, [1], memory="1MiB")


def test_what_is_given_counts(dataset):
    loader = gm.NeighborLoader(dataset, [1], memory="1MiB")
    assert budget_of(loader) == 1 << 20
    assert loader.stats().budget_source == "given as memory="
    assert budget_of(gm.NeighborLoader(dataset, [1])) == 16 * GIB  # it takes nothing of the share


def test_links_of_all_edges_have_room_without_tables(dataset):
    assert len(gm.LinkNeighborLoader(dataset.graph, [1], batch_size=1000)) == 40


def test_a_copy_has_the_same_memory(dataset):
    loader = gm.NeighborLoader(dataset, [1])
    there = pickle.loads(pickle.dumps(loader))  # noqa: S301  (our own)
    assert budget_of(there) == budget_of(loader)
    assert there.stats().budget_source == loader.stats().budget_source


@pytest.mark.parametrize(
    ("memory", "message"),
    [
        (8, "memory=8: 8 bytes. Write memory='8GiB' or '8MiB'; if bytes are meant, '8B'"),
        ("8", "memory='8': 8 bytes. Write memory='8GiB'"),
        (1023, "1023 bytes"),
    ],
)
def test_a_number_without_its_unit_is_asked_about(dataset, memory, message):
    for make in (
        lambda: gm.NeighborLoader(dataset, [1], memory=memory),
        lambda: gm.LinkNeighborLoader(dataset, [1], memory=memory),
    ):
        with pytest.raises(ValueError, match=message.replace("?", r"\?")):
            make()
    for meant in (0, 1024, "8B", "8 b"):
        gm.NeighborLoader(dataset, [1], memory=meant)


@pytest.fixture
def system(monkeypatch):
    """Files of /proc and /sys, by their paths."""
    from pathlib import Path

    files = {"/proc/meminfo": "MemTotal: 99 kB\nMemAvailable: 2000000 kB\n"}

    def read_text(path):
        try:
            return files[str(path)]
        except KeyError:
            raise FileNotFoundError(str(path)) from None

    monkeypatch.setattr(Path, "read_text", read_text)
    return files


def test_free_on_the_machine(system):
    assert free_memory() == FreeMemory(num_bytes=2_048_000_000, place="on the machine")
    system.clear()  # a system that does not tell
    assert free_memory().num_bytes > 0


def test_free_in_a_group_of_version_2(system):
    """Page cache counts as free; the tightest of all groups on the way up decides."""
    system |= {
        "/proc/self/cgroup": "0::/a/b\n",
        "/sys/fs/cgroup/a/b/memory.max": "max\n",
        "/sys/fs/cgroup/a/memory.max": "50000000\n",
        "/sys/fs/cgroup/a/memory.current": "45000000\n",
        "/sys/fs/cgroup/a/memory.stat": "anon 1\ninactive_file 3000000\nactive_file 1000000\n",
    }
    assert free_memory() == FreeMemory(num_bytes=9_000_000, place="in the control group")
    system["/sys/fs/cgroup/a/memory.current"] = "90000000\n"  # above a limit that came later
    assert free_memory().num_bytes == 0
    system["/sys/fs/cgroup/a/memory.max"] = "max\n"
    assert free_memory().place == "on the machine"


def test_free_in_a_group_of_version_1(system):
    group = "/sys/fs/cgroup/memory/job"
    system |= {
        "/proc/self/cgroup": "4:cpu,memory:/job\n1:cpuset:/\n",
        f"{group}/memory.limit_in_bytes": "60000000\n",
        f"{group}/memory.usage_in_bytes": "50000000\n",
        f"{group}/memory.stat": "cache 7\ntotal_inactive_file 2000000\ntotal_active_file 0\n",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
    }
    assert free_memory() == FreeMemory(num_bytes=12_000_000, place="in the control group")
    del system[f"{group}/memory.usage_in_bytes"]
    assert free_memory().num_bytes == 60_000_000


def test_the_caches_hold_to_what_was_chosen(tmp_path, monkeypatch):
    gm.compile_dataset(
        tmp_path / "d",
        edges=np.random.default_rng(0).integers(0, 100_000, (2, 400_000)),
        num_nodes=100_000,
        features={"x": np.ones((100_000, 64), np.float32)},
    )
    free = FreeMemory(num_bytes=64 << 20, place="on the machine")
    monkeypatch.setattr(memory_budget, "free_memory", lambda: free)
    loader = gm.NeighborLoader(gm.Dataset(tmp_path / "d"), [5], batch_size=1000, window=4)
    for batch in loader:
        if batch.number == 10:
            break
    stats = loader.stats()
    assert stats.budget_bytes == 16 << 20
    assert 0 < stats.tables["x"].cache_bytes <= (16 << 20) + (2 << 20)
    assert stats.tables["x"].read_rows > 0


def test_a_graph_that_may_not_stay_in_memory_is_read_by_single_pages(tmp_path, monkeypatch):
    """What is read around each page would push out what the sample needs next."""
    gm.compile_graph((np.arange(999), np.arange(1, 1000)), tmp_path / "g.gl")
    size = gm.Graph(tmp_path / "g.gl").file_bytes

    def advice_after_a_loop(advice, free):
        found = memory_budget.FreeMemory(num_bytes=free, place="on the machine")
        monkeypatch.setattr(memory_budget, "free_memory", lambda: found)
        graph = gm.Graph(tmp_path / "g.gl", advice=advice)
        list(gm.NeighborLoader(graph, [2], batch_size=500, memory="1MiB"))
        return graph.advice

    enough = 2 * size + (1 << 20)
    assert advice_after_a_loop("auto", enough) == "normal"
    assert advice_after_a_loop("auto", enough - 2) == "random"
    assert advice_after_a_loop("normal", enough - 2) == "normal"
    assert advice_after_a_loop("sequential", enough - 2) == "sequential"
