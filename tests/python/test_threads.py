"""The number of threads: where it comes from and how it is set."""

from __future__ import annotations

import os
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


@pytest.mark.parametrize("count", [0, -1])
def test_refusals(count):
    with pytest.raises(ValueError, match=f"at least 1, not {count}"):
        gm.set_num_threads(count)
    with pytest.raises(TypeError):
        gm.set_num_threads("two")
