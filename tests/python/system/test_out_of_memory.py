"""A system that gives no more memory: the error says so in our words, and names no C++ function."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from run_mode import IS_SANITIZED

import graphmount as gm

# What is left to the process is the first argument, in KiB; the call is the second.
SCRIPT = """
import resource, sys
import numpy as np
import numpy.random  # NumPy loads it at its first use, which a limit would not let it
import graphmount as gm

g, x = gm.Graph("g.gl"), gm.FeatureStore("x.gd")
ids = np.arange(g.num_nodes)
calls = {
    "sample": lambda: g.sample_neighbors(ids, [20, 20], seed=1),
    "walk": lambda: g.random_walk(ids, 500, seed=1),
    "gather": lambda: x.gather(np.tile(ids, 8)),
    "compile": lambda: gm.compile_graph((np.tile(ids, 50), np.tile(ids[::-1], 50)), "new.gl"),
    "load": lambda: list(gm.NeighborLoader((g, x), [20, 20], batch_size=5000, memory="8MiB")),
}
with open("/proc/self/statm", encoding="ascii") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
limit = used + int(sys.argv[1]) * 1024
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    calls[sys.argv[2]]()
except (MemoryError, OSError) as error:
    print(type(error).__name__, error)
else:
    print("done")
"""


@pytest.fixture
def files(tmp_path):
    generator = np.random.default_rng(2)
    gm.compile_graph(generator.integers(0, 20_000, (2, 400_000)), tmp_path / "g.gl")
    gm.compile_features(generator.random((20_000, 64), np.float32), tmp_path / "x.gd")
    return tmp_path


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.skipif(IS_SANITIZED, reason="a sanitizer needs address space of its own")
@pytest.mark.parametrize("call", ["sample", "walk", "gather", "load", "compile"])
def test_says_so_in_our_words(call, files, campaign):
    seen = set()
    for left in campaign((4_000, 24_000), range(1_000, 120_000, 4_000)):
        ended = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(left), call],
            cwd=files,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert ended.returncode == 0, (left, ended.returncode, ended.stderr)
        seen.add(ended.stdout.split()[0])
        assert "std::" not in ended.stdout
        assert "_M_" not in ended.stdout
        assert not (files / "new.gl").exists() or ended.stdout.startswith("done")
    assert seen - {"done"}, "no limit was low enough"
