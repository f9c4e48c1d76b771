"""The interpreter ends while daemon threads are in the core: at once, and without a word."""

from __future__ import annotations

import subprocess
import sys

import pytest
from run_mode import without_leaks

BEGIN = """
import sys, threading, time, random
import numpy as np
import graphmount as gm
dataset = gm.Dataset(sys.argv[1])
dataset.graph.degree(), dataset.features["x"].gather(dataset.as_internal([1])), dataset.labels
is_at_work = threading.Event()

def go(work, count=3):
    for _ in range(count):
        threading.Thread(target=work, daemon=True).start()
    is_at_work.wait(30)
    time.sleep(random.Random(int(sys.argv[2])).random() * 0.05)

def make():
    return gm.NeighborLoader(
        dataset, [5, 5], batch_size=50, memory=sys.argv[3], window=int(sys.argv[4]), shuffle=True
    )
"""

WORK = {
    "own loaders": """
def work():
    while True:
        for batch in make():
            is_at_work.set()
go(work)
""",
    "one loader": """
loader = make()
def work():
    while True:
        try:
            for batch in loader:
                is_at_work.set()
        except RuntimeError:
            pass
go(work)
""",
    "a loop that main has begun": """
loader = make()
batches = iter(loader)
def work():
    while True:
        try:
            is_at_work.set()
            if next(batches, None) is None:
                break
        except RuntimeError:
            pass
go(work)
""",
    "calls": """
def work():
    while True:
        ids = dataset.as_internal(np.arange(3000).repeat(20))
        dataset.graph.sample_neighbors(ids[::7], [5, 5])
        dataset.features["x"].gather(ids, reader="pread")
        dataset.graph.random_walk(ids[::50], 10)
        gm.verify(dataset.graph.path)
        is_at_work.set()
go(work)
""",
    "callbacks": """
import gzip, os
source = os.path.join(sys.argv[5], "edges.csv.gz")
with gzip.open(source, "wt") as file:
    file.writelines(f"{i},{i // 2}\\n" for i in range(20000))
def work():
    path = os.path.join(sys.argv[5], f"{threading.get_ident()}.gl")
    while True:
        gm.compile_graph(source, path, progress=lambda *_: None)
        gm.verify(path, progress=lambda *_: None)
        is_at_work.set()
go(work)
""",
    "a handler that closes": """
import atexit
loader = make()
def work():
    while True:
        try:
            for batch in loader:
                is_at_work.set()
        except RuntimeError:
            pass
go(work)
atexit.register(loader.close)
""",
}


@pytest.mark.parametrize("work", WORK)
def test_daemon_threads_at_exit(work, loader_folder, tmp_path, campaign):
    for number in range(campaign(3, 60)):
        memory, window = [("60KiB", "16"), ("0", "3"), ("1GiB", "16")][number % 3]
        ended = subprocess.run(
            [
                sys.executable,
                "-c",
                f"{BEGIN}{WORK[work]}\nassert is_at_work.is_set()\nsys.exit(7)",
                loader_folder / "hot",
                str(number),
                memory,
                window,
                tmp_path,
            ],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert (ended.returncode, ended.stdout, without_leaks(ended.stderr)) == (7, "", "")


def test_the_core_works_in_handlers_that_run_at_exit(loader_folder):
    code = """
import atexit, sys
def late():
    batches = list(gm.NeighborLoader(gm.Dataset(sys.argv[1]), [2], batch_size=500, memory=0))
    loader.close()
    print(len(batches), len(list(loader)), open_one.graph.num_nodes)
atexit.register(late)
import graphmount as gm  # whose handler comes before
open_one = gm.Dataset(sys.argv[1])
loader = gm.NeighborLoader(open_one, [2], batch_size=500, memory=0)
next(iter(loader))
"""
    ended = subprocess.run(
        [sys.executable, "-c", code, loader_folder / "hot"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "6 6 3000\n", "")


# `on_exit` calls sleep(status), after the interpreter has ended: the process stays for a second.
STAYS = """
import ctypes, sys, threading, time
import numpy as np
import graphmount as gm

libc = ctypes.CDLL(None)
libc.on_exit(ctypes.cast(libc.sleep, ctypes.c_void_p), None)
nodes = 1_000_000
edges = np.random.default_rng(0).integers(0, nodes, (2, nodes))
gm.compile_graph(edges, "late.gl", num_nodes=nodes, progress=False)
graph = gm.Graph("late.gl")
walk = lambda: graph.random_walk(np.arange(nodes), 1_000)
threading.Thread(target=walk, daemon=True).start()
time.sleep(0.1 + float(sys.argv[1]))
sys.exit(1)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="on_exit is of the GNU C library")
def test_a_thread_in_the_core_outlives_the_interpreter(tmp_path):
    """It asks whether there was a Ctrl-C, and the interpreter that it asks is gone."""
    for delay in range(5):
        child = subprocess.run(
            [sys.executable, "-c", STAYS, str(delay / 100)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert (child.returncode, child.stdout, without_leaks(child.stderr)) == (1, "", "")
