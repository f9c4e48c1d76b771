"""Processes that train together: one that dies is named, nobody waits for ever, and all go on."""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from run_mode import IS_SANITIZED

torch = pytest.importorskip("torch", reason="torch is not installed")
if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
    pytest.skip("torch has no gloo here", allow_module_level=True)
import left_behind  # noqa: E402
import ranks_program  # noqa: E402
from rank_processes import end, start  # noqa: E402

import graphmount as gm  # noqa: E402
import graphmount.torch  # noqa: E402
from graphmount.errors import RankError  # noqa: E402
from graphmount.torch.ranks import signs_of_life  # noqa: E402
from graphmount.torch.ranks.meeting import meet_at  # noqa: E402

pytestmark = pytest.mark.skipif(IS_SANITIZED, reason="new interpreters take too long")


CASES = {
    "killed": (2, signal.SIGKILL),
    "first is killed": (0, signal.SIGKILL),
    "stopped": (1, signal.SIGSTOP),
    "raises": (1, "raises"),
    "leaves": (1, "leaves"),
}


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """The ranks of each case, and where they write things down.

    They mostly wait, so all cases run at the same time, and while another test runs.
    """
    folders = {name: tmp_path_factory.mktemp("ended") for name in CASES}
    started = {
        name: start(ranks_program.wait_in_vain, 3, case, str(folders[name]))
        for name, case in CASES.items()
    }
    yield started, folders
    for process in itertools.chain(*started.values()):
        process.kill()
        process.join()


@pytest.fixture(scope="module")
def ended(running):
    """What the ranks of each case wrote down."""
    started, folders = running
    found = {}
    for name, processes in started.items():
        who, what = CASES[name]
        _, stuck = end([each for rank, each in enumerate(processes) if rank != who])
        processes[who].kill()
        processes[who].join()
        assert not stuck, f"{name}: ranks wait for ever"
        found[name] = {
            rank: json.loads((folders[name] / f"{rank}.json").read_text())
            for rank in range(3)
            if rank != who
        }
        if what == "raises":
            own = json.loads((folders[name] / f"{who}.json").read_text())
            assert own["kind"] == "ValueError"
    return found


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("ranks-data") / "data"
    generator = np.random.default_rng(0)
    gm.compile_dataset(
        path,
        edges=generator.integers(0, 100, (2, 600)),
        num_nodes=100,
        features={"x": generator.random((100, 4), np.float32)},
        labels=np.arange(100) % 3,
    )
    return str(path)


def trained(data, out, num_steps, deaths, world_size):
    """What comes out of a training in which ranks die, one after the other."""
    out.mkdir()
    for death in [*deaths, None]:
        processes = start(ranks_program.train, world_size, (data, str(out), num_steps, death))
        codes, stuck = end(processes)
        assert not stuck
        if death is None:
            assert codes == [0] * world_size
        elif not (out / "losses.json").exists():
            assert codes.pop(death[0]) == -signal.SIGKILL
            assert 0 not in codes
    assert set(os.listdir(out)) == {"last.pt", "losses.json"}
    saved = torch.load(out / "last.pt", weights_only=True)
    state = [
        value.tolist() for each in saved["optimizer"]["state"].values() for value in each.values()
    ]
    return json.loads((out / "losses.json").read_text()), state


@pytest.mark.usefixtures("running")  # which wait meanwhile
@pytest.mark.parametrize("world_size", [2, 3])
def test_kills_change_no_loss(data, tmp_path, campaign, world_size):
    num_kills = campaign(1, 20)
    num_steps = campaign(8, 40)
    draw = random.Random(7)
    deaths = [
        (
            draw.randrange(world_size),
            # Each is a little later than the last, so that all of them come to it.
            min(num_steps - 1, (kill + 1) * num_steps // (num_kills + 1)),
            draw.choice(["before", "after", "saved"]),
        )
        for kill in range(num_kills)
    ]
    with ThreadPoolExecutor() as both:
        whole = both.submit(trained, data, tmp_path / "whole", num_steps, [], world_size)
        killed = both.submit(trained, data, tmp_path / "killed", num_steps, deaths, world_size)
    assert len(whole.result()[0]) == num_steps
    assert killed.result() == whole.result()
    assert left_behind.held() == left_behind.files(tmp_path) == []


@pytest.mark.parametrize("worlds", [[4, 2, 3], [1, 4, 2]], ids=str)
def test_processes_come_and_go_in_an_epoch(data, tmp_path, worlds):
    # 100 inputs in batches of 12: nine steps are an epoch.
    for until, world_size in zip([3, 6, 9], worlds, strict=True):
        processes = start(ranks_program.part_of_an_epoch, world_size, data, str(tmp_path), until)
        assert end(processes) == ([0] * world_size, [])
    found = json.loads((tmp_path / "seen.json").read_text())
    assert sorted(found["seen"]) == list(range(100))
    assert found["worlds"] == worlds
    assert found["epochs"] == [0, 0, 1]


@pytest.fixture
def engine(monkeypatch):
    """Sets what an engine sets, for this process."""

    def engine(rank, world_size):
        with socket.create_server(("127.0.0.1", 0)) as found:
            port = found.getsockname()[1]
        values = {"RANK": rank, "WORLD_SIZE": world_size, "MASTER_PORT": port}
        for name, value in values.items():
            monkeypatch.setenv(name, str(value))
        monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")
        return port

    return engine


def test_a_rank_that_does_not_come_is_an_error(engine):
    port = engine(0, 2)
    with pytest.raises(RankError, match="only 1 of 2 ranks came; start all") as raised:
        gm.torch.RankGroup(start_timeout=1).__enter__()
    assert f"rank 0 waited up to 1 s to meet 2 ranks at 127.0.0.1:{port}" in str(raised.value)
    engine(1, 2)
    with pytest.raises(RankError, match=r"rank 1 waited .* and could not: .*MASTER_ADDR"):
        gm.torch.RankGroup(start_timeout=0.2).__enter__()
    assert not torch.distributed.is_initialized()


def test_ranks_that_are_missing_in_the_store_are_named():
    store = torch.distributed.HashStore()
    with ThreadPoolExecutor() as threads:
        second = threads.submit(meet_at, store, 2, 4, 2)
        with pytest.raises(RankError, match=r"rank 0 waited for 4 .* \[1, 3\] did not") as raised:
            meet_at(store, 0, 4, 0.5)
        with pytest.raises(RankError, match="rank 2 waited"):
            second.result()
    assert raised.value.rank == 1
    # Who did not wait any more is not taken for somebody who does.
    with pytest.raises(RankError, match=r"\[0, 1, 2\] did not come"):
        meet_at(store, 3, 4, 0.1)


class Slow(torch.distributed.HashStore):
    """A store in which the time is over when the last has come."""

    def wait(self, *_):
        raise RuntimeError("time is over")


def test_a_rank_that_comes_when_the_time_is_over_is_there():
    store = Slow()
    group = meet_at(store, 0, 1, 0.1)
    group.set("key", "value")
    assert not meet_at(store, 0, 1, 0.1).check(["key"])


def test_an_error_leaves_no_group_behind(engine):
    engine(0, 1)
    group = gm.torch.RankGroup(start_timeout=5)

    def fail():
        assert torch.distributed.is_initialized()
        raise ZeroDivisionError

    for _ in range(2):
        with pytest.raises(ZeroDivisionError), group:
            fail()
        assert not torch.distributed.is_initialized()
    with pytest.raises(ValueError, match="pairing"):
        gm.torch.RankGroup(backend="cpu:gloo:5").__enter__()
    assert not torch.distributed.is_initialized()
    with group:
        # What was set up by others stays, also after an error.
        with pytest.raises(ZeroDivisionError), gm.torch.RankGroup():
            fail()
        assert torch.distributed.is_initialized()


class CutOff:
    """A store whose machine does not answer any more."""

    def __init__(self):
        self.is_cut_off = threading.Event()
        self.never = threading.Event()

    def set(self, *_):
        if self.is_cut_off.is_set():
            self.never.wait()

    def check(self, _):
        self.set()
        return False


def test_a_store_that_is_cut_off_holds_nobody(monkeypatch):
    monkeypatch.setattr(signs_of_life, "_LIMIT", 0.1)
    store = CutOff()
    signs = signs_of_life.SignsOfLife(store, 1, 2)
    store.is_cut_off.set()
    try:
        ended = signs.who_ended()
        assert ended.rank == 0
        assert "cannot be reached" in ended.how
        signs.end_because_of(ended)
        signs.end("note")
    finally:
        store.never.set()


def test_a_group_may_begin_before_others_have_left_the_last():
    assert end(start(ranks_program.several_groups, 2)) == ([0, 0], [])


@pytest.mark.parametrize("who", [0, 1])
def test_ranks_that_learn_late_of_an_error_meet_who_began_anew(who):
    assert end(start(ranks_program.begin_anew, 3, who)) == ([0, 0, 0], [])


def test_groups_of_other_sizes_meet_at_the_same_place():
    assert end(start(ranks_program.fewer_and_all_again, 3)) == ([0, 0, 0], [])


def test_a_rank_that_comes_back_finds_the_group_that_waits_for_it():
    assert end(start(ranks_program.come_back, 3)) == ([0, 0, 0], [])


def test_batch_sizes_follow_the_number_of_ranks():
    group = gm.torch.RankGroup()
    for group.world_size in (1, 2, 3, 4, 12):
        assert group.batch_size(12) * group.world_size == 12
    group.world_size = 5
    with pytest.raises(
        ValueError, match=r"12 cannot be divided evenly among 5 ranks; take 10 or 15"
    ):
        group.batch_size(12)
    with pytest.raises(ValueError, match=r"a global batch of 3 .* take 5, and"):
        group.batch_size(3)  # more ranks than inputs
    with pytest.raises(ValueError, match="global_batch"):
        group.batch_size(0)
    with pytest.raises(TypeError, match="global_batch"):
        group.batch_size("12")


def test_a_group_of_one(monkeypatch):
    for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    with gm.torch.RankGroup() as ranks:
        assert (ranks.rank, ranks.world_size, ranks.gather([1])) == (0, 1, [[1]])
        assert not torch.distributed.is_initialized()
    with pytest.raises(ZeroDivisionError), gm.torch.RankGroup():
        _ = 1 / 0
    with pytest.raises(ValueError, match="timeout=0"):
        gm.torch.RankGroup(timeout=0)


@pytest.mark.parametrize("case", CASES)
def test_a_rank_that_ends_is_named_by_all_others(ended, case):
    who, _ = CASES[case]
    for error in ended[case].values():
        assert error["kind"] == "RankError", error
        assert error["rank"] == who, error
        assert f"waited for rank {who}, which" in error["text"]
        assert error["seconds"] < 30
    texts = " ".join(error["text"] for error in ended[case].values())
    if case in ("killed", "stopped"):
        assert ("is gone" if case == "killed" else "gives no sign of life") in texts
        assert f"on {socket.gethostname()}" in texts
    if case == "raises":
        assert "ended with ValueError: bad batch" in texts
