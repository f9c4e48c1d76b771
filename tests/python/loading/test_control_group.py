"""Caches that do not fit into a control group: an error, before the kernel ends the process."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from benchmarks.harness.memcap import UnavailableError, run_capped
from run_mode import IS_SANITIZED

import graphmount as gm

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="control groups are Linux's"),
    pytest.mark.skipif(IS_SANITIZED, reason="it limits memory"),
]
PROGRAM = Path(__file__).parents[1] / "support" / "hot_rows_rank.py"
TABLE = 128 << 20  # caches of less than half of it are not checked


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "data"
    count = 1 << 16
    gm.compile_dataset(
        path,
        edges=np.random.default_rng(0).integers(0, count, (2, count)),
        num_nodes=count,
        features={"x": np.ones((count, TABLE // count // 4), np.float32)},
        splits={"train": np.arange(0, count, 64)},
    )
    return str(path)


@pytest.mark.parametrize("limit", ["enough", "too little"])
@pytest.mark.parametrize("processes", [1, 2])
def test_the_limit_of_a_real_group(folder, monkeypatch, capfd, limit, processes):
    monkeypatch.setenv("LOCAL_WORLD_SIZE", str(processes))
    monkeypatch.setenv("MASTER_PORT", f"of {folder} {limit} {processes}")
    command = [sys.executable, str(PROGRAM), folder, "0", "256MiB"]
    size = 4 * TABLE if limit == "enough" else TABLE
    try:
        found = run_capped(command, size, warm=True, keep_stdout=True)
    except UnavailableError as error:
        pytest.skip(str(error))
    errors = capfd.readouterr().err
    assert not found.oom_kills
    if limit == "enough":
        assert found.status == 0, errors
        assert json.loads(found.stdout)["shared"] == (TABLE if processes == 2 else 0)
    else:
        assert found.status == 1
        assert "graphmount.errors.BudgetError: memory=256.0 MiB" in errors
        assert "are free in the control group" in errors
