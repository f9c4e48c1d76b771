"""How fast matrices become `.gd` files: from `.npy` next to a copy, from text next to GraphZero.

The `.npy` is cold, and a copy (`cp --reflink=never`, then fsync) is what the disk can do. The text
has a node id and 128 values in each line, as GraphZero wants it, and is in the page cache. Their
file may not have reached the disk when they are done, as ours has; that is what users get and what
the goal is about, and a second line shows the same with an fsync. All take turns.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from functools import partial

import numpy as np

import graphmount as gm

from ..data.patterns import COLUMNS as MATRIX_COLUMNS
from ..data.patterns import expected_rows, matrix, write_npy
from ..data.text_writer import write_lines
from ..harness.page_cache import evict, warm_up
from ..harness.scratch import scratch_folder
from ..report.plot import bars
from ..report.report import Report, add_size, argument_parser, defaults
from ..report.units import spread_of
from .parts.job_runs import COLUMNS, cells_of, installed, run_job, take_turns

_OURS = "graphmount.compile_features"
_COPY = "cp + fsync"
_THEIRS = "graphzero.convert_csv_to_gd"
_THEIRS_SYNCED = "graphzero.convert_csv_to_gd + fsync"
_PIECE_ROWS = 1 << 13
_TEXT_ROW_BYTES = 1600  # 128 numbers of 11 or 12 characters
_SAMPLED_ROWS = 10_000
_THEIR_DIGEST = (
    "import sys, hashlib, graphzero\n"
    "rows = graphzero.FeatureStore(sys.argv[1]).get_tensor()\n"
    "print(rows.shape, rows.dtype, hashlib.blake2b(rows.tobytes()).hexdigest())\n"
)


def bench_npy(report: Report, folder: str, size: int, rounds: int) -> None:
    source, out = f"{folder}/x.npy", f"{folder}/x.gd"
    write_npy(matrix(size), source)
    run_job(_OURS, source, out)
    with gm.FeatureStore(out) as store:
        ids = np.random.default_rng(0).integers(0, len(store), _SAMPLED_ROWS)
        same = np.array_equal(store.numpy()[ids], expected_rows(ids))
    report.check(f"{_OURS} keeps the values of x.npy", same, f"{_SAMPLED_ROWS:,} rows looked at")
    report.check("x.gd verifies", gm.verify(out).ok)
    os.unlink(out)
    jobs = {way: partial(run_job, way, source, out) for way in (_OURS, _COPY)}
    runs = take_turns(jobs, rounds, before=partial(evict, source), out=out)
    size = os.path.getsize(source)
    rows = [cells_of(way, runs[way], runs[_OURS], size) for way in jobs]
    report.table(f".npy of float32, {size / 2**30:.2f} GiB, cold, to .gd", COLUMNS, rows)
    pairs = zip(runs[_COPY], runs[_OURS], strict=True)
    share = spread_of([copy["seconds"] / our["seconds"] for copy, our in pairs])
    detail = f"{share.median:.0%} ({share.low:.0%} - {share.high:.0%})"
    report.goal(f"70 % of the speed of {_COPY}", share.median >= 0.7, detail)
    os.unlink(source)


def write_text(path: str, num_rows: int) -> str:
    """Lines of a node id and random numbers. Returns what `read_back` should say of them."""
    generator = np.random.default_rng(3)
    digest = hashlib.blake2b()
    with open(path, "wb") as file:
        for first in range(0, num_rows, _PIECE_ROWS):
            ids = np.arange(first, min(first + _PIECE_ROWS, num_rows))
            values = generator.standard_normal((len(ids), MATRIX_COLUMNS), np.float32)
            digest.update(values.tobytes())
            write_lines(file, [ids, *values.T])
        file.flush()
        os.fsync(file.fileno())
    return f"({num_rows}, {MATRIX_COLUMNS}) float32 {digest.hexdigest()}"


def read_back(way: str, path: str) -> str:
    """Shape, dtype and digest of a compiled file, by the tool's own reader."""
    if way == _OURS:
        with gm.FeatureStore(path) as store:
            rows = store.numpy()
            return f"{rows.shape} {rows.dtype} {hashlib.blake2b(rows.tobytes()).hexdigest()}"
    command = [sys.executable, "-c", _THEIR_DIGEST, path]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return run.stdout.strip()


def bench_text(report: Report, folder: str, num_rows: int, rounds: int) -> None:
    source, out = f"{folder}/x.csv", f"{folder}/x.gd"
    expected = write_text(source, num_rows)
    ways = installed(report, [_OURS, _THEIRS, _THEIRS_SYNCED])
    jobs = {way: partial(run_job, way, source, out, "--key", "0") for way in ways}
    for way, job in jobs.items():
        job()
        report.check(f"{way} reads every number of x.csv right", read_back(way, out) == expected)
        os.unlink(out)
    runs = take_turns(jobs, rounds, before=partial(warm_up, source), out=out)
    size = os.path.getsize(source)
    rows = [cells_of(way, runs[way], runs[_OURS], size) for way in ways]
    title = f"CSV of {num_rows:,} x {MATRIX_COLUMNS} numbers, {size / 1e6:.0f} MB, "
    report.table(title + "in the page cache, to .gd", COLUMNS, rows)
    report.plot(
        bars(
            "Text to features",
            rows,
            of="MB/s",
            y="MB of text a second",
            factor=1e-6,
            ours=[_OURS],
            better="more",
        )
    )
    if _THEIRS in runs:
        pairs = zip(runs[_THEIRS], runs[_OURS], strict=True)
        faster = spread_of([their["seconds"] / our["seconds"] for their, our in pairs])
        detail = f"{faster.median:.1f} ({faster.low:.1f} - {faster.high:.1f}) times"
        report.goal(f"10 times as fast as {_THEIRS}", faster.median >= 10, detail)


def main() -> int:
    parser = argument_parser(__doc__ or "")
    add_size(parser, "--size", "the .npy file (4 GiB)")
    parser.add_argument("--text-rows", type=int, help="lines of the text (200,000)")
    parser.add_argument("--rounds", type=int, help="runs of each way")
    options = parser.parse_args()
    defaults(options, size=(4 << 30, 1 << 28), text_rows=(200_000, 100_000), rounds=(5, 3))
    needed = 2 * max(options.size, options.text_rows * _TEXT_ROW_BYTES)
    with scratch_folder(options.folder, needed) as folder:
        report = Report("compile_features", options, folder)
        bench_npy(report, folder, options.size, options.rounds)
        bench_text(report, folder, options.text_rows, options.rounds)
        return report.finish(options.json)


if __name__ == "__main__":
    sys.exit(main())
