"""A system that gives no more threads: an OSError that says so, and nothing is left behind."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys

import pytest
from run_mode import IS_SANITIZED

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits are those of Linux"),
    pytest.mark.skipif(IS_SANITIZED, reason="sanitizers need address space of their own"),
]

STACK = 1 << 30

# Every thread takes a stack of 1 GiB of address space, so a limit on that is one on threads.
SCRIPT = """
import json, os, resource, sys, time
import numpy as np
import graphmount as gm
from graphmount import _core

STACK = 1 << 30

def num_threads():
    return len(os.listdir("/proc/self/task"))

def wait_for(count):
    # Linux lists a thread for a moment after it was joined.
    for _ in range(1000):
        if num_threads() == count:
            return
        time.sleep(0.01)
    raise AssertionError(f"there are {num_threads()} threads, not {count}")

class at_most:
    def __init__(self, threads):
        self.threads = threads
    def __enter__(self):
        pages = int(open("/proc/self/statm").read().split()[0])
        limit = pages * resource.getpagesize() + self.threads * STACK + STACK // 2
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
    def __exit__(self, *_):
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)

def attempt(work, threads):
    with at_most(threads):
        try:
            work()
        except Exception as error:
            kind = OSError if isinstance(error, OSError) else type(error)
            return [kind.__name__, str(error)]
    return None
"""


def run(code, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT + code, *map(str, arguments)],
        env=os.environ | {"OMP_NUM_THREADS": "4", "MALLOC_ARENA_MAX": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (STACK, STACK)),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


@pytest.mark.parametrize("memory", ["60KiB", "0"], ids=["sweep", "window"])
def test_a_loader_says_that_it_lacks_threads(loader_folder, memory):
    code = """
dataset = gm.Dataset(sys.argv[1])
window = 16 if sys.argv[2] == "60KiB" else 3
loader = gm.NeighborLoader(
    dataset, [5, 5], input_nodes=range(300), ids="external", batch_size=60, window=window,
    memory=sys.argv[2], reader="mapped",  # which needs no threads of a pool: those stay
)
_core.set_num_threads(1)
dataset.graph.sample_neighbors(dataset.to_internal([0]), [5])
before = num_threads()
outcomes = []
for allowed in range(9):
    loader.close()
    place = loader.state_dict()
    error = attempt(lambda: iter(loader), allowed)
    assert error is None or loader.state_dict() == place
    loader.close()
    wait_for(before)
    outcomes.append(error)
assert len(list(loader)) == len(loader)
print(json.dumps(outcomes))
"""
    outcomes = run(code, loader_folder / "hot", memory)
    refused = [outcome for outcome in outcomes if outcome is not None]
    assert len(refused) >= 4  # two threads of the pipeline, two or more of tables
    assert outcomes[: len(refused)] == refused  # with enough of them there is no error
    assert outcomes[-1] is None
    for kind, message in refused:
        assert kind == "OSError"
        assert "cannot start a thread" in message
        assert "ulimit -u" in message


def test_work_goes_on_with_the_threads_there_are(loader_folder):
    code = """
dataset = gm.Dataset(sys.argv[1])
ids = dataset.as_internal(np.arange(dataset.num_nodes).repeat(40))
dataset.graph, dataset.features
before = num_threads()
results = []
for allowed in (0, 1, 2):
    with at_most(allowed):
        degrees = dataset.graph.degree(ids)
        rows = dataset.features["x"].gather(ids, reader="pread")
    results.append([int(degrees.sum()), float(rows.sum()), num_threads() - before])
print(json.dumps(results))
"""
    results = run(code, loader_folder / "hot")
    assert len({tuple(result[:2]) for result in results}) == 1
    assert [threads for *_, threads in results] == [0, 1, 3]  # in two pools


@pytest.mark.parametrize("kind", ["rows", "gzip"])
def test_compiling_says_that_it_lacks_threads(tmp_path, kind):
    code = """
import gzip
folder, kind = sys.argv[1:]
_core.set_num_threads(1)
if kind == "rows":
    work = lambda: gm.compile_features(np.ones((100, 2)), folder + "/x.gd")
else:
    with gzip.open(folder + "/edges.csv.gz", "wt") as file:
        file.write("src,dst\\n0,1\\n1,2\\n")
    work = lambda: gm.compile_graph(folder + "/edges.csv.gz", folder + "/g.gl")
before = sorted(os.listdir(folder))
error = attempt(work, 0)
assert sorted(os.listdir(folder)) == before
work()
print(json.dumps(error))
"""
    kind, message = run(code, tmp_path, kind)
    assert kind == "OSError"
    assert "cannot start a thread" in message
