"""The number of threads: where it comes from and how it is set."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

import graphmount as gm


def num_threads_with(**environment):
    code = "import graphmount; print(graphmount.num_threads())"
    result = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return int(result.stdout)


@pytest.mark.parametrize(("value", "expected"), [("3", 3), ("5,2", 5)])
def test_environment(value, expected):
    assert num_threads_with(OMP_NUM_THREADS=value) == expected


@pytest.mark.parametrize("value", ["", "0", "-2", "many"])
def test_default_is_the_cores_of_this_process(value):
    assert num_threads_with(OMP_NUM_THREADS=value) == len(os.sched_getaffinity(0))


def test_setting(graph_path):
    before = gm.num_threads()
    degrees = gm.Graph(graph_path).degree().tolist()
    try:
        for count in (1, 2, 16):
            gm.set_num_threads(count)
            assert gm.num_threads() == count
            assert gm.Graph(graph_path).degree().tolist() == degrees
    finally:
        gm.set_num_threads(before)


@pytest.mark.parametrize("count", [0, -1, 2**40])
def test_refusals(count):
    with pytest.raises(ValueError, match=f"count must be at least 1 and at most 4096, not {count}"):
        gm.set_num_threads(count)


@pytest.mark.parametrize("count", ["two", 2.0, None, True])
def test_wrong_types(count):
    with pytest.raises(TypeError, match="count must be one integer"):
        gm.set_num_threads(count)


def test_affinity():
    """As many threads as this process may use cores, not as the machine has."""
    taskset = shutil.which("taskset")
    if taskset is None:
        pytest.skip("no taskset")
    core = str(min(os.sched_getaffinity(0)))
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    code = "import graphmount; print(graphmount.num_threads())"
    result = subprocess.run(
        [taskset, "-c", core, sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout == "1\n"


def test_threads_can_be_started_early():
    """As many as calls will use beside their own, and those only once."""
    code = """
import os
from graphmount import _core
before = len(os.listdir("/proc/self/task"))
for _ in range(2):
    _core.start_threads()
    print(len(os.listdir("/proc/self/task")) - before)
"""
    child = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"OMP_NUM_THREADS": "4"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert child.stdout.split() == ["3", "3"]
