"""Compiling a graph by a cluster of Ray, next to one process: the same bytes, and the time of both.

The cluster has three nodes on this machine, each with one processor, an object store, and room for
one task. Where there are control groups, each node is in one whose memory is limited: all processes
that Ray runs on it, its object store, and what it has read and written. The process that compiles
is in that of the first. The source is a folder of Parquet files.
"""

from __future__ import annotations

import contextlib
import filecmp
import importlib
import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import graphmount as gm

from ..data.edge_streams import node_count, skewed_blocks
from ..harness.memcap import AnonymousPeak, UnavailableError, limited_group, oom_kills
from ..harness.scratch import scratch_folder
from ..jobs import job_command
from ..report.report import Report, add_size, argument_parser, defaults
from ..report.units import Cell, Unit, mebibytes, plain, seconds, text

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

_DEGREE = 8
_NODES = 3
#: For each edge: the source, what Ray spills of blocks, pieces and lists, and two graphs.
_DISK_BYTES = 120
_COLUMNS: dict[str, Unit] = {
    "way": text,
    "edges": plain,
    "seconds": seconds,
    "ns/edge": Unit(1e9, 1, "less"),
    "peak of a node, MiB": mebibytes,
}


def write_parquet(folder: str, num_edges: int, num_nodes: int) -> None:
    pa: Any = importlib.import_module("pyarrow")
    pq: Any = importlib.import_module("pyarrow.parquet")
    os.mkdir(folder)
    for number, block in enumerate(skewed_blocks(num_edges, num_nodes)):
        table = pa.table({"src": block[:, 0], "dst": block[:, 1]})
        pq.write_table(table, f"{folder}/{number:05}.parquet", use_dictionary=False)


def compile_on_cluster(
    source: str, out: str, options: argparse.Namespace, groups: list[Path]
) -> float:
    """How long it took."""
    command = job_command(
        "cluster_compile",
        source,
        out,
        *("--store", str(options.store), "--task", str(options.task), "--nodes", str(_NODES)),
        *(["--groups", *map(str, groups)] if groups else []),
    )
    found = subprocess.run(command, capture_output=True, check=False, text=True)
    if found.returncode != 0:
        raise RuntimeError(f"the cluster failed: {found.stderr[-2000:]}")
    return float(json.loads(found.stdout.splitlines()[-1])["seconds"])


def bench(report: Report, folder: str, options: argparse.Namespace) -> None:
    source, local, made = (f"{folder}/{name}" for name in ("edges", "local.gl", "cluster.gl"))
    write_parquet(source, options.edges, node_count(options.edges, _DEGREE))
    start = time.perf_counter()
    gm.compile_graph(source, local, progress=False, memory="2GiB")
    alone = time.perf_counter() - start
    with contextlib.ExitStack() as stack:
        groups: list[Path] = []
        try:
            groups = [stack.enter_context(limited_group(options.limit)) for _ in range(_NODES)]
        except UnavailableError as error:
            report.skip("the memory of nodes", str(error))
        watched = [stack.enter_context(AnonymousPeak(group, shared=True)) for group in groups]
        took = compile_on_cluster(source, made, options, groups)
        peak = max((each.peak_bytes or 0 for each in watched), default=0)
        kills = [oom_kills(group) for group in groups]
    report.check(
        "the bytes are the same",
        filecmp.cmp(local, made, shallow=False),
        f"{os.path.getsize(local):,} bytes",
    )
    ways = {"one process": (alone, None), f"{_NODES} nodes": (took, peak or None)}
    rows: list[dict[str, Cell]] = [
        {
            "way": way,
            "edges": options.edges,
            "seconds": spent,
            "ns/edge": spent / options.edges,
            "peak of a node, MiB": memory,
        }
        for way, (spent, memory) in ways.items()
    ]
    report.table("Compiling one graph, Parquet to .gl", _COLUMNS, rows)
    if groups:
        report.goal(
            f"no node needs more than {options.limit >> 20} MiB, its object store included",
            all(each == 0 for each in kills),  # None: the kernel does not tell
            f"{peak >> 20} MiB at the most, processes killed for want of memory: {kills}",
        )


def main() -> int:
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--edges", type=int, help="of the graph (100 million)")
    add_size(parser, "--store", "of the object store of a node (280 MiB)")
    add_size(parser, "--task", "task_memory, and memory= of the process that calls (280 MiB)")
    add_size(parser, "--limit", "of all that runs on a node (2 GiB)")
    options = parser.parse_args()
    defaults(options, edges=(100_000_000, 1_000_000))
    defaults(options, store=(280 << 20, 100 << 20), task=(280 << 20, 280 << 20))
    defaults(options, limit=(2 << 30, 2 << 30))
    with scratch_folder(options.folder, options.edges * _DISK_BYTES) as folder:
        report = Report("ray_compile", options, folder)
        bench(report, folder, options)
        return report.finish(options.json)


if __name__ == "__main__":
    sys.exit(main())
