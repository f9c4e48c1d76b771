"""Accuracy through graphmount is that of PyG in memory, within noise, over five seeds."""

from __future__ import annotations

import importlib.util
import json
import math
import statistics
import subprocess
import sys
from pathlib import Path

import pytest
from run_mode import IS_LONG, IS_SANITIZED

ROOT = Path(__file__).parents[3]
SEEDS = 5

pytestmark = [
    pytest.mark.skipif(not (ROOT / "benchmarks").exists(), reason="no benchmarks (not a clone)"),
    pytest.mark.skipif(sys.platform != "linux", reason="the benchmarks ask /proc"),
    pytest.mark.skipif(IS_SANITIZED, reason="takes too long under a sanitizer"),
    pytest.mark.skipif(not IS_LONG, reason="for long campaigns (make test-all): many trainings"),
]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """What the short version of the benchmark says."""
    for package in ("torch", "torch_geometric", "networkx"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    folder = tmp_path_factory.mktemp("accuracy")
    out = folder / "results.json"
    command = [
        sys.executable,
        "-m",
        "benchmarks.cases.bench_accuracy",
        "--quick",
        "--json",
        str(out),
    ]
    run = subprocess.run(
        [*command, "--folder", str(folder)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert out.exists(), run.stdout + run.stderr
    return json.loads(out.read_text())


def scores_of(results, graph):
    """The accuracies of each way on a graph, by seed, and how many nodes were tested."""
    (title,) = (title for title in results["tables"] if title.startswith(graph))
    num_tested = int(title.split(", ")[-1].split()[0].replace(",", ""))
    scores = {
        row["way"]: [row[f"seed {seed}"] for seed in range(SEEDS)]
        for row in results["tables"][title]
    }
    return scores, num_tested


@pytest.mark.parametrize("graph", ["planted communities", "planted topics", "karate club"])
def test_accuracies_are_the_same(results, graph):
    """The bound is four standard errors of the difference of two means."""
    scores, num_tested = scores_of(results, graph)
    ours, theirs = scores["graphmount"], scores["PyG in memory"]
    mean = statistics.mean(ours + theirs)
    # What a share of so many nodes varies by at least, and what it did vary by.
    least = mean * (1 - mean) / num_tested
    error = math.sqrt(
        sum(max(least, statistics.variance(found)) for found in (ours, theirs)) / SEEDS
    )
    assert 4 * error < 0.2, "the runs vary too much to tell anything"
    assert abs(statistics.mean(ours) - statistics.mean(theirs)) <= 4 * error
    # And the comparison means something: without edges, the same model does worse than that.
    blind = scores["without the graph"]
    assert statistics.mean(ours) - statistics.mean(blind) > 4 * error


def test_the_benchmark_agrees(results):
    checks = {check["what"]: check["passed"] for check in results["checks"]}
    assert len(checks) == 9
    assert all(checks.values()), checks
