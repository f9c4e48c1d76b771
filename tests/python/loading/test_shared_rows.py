"""Hot rows that processes of one machine share: the same batches, in the memory of one cache.

Whatever happens to those who share (they die, come late, fork, are of another user, or send
something else), a loader has all its rows, and nothing is left behind.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from loader_data import same
from run_mode import IS_SANITIZED

import graphmount as gm
from graphmount._loading import memory_budget, row_feeds
from graphmount._loading.ranks import shared_rows
from graphmount._mount.free_memory import FreeMemory

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sealed memory is Linux's")
PROGRAM = Path(__file__).parents[1] / "support" / "hot_rows_rank.py"
COLUMNS = 512
SHARED = "/dev/shm"  # noqa: S108  (where named memory would be)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("shared")
    generator = np.random.default_rng(0)
    for order in ("hot", "given"):
        gm.compile_dataset(
            path / order,
            edges=generator.integers(0, 4096, (2, 20_000)),
            num_nodes=4096,
            features={"x": generator.random((4096, COLUMNS), np.float32)},
            splits={"train": np.arange(0, 4096, 8)},
            order=order,
        )
    return path


@pytest.fixture(autouse=True)
def session(monkeypatch, request):
    """A run of two processes, as torchrun tells them."""
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    monkeypatch.setenv("MASTER_PORT", f"{os.getpid()}-{request.node.name}")
    yield
    gc.collect()


def make(folder, rank=0, order="hot", **options):
    return gm.NeighborLoader(
        gm.Dataset(folder / order),
        [3, 2],
        input_nodes="train",
        shuffle=True,
        seed=5,
        rank=rank,
        world_size=2,
        **({"batch_size": 40, "memory": "8MiB"} | options),
    )


def shared_bytes(loader):
    return loader.stats().tables["x"].shared_bytes


def name_of(loader):
    """Where those who share the rows of this loader meet."""
    sharing = shared_rows.sharing_of(loader._ranks, loader._budget.given)
    return sharing._name_of(loader._data.by_key["nodes", "x"])


def is_offered(name):
    """Whether a process of this machine has that name."""
    return any(line.rstrip().endswith("@" + name) for line in _sockets())


def _sockets():
    return Path("/proc/net/unix").read_text().splitlines()


@pytest.mark.parametrize("order", ["hot", "given"])
@pytest.mark.parametrize("memory", ["1MiB", "4MiB", "64MiB"])
def test_batches_are_the_same(folder, monkeypatch, order, memory):
    loaders = [make(folder, rank, order, memory=memory) for rank in range(2)]
    found = [list(loader) for loader in loaders]
    tables = [loader.stats().tables["x"] for loader in loaders]
    assert tables[0].shared_bytes == tables[1].shared_bytes > 0
    for table in tables:
        assert table.cache_bytes <= loaders[0].stats().budget_bytes + (2 << 20)
    monkeypatch.delenv("LOCAL_WORLD_SIZE")
    for rank, batches in enumerate(found):
        alone = make(folder, rank, order, memory=memory)
        assert all(same(one, other) for one, other in zip(batches, alone, strict=True))
        assert shared_bytes(alone) == 0
        if memory == "4MiB":  # half of it each, and twice as many hot rows for the same
            assert alone.stats().tables["x"].hot_rows <= tables[rank].hot_rows * 1.2


def test_memory_is_divided(folder, monkeypatch):
    loader = make(folder, memory="8MiB")
    assert loader.stats().budget_bytes == 4 << 20
    assert "divided among the 2 processes" in loader.stats().budget_source
    alone = gm.NeighborLoader(gm.Dataset(folder / "hot"), [2], memory="8MiB", rank=0, world_size=1)
    assert alone.stats().budget_bytes == 8 << 20
    assert sharing_is_off(alone)
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "5")  # more than there are ranks in all
    assert make(folder).stats().budget_bytes == 4 << 20


def sharing_is_off(loader):
    list(loader)
    return shared_bytes(loader) == 0


def test_who_has_rows_keeps_them_when_the_first_is_gone(folder):
    first, second = make(folder, 0), make(folder, 1)
    name = name_of(first)
    wanted = [list(first), list(second)]
    assert is_offered(name)
    del first
    gc.collect()
    assert not is_offered(name)
    again = list(second)  # another epoch, of the same rows
    assert len(again) == len(wanted[1])
    third = make(folder, 0)
    assert all(same(one, other) for one, other in zip(third, wanted[0], strict=True))
    assert is_offered(name)  # it offers rows of its own
    third.close()
    assert not is_offered(name)


def test_loaders_with_less_memory_have_rows_of_their_own(folder):
    large, small = make(folder, 0), make(folder, 1, memory="1MiB")
    list(large)
    list(small)
    assert shared_bytes(large) != shared_bytes(small)
    # The same name, but more than this loader may take.
    taken = shared_rows.Sharing(session="x", sharers=1, memory="m")
    table = gm.Dataset(folder / "hot").features["x"]
    offer = taken.meet(table)
    assert isinstance(offer, shared_rows.Offer)
    offer.close()


def test_without_a_session_nothing_is_shared(folder, monkeypatch):
    monkeypatch.delenv("MASTER_PORT")
    assert sharing_is_off(make(folder))


def offers(name, answer):
    """A process that has the name, and answers whoever asks in its own way."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind("\0" + name)
    listener.listen(4)

    def serve():
        with contextlib.suppress(OSError), listener.accept()[0] as connection:
            answer(connection)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    return listener, thread


def file_of(path):
    path.write_bytes(b"x" * 4096)
    return os.open(path, os.O_RDWR)


def open_memory(size):
    descriptor = os.memfd_create("open", os.MFD_CLOEXEC)
    os.ftruncate(descriptor, size)
    return descriptor


SIZE = 4096 * COLUMNS * 4


@pytest.mark.parametrize(
    ("message", "descriptor"),
    [
        (b"", None),
        (b"rows", None),
        (b"[1, 2]", None),
        (b"[8388608, 4096, true]", None),
        (b"[8388608, 4096, true]", lambda path: file_of(path / "file")),
        (b"[8388608, 4096, true]", lambda _: open_memory(SIZE)),
        (b'["8388608", 4096, true]', lambda _: open_memory(SIZE)),
        (b"[8388608, 99999999999, true]", lambda _: open_memory(SIZE)),
        (b"5", lambda _: open_memory(SIZE)),
        (b"[" * 4000, lambda _: open_memory(SIZE)),
        (b"[-1, 4096, true]", lambda _: open_memory(SIZE)),
        (b"[8388608, 99999999999999999999, true]", lambda _: open_memory(SIZE)),
    ],
    ids=[
        "nothing",
        "no JSON",
        "two numbers",
        "no descriptor",
        "a file",
        "not sealed",
        "text",
        "too many rows",
        "a number",
        "deep",
        "less than nothing",
        "beyond 64 bits",
    ],
)
def test_what_is_no_offer_is_not_taken(folder, tmp_path, message, descriptor):
    loader = make(folder, memory="64MiB")
    sent = [] if descriptor is None else [descriptor(tmp_path)]

    def answer(connection):
        if sent:
            socket.send_fds(connection, [message], sent)
        else:
            connection.sendall(message)

    listener, thread = offers(name_of(loader), answer)
    before = len(os.listdir("/proc/self/fd"))
    assert sharing_is_off(loader)
    thread.join()
    loader.close()
    assert len(os.listdir("/proc/self/fd")) == before
    listener.close()
    for each in sent:
        os.close(each)


def test_a_socket_of_another_user_is_not_used(folder, monkeypatch):
    first, second = make(folder, 0), make(folder, 1)
    list(first)
    monkeypatch.setattr(shared_rows, "_user_of", lambda _: os.getuid() + 1)
    with pytest.warns(UserWarning, match=f"a process of user {os.getuid() + 1} holds the name"):
        assert sharing_is_off(second)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user")
def test_another_user_gets_nothing(folder):
    loader = make(folder)
    list(loader)
    name = name_of(loader)
    child = os.fork()
    if child == 0:
        os.setresuid(65534, 65534, 65534)
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as asking:
            asking.settimeout(5)
            asking.connect("\0" + name)
            os._exit(0 if socket.recv_fds(asking, 100, 1)[:2] == (b"", []) else 1)
        os._exit(2)
    assert os.waitpid(child, 0)[1] == 0


def test_nobody_waits_for_ever():
    listener, _ = offers(f"graphmount-hot-test-stuck-{os.getpid()}", lambda _: time.sleep(60))
    begin = time.monotonic()
    assert shared_rows.meet(f"graphmount-hot-test-stuck-{os.getpid()}", patience=0.05) is None
    assert time.monotonic() - begin < 10
    listener.close()


def test_who_comes_between_name_and_listening_waits():
    name = f"graphmount-hot-test-early-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as first:
        first.bind("\0" + name)
        found = []
        thread = threading.Thread(target=lambda: found.append(shared_rows.meet(name)))
        thread.start()
        time.sleep(0.05)  # it has been refused by now, most likely
        first.listen()
        with first.accept()[0] as connection, open(__file__, "rb") as anything:
            socket.send_fds(connection, [b"[1, 2, true]"], [anything.fileno()])
        thread.join()
    assert found[0].rows[1:] == (1, 2, True)
    assert not os.get_inheritable(found[0].rows[0])
    found[0].close()


def test_without_threads_nobody_is_served(folder, monkeypatch):
    before = len(os.listdir("/proc/self/fd"))

    def refuse(_):
        raise RuntimeError("can't start new thread")

    loader = make(folder, memory="64MiB")
    with monkeypatch.context() as without:
        without.setattr(shared_rows.threading.Thread, "start", refuse)
        assert len(list(loader)) == len(loader)
    assert not is_offered(name_of(loader))
    loader.close()
    del loader
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before


def test_who_is_interrupted_gives_the_name_up(folder, monkeypatch):
    loader = make(folder, memory="64MiB")
    name = name_of(loader)

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as interrupted:
        interrupted.setattr(row_feeds._core, "TableFeed", interrupt)
        with pytest.raises(KeyboardInterrupt):
            list(loader)
        assert not is_offered(name)


def test_who_waits_goes_on_when_the_first_gives_up():
    name = f"graphmount-hot-test-left-{os.getpid()}"
    offer = shared_rows.meet(name)
    found = []
    thread = threading.Thread(target=lambda: found.append(shared_rows.meet(name)))
    thread.start()
    while sum(line.rstrip().endswith("@" + name) for line in _sockets()) < 2:  # it has asked
        time.sleep(0.001)
    offer.close()
    thread.join()
    assert found == [None]


def test_a_child_of_fork_leaves_the_name_to_its_parent(folder):
    first = make(folder, 0)
    batches = list(first)
    read, write = os.pipe()
    wait, go = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(go)
        own = make(folder, 1)  # takes the rows of the parent
        is_right = len(list(own)) == len(batches) and shared_bytes(own) > 0
        os.write(write, b"1" if is_right else b"0")
        os.read(wait, 1)
        os._exit(0)
    try:
        assert os.read(read, 1) == b"1"
        second = make(folder, 1)
        list(second)
        assert shared_bytes(second) == shared_bytes(first)
        name = name_of(first)
        first.close()
        assert not is_offered(name), "the child keeps the name"
    finally:
        os.close(go)  # the child ends
        assert os.waitpid(child, 0)[1] == 0
        for each in (read, write, wait):
            os.close(each)


class Rank:
    """A process with a loader."""

    def __init__(self, folder, rank, memory):
        self.process = subprocess.Popen(
            [sys.executable, PROGRAM, folder, str(rank), memory],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def begun(self):
        return json.loads(self.process.stdout.readline())

    def memory(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()


@pytest.mark.skipif(IS_SANITIZED, reason="it measures memory")
def test_two_processes_take_the_memory_of_one_cache(folder):
    ranks = [Rank(folder / "hot", rank, "64MiB") for rank in range(2)]
    try:
        begun = [rank.begun() for rank in ranks]
        assert [each["shared"] for each in begun] == [SIZE, SIZE]
        parts = [rank.memory()["Pss_Shmem"] for rank in ranks]
        assert SIZE <= sum(parts) <= 1.1 * SIZE
        ranks[0].kill()
        assert SIZE <= ranks[1].memory()["Pss_Shmem"] <= 1.1 * SIZE
    finally:
        for rank in ranks:
            rank.kill()


@pytest.mark.skipif(IS_SANITIZED, reason="new interpreters take too long")
def test_nothing_is_left_after_kills(folder, campaign):
    name = name_of(make(folder, memory="64MiB"))
    totals = set()
    for number in range(campaign(2, 50)):
        ranks = [Rank(folder / "hot", rank, "64MiB") for rank in range(2)]
        if number % 2 == 0:
            totals.add(tuple(rank.begun()["total"] for rank in ranks))
            assert is_offered(name)
        for rank in ranks:
            rank.kill()
        assert not is_offered(name)
        assert not [each for each in os.listdir(SHARED) if "graphmount" in each]
    assert len(totals) == 1


def test_rows_that_are_there_are_not_counted_again(folder, monkeypatch):
    """When the first has placed the rows of all, they are no longer free for the second."""
    monkeypatch.setattr(memory_budget, "_SMALL_BYTES", 1 << 20)
    placed = 0

    def free_memory():
        return FreeMemory(num_bytes=(10 << 20) - placed, place="on the machine")

    monkeypatch.setattr(memory_budget, "free_memory", free_memory)
    first, second = make(folder, 0, memory="8MiB"), make(folder, 1, memory="8MiB")
    list(first)
    placed = shared_bytes(first)
    assert placed > 4 << 20
    list(second)
    assert shared_bytes(second) == placed
    with pytest.raises(gm.errors.BudgetError, match="for 2 processes: caches would take"):
        list(make(folder, 0, memory="7MiB"))  # others, which do not share these rows


def test_more_than_is_free_is_refused(folder, monkeypatch):
    free = FreeMemory(num_bytes=100 << 20, place="in the control group")
    monkeypatch.setattr(memory_budget, "free_memory", lambda: free)
    monkeypatch.setattr(memory_budget, "_SMALL_BYTES", 1 << 20)
    list(make(folder, memory="64MiB"))
    free = FreeMemory(num_bytes=4 << 20, place="in the control group")
    with pytest.raises(gm.errors.BudgetError, match=r"4\.0 MiB are free in the control group"):
        list(make(folder, memory="64MiB"))
    list(make(folder, memory="2MiB"))
