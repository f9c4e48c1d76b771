"""Loaders in children of fork, and in processes that are given them: they work, and end quietly."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys

import pytest
from dataset_kinds import kind_of
from forked_loaders import KINDS, make_loader
from run_mode import IS_SANITIZED, SUPPORT, without_leaks

import graphmount as gm

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")


@pytest.mark.parametrize("kind", KINDS)
def test_children_of_fork(kind, any_folder, campaign):
    if kind == "uring" and not can_use_uring(any_folder):
        pytest.skip("io_uring is not allowed here")
    script = SUPPORT / "forked_loaders.py"
    for seed in range(campaign(1, 5)):
        done = subprocess.run(
            [sys.executable, script, any_folder / "hot", kind, str(seed), str(campaign(7, 0))],
            capture_output=True,
            text=True,
            timeout=1200,
            check=False,
        )
        assert (done.returncode, without_leaks(done.stderr)) == (0, "")
        result = json.loads(done.stdout)
        assert result["failures"] == []
        assert result["children"] >= 7


def can_use_uring(folder):
    try:
        next(iter(make_loader(gm.Dataset(folder / "hot"), "uring", 1)))
    except OSError:
        return False
    return True


def take_all(loader, folder, answers):
    dataset = gm.Dataset(folder)
    numbers = []
    for batch in loader:
        kind_of(dataset).check(batch)
        numbers.append(batch.number)
    answers.put((os.getpid(), numbers, loader.state_dict()["epoch"]))


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("is_running", [False, True])
def test_processes_that_are_given_a_loader(method, any_folder, *, is_running):
    if IS_SANITIZED and method != "fork":
        pytest.skip("new interpreters take too long under a sanitizer")
    folder = any_folder / "hot"
    loader = make_loader(gm.Dataset(folder), "sweep", 3)
    batches = iter(loader)
    next(batches)
    if not is_running:
        list(batches)
    context = multiprocessing.get_context(method)
    answers = context.Queue()
    process = context.Process(target=take_all, args=(loader, folder, answers))
    process.start()
    pid, numbers, epoch = answers.get(timeout=120)
    process.join(60)
    assert process.exitcode == 0
    assert pid == process.pid
    assert numbers == list(range(len(loader)))
    # A loop that was left counts, as it would in the parent.
    assert epoch == 2
    assert len(list(loader if not is_running else batches)) == len(loader) - is_running
