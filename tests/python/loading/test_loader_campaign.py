"""Thousands of batches by several threads, with early exits, restarts, and every kind of fault."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest
from run_mode import IS_SANITIZED, SUPPORT


def test_campaign(any_folder, tmp_path, campaign):
    compiler = shutil.which("cc")
    if sys.platform != "linux" or compiler is None:
        pytest.skip("needs Linux, and a C compiler for reads that fail")
    if IS_SANITIZED:
        pytest.skip("sanitizers must be loaded first, and keep freed memory")
    library = tmp_path / "failing_reads.so"
    source = SUPPORT / "failing_reads.c"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", source, "-o", library], check=True)
    shutil.copytree(any_folder, tmp_path / "data")
    num_batches = campaign(1500, 10_000)
    result = subprocess.run(
        [sys.executable, SUPPORT / "loader_campaign.py", tmp_path / "data", str(num_batches), "3"],
        capture_output=True,
        text=True,
        # With one arena, what the allocator keeps does not depend on which thread freed it.
        env=os.environ | {"LD_PRELOAD": str(library), "MALLOC_ARENA_MAX": "1"},
        timeout=600,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    assert report["failures"] == []
    counts = report["counts"]
    assert counts["batches"] >= num_batches
    happened = ("early exits", "resumed", "waits", "failed reads", "whole epochs")
    for what in (*happened, "truncated: FileChangedError"):
        assert counts[what] > 0, counts
    # Memory is flat, and nothing is left open.
    memory = report["memory"]
    assert memory[-1] < max(memory[:3]) + (24 << 20), memory
    assert report["files"] < 40
    assert report["threads"] < 40
