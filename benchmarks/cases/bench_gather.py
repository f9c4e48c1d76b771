"""Gathering random rows: by each reader, against the mapped tensor, NumPy, GraphBolt, and fio.

Cold figures come from fresh processes whose memory limit is a fraction of the file, so that the
page cache cannot hold it. The ways take turns, fio among them, and every row is checked against a
function of its id.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import graphmount as gm

from ..data.patterns import ROW_BYTES, matrix
from ..harness.cold_runs import run_cold
from ..harness.memcap import UnavailableError
from ..harness.page_cache import evict
from ..harness.scratch import scratch_folder
from ..jobs import job_command
from ..peers import why_not_here
from ..report.plot import bars
from ..report.report import Report, add_size, argument_parser, defaults
from ..report.units import Cell, Spread, mebibytes, per_second, plain, ratio, spread_of, text
from .parts.gather_peers import GatherPeers

if TYPE_CHECKING:
    from collections.abc import Sequence

#: (name, way of gather_once, advice, rows at a time)
COLD_WAYS = (
    ("gather(reader='auto')", "auto", "auto", 1 << 16),
    ("gather(reader='uring')", "uring", "auto", 1 << 16),
    ("gather(reader='pread')", "pread", "auto", 1 << 16),
    ("gather(reader='mapped')", "mapped", "random", 1 << 14),
    ("x.tensor()[ids], advice 'random'", "torch", "random", 1 << 14),
    ("x.tensor()[ids], advice 'normal'", "torch", "normal", 1 << 8),
)
WARM_WAYS = (
    ("gather(reader='auto')", "auto", "normal", 1 << 16),
    ("gather(reader='auto', out=)", "auto-out", "normal", 1 << 16),
    ("torch.index_select", "torch", "normal", 1 << 16),
    ("torch.index_select(out=)", "torch-out", "normal", 1 << 16),
    ("numpy.take", "numpy", "normal", 1 << 16),
)
BEST_TORCH = "x.tensor()[ids], advice 'random'"
OURS = "gather(reader='auto')"
ROW_SIZES, QUICK_ROW_SIZES = (64, 512, 4096, 16384), (512, 4096)
_BATCH_BYTES = 64 << 20

Way = tuple[str, str, str, int]


def ways_here(ways: Sequence[Way]) -> Sequence[Way]:
    """Those whose libraries are installed."""
    return [way for way in ways if not way[1].startswith("torch") or not why_not_here("torch")]


def _command(path: str, way: Way, row_bytes: int, seconds: float) -> list[str]:
    _, how, advice, most = way
    batch = min(most, _BATCH_BYTES // row_bytes)
    command = job_command("gather_once", path, "--way", how)
    command += ["--advice", advice, "--row-bytes", str(row_bytes), "--batch", str(batch)]
    return [*command, "--seconds", str(seconds)]


def _fio_reads(path: str, seconds: float) -> float:
    """Random 4 KiB reads a second by fio, 128 in flight."""
    evict(path)
    command = ["fio", "--name=random", f"--filename={path}", "--readonly", "--rw=randread"]
    command += ["--bs=4k", "--iodepth=128", "--ioengine=io_uring", "--direct=1", "--time_based"]
    command += ["--registerfiles", "--fixedbufs", f"--runtime={seconds}", "--output-format=json"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(json.loads(run.stdout)["jobs"][0]["read"]["iops"])


def _table(
    report: Report, title: str, results: dict[str, list[dict[str, float]]], row_bytes: int
) -> dict[str, Spread]:
    speeds = {
        way: spread_of([_rows_per_second(run) for run in runs]) for way, runs in results.items()
    }
    rows: list[dict[str, Cell]] = [
        {
            "way": way,
            "rows/s": speeds[way],
            "useful MiB/s": speeds[way].median * row_bytes,
            "read per useful byte": spread_of(
                [run["disk_read"] / (run["rows"] * row_bytes) for run in runs]
            ),
            "anonymous MiB": spread_of([run["anonymous_added"] for run in runs]),
            "runs": len(runs),
        }
        for way, runs in results.items()
    ]
    columns = {"way": text, "rows/s": per_second, "useful MiB/s": mebibytes}
    columns |= {"read per useful byte": ratio, "anonymous MiB": mebibytes, "runs": plain}
    report.table(title, columns, rows)
    leads = title.startswith("cold") and row_bytes == ROW_BYTES
    report.plot(
        bars(
            title[0].upper() + title[1:],
            rows,
            of="rows/s",
            y="rows a second",
            log=True,
            leads=leads,
            ours=[way for way in results if way.startswith("gather(")],
            better="more",
        )
    )
    return speeds


def _rows_per_second(run: dict[str, float]) -> float:
    return run["rows"] / run["read_seconds"]


def _result(report: Report, what: str, status: int, stdout: str, kills: int | None) -> object:
    fine = status == 0 and not kills
    result = json.loads(stdout) if fine else {}
    report.check(
        what,
        result.get("wrong_rows") == 0,
        f"{result.get('rows')} rows gathered, {result.get('wrong_rows')} wrong, "
        f"{kills} OOM kills, status {status}",
    )
    return result if fine else None


def bench_cold(
    report: Report,
    path: str,
    *,
    row_bytes: int,
    cap: int,
    rounds: int,
    seconds: float,
    ways: Sequence[Way],
    peers: GatherPeers | None,
) -> None:
    """Rows from a file much larger than the limit, each way in turn, peers among them."""
    results: dict[str, list[dict[str, float]]] = {}
    readers = gm.FeatureStore(path).readers
    fio: list[float] = []
    with_fio = shutil.which("fio") is not None and row_bytes == ROW_BYTES
    for place in range(rounds):
        for way in ways:
            name = way[0]
            if way[1] in ("uring", "pread") and way[1] not in readers:
                report.skip(name, "this system does not allow it")
                continue
            command = _command(path, way, row_bytes, seconds)
            try:
                run = run_cold(command, cap, path)
            except UnavailableError as error:
                return report.skip("cold rows", str(error))
            what = f"{name}, rows of {row_bytes} bytes, run {place + 1}"
            result = _result(report, what, run.status, run.stdout, run.oom_kills)
            if isinstance(result, dict):
                results.setdefault(name, []).append(result)
        if peers is not None:
            for name, gathered in peers.run_all(cap, seconds, place + 1):
                results.setdefault(name, []).append(gathered)
        if with_fio:
            fio.append(_fio_reads(path, seconds))
    title = f"cold rows of {row_bytes} bytes, limit {cap / 2**20:.0f} MiB"
    speeds = _table(report, title, results, row_bytes)
    if row_bytes == ROW_BYTES and BEST_TORCH in speeds:
        _judge_cold(report, results, speeds, fio)
    return None


def _judge_cold(
    report: Report,
    results: dict[str, list[dict[str, float]]],
    speeds: dict[str, Spread],
    fio: list[float],
) -> None:
    """What we promise of cold rows, next to torch and fio."""
    # Round by round: the disk is faster in one minute than in the next.
    pairs = zip(results[OURS], results[BEST_TORCH], strict=False)
    times = spread_of([_rows_per_second(one) / _rows_per_second(two) for one, two in pairs])
    detail = f"{times.median:.1f} ({times.low:.1f} - {times.high:.1f}) times"
    report.goal("gather at least 8 times torch", times.median >= 8, detail)
    ours = speeds[OURS].median
    if not fio:
        return report.skip("fio", "the program is not installed")
    reads = spread_of(fio)
    fio_rows: list[dict[str, Cell]] = [{"way": "fio, 4 KiB, 128 in flight", "reads/s": reads}]
    report.table("random reads by fio in the same run", {"way": text, "reads/s": plain}, fio_rows)
    detail = f"{ours:,.0f} rows/s, fio {reads.median:,.0f} reads/s"
    report.goal("gather no slower than fio", ours >= reads.median, detail)
    return None


def bench_warm(report: Report, path: str, row_bytes: int, rounds: int, seconds: float) -> None:
    """Rows of a file that is in memory."""
    results: dict[str, list[dict[str, float]]] = {}
    gm.FeatureStore(path).advise("populate")
    for place in range(rounds):
        for way in ways_here(WARM_WAYS):
            name = way[0]
            command = _command(path, way, row_bytes, seconds)
            run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
            what = f"warm {name}, rows of {row_bytes} bytes, run {place + 1}"
            result = _result(report, what, run.returncode, run.stdout, 0)
            if isinstance(result, dict):
                results.setdefault(name, []).append(result)
    speeds = _table(report, f"warm rows of {row_bytes} bytes", results, row_bytes)
    ours, torch = speeds.get(OURS), speeds.get("torch.index_select")
    if ours is None or torch is None:
        return
    detail = f"{ours.median / torch.median:.2f} times"
    report.goal(
        f"warm gather of {row_bytes} bytes as fast as torch", ours.median >= torch.median, detail
    )


def main() -> int:
    parser = argument_parser(__doc__ or "")
    add_size(parser, "--size", "the .gd file of the cold part (6 GiB)")
    add_size(parser, "--cap", "the memory limit (a tenth of the file, and 256 MiB for Python)")
    add_size(parser, "--warm-size", "the .gd file of the warm part (1 GiB)")
    parser.add_argument(
        "--row-bytes", type=int, nargs="+", help="sizes of rows to try (64 to 16,384)"
    )
    parser.add_argument("--rounds", type=int, help="runs of each way")
    parser.add_argument("--seconds", type=int, help="how long each run may gather")
    options = parser.parse_args()
    without_torch = why_not_here("torch")
    options.row_bytes = options.row_bytes or (QUICK_ROW_SIZES if options.quick else ROW_SIZES)
    defaults(options, size=(6 << 30, 1 << 29), warm_size=(1 << 30, 1 << 26))
    defaults(options, rounds=(5, 1), seconds=(5, 1))
    defaults(options, cap=(options.size // 10 + (256 << 20), options.size // 10 + (256 << 20)))
    with scratch_folder(options.folder, 2 * options.size + options.warm_size) as folder:
        report = Report("gather", options, folder)
        if without_torch:
            report.skip("torch's gathers", without_torch)
        path = f"{folder}/features.gd"
        with_peers = ROW_BYTES in options.row_bytes
        peers = GatherPeers(report, folder, options.size, sys.executable) if with_peers else None
        for row_bytes in options.row_bytes:
            gm.compile_features(matrix(options.size, row_bytes // 4), path)
            ways = COLD_WAYS if row_bytes == ROW_BYTES else COLD_WAYS[:1] + COLD_WAYS[4:5]
            bench_cold(
                report,
                path,
                row_bytes=row_bytes,
                cap=options.cap,
                rounds=options.rounds,
                seconds=options.seconds,
                ways=ways_here(ways),
                peers=peers if row_bytes == ROW_BYTES else None,
            )
        for row_bytes in options.row_bytes:
            gm.compile_features(matrix(options.warm_size, row_bytes // 4), path)
            bench_warm(report, path, row_bytes, options.rounds, options.seconds)
        return report.finish(options.json)


if __name__ == "__main__":
    sys.exit(main())
