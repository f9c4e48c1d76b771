"""How fast `compile_features` and `compile_graph` write, next to copying as many bytes.

The peer is `dd conv=fsync` from a file that is in the page cache: like the compilers, it ends when
the bytes are on the disk. The source of the compilers is in memory. All take turns.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import graphmount as gm
from benchmarks.page_cache import warm_up
from benchmarks.patterns import edges, matrix
from benchmarks.report import (
    Cell,
    Report,
    add_size,
    argument_parser,
    defaults,
    in_unit,
    mebibytes,
    plain,
    ratio,
    seconds,
    spread_of,
    text,
)
from benchmarks.scratch import scratch_folder

if TYPE_CHECKING:
    from collections.abc import Callable


def copy(source: str, out: str) -> None:
    """A copy that has reached the disk, as a compiled file has."""
    command = ["/bin/dd", f"if={source}", f"of={out}", "bs=1M", "conv=fsync", "status=none"]
    subprocess.run(command, check=True)


def bench_writing(
    report: Report,
    what: str,
    write: Callable[[str], object],
    *,
    path: str,
    rounds: int,
    items: int,
) -> None:
    """Times `write` and a copy of what it has written, in turns."""
    times: dict[str, list[float]] = {what: [], "dd conv=fsync of the same bytes": []}
    write(path)
    size = os.path.getsize(path)
    out = path + ".again"
    for _ in range(rounds):
        warm_up(path)
        for way, job in ((what, write), ("dd conv=fsync of the same bytes", None)):
            start = time.perf_counter()
            if job is None:
                copy(path, out)
            else:
                job(out)
            times[way].append(time.perf_counter() - start)
            os.unlink(out)
            os.sync()  # nobody pays for another's writing
    best = spread_of([size / spent for spent in times["dd conv=fsync of the same bytes"]]).median
    rows: list[dict[str, Cell]] = [
        {
            "way": way,
            "seconds": spread_of(spent),
            "MiB/s": spread_of([size / value for value in spent]),
            "of dd": spread_of([size / value for value in spent]).median / best,
            "M items/s": spread_of([items / value for value in spent]) if way == what else None,
            "runs": len(spent),
        }
        for way, spent in times.items()
    ]
    columns = {"way": text, "seconds": seconds, "MiB/s": mebibytes, "of dd": ratio}
    columns |= {"M items/s": in_unit(1e-6, 2), "runs": plain}
    report.table(f"Writing {size / 2**30:.2f} GiB, {what}; source in memory", columns, rows)
    report.check(f"{what} verifies", gm.verify(path).ok)
    os.unlink(path)


def main() -> int:
    parser = argument_parser(__doc__ or "")
    add_size(parser, "--size", "the .gd file (2 GiB)")
    add_size(parser, "--graph-size", "the .gl file (512 MiB)")
    parser.add_argument("--rounds", type=int, help="runs of each way")
    options = parser.parse_args()
    defaults(options, size=(2 << 30, 1 << 28), graph_size=(1 << 29, 1 << 26), rounds=(3, 3))
    with scratch_folder(options.folder, 2 * max(options.size, options.graph_size)) as folder:
        report = Report("compile", options, folder)
        rows = np.ascontiguousarray(matrix(options.size))
        bench_writing(
            report,
            "compile_features",
            partial(gm.compile_features, rows),
            path=f"{folder}/x.gd",
            rounds=options.rounds,
            items=len(rows),
        )
        del rows  # the memory is for the edges now
        count = max(64, options.graph_size // 13)
        bench_writing(
            report,
            "compile_graph",
            partial(gm.compile_graph, edges(count), memory="1TiB"),
            path=f"{folder}/g.gl",
            rounds=options.rounds,
            items=count,
        )
        return report.finish(options.json)


if __name__ == "__main__":
    sys.exit(main())
