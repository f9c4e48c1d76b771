"""A child that is forked in the middle of a compilation removes and changes nothing.

It may end in any way, or try to go on; the parent's result is complete, and only that is there.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from run_mode import IS_SANITIZED, SUPPORT

import graphmount as gm

EDGES = np.random.default_rng(0).integers(0, 2_000, (2, 20_000))
ROWS = np.arange(40_000.0).reshape(2_000, 20)


class ChildEndsError(Exception):
    pass


def compile_graph(folder, progress):
    gm.compile_graph(EDGES, folder / "out", progress=progress)
    assert gm.verify(folder / "out").ok
    assert gm.Graph(folder / "out").num_edges == 20_000


def compile_rows(folder, progress):
    generator = np.random.default_rng(1)
    gm.compile_features(
        ROWS, folder / "out", key=generator.permutation(2_000), num_nodes=2_000, progress=progress
    )
    assert gm.verify(folder / "out").ok


def compile_edge_rows(folder, progress):
    path = folder.parent / "g.gl"
    gm.compile_graph(EDGES, path, source_rows=True)
    gm.compile_features(np.arange(20_000), folder / "out", edges=path, progress=progress)
    assert gm.verify(folder / "out").ok


def compile_dataset(folder, progress):
    gm.compile_dataset(
        folder / "out",
        edges=EDGES,
        num_nodes=2_000,
        features={"x": ROWS, "y": ROWS},
        edge_features={"w": np.arange(20_000)},
        splits={"train": [1, 2]},
        progress=progress,
    )
    ds = gm.Dataset(folder / "out")
    files = [ds.graph, *ds.features.values(), *ds.edge_features.values()]
    assert all(gm.verify(file.path).ok for file in files)
    assert not (folder / "out" / ".graphmount-partial").exists()


JOBS = {
    "graph": compile_graph,
    "rows": compile_rows,
    "edge rows": compile_edge_rows,
    "dataset": compile_dataset,
}


def end_at_once():
    os._exit(7)


def end_by_exit():
    sys.exit(7)


def end_by_error():
    raise ChildEndsError


def go_on():
    gc.collect()


ENDINGS = {
    "at once": end_at_once,
    "by exit": end_by_exit,
    "by an error": end_by_error,
    "going on": go_on,
}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("job", JOBS)
def test_forked_in_the_middle(job, ending, tmp_path, campaign):
    folder = tmp_path / "folder"
    folder.mkdir()
    parent = os.getpid()
    for moment in campaign([300, 700], range(0, 1000, 50)):
        children = []

        def fork(done, total, moment=moment, children=children):
            if os.getpid() != parent or children or 1000 * done < moment * total:
                return
            child = os.fork()
            if child == 0:
                signal.alarm(30)
                ENDINGS[ending]()
                return
            children.append(child)
            wait_for(child)

        try:
            JOBS[job](folder, fork)
        except BaseException as error:
            if os.getpid() == parent:
                raise
            # All of the child's objects go, as they would at its end.
            error.__traceback__ = None
            del error
            gc.collect()
            os._exit(3)
        if os.getpid() != parent:
            os._exit(4)
        assert children, "the callback was never called"
        assert os.listdir(folder) == ["out"]
        if (folder / "out").is_dir():
            shutil.rmtree(folder / "out")
        else:
            (folder / "out").unlink()


def wait_for(child):
    """Waits until a child has ended: as it wanted to, by an error, or with a file of its own."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            assert os.waitstatus_to_exitcode(status) in (3, 4, 7), status
            return
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise AssertionError("the child hangs")


def test_a_child_that_lives_on_holds_no_lock(tmp_path):
    children = []

    def fork(done, total):
        if not children and done < total:
            child = os.fork()
            if child == 0:
                time.sleep(60)
                os._exit(0)
            children.append(child)

    try:
        gm.compile_dataset(tmp_path / "ds", edges=([0], [1]), progress=fork)
        gm.compile_dataset(tmp_path / "ds", edges=([0], [1]), overwrite=True)
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    assert children
    assert os.listdir(tmp_path) == ["ds"]


KILLED = """
import os, signal, sys, time
import graphmount as gm
def fork(done, total):
    if os.fork() == 0:
        print("ready", flush=True)
        time.sleep(60)
        os._exit(0)
    os.kill(os.getpid(), signal.SIGKILL)
gm.compile_dataset(sys.argv[1], edges=([0], [1]), progress=fork)
"""


def test_a_child_of_a_killed_parent_holds_no_lock(tmp_path):
    """Else nobody could compile until it ends, which may be never."""
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, tmp_path / "ds"],
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"ready\n"
        process.wait()
        gm.compile_dataset(tmp_path / "ds", edges=([0], [1]))
        assert os.listdir(tmp_path) == ["ds"]
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.stdout.close()


#: What the system does where files cannot be without a name.
NO_NAMELESS_FILES = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
static int call(const char* name, const char* path, int flags, mode_t mode) {
  if ((flags & O_TMPFILE) == O_TMPFILE) { errno = EOPNOTSUPP; return -1; }
  int (*next)(const char*, int, ...) = (int (*)(const char*, int, ...))dlsym(RTLD_NEXT, name);
  return next(path, flags, mode);
}
int open(const char* path, int flags, ...) {
  va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, mode_t); va_end(rest);
  return call("open", path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, mode_t); va_end(rest);
  return call("open64", path, flags, mode);
}
"""

WITH_NAMES = """
import os, sys
import numpy as np
import graphmount as gm
folder, seen = sys.argv[1], []
def fork(done, total):
    if seen:
        return
    names = [name for name in os.listdir(folder) if name.endswith(".tmp")]
    if not names:
        return
    seen.extend(names)
    child = os.fork()
    if child == 0:
        raise ZeroDivisionError
    os.waitpid(child, 0)
    assert set(names) <= set(os.listdir(folder)), "the child has removed it"
gm.compile_features(np.ones((300_000, 16)), os.path.join(folder, "x.gd"), progress=fork)
assert seen, "no temporary name was seen"
assert os.listdir(folder) == ["x.gd"]
assert gm.verify(os.path.join(folder, "x.gd")).ok
"""


def test_temporary_names_of_the_parent_stay(tmp_path):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or IS_SANITIZED:
        pytest.skip("needs a C compiler, and a preloaded library goes with no sanitizer")
    source, library = tmp_path / "names.c", tmp_path / "names.so"
    source.write_text(NO_NAMELESS_FILES)
    subprocess.run([compiler, "-shared", "-fPIC", source, "-o", library, "-ldl"], check=True)
    (tmp_path / "folder").mkdir()
    subprocess.run(
        [sys.executable, "-c", WITH_NAMES, tmp_path / "folder"],
        env={**os.environ, "LD_PRELOAD": str(library), "PYTHONPATH": str(SUPPORT)},
        check=True,
        timeout=120,
    )
