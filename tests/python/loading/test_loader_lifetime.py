"""Loaders that are left, restarted, forked, or fail: threads end, memory comes back."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time

import numpy as np
import pytest
from loader_data import arrays, check_batch
from run_mode import IS_SANITIZED

import graphmount as gm
from graphmount import _core, errors


def test_leaving_early_and_beginning_again(dataset):
    loader = gm.NeighborLoader(
        dataset, [5, 5], input_nodes="train", batch_size=10, memory="50KiB", seed=1
    )
    _core.start_threads()  # those of the pool, which stay
    assert len(list(loader)) == len(loader)
    loader.close()
    threads = len(os.listdir("/proc/self/task"))
    kept = []
    for stop in (0, 1, 5, 20):
        for batch in loader:
            kept.append((batch, [array.copy() for array in arrays(batch)]))
            check_batch(batch, dataset)
            if batch.number >= stop:
                break
    for batch, copies in kept:
        assert all(np.array_equal(a, b) for a, b in zip(arrays(batch), copies, strict=True))
    loader.close()
    # Linux lists a thread for a moment after it was joined.
    deadline = time.monotonic() + 10
    while len(os.listdir("/proc/self/task")) > threads and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(os.listdir("/proc/self/task")) <= threads
    assert len(list(loader)) == len(loader)


def test_a_second_loop_ends_the_first(dataset):
    loader = gm.NeighborLoader(dataset, [2], batch_size=100, memory="20KiB")
    first = iter(loader)
    next(first)
    second = iter(loader)
    next(second)
    with pytest.raises(RuntimeError, match="ended"):
        list(first)
    assert len(list(second)) == len(loader) - 1


def test_several_loaders_at_once(dataset):
    loaders = [
        gm.NeighborLoader(dataset, [5], batch_size=100, memory="40KiB", seed=i) for i in range(3)
    ]
    for batches in zip(*loaders, strict=True):
        for batch in batches:
            check_batch(batch, dataset)


def test_an_error_comes_to_the_consumer(tmp_path):
    generator = np.random.default_rng(1)
    edges = generator.integers(0, 5000, (2, 50_000))
    gm.compile_dataset(
        tmp_path / "d",
        edges=edges,
        num_nodes=5000,
        features={"x": generator.random((5000, 256), dtype=np.float32)},
    )
    dataset = gm.Dataset(tmp_path / "d")
    loader = gm.NeighborLoader(dataset, [5], batch_size=50, memory=0, window=2, seed=1)
    batches = iter(loader)
    next(batches)
    os.truncate(dataset.features["x"].path, 1 << 17)
    with pytest.raises(errors.FileChangedError):
        list(batches)
    with pytest.raises(errors.FileChangedError):
        list(loader)


def test_exit_in_the_middle_of_a_loop(loader_folder):
    code = (
        "import sys, graphmount as gm\n"
        "loader = gm.NeighborLoader(gm.Dataset(sys.argv[1]), [5, 5], batch_size=10, memory=0)\n"
        "batches = iter(loader)\n"
        "next(batches)\n"
        "print('fine')\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, loader_folder / "hot"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "fine\n", "")


def test_a_loop_does_not_go_on_in_a_child(dataset):
    loader = gm.NeighborLoader(dataset, [2], batch_size=100, memory="20KiB", seed=1)
    batches = iter(loader)
    next(batches)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            next(batches)
        except RuntimeError:
            again = gm.NeighborLoader(dataset, [2], batch_size=100, memory="20KiB", seed=1)
            status = 0 if len(list(again)) == len(again) else 2
        os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(list(batches)) == len(loader) - 1


def test_memory_is_flat(dataset):
    """Restarts, early exits and kept batches leave nothing behind."""
    if IS_SANITIZED:
        pytest.skip("sanitizers keep freed memory")
    loader = gm.NeighborLoader(dataset, [5, 5], batch_size=100, memory="60KiB", shuffle=True)

    def some(count):
        for _ in range(count):
            for batch in loader:
                if batch.number == 7:
                    break
        gc.collect()
        return gm.memory().anonymous_bytes

    some(5)
    before = some(5)
    assert some(40) < before + (8 << 20)


def test_a_loop_that_was_left_keeps_its_place(dataset):
    options = {"batch_size": 100, "memory": "20KiB", "seed": 4, "shuffle": True}
    loader = gm.NeighborLoader(dataset, [2], **options)
    for batch in loader:
        if batch.number == 3:
            break
    state = loader.state_dict()
    assert (state["epoch"], state["batch"]) == (0, 4)
    other = gm.NeighborLoader(dataset, [2], **(options | {"seed": 9}))
    other.load_state_dict(state)
    assert [(batch.epoch, batch.number) for batch in other] == [
        (0, number) for number in range(4, len(loader))
    ]
    # Without that, the next loop is the next epoch.
    assert next(iter(loader)).epoch == 1


def test_kept_batches_are_warned_of_once(dataset, monkeypatch):
    monkeypatch.setattr("graphmount._loading.batch_loader._MANY_BYTES", 100_000)
    loader = gm.NeighborLoader(dataset, [5], batch_size=100, memory=0)
    with pytest.warns(UserWarning, match="batches of this loader are still in use") as caught:
        kept = list(loader)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    kept += list(loader)
    assert loader.stats().held_batches >= len(loader)  # of the second epoch
    assert loader.stats().held_bytes > 100_000
    for batch in kept:
        check_batch(batch, dataset)
    # Who lets batches go is not warned.
    for batch in gm.NeighborLoader(dataset, [5], batch_size=100, memory=0):
        check_batch(batch, dataset)
