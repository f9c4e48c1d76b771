"""Random calls of many threads on the same handles and loaders: each is served, or refused.

See docs/threads.md for the rules.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading

import pytest
from run_mode import IS_SANITIZED, SUPPORT

import graphmount as gm
from graphmount._support.threads.one_taker import OneTaker


@pytest.mark.parametrize("kind", ["arrays", "tensors", "pyg"])
def test_random_calls(kind, any_folder, campaign):
    if kind != "arrays":
        if IS_SANITIZED:
            pytest.skip("torch does not run under a sanitizer")
        pytest.importorskip("torch" if kind == "tensors" else "torch_geometric")
    script = SUPPORT / "thread_stress.py"
    for seed in range(campaign(1, 10)):
        done = subprocess.run(
            [
                sys.executable,
                script,
                any_folder,
                kind,
                str(seed),
                str(campaign(125, 4000)),
                "6",
            ],
            capture_output=True,
            text=True,
            timeout=1200,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), done.stdout
        result = json.loads(done.stdout)
        assert result["failures"] == []
        counts = result["counts"]
        assert counts["take done"] > 10
        assert sum(count for name, count in counts.items() if name.endswith("refused")) > 0


def test_two_threads_that_loop_over_one_loader(loader_folder):
    """One of them is told that the other one has begun; nothing else happens to either."""
    code = """
import sys, threading
import graphmount as gm
dataset = gm.Dataset(sys.argv[1])
loader = gm.NeighborLoader(dataset, [5, 5], batch_size=20, memory="20KiB", window=3)
messages = []
def work():
    for _ in range(20):
        try:
            for batch in loader:
                assert (batch.features["year"] == dataset.to_external(batch.nodes)).all()
        except RuntimeError as error:
            messages.append(str(error))
threads = [threading.Thread(target=work) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert messages and all("this loop was ended" in message for message in messages), messages
assert len(list(loader)) == len(loader)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, loader_folder / "hot"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("call", ["close", "iter", "load_state_dict"])
def test_a_thread_that_ends_the_loop_of_another_one(loader_folder, call, campaign):
    """Again and again, at any moment, also while the other one is in the core."""
    code = """
import sys, threading, time
import graphmount as gm
dataset = gm.Dataset(sys.argv[1])
loader = gm.NeighborLoader(dataset, [5, 5], batch_size=20, memory="20KiB", window=3)
state = loader.state_dict()
end = {
    "close": loader.close,
    "iter": lambda: iter(loader),
    "load_state_dict": lambda: loader.load_state_dict(state),
}[sys.argv[2]]
is_over, are_right, messages = threading.Event(), [], []
def work():
    while not is_over.is_set():
        try:
            for batch in loader:
                expected = dataset.to_external(batch.nodes)
                are_right.append((batch.features["year"] == expected).all())
        except RuntimeError as error:
            messages.append(str(error))
thread = threading.Thread(target=work)
thread.start()
for number in range(int(sys.argv[3])):
    count = len(are_right)
    while number % 2 and len(are_right) == count and thread.is_alive():
        time.sleep(0.0005)
    end()
is_over.set()
thread.join()
assert are_right and all(are_right)
assert messages and all("this loop was ended" in message for message in messages), messages
assert len(list(loader)) == len(loader)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, loader_folder / "hot", call, str(campaign(12, 60))],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("call", ["close", "iter", "load_state_dict"])
def test_a_loop_that_another_thread_ends(dataset, call, monkeypatch):
    loader = gm.NeighborLoader(dataset, [2], batch_size=100, memory="20KiB", seed=1)
    batches = iter(loader)
    next(batches)
    state = loader.state_dict()
    problems = []
    is_waiting, may_go_on = threading.Event(), threading.Event()
    take = loader._next

    def wait_and_take(pipeline):
        is_waiting.set()
        assert may_go_on.wait(60)
        return take(pipeline)

    monkeypatch.setattr(loader, "_next", wait_and_take)

    def work():
        try:
            next(batches)
        except RuntimeError as error:
            problems.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    assert is_waiting.wait(60)
    monkeypatch.undo()
    if call == "close":
        loader.close()
    elif call == "iter":
        assert next(iter(loader)).epoch == 1
    else:
        loader.load_state_dict(state)
    may_go_on.set()
    thread.join(60)
    assert len(problems) == 1
    assert "this loop was ended by another one over the same loader, by its close()" in problems[0]
    # What the loop that was ended has taken does not count.
    assert loader.state_dict()["batch"] == 1
    assert list(batches) == []


def test_a_loop_that_is_ended_while_it_waits_in_the_core(loader_folder):
    """Whoever waits for a batch that takes long is told at once, and nobody waits for another."""
    dataset = gm.Dataset(loader_folder / "hot")
    loader = gm.NeighborLoader(dataset, [20, 10], batch_size=1000, memory=0)
    outcomes = []

    def work():
        try:
            outcomes.append(next(iter(loader)))
        except RuntimeError as error:
            outcomes.append(str(error))

    for _ in range(5):
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        loader.close()
        for thread in threads:
            thread.join(120)
            assert not thread.is_alive()
        loader.close()
    assert all(isinstance(outcome, gm.Batch) or "ended" in outcome for outcome in outcomes)


def test_one_taker_at_a_time():
    is_inside, may_go_on = threading.Event(), threading.Event()

    def numbers():
        for number in range(3):
            is_inside.set()
            assert may_go_on.wait(60)
            yield number

    loop = OneTaker(numbers())
    taken = []
    thread = threading.Thread(target=lambda: taken.append(next(loop)))
    thread.start()
    assert is_inside.wait(60)
    with pytest.raises(RuntimeError, match="another thread is taking a batch from this loop"):
        next(loop)
    with pytest.raises(RuntimeError, match="wait for it first"):
        loop.close()
    may_go_on.set()
    thread.join()
    assert taken == [0]
    assert list(loop) == [1, 2]
