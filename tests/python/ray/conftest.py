"""One small cluster of Ray for all tests of a session: on loopback, quiet, and gone at the end."""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
import signal
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from run_mode import IS_SANITIZED

import graphmount as gm

SUPPORT = Path(__file__).parents[1] / "support"
# Before ray is imported.
os.environ |= {
    "RAY_AUTH_MODE": "disabled",  # else a file is made in the home of whoever runs this
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_TRAIN_HEALTH_CHECK_INTERVAL_S": "0.2",
    "RAY_worker_niceness": "0",
    "RAY_DEDUP_LOGS": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
#: What processes of Ray get: they find what tests share.
OF_WORKERS = {"PYTHONPATH": str(SUPPORT), "PYTHONWARNINGS": "ignore"}
#: Of each node: more processors than there are, and little memory.
NODE = {
    "num_cpus": 4,
    "object_store_memory": 80 << 20,
    "node_ip_address": "127.0.0.2",  # Ray takes 127.0.0.1 for what others reach, too
    "include_dashboard": False,
}


@pytest.fixture(scope="session")
def cluster():
    """A cluster of one node, to which this process is connected; tests may add nodes."""
    if IS_SANITIZED:
        pytest.skip("new interpreters take too long")
    pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("ray", reason="Ray is not installed")
    with pytest.MonkeyPatch.context() as patch, contextlib.ExitStack() as stack:
        for name, value in OF_WORKERS.items():
            patch.setenv(name, value)
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")  # those of Ray are its own
        # Sockets of Ray are in it, whose names must be short.
        folder = tempfile.mkdtemp(prefix="gm", dir="/tmp")
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        # Else Ray notes the address of this cluster in a folder of the whole machine, for programs
        # that look for a cluster, and fails where there is no such folder yet.
        patch.setenv("RAY_TMPDIR", folder)
        os.mkdir(os.path.join(folder, "ray"))
        import ray
        from ray.cluster_utils import Cluster

        made = Cluster(initialize_head=True, head_node_args={**NODE, "temp_dir": folder})
        stack.callback(made.shutdown)
        quiet = {"log_to_driver": False, "logging_level": "ERROR"}
        ray.init(address=made.address, _node_ip_address=NODE["node_ip_address"], **quiet)
        stack.callback(ray.shutdown)
        stack.callback(gc.collect)  # what is deleted later would ask a cluster that is gone
        # Ray prints a stack on it, also in processes that other tests fork.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        yield made


@pytest.fixture
def nodes(cluster):
    """Adds nodes, and removes those that are still there in the end."""
    made = []

    def add(**options):
        made.append(cluster.add_node(**{**NODE, **options}))
        return made[-1]

    add.kill = lambda node: cluster.remove_node(node, allow_graceful=False)
    yield add
    for node in made:
        if node in cluster.worker_nodes:
            cluster.remove_node(node)


@pytest.fixture(scope="session")
def ray_data(tmp_path_factory):
    """A small dataset to train on."""
    path = tmp_path_factory.mktemp("ray-data") / "data"
    generator = np.random.default_rng(0)
    gm.compile_dataset(
        path,
        edges=generator.integers(0, 100, (2, 600)),
        num_nodes=100,
        features={"x": generator.random((100, 4), np.float32)},
        labels=np.arange(100) % 3,
    )
    return str(path)
