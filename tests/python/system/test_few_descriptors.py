"""Without free descriptors: an error that says so, the old file intact, nothing left behind."""

from __future__ import annotations

import subprocess
import sys

import pytest
from run_mode import IS_SANITIZED

SCRIPT = """
import errno, gc, gzip, os, resource, sys
from pathlib import Path
import numpy as np
import graphmount as gm

most = int(sys.argv[1])
folder = Path(sys.argv[2])
given, out = folder / "given", folder / "out"
given.mkdir()
out.mkdir()
edges = np.random.default_rng(0).integers(0, 50, (2, 300))
np.save(given / "e.npy", edges)
np.savez_compressed(given / "e.npz", edge_index=edges)
text = "".join(f"{a},{b}\\n" for a, b in edges.T)
(given / "e.csv").write_text(text)
(given / "e.csv.gz").write_bytes(gzip.compress(text.encode()))
np.save(given / "x.npy", np.ones((50, 4)))
(given / "x.csv").write_text("".join(f"{i},1.5,2.5\\n" for i in reversed(range(50))))
gm.compile_graph(edges, given / "g.gl", source_rows=True, num_nodes=50)
gm.compile_features(np.eye(50), given / "x.gd")

JOBS = {
    "graph of an array": lambda: gm.compile_graph(edges, out / "file"),
    "graph of npy": lambda: gm.compile_graph(given / "e.npy", out / "file"),
    "graph of npz": lambda: gm.compile_graph(given / "e.npz", out / "file"),
    "graph of csv": lambda: gm.compile_graph(given / "e.csv", out / "file"),
    "graph of csv.gz": lambda: gm.compile_graph(given / "e.csv.gz", out / "file", ids="map"),
    "graph of gl": lambda: gm.compile_graph(given / "g.gl", out / "file"),
    "graph of a handle": lambda: gm.compile_graph(graph, out / "file"),
    "rows of npy": lambda: gm.compile_features(given / "x.npy", out / "file"),
    "rows of csv": lambda: gm.compile_features(given / "x.csv", out / "file", key=0),
    "rows of gd": lambda: gm.compile_features(given / "x.gd", out / "file"),
    "rows of edges": lambda: gm.compile_features(
        np.arange(300), out / "file", edges=given / "g.gl"
    ),
    "dataset": lambda: gm.compile_dataset(
        out / "ds",
        edges=given / "e.csv",
        num_nodes=50,
        features={"x": given / "x.npy", "y": gm.Table(source=given / "x.csv", key=0)},
        edge_features={"w": np.arange(300)},
        labels=np.arange(50),
        splits={"train": [1, 2]},
        overwrite=True,
    ),
}
graph = gm.Graph(given / "g.gl")

def content():
    return {
        str(path): path.read_bytes() if path.is_file() else None for path in out.rglob("*")
    }

used = len(os.listdir("/proc/self/fd")) - 1
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
assert max(map(int, os.listdir("/proc/self/fd"))) <= used + 1, "there are gaps"
for name, job in JOBS.items():
    job()
    before = content()
    failed = 0
    for free in range(most):
        resource.setrlimit(resource.RLIMIT_NOFILE, (used + free, hard))
        problem = None
        try:
            job()
        except BaseException as error:
            problem = error
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        place = f"{name} with {free} descriptors: {problem!r}"
        assert content() == before, (place, sorted(content()))
        if problem is not None:
            failed += 1
            assert isinstance(problem, OSError) and problem.errno == errno.EMFILE, place
            assert problem.__cause__ is None or isinstance(problem.__cause__, OSError), place
        problem = None
        gc.collect()
        now = len(os.listdir("/proc/self/fd")) - 1
        assert now == used, f"{place}: {now - used} descriptors are left open"
    print(name, "failed with fewer than", failed, flush=True)
    assert failed > 0, name
"""


def test_small_limits(tmp_path, campaign):
    if IS_SANITIZED:
        pytest.skip("sanitizers need descriptors of their own")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(campaign(14, 30)), tmp_path],
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout + done.stderr
