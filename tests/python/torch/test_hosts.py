"""Three machines, which are network namespaces: the same batches, and a cut link holds nobody."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hosts import LINK, make_hosts
from run_mode import IS_LONG, IS_SANITIZED

torch = pytest.importorskip("torch", reason="torch is not installed")
if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
    pytest.skip("torch has no gloo here", allow_module_level=True)
import hosts_program  # noqa: E402
from rank_processes import end, start  # noqa: E402

import graphmount as gm  # noqa: E402
import graphmount.torch  # noqa: E402

pytestmark = pytest.mark.skipif(IS_SANITIZED, reason="new interpreters take too long")

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture
def hosts():
    made = make_hosts(3)
    if made is None:
        pytest.skip("making network namespaces needs root, `ip`, and a system that allows it")
    yield made
    made.remove()


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("hosts-data") / "data"
    make_data(path, 1.0)
    return path


def make_data(path, last):
    generator = np.random.default_rng(0)
    x = generator.random((100, 4), np.float32)
    x[-1, -1] = last
    gm.compile_dataset(
        path,
        edges=generator.integers(0, 100, (2, 600)),
        num_nodes=100,
        features={"x": x},
        labels=np.arange(100) % 3,
        order="given",
    )


def results(processes, folder):
    _, stuck = end(processes)
    assert not stuck
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(len(processes))]


def test_three_machines_take_the_same_batches_as_one(hosts, data, tmp_path):
    # Each has a copy of the folder, as on a disk of its own; one machine has all ranks' batches.
    processes = start(
        hosts_program.on_host, 3, hosts, hosts_program.epoch, str(tmp_path), str(data)
    )
    found = [each["result"] for each in results(processes, tmp_path)]
    alone = hosts_program.make_loader(gm.torch.RankGroup(), data)
    wanted = [set(batch.input_ids.tolist()) for batch in alone]
    together = [
        set().union(*parts) for parts in zip(*(each["seen"] for each in found), strict=True)
    ]
    assert together[:-1] == wanted[:-1]
    assert together[-1] >= wanted[-1]  # which is filled with inputs that come a second time
    assert found[0]["parameters"] == found[1]["parameters"] == found[2]["parameters"]


@pytest.mark.skipif(not IS_LONG, reason="waits for time limits: with GRAPHMOUNT_LONG")
@pytest.mark.parametrize("who", [2, 0])
def test_a_link_that_is_cut_ends_all_ranks(hosts, tmp_path, who):
    processes = start(hosts_program.on_host, 3, hosts, hosts_program.without_end, str(tmp_path))
    until = time.monotonic() + 40
    while not (tmp_path / "begun").exists() and time.monotonic() < until:
        time.sleep(0.05)
    hosts.cut(who)
    begin = time.monotonic()
    found = results(processes, tmp_path)
    assert time.monotonic() - begin < 45
    assert [each.get("kind") for each in found] == ["RankError"] * 3, found
    for rank, each in enumerate(found):
        if rank != who:
            assert each["rank"] == who, each
    if who == 2:
        assert "on machine2) gives no sign of life" in found[0]["text"]


def test_a_machine_with_other_data_is_named(hosts, data, tmp_path):
    other, copy = tmp_path / "other", tmp_path / "copy"
    make_data(other, 2.0)
    shutil.copytree(data, copy)
    folders = [str(data), str(copy), str(other)]
    processes = start(
        hosts_program.on_host, 3, hosts, hosts_program.same_data, str(tmp_path), folders
    )
    for each in results(processes, tmp_path):
        assert each["kind"] == "DatasetChangedError", each
        assert (
            "rank 2 (on machine2) and rank 0 (on machine0) have different versions" in each["text"]
        )
        assert "features 'x' is" in each["text"]


@pytest.mark.skipif(not IS_LONG, reason="starts six interpreters: with GRAPHMOUNT_LONG")
def test_torchrun_on_three_machines(hosts, tmp_path):
    environment = os.environ | {"GLOO_SOCKET_IFNAME": LINK, "OMP_NUM_THREADS": "1"}
    where = ["--master-addr", hosts.addresses[0], "--master-port", "29500"]
    script = [str(EXAMPLES / "train_ddp.py"), str(tmp_path), "--global-batch", "120"]
    processes = []
    for number, name in enumerate(hosts.names):
        run = [sys.executable, "-m", "torch.distributed.run", "--nnodes=3", f"--node-rank={number}"]
        command = ["ip", "netns", "exec", name, *run, *where, *script, "--epochs", "2"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        processes.append(subprocess.Popen(command, env=environment, **pipes))
    texts = [process.communicate(timeout=300)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], texts
    assert "3 ranks, accuracy" in texts[0]
    assert "largest difference of parameters between ranks: 0.0\n" in texts[0]


def test_nothing_of_the_machines_is_left():
    assert not [name for name in os.listdir("/run/netns") if name.startswith(f"gm{os.getpid()}")]
