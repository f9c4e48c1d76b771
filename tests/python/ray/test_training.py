"""Ray Train: workers that die go on from the last checkpoint, and no loss changes."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("ray", reason="Ray is not installed")
import ray_program  # noqa: E402

import graphmount as gm  # noqa: E402
import graphmount.ray  # noqa: E402
import graphmount.torch  # noqa: E402

# Those of Ray are its own.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def fit(cluster, ray_data, tmp_path):
    """Runs a training function; the result, and its losses."""
    from ray.train import CheckpointConfig, FailureConfig, RunConfig, ScalingConfig
    from ray.train.torch import TorchTrainer

    assert cluster is not None

    def fit(function=ray_program.train, *, name, num_workers=2, failures=0, keep=2, **config):
        scratch = tmp_path / f"{name}-scratch"
        scratch.mkdir()
        scaling = {"resources_per_worker": {"CPU": 1}, "elastic_resize_monitor_interval_s": 1}
        return TorchTrainer(
            function,
            train_loop_config={"folder": ray_data, "scratch": str(scratch), **config},
            scaling_config=ScalingConfig(num_workers=num_workers, **scaling),
            run_config=RunConfig(
                name=name,
                storage_path=str(tmp_path / "storage"),
                failure_config=FailureConfig(max_failures=failures),
                checkpoint_config=CheckpointConfig(num_to_keep=keep),
            ),
        ).fit()

    return fit


def kept(result):
    """What is in the storage of a run, besides files of Ray itself."""
    return sorted(name for name in os.listdir(result.path) if name.startswith("checkpoint_0"))


def test_a_worker_that_is_killed_changes_no_loss(fit, ray_data, tmp_path):
    runs = {"whole": [], "killed": [(0, 5, "after"), (1, 7, "saved")]}

    def run(name):
        return fit(name=name, num_steps=10, deaths=runs[name], failures=len(runs[name]))

    with ThreadPoolExecutor() as pool:
        whole, killed = pool.map(run, runs)
    assert len(os.listdir(tmp_path / "killed-scratch")) == 2
    assert len(whole.return_value) == 10
    assert killed.return_value == whole.return_value
    assert killed.metrics["loss"] == killed.return_value[-1]
    # The two that are kept, and nothing of tries that were killed: neither there nor here.
    assert (
        kept(killed)
        == kept(whole)
        == ["checkpoint_000000_000000008", "checkpoint_000001_000000001"]
    )
    file = os.path.join(killed.checkpoint.path, "graphmount.pt")
    assert os.listdir(killed.checkpoint.path) == ["graphmount.pt"]
    # It is the same file as that of torchrun, and goes on with another number of ranks.
    alone = ray_program.make_objects(gm.torch.RankGroup(), ray_data)
    assert gm.torch.load_checkpoint(file, **alone)["losses"] == killed.return_value
    assert alone["loader"].state_dict()["batch"] == 1
