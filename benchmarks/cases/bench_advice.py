"""Which `advice=` to mount a file with: random rows, and all rows in order, from a cold file.

Every figure comes from a fresh process whose memory limit is a quarter of the file, so that the
page cache cannot hold it. The ways take turns.
"""

from __future__ import annotations

import json
import sys

import graphmount as gm

from ..data.patterns import ROW_BYTES, matrix
from ..harness.cold_runs import run_cold
from ..harness.memcap import UnavailableError
from ..harness.scratch import scratch_folder
from ..jobs import job_command
from ..report.report import Report, add_size, argument_parser, defaults
from ..report.units import Cell, mebibytes, plain, ratio, spread_of, text


def _command(path: str, pattern: str, advice: str, limit_seconds: float, seed: int) -> list[str]:
    command = job_command("read_rows", path)
    command += ["--reader", "graphmount.numpy", "--advice", advice]
    command += ["--seconds", str(limit_seconds), "--seed", str(seed), "--rows", str(10**9)]
    if pattern == "sequential":
        command += ["--sequential", "--batch", str((16 << 20) // ROW_BYTES)]
    return command


def bench_advice(report: Report, path: str, cap: int, rounds: int, limit_seconds: float) -> None:
    results: dict[tuple[str, str], list[dict[str, float]]] = {}
    for seed in range(rounds):
        for pattern in ("random", "sequential"):
            for advice in ("normal", "random", "sequential"):
                command = _command(path, pattern, advice, limit_seconds, seed)
                try:
                    run = run_cold(command, cap, path)
                except UnavailableError as error:
                    return report.skip("advice", str(error))
                fine = run.status == 0 and run.oom_kills == 0
                result: dict[str, float] = json.loads(run.stdout) if fine else {}
                wrong = result.get("wrong_rows")
                report.check(
                    f"{pattern} rows, advice={advice!r}, run {seed + 1}",
                    wrong == 0,
                    f"{result.get('rows')} rows read, {wrong} wrong, "
                    f"{run.oom_kills} OOM kills, status {run.status}",
                )
                if fine:
                    results.setdefault((pattern, advice), []).append(result)
    for pattern, title in (
        ("random", "x.numpy()[ids], 1,000 random rows at a time"),
        ("sequential", "x.numpy()[begin:end].sum(0), 16 MiB at a time"),
    ):
        rows: list[dict[str, Cell]] = [
            {
                "advice": advice,
                "rows/s": spread_of([run["rows"] / run["read_seconds"] for run in runs]),
                "useful MiB/s": spread_of(
                    [run["rows"] * ROW_BYTES / run["read_seconds"] for run in runs]
                ),
                "read per useful byte": spread_of(
                    [run["disk_read"] / (run["rows"] * ROW_BYTES) for run in runs]
                ),
                "runs": len(runs),
            }
            for (kind, advice), runs in results.items()
            if kind == pattern
        ]
        columns = {"advice": text, "rows/s": plain, "useful MiB/s": mebibytes}
        columns |= {"read per useful byte": ratio, "runs": plain}
        place = f"rows of {ROW_BYTES} bytes, limit {cap / 2**20:.0f} MiB"
        report.table(f"{title}; {place}, cold", columns, rows)
    return None


def main() -> int:
    parser = argument_parser(__doc__ or "")
    add_size(parser, "--size", "the .gd file (2 GiB)")
    add_size(parser, "--cap", "the memory limit (a quarter of the file)")
    parser.add_argument("--rounds", type=int, help="runs of each way")
    parser.add_argument("--seconds", type=int, help="how long each run may read")
    options = parser.parse_args()
    defaults(options, size=(2 << 30, 1 << 29), rounds=(5, 2), seconds=(5, 1))
    defaults(options, cap=(options.size // 4, options.size // 4))
    with scratch_folder(options.folder, options.size) as folder:
        report = Report("advice", options, folder)
        path = f"{folder}/features.gd"
        gm.compile_features(matrix(options.size), path)
        bench_advice(report, path, options.cap, options.rounds, options.seconds)
        return report.finish(options.json)


if __name__ == "__main__":
    sys.exit(main())
