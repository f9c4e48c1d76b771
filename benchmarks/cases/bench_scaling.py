"""How speed grows with threads, and what becomes of it with more nodes and longer rows.

Threads: each job with 1, 2, 4, … of them in turn, on an R-MAT graph in memory. Nodes: datasets from
small to as large as the disk holds, average degree 16, 128 columns; three hops of 15, 10 and 5
neighbors from 1,024 seeds, in memory and with the loader, whose rows come past the page cache where
the system allows it. Columns: the same loader over rows from 64 bytes to 4 KiB.
"""

from __future__ import annotations

import sys

from ..data.synthetic_dataset import DEGREE
from ..harness.scratch import require_memory, scratch_folder
from ..report.report import Report, argument_parser, defaults
from .parts.scaling_sizes import bench_columns, bench_nodes
from .parts.scaling_threads import bench_threads

_PARTS = {"threads": bench_threads, "nodes": bench_nodes, "columns": bench_columns}
_SCALES, _QUICK_SCALES = (18, 20, 22, 24), (14, 16, 18)
_COLUMNS, _QUICK_COLUMNS = (16, 32, 64, 128, 256, 512, 1024), (32, 128, 512)
_EDGE_BYTES = 48  # of memory, while a graph is made
_DISK_BYTES = 24 * DEGREE + 3 * 512  # of a node: its edges, and its row three times over


def main() -> int:
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--scales", type=int, nargs="+", help="2^scale nodes (18 20 22 24)")
    parser.add_argument("--columns", type=int, nargs="+", help="columns (16 to 1,024)")
    parser.add_argument("--table-bytes", type=int, help="size of the table with so many columns")
    parser.add_argument("--thread-scale", type=int, help="2^scale nodes for the threads (20)")
    parser.add_argument("--thread-edges", type=int, help="edges to compile with the threads")
    parser.add_argument("--rounds", type=int, help="runs of each")
    parser.add_argument("--seconds", type=float, help="of each run")
    parser.add_argument("--part", choices=_PARTS, help="only this part")
    options = parser.parse_args()
    options.scales = options.scales or (_QUICK_SCALES if options.quick else _SCALES)
    options.columns = options.columns or (_QUICK_COLUMNS if options.quick else _COLUMNS)
    defaults(options, rounds=(5, 2), seconds=(3.0, 0.5), table_bytes=(1 << 30, 1 << 25))
    defaults(options, thread_scale=(20, 16), thread_edges=(1 << 24, 1 << 20))
    largest = 1 << max(options.scales)
    require_memory(DEGREE * _EDGE_BYTES * largest, "making the graph")
    with scratch_folder(options.folder, largest * _DISK_BYTES) as folder:
        report = Report("scaling", options, folder)
        for name, bench in _PARTS.items():
            if options.part in (None, name):
                bench(report, folder, options)
        return report.finish(options.json)


if __name__ == "__main__":
    sys.exit(main())
