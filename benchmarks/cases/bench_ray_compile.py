"""Compiling a graph by a cluster of Ray, next to one process: the same bytes, and the time of both.

The cluster has three nodes on this machine, each with one processor and little memory: an object
store, and room for one task. The source is a folder of Parquet files. What the workers of a node
have in memory is looked at ten times a second; what is shared with the object store is not counted
there, but with the object store.
"""

from __future__ import annotations

import filecmp
import importlib
import os
import shutil
import sys
import tempfile
import threading
import time
import warnings
from typing import TYPE_CHECKING, Any, Self

import graphmount as gm

from ..data.edge_streams import node_count, skewed_blocks
from ..harness.scratch import scratch_folder
from ..report.report import Report, add_size, argument_parser, defaults
from ..report.units import Cell, Unit, mebibytes, plain, seconds, text

if TYPE_CHECKING:
    from types import TracebackType

_DEGREE = 8
_NODES = 3
#: For each edge: the source, what Ray spills of blocks, pieces and lists, and two graphs.
_DISK_BYTES = 120
_COLUMNS: dict[str, Unit] = {
    "way": text,
    "edges": plain,
    "seconds": seconds,
    "ns/edge": Unit(1e9, 1, "less"),
    "workers MiB": mebibytes,
    "object store MiB": mebibytes,
}


def write_parquet(folder: str, num_edges: int, num_nodes: int) -> None:
    pa: Any = importlib.import_module("pyarrow")
    pq: Any = importlib.import_module("pyarrow.parquet")
    os.mkdir(folder)
    for number, block in enumerate(skewed_blocks(num_edges, num_nodes)):
        table = pa.table({"src": block[:, 0], "dst": block[:, 1]})
        pq.write_table(table, f"{folder}/{number:05}.parquet", use_dictionary=False)


class Watch:
    """How much memory the workers of each node of the cluster have, at the most."""

    def __init__(self) -> None:
        self.peak = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _look(self) -> None:
        psutil: Any = importlib.import_module("psutil")
        while not self._stop.wait(0.1):
            of_node: dict[int, int] = {}
            for process in psutil.Process().children(recursive=True):
                try:
                    parent = process.parent()
                    if parent is not None and parent.name() == "raylet":
                        memory = process.memory_info()
                        of_node[parent.pid] = (
                            of_node.get(parent.pid, 0) + memory.rss - memory.shared
                        )
                except psutil.Error:
                    continue
            self.peak = max([self.peak, *of_node.values()])


def compile_on_cluster(source: str, out: str, *, store: int, task: int) -> tuple[float, int]:
    """How long it took, and what the workers of a node had in memory at the most."""
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled"}
    # Names of sockets are in it, and must be short.
    folder = tempfile.mkdtemp(prefix="gm", dir="/tmp")
    # Ray notes the address of this cluster there, for programs that look for one.
    os.mkdir(os.path.join(folder, "ray"))
    os.environ |= {"RAY_worker_niceness": "0", "RAY_TMPDIR": folder}
    import ray
    import ray.data
    from ray.cluster_utils import Cluster

    from graphmount.ray import ClusterEdges

    node: dict[str, Any] = {"num_cpus": 1, "object_store_memory": store, "memory": task}
    node["node_ip_address"] = "127.0.0.2"
    cluster = Cluster(
        initialize_head=True,
        head_node_args={**node, "include_dashboard": False, "temp_dir": folder},
    )
    try:
        for _ in range(_NODES - 1):
            cluster.add_node(**node)
        cluster.wait_for_nodes()
        ray.init(
            address=cluster.address,
            _node_ip_address="127.0.0.2",
            log_to_driver=False,
            logging_level="ERROR",
        )
        ray.data.DataContext.get_current().enable_progress_bars = False
        with Watch() as watch:
            start = time.perf_counter()
            edges = ClusterEdges(dataset=ray.data.read_parquet(source), task_memory=task)
            gm.compile_graph(edges, out, progress=False)
            return time.perf_counter() - start, watch.peak
    finally:
        ray.shutdown()
        cluster.shutdown()
        shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--edges", type=int, help="of the graph (100 million)")
    add_size(parser, "--store", "of the object store of a node (800 MiB)")
    add_size(parser, "--task", "task_memory (800 MiB)")
    options = parser.parse_args()
    defaults(options, edges=(100_000_000, 1_000_000))
    defaults(options, store=(800 << 20, 100 << 20), task=(800 << 20, 400 << 20))
    warnings.simplefilter("ignore")  # those of Ray are its own
    with scratch_folder(options.folder, options.edges * _DISK_BYTES) as folder:
        report = Report("ray_compile", options, folder)
        source = f"{folder}/edges"
        write_parquet(source, options.edges, node_count(options.edges, _DEGREE))
        start = time.perf_counter()
        gm.compile_graph(source, f"{folder}/local.gl", progress=False, memory="2GiB")
        local = time.perf_counter() - start
        took, peak = compile_on_cluster(
            source, f"{folder}/cluster.gl", store=options.store, task=options.task
        )
        report.check(
            "the bytes are the same",
            filecmp.cmp(f"{folder}/local.gl", f"{folder}/cluster.gl", shallow=False),
            f"{os.path.getsize(f'{folder}/local.gl'):,} bytes",
        )
        ways = {"one process": (local, 0, 0), "three nodes": (took, peak, options.store)}
        rows: list[dict[str, Cell]] = [
            {
                "way": way,
                "edges": options.edges,
                "seconds": spent,
                "ns/edge": spent / options.edges,
                "workers MiB": workers,
                "object store MiB": stored,
            }
            for way, (spent, workers, stored) in ways.items()
        ]
        report.table("Compiling one graph, Parquet to .gl", _COLUMNS, rows)
        report.goal(
            "a node has at most 2 GiB, its object store included",
            peak + options.store <= 2 << 30,
            f"{(peak + options.store) / 2**20:.0f} MiB",
        )
        return report.finish(options.json)


if __name__ == "__main__":
    sys.exit(main())
