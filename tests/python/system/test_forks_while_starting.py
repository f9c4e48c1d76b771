"""A process that forks while one of its threads starts another: the child can start threads too.

The C library makes a new thread of what an earlier one has left, and frees the thread-local
variables of that one first. A child that is forked in the middle of it would free them again.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from ctypes.util import find_library

import pytest
from run_mode import IS_SANITIZED, SUPPORT

SCRIPT = """
import ctypes, ctypes.util, os, sys, threading, time
import numpy as np
from graphmount import _core

library, is_over = ctypes.CDLL(None), threading.Event()
{start}

def start_threads():
    while not is_over.is_set():
        _core.ReadThreads(4)
        start()

starter = threading.Thread(target=start_threads)
starter.start()
library.hold_next(b"{maker}")
end = time.monotonic() + 60
while not library.is_held():
    assert time.monotonic() < end, "no thread was made of an earlier one"
    time.sleep(0.001)
library.let_go()
child = os.fork()
if child == 0:
    for _ in range(100):  # more than the parent had
        threading.Thread(target=is_over.wait, daemon=True).start()
    os._exit(library.freed_again())
is_over.set()
starter.join()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""

START = """
def start():
    pass
"""
#: OpenMP ends threads that a small loop has no work for, and a large one needs new ones.
START_TEAM = """
ctypes.CDLL(ctypes.util.find_library("gomp"), mode=ctypes.RTLD_GLOBAL)

def start():
    for size in (512, 4096):
        values = np.ones(size, np.float32)
        lists = (np.arange(size + 1), np.zeros(size, int), 1)
        _core.softmax_entries(lists, 1, values, values.copy())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="looks into the C library of GNU")
@pytest.mark.parametrize(
    ("start", "maker"), [(START, ""), (START_TEAM, "gomp")], ids=["core", "OpenMP"]
)
def test_no_thread_is_half_made(start, maker, tmp_path):
    compiler = shutil.which("cc")
    if compiler is None or IS_SANITIZED:
        pytest.skip("needs a C compiler, and a preloaded library goes with no sanitizer")
    if find_library(maker or "c") is None:
        pytest.skip("there is no OpenMP of GNU here")
    source, library = SUPPORT / "held_threads.c", tmp_path / "held_threads.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", source, "-o", library], check=True)
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT.format(start=start, maker=maker)],
        env=os.environ | {"LD_PRELOAD": str(library), "OMP_NUM_THREADS": "4"},
        check=True,
        timeout=120,
    )
