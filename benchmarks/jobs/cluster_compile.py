"""Compiles a graph on a cluster of Ray with several nodes, all on this machine: prints the time.

Each node gets one processor, an object store, and room for one task. Where there are control
groups, everything that a node runs is in one of its own, and this process is in that of the first.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import graphmount as gm

_ADDRESS = "127.0.0.2"  # Ray takes 127.0.0.1 for what others reach, too


def join(group: str | None) -> None:
    """Moves this process, and what it starts from now on, to a control group."""
    if group is not None:
        Path(group, "cgroup.procs").write_text(str(os.getpid()))


def compile_on_cluster(options: argparse.Namespace, groups: list[str | None], folder: str) -> float:
    """How long it took, without starting the cluster."""
    join(groups[0])  # before anything large is imported
    import ray
    import ray.data
    from ray.cluster_utils import Cluster

    from graphmount.ray import ClusterEdges

    node: dict[str, Any] = {
        "num_cpus": 1,
        "object_store_memory": options.store,
        "memory": options.task,
        "node_ip_address": _ADDRESS,
        "include_dashboard": False,
    }
    with contextlib.ExitStack() as stack:
        cluster = Cluster(initialize_head=True, head_node_args={**node, "temp_dir": folder})
        stack.callback(cluster.shutdown)
        for group in groups[1:]:
            join(group)
            cluster.add_node(**node)
        join(groups[0])
        cluster.wait_for_nodes()
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        ray.init(address=cluster.address, _node_ip_address=_ADDRESS, **quiet)
        stack.callback(ray.shutdown)
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.target_max_block_size = options.task // 6  # a task takes three times as much
        start = time.perf_counter()
        edges = ClusterEdges(
            dataset=ray.data.read_parquet(options.source), task_memory=options.task
        )
        gm.compile_graph(edges, options.out, progress=False, memory=options.task)
        return time.perf_counter() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", help="a folder of Parquet files")
    parser.add_argument("out")
    parser.add_argument("--store", type=int, required=True, help="of the object store of a node")
    parser.add_argument("--task", type=int, required=True, help="task_memory")
    parser.add_argument("--nodes", type=int, required=True)
    parser.add_argument("--groups", nargs="*", default=[], help="control groups of the nodes")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # those of Ray are its own
    # Names of sockets are in it, and must be short.
    folder = tempfile.mkdtemp(prefix="gm", dir="/tmp")
    # Ray notes the address of this cluster there, for programs that look for one.
    os.mkdir(os.path.join(folder, "ray"))
    os.environ |= {
        "RAY_TMPDIR": folder,
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_AUTH_MODE": "disabled",
        "RAY_worker_niceness": "0",
    }
    try:
        spent = compile_on_cluster(options, options.groups or [None] * options.nodes, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.stdout.write(json.dumps({"seconds": spent}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
