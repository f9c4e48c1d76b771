"""Loops beside torch: its idle threads sleep while a loop runs, unless the user chose otherwise.

OpenMP does not say how long its threads spin. What can be seen is the thread that makes it sleep
sooner: it is there while batches are sampled, and gone with the loop.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("torch")

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="threads are counted in /proc"
)

SCRIPT = """
import json, os, time
import numpy as np
import torch
import graphmount as gm
import graphmount.torch

torch.set_num_threads(2)
torch.ones(1 << 20).sum()
gm.set_num_threads(2)
edges = np.random.default_rng(0).integers(0, 1000, (2, 20_000))
gm.compile_dataset("d", edges=edges, features={"x": np.ones((1000, 4), np.float32)}, progress=False)
loader = gm.torch.NeighborLoader(gm.Dataset("d"), [5, 5], batch_size=1, memory="1MiB")
sum(1 for _ in loader)  # so that all threads of the pools are there

def settled(is_right):
    for _ in range(500):
        count = len(os.listdir("/proc/self/task"))
        if is_right(count):
            break
        time.sleep(0.01)
    return count

before = len(os.listdir("/proc/self/task"))
loop = iter(loader)
next(loop)
during = len(os.listdir("/proc/self/task"))
del loop
loader.close()
print(json.dumps([during - before, settled(lambda count: count <= before) - before]))
"""


def threads_of_loop(folder, **environment):
    """How many threads more there are in a loop, and after it."""
    names = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")
    inherited = {name: value for name, value in os.environ.items() if name not in names}
    out = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=folder,
        env=inherited | environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return json.loads(out.stdout)


@pytest.mark.parametrize("name", ["OMP_WAIT_POLICY", "GOMP_SPINCOUNT"])
def test_idle_threads_of_torch_sleep_while_a_loop_runs(tmp_path, name):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    chosen = {"OMP_WAIT_POLICY": "active", "GOMP_SPINCOUNT": "1000"}[name]
    ours, after = threads_of_loop(tmp_path / "a")
    theirs, after_theirs = threads_of_loop(tmp_path / "b", **{name: chosen})
    assert (ours, after, after_theirs) == (theirs + 1, 0, 0)
