"""A peer that is not installed is skipped, with a word on how to get it; the benchmark goes on."""

import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from run_mode import IS_LONG, IS_SANITIZED, MEMCAP

ROOT = Path(__file__).parents[3]

pytestmark = [
    pytest.mark.skipif(IS_SANITIZED, reason="sanitizers need memory of their own"),
    pytest.mark.skipif(sys.platform != "linux", reason="the benchmarks ask /proc"),
    pytest.mark.skipif(not MEMCAP.exists(), reason="no benchmarks here (not a clone)"),
]

#: What `bench_mount` opens without torch.
OPENED = [
    "Graph(path)",
    "FeatureStore(path)",
    "FeatureStore(path).numpy()",
    "numpy.load(mmap_mode='r')",
]
#: Runs a benchmark where some packages are missing, as far as it can tell.
WITHOUT = """
import runpy, sys
hidden, module, *arguments = sys.argv[1:]
for name in hidden.split(","):
    sys.modules[name] = None
sys.argv = [module, *arguments]
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""


def run_without(hidden, name, tmp_path, *options):
    """The results of a benchmark, and the reasons why it skipped things."""
    out = tmp_path / "results.json"
    command = [sys.executable, "-c", WITHOUT, hidden, f"benchmarks.cases.{name}", "--quick"]
    command += ["--json", str(out), "--folder", str(tmp_path), *options]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    results = json.loads(out.read_text())
    assert all(check["passed"] for check in results["checks"] if check["kind"] == "check")
    return results, {skip["what"]: skip["why"] for skip in results["skipped"]}


def ways_of(results):
    return [[next(iter(row.values())) for row in table] for table in results["tables"].values()]


def test_no_benchmark_needs_a_peer():
    from graphmount.benchmarks import catalog

    needed = {name for entry in catalog.entries_of(["all"]) for name in entry.needs}
    # What models are made of and trained by, what streams edges, a cluster, and what measures it:
    # graphmount's side uses them.
    assert needed == {"torch", "torch_geometric", "pyarrow", "ray", "psutil"}


def test_compile_text_without_any_peer(tmp_path):
    hidden = "polars,duckdb,graphzero"
    options = ("--edges", "20000", "--rounds", "1")
    results, skipped = run_without(hidden, "bench_compile_text", tmp_path, *options)
    assert ways_of(results) == [["graphmount.compile_graph"]]
    assert skipped == {
        "graphzero.convert_csv_to_gl": "graphzero is not installed; pip install graphzero==0.2.*",
        "polars.read_csv": "polars is not installed; pip install polars",
        "duckdb read_csv": "duckdb is not installed; pip install duckdb",
    }


def test_compile_features_without_polars(tmp_path):
    options = ("--size", "2M", "--text-rows", "300", "--rounds", "1")
    results, _ = run_without("polars,graphzero", "bench_compile_features", tmp_path, *options)
    copying, parsing = ways_of(results)
    assert copying == ["graphmount.compile_features", "cp + fsync"]
    assert parsing == ["graphmount.compile_features"]


def test_walk_without_polars(tmp_path):
    options = ("--nodes", "1024", "--edges", "20000", "--walks", "500", "--slow-walks", "50")
    results, skipped = run_without(
        "polars,graphzero", "bench_walk", tmp_path, *options, "--rounds", "1"
    )
    assert [[way.split(",")[0] for way in ways] for ways in ways_of(results)[:3]] == [
        ["graphmount"]
    ] * 3
    assert "pip install graphzero" in skipped["graphzero's walks"]


def test_negatives_without_pyg(tmp_path):
    options = ("--edges", "20000", "--rounds", "1")
    results, skipped = run_without("torch_geometric", "bench_negatives", tmp_path, *options)
    ours = ["the mounted file", "the mounted file, by degree"]
    assert ways_of(results) == [["the mounted file", "np.searchsorted"], ours, ours[:1]]
    assert skipped == {
        "PyG's negatives": "torch_geometric is not installed; pip install torch_geometric"
    }


def test_ways_without_torch(monkeypatch, tmp_path):
    from graphmount.benchmarks.cases import bench_gather, bench_mount

    monkeypatch.setitem(sys.modules, "torch", None)
    for kind in ("gd", "gl", "npy"):
        (tmp_path / f"small.{kind}").touch()
    assert list(bench_mount._ways_to_open(str(tmp_path), "small")) == OPENED
    warm = [way[0] for way in bench_gather.ways_here(bench_gather.WARM_WAYS)]
    assert warm == ["gather(reader='auto')", "gather(reader='auto', out=)", "numpy.take"]


@pytest.mark.skipif(not IS_LONG, reason="for long campaigns (make test-all): many processes")
def test_mount_without_torch(tmp_path):
    options = ("--small", "256K", "--large", "4M", "--cap", "256M", "--rounds", "2")
    results, skipped = run_without("torch", "bench_mount", tmp_path, *options)
    assert ways_of(results)[0] == OPENED
    assert skipped["tensors"] == "torch is not installed; pip install torch"


@pytest.mark.skipif(not IS_LONG, reason="for long campaigns (make test-all): many processes")
def test_gather_without_torch(tmp_path):
    options = ("--size", "4M", "--cap", "512M", "--warm-size", "4M", "--rounds", "1")
    options += ("--seconds", "1", "--row-bytes", "512")
    results, skipped = run_without("torch", "bench_gather", tmp_path, *options)
    warm = ways_of(results)[-1]
    assert warm == ["gather(reader='auto')", "gather(reader='auto', out=)", "numpy.take"]
    assert skipped["torch's gathers"] == "torch is not installed; pip install torch"


@pytest.mark.skipif(not IS_LONG, reason="for long campaigns (make test-all): many processes")
def test_loader_without_torch(tmp_path):
    options = ("--scale", "12", "--rounds", "1", "--family", "R-MAT")
    results, skipped = run_without("torch", "bench_loader", tmp_path, *options)
    assert skipped["R-MAT, mapped tensor"] == "torch is not installed; pip install torch"
    if "R-MAT" in skipped:
        pytest.skip(skipped["R-MAT"])
    assert [way for way in ways_of(results)[0] if not way.startswith("loader, ")] == []


def test_loader_peers_without_any_peer(tmp_path):
    hidden = "torch,torch_geometric,dgl,pyg_lib"
    options = ("--scale", "12", "--rounds", "1")
    results, skipped = run_without(hidden, "bench_loader_peers", tmp_path, *options)
    assert {"R-MAT, pyg", "R-MAT, pyg-lib", "R-MAT, mapped tensor"} <= skipped.keys()
    if "R-MAT" in skipped:
        pytest.skip(skipped["R-MAT"])
    assert ways_of(results)[0][-1] == "loader, 10 %"


def test_text_is_the_same_without_polars(monkeypatch):
    pytest.importorskip("polars")
    from graphmount.benchmarks.data.text_writer import write_lines

    generator = np.random.default_rng(0)
    ids = generator.integers(0, 1 << 40, 1000)
    values = generator.standard_normal(1000, np.float32) * 10.0 ** generator.integers(-20, 20, 1000)
    values = values.astype(np.float32)
    texts = []
    for is_here in (True, False):
        if not is_here:
            monkeypatch.setitem(sys.modules, "polars", None)
        file = io.BytesIO()
        write_lines(file, [ids, values])
        texts.append(file.getvalue())
    for text in texts:
        rows = [line.split(",") for line in text.decode().splitlines()]
        assert np.array_equal([int(row[0]) for row in rows], ids)
        assert np.array_equal(np.array([row[1] for row in rows], np.float32), values)
    file = io.BytesIO()
    write_lines(file, [ids, ids])
    assert file.getvalue() == "".join(f"{one},{one}\n" for one in ids.tolist()).encode()
