"""What a killed process leaves behind is found: the checks of long tests rest on it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import left_behind

PARENT = """
import os, time
if child := os.fork():
    time.sleep(100)
memory = os.memfd_create("graphmount rows")
print(os.getpid(), flush=True)
time.sleep(100)
"""


def test_memory_of_the_child_of_a_killed_process_is_found():
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE) as parent:
        child = int(parent.stdout.readline())
        parent.kill()
    try:
        assert [who for who, _ in left_behind.held()] == [child]
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)  # which is ours now
    assert left_behind.held() == []
