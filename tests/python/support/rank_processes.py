"""Starts the ranks of a program, each in a process, and waits for them.

Processes are forked from one that has imported torch, since that takes seconds.
"""

from __future__ import annotations

import socket
import time

from torch import multiprocessing

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["graphmount.torch", "torch.distributed", "torch._dynamo"])


def start(program, world_size, *arguments):
    """Calls program(rank, world_size, port, …) in each of them."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    processes = [
        CONTEXT.Process(target=program, args=(rank, world_size, port, *arguments), daemon=True)
        for rank in range(world_size)
    ]
    for process in processes:
        process.start()
    return processes


def end(processes, limit=60):
    """Waits for all of them; those that are stuck are killed, and are a failure."""
    until = time.monotonic() + limit
    for process in processes:
        process.join(max(0, until - time.monotonic()))
    stuck = [process for process in processes if process.is_alive()]
    for process in stuck:
        process.kill()
        process.join()
    return [process.exitcode for process in processes], stuck
