"""The benchmarks run, say where they ran, and check their results. Never timings."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from run_mode import IS_LONG, IS_SANITIZED, MEMCAP

ROOT = Path(__file__).parents[3]
UNAVAILABLE = 125

pytestmark = [
    pytest.mark.skipif(IS_SANITIZED, reason="sanitizers need memory of their own"),
    pytest.mark.skipif(sys.platform != "linux", reason="the benchmarks ask /proc"),
    pytest.mark.skipif(not MEMCAP.exists(), reason="no benchmarks here (not a clone)"),
]


def run_memcap(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(MEMCAP), *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode == UNAVAILABLE:
        assert "control group" in run.stderr or "page cache" in run.stderr
        pytest.skip(run.stderr.strip())
    return run


def run_benchmark(name: str, tmp_path: Path, *options: str) -> Any:
    results = tmp_path / "results.json"
    command = [sys.executable, "-m", f"benchmarks.cases.{name}", "--quick", "--json", str(results)]
    command += ["--folder", str(tmp_path), *options]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert list(tmp_path.iterdir()) == [results], "the scratch folder is still there"
    return json.loads(results.read_text())


def passed_checks(results: Any) -> list[str]:
    """The names of the checks of correctness, all of which must have passed."""
    checks = [check for check in results["checks"] if check["kind"] == "check"]
    assert all(check["passed"] for check in checks)
    return [check["what"] for check in checks]


def require_capped(results: Any) -> None:
    if results["skipped"]:
        pytest.skip(results["skipped"][0]["why"])


def is_spread(cell: Any) -> bool:
    return bool(set(cell) == {"median", "low", "high", "count"} and cell["low"] <= cell["high"])


def require_long(why: str) -> None:
    if not IS_LONG:
        pytest.skip(f"for long campaigns (make test-all): {why}")


def require_torch() -> None:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")


def test_memcap_passes_on_the_status_and_output() -> None:
    run = run_memcap("64M", "--warm", "--", "/bin/sh", "-c", "echo hello; exit 7")
    assert (run.returncode, run.stdout) == (7, "hello\n")
    assert "limit 64.0 MiB" in run.stderr
    assert "OOM kills 0" in run.stderr
    assert "warm start" in run.stderr


def test_memcap_kills_what_is_too_large() -> None:
    run = run_memcap("32M", "--warm", "--", sys.executable, "-c", "b'x' * (256 << 20)")
    assert run.returncode == 137
    assert "OOM kills 1" in run.stderr


def test_memcap_counts_the_page_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(bytes(64 << 20))
    run = run_memcap("24M", "--", "/bin/cat", str(tmp_path / "file"))
    assert run.returncode == 0
    peak = float(run.stderr.split("peak ")[1].split()[0])
    assert 16 < peak <= 24
    assert "OOM kills 0" in run.stderr


def test_memcap_leaves_no_group_behind() -> None:
    # A process that outlives the command would keep the group; it goes with it.
    command = [sys.executable, str(MEMCAP), "32M", "--warm", "--"]
    command += ["/bin/sh", "-c", "sleep 100 >&- 2>&- & exit 3"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        _, said = process.communicate()
    if process.returncode == UNAVAILABLE:
        pytest.skip(said.strip())
    assert process.returncode == 3
    assert "could not remove" not in said
    # Other runs on this machine may have groups of theirs.
    assert not list(Path("/sys/fs/cgroup").glob(f"**/graphmount-memcap-{process.pid}-*"))


@pytest.mark.parametrize("limit", ["many", "-1M", "1X"])
def test_memcap_refuses_odd_limits(limit: str) -> None:
    command = [sys.executable, str(MEMCAP), "--", limit, "true"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert limit in run.stderr


def test_memcap_says_when_it_cannot() -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root to become somebody else")
    # Imports first: nobody may not be allowed to read the interpreter's own files.
    code = (
        "import argparse, contextlib, dataclasses, os, pathlib, re, signal, subprocess, sys\n"
        "import shutil, threading, typing\n"
        "text = pathlib.Path(sys.argv[1]).read_text()\n"
        "sys.argv = ['memcap', '32M', 'true']\n"
        "os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "exec(compile(text, 'memcap.py', 'exec'), {'__name__': '__main__'})\n"
    )
    command = [sys.executable, "-c", code, str(MEMCAP)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == UNAVAILABLE
    assert "run as root" in run.stderr


def test_mount(tmp_path: Path) -> None:
    require_long("a file of 1 GiB")
    require_torch()
    # Torch alone needs 150 MB, so a file of four times the limit cannot be much smaller.
    options = ("--small", "256K", "--large", "1G", "--cap", "256M", "--rounds", "3")
    results = run_benchmark("bench_mount", tmp_path, *options)
    facts = results["environment"]
    for fact in ("date", "cores", "memory", "kernel", "file_system", "graphmount", "git_commit"):
        assert fact in facts
    warm, cold, memory = list(results["tables"].values())[:3]
    for table in (warm, cold):
        assert [row["way"] for row in table][:2] == ["Graph(path)", "FeatureStore(path)"]
        assert all(is_spread(row["small"]) and is_spread(row["large"]) for row in table)
    assert {row["file"] for row in memory} == {"small.gd", "large.gd", "small.gl", "large.gl"}
    goals = [check["what"] for check in results["checks"] if check["kind"] == "goal"]
    assert len(goals) == 12
    require_capped(results)
    assert len(passed_checks(results)) == 3
    for row in list(results["tables"].values())[3]:
        assert row["wrong_rows"]["high"] == 0
        assert row["oom_kills"]["high"] == 0
        assert row["rows"]["median"] == 1000


def test_verify(tmp_path: Path) -> None:
    options = ("--size", "2M", "--graph-size", "1M", "--rounds", "2")
    results = run_benchmark("bench_verify", tmp_path, *options)
    assert len(passed_checks(results)) == 3
    assert len(results["tables"]) == 6
    for table in results["tables"].values():
        assert table[0]["way"] == "cat > /dev/null"
        assert all(is_spread(row["GiB/s"]) and row["runs"] == 2 for row in table)


def test_compile_text(tmp_path: Path) -> None:
    results = run_benchmark("bench_compile_text", tmp_path, "--edges", "20000", "--rounds", "2")
    (table,) = results["tables"].values()
    assert table[0]["way"] == "graphmount.compile_graph"
    assert all(is_spread(row["seconds"]) and row["runs"] == 2 for row in table)
    assert all(row["anonymous MiB"] > 0 for row in table)
    missing = [skipped["what"] for skipped in results["skipped"]]
    assert len(table) + len(missing) == 4
    # Each way is checked against the source: writers by their lists, readers by their rows.
    assert len(passed_checks(results)) == len(table)


@pytest.mark.parametrize("neighbors", ["in", "both"] if IS_LONG else ["both"])
def test_compile_large(neighbors: str, tmp_path: Path) -> None:
    options = ("--edges", "6000000", "--small-edges", "20000", "--neighbors", neighbors)
    options += ("--memory", "64M", "--cap", "192M", "--rounds", "1")
    results = run_benchmark("bench_compile_large", tmp_path, *options)
    # The first says that there are fewer edges than by default.
    results["skipped"] = results["skipped"][1:]
    require_capped(results)
    checks = passed_checks(results)
    assert "large .npy, run 1 verifies" in checks
    assert sum(check.endswith("makes the graph of the source") for check in checks) == 5
    times, space, *_ = results["tables"].values()
    assert {row["way"]: row["runs"] for row in times} == {
        "small .npy": 2,
        "small .csv": 2,
        "large .npy": 1,
    }
    assert {row["way"] for row in space if row["spilled MiB"]} == {"large .npy"}


def test_compile_features(tmp_path: Path) -> None:
    options = ("--size", "2M", "--text-rows", "500", "--rounds", "2")
    results = run_benchmark("bench_compile_features", tmp_path, *options)
    copying, parsing = results["tables"].values()
    assert [row["way"] for row in copying] == ["graphmount.compile_features", "cp + fsync"]
    assert all(is_spread(row["MB/s"]) and row["runs"] == 2 for row in copying + parsing)
    assert len(passed_checks(results)) == 2 + len(parsing)
    assert len(parsing) + len(results["skipped"]) == 3


def test_ids(tmp_path: Path) -> None:
    options = ("--nodes", "5000", "--names", "500", "--asked", "3000", "--rounds", "2")
    results = run_benchmark("bench_ids", tmp_path, *options)
    assert len(passed_checks(results)) == 8
    for table in results["tables"].values():
        assert table[0]["way"] == "the mounted file"
        assert all(is_spread(row["ns each"]) for row in table)


def test_kinds(tmp_path: Path) -> None:
    options = ("--nodes", "3000", "--edges", "20000", "--batch-size", "16", "--samples", "2")
    results = run_benchmark("kinds.bench_kinds", tmp_path, *options, "--rounds", "2")
    assert len(passed_checks(results)) == 1
    table, in_time = results["tables"].values()
    assert [row["sampler"] for row in table] == [
        "one kind",
        "one type and one relation",
        "three types, five relations",
    ]
    assert all(is_spread(row["edges/s, millions"]) for row in table)
    assert [(row["times of"], row["strategy"]) for row in in_time] == [
        ("edges", "last"),
        ("nodes", "last"),
        ("edges", "uniform"),
        ("nodes", "uniform"),
    ]
    assert all(is_spread(row["ns an edge"]) for row in in_time)


def test_source_ids(tmp_path: Path) -> None:
    pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
    options = ("--nodes", "2000", "--edges", "9000", "--batches", "3", "--rounds", "2")
    results = run_benchmark("bench_source_ids", tmp_path, *options)
    assert len(passed_checks(results)) == 1
    (table,) = results["tables"].values()
    assert [row["batches have"] for row in table] == [
        "n_id and e_id of the Data",
        "e_id of the Data",
        "ids of the dataset",
    ]
    assert all(is_spread(row["batches/s"]) for row in table)


def test_step(tmp_path: Path) -> None:
    pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
    options = ("--nodes", "2000", "--hidden", "8", "--batch-size", "32", "--rounds", "2")
    results = run_benchmark("training.bench_step", tmp_path, *options)
    assert len(passed_checks(results)) == 6
    steps, hop = results["tables"].values()
    theirs, ours = ["PyG, edge_index", "PyG, adjs"], ["graphmount.torch.nn, adjs"]
    pairs = [theirs[0], "PyG, edge_index in pairs", *ours]
    assert [row["way"] for row in steps] == [*theirs, *ours] * 4 + [theirs[0], *ours, *pairs]
    assert all(is_spread(row["ms a step"]) for row in steps)
    assert [row["along edges"] for row in hop] == ["mean", "sum", "max"]


def test_negatives(tmp_path: Path) -> None:
    results = run_benchmark("bench_negatives", tmp_path, "--edges", "20000", "--rounds", "2")
    assert len(passed_checks(results)) == (6 if results["skipped"] else 8)
    for table in results["tables"].values():
        assert table[0]["way"] == "the mounted file"
        assert all(is_spread(row["ns each"]) for row in table)


def test_walk(tmp_path: Path) -> None:
    options = ("--nodes", "1024", "--edges", "20000", "--walks", "500", "--slow-walks", "50")
    results = run_benchmark("bench_walk", tmp_path, *options, "--rounds", "2")
    assert len(results["tables"]) == 4
    rows = [row for table in list(results["tables"].values())[:3] for row in table]
    assert all(is_spread(row["ns a step"]) and row["runs"] == 2 for row in rows)
    # Every way is checked, ours and, where it is installed, GraphZero's.
    assert len(passed_checks(results)) == len(rows) == (3 if results["skipped"] else 6)


def test_sample(tmp_path: Path) -> None:
    options = ("--edges", "50000", "--nodes", "2000", "--rounds", "2")
    disk = ("--disk-edges", "200000", "--disk-rounds", "1", "--disk-seconds", "1")
    results = run_benchmark("bench_sample", tmp_path, *options, *disk)
    passed_checks(results)
    calls, threads, libraries, *from_disk = results["tables"].values()
    assert [row["runs"] for row in calls[:2]] == [10, 10]
    assert all(is_spread(row["ms"]) for row in calls)
    assert [row["threads"] for row in threads] == [1, 2]
    assert all(is_spread(row["ms a sample"]) for row in threads)
    assert libraries[0]["library"] == "graphmount"
    assert all(is_spread(row["ms a sample"]) and row["turns"] == 2 for row in libraries)
    for table in from_disk:
        assert [row["reads"] for row in table] == ["fault", "batch", "auto"]


@pytest.mark.skipif(not IS_LONG, reason="for long campaigns (make test-all): half a minute")
def test_loader(tmp_path: Path) -> None:
    require_torch()
    options = ("--scale", "12", "--rounds", "1", "--family", "R-MAT")
    results = run_benchmark("bench_loader", tmp_path, *options)
    require_capped(results)
    passed_checks(results)
    speeds, windows, *training = results["tables"].values()
    assert [row["way"] for row in speeds][:3] == [
        "mapped tensor, 10 %",
        "mapped tensor, hot first, 10 %",
        "loader, 5 %",
    ]
    assert [row["way"][-9:] for row in windows] == [
        " window 1",
        " window 4",
        "window 16",
        "window 32",
    ]
    for table in training:
        assert [row["way"] for row in table] == ["trained on, 25 %", "trained on, 100 %"]
    for row in (*speeds, *windows):
        assert is_spread(row["batches/s"])
        assert row["turns"] == 1


def test_loader_peers(tmp_path: Path) -> None:
    require_long("loads libraries that take their time")
    require_torch()
    results = run_benchmark("bench_loader_peers", tmp_path, "--scale", "12", "--rounds", "1")
    passed_checks(results)
    assert "pyg-lib" in str(results["skipped"]) + str(results["tables"])
    for table in results["tables"].values():
        assert [row["way"] for row in table][-2:] == ["mapped tensor, 10 %", "loader, 10 %"]
        assert all(row["turns"] == 1 for row in table)


def test_train(tmp_path: Path) -> None:
    pytest.importorskip("torch_geometric")
    results = run_benchmark("training.bench_train", tmp_path, "--scale", "12")
    require_capped(results)
    assert len(passed_checks(results)) == 2
    (table,) = results["tables"].values()
    # So small a dataset fits: both ways end.
    assert [(row["way"], row["ended"]) for row in table] == [
        ("graphmount", "fine"),
        ("in memory", "fine"),
    ]


def test_train_memory(tmp_path: Path) -> None:
    require_long("sixteen processes with torch")
    pytest.importorskip("torch_geometric")
    results = run_benchmark(
        "training.bench_train_memory", tmp_path, "--scale", "10", "--steps", "2"
    )
    require_capped(results)
    assert len(passed_checks(results)) == 1
    (table,) = results["tables"].values()
    assert len(table) == 16


def test_ranks(tmp_path: Path) -> None:
    require_long("thirteen processes with torch")
    pytest.importorskip("torch")
    results = run_benchmark("training.bench_ranks", tmp_path, "--scale", "12", "--steps", "2")
    assert len(passed_checks(results)) == 3
    sent, memory = results["tables"].values()
    assert [row["ranks"] for row in sent] == [1, 2, 4]
    assert [row["ranks"] for row in memory] == [2, 4]


def test_order(tmp_path: Path) -> None:
    results = run_benchmark("bench_order", tmp_path, "--scale", "10", "--batch", "16")
    assert len(results["tables"]) == 5
    assert len(passed_checks(results)) >= 9


def test_scaling(tmp_path: Path) -> None:
    options = ("--scales", "11", "12", "--columns", "16", "64", "--table-bytes", "262144")
    options += ("--thread-scale", "11", "--thread-edges", "20000", "--rounds", "2")
    results = run_benchmark("bench_scaling", tmp_path, *options, "--seconds", "0.05")
    assert len(passed_checks(results)) == 2 * 2 + 2
    threads, nodes, columns = results["tables"].values()
    assert len(threads) == 4
    assert all(is_spread(row["1 thread"]) and is_spread(row["gain"]) for row in threads)
    assert [row["nodes"] for row in nodes] == [1 << 11, 1 << 12]
    assert [row["columns"] for row in columns] == [16, 64]
    assert len(results["plots"]) == 3


@pytest.mark.skipif(
    not IS_LONG, reason="for long campaigns (make test-all): files larger than memory"
)
def test_advice(tmp_path: Path) -> None:
    options = ("--size", "8M", "--cap", "128M", "--rounds", "1", "--seconds", "1")
    results = run_benchmark("bench_advice", tmp_path, *options)
    require_capped(results)
    assert len(passed_checks(results)) == 6
    for table in results["tables"].values():
        assert [row["advice"] for row in table] == ["normal", "random", "sequential"]


def test_gather(tmp_path: Path) -> None:
    require_long("a dozen processes with torch")
    pytest.importorskip("torch")
    options = ("--size", "8M", "--cap", "512M", "--warm-size", "4M", "--rounds", "1")
    options += ("--seconds", "1", "--row-bytes", "512")
    results = run_benchmark("bench_gather", tmp_path, *options)
    results["skipped"] = [skip for skip in results["skipped"] if skip["what"] == "cold rows"]
    require_capped(results)
    assert len(passed_checks(results)) >= 6 + 5 + 3 - 2
    titles = [title for title in results["tables"] if "rows of" in title]
    assert [title[:4] for title in titles] == ["cold", "warm"]
    for title in titles:
        assert all(is_spread(row["rows/s"]) for row in results["tables"][title])


def test_too_small_a_disk_is_said_at_once(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.cases.bench_verify", "--size", "1000T"]
    command += ["--folder", str(tmp_path)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "GiB free" in run.stderr
    assert "--folder" in run.stderr
