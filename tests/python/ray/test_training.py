"""Ray Train: workers and nodes that die change no loss, and their number may change in an epoch."""

from __future__ import annotations

import json
import os
import random
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from run_mode import IS_LONG

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("ray", reason="Ray is not installed")
import left_behind  # noqa: E402
import ray_program  # noqa: E402
from rank_processes import end, start  # noqa: E402

import graphmount as gm  # noqa: E402
import graphmount.torch  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # those of Ray are its own
long = pytest.mark.skipif(not IS_LONG, reason="takes minutes: with GRAPHMOUNT_LONG")


@pytest.fixture
def fit(cluster, ray_data, tmp_path):
    """Runs a training function; the result, and its losses."""
    from ray.train import CheckpointConfig, FailureConfig, RunConfig, ScalingConfig
    from ray.train.torch import TorchTrainer

    assert cluster is not None

    def fit(name, *, num_workers=2, failures=0, resources=None, **config):
        scratch = tmp_path / f"{name}-scratch"
        scratch.mkdir()
        return TorchTrainer(
            ray_program.train,
            train_loop_config={"folder": ray_data, "scratch": str(scratch), **config},
            scaling_config=ScalingConfig(
                num_workers=num_workers,
                resources_per_worker=resources or {"CPU": 1},
                placement_strategy="SPREAD",
                elastic_resize_monitor_interval_s=1,
            ),
            run_config=RunConfig(
                name=name,
                storage_path=str(tmp_path / "storage"),
                failure_config=FailureConfig(max_failures=failures),
                checkpoint_config=CheckpointConfig(num_to_keep=2),
            ),
        ).fit()

    return fit


def kept(result):
    """What is in the storage of a run, besides files of Ray itself."""
    return sorted(name for name in os.listdir(result.path) if name.startswith("checkpoint_0"))


def require_nothing_left(result):
    """Raises if there is more than the checkpoints that are kept: files, sockets or memory."""
    for name in kept(result):
        assert os.listdir(os.path.join(result.path, name)) == ["graphmount.pt"]
    assert left_behind.files(result.path) == []
    # The workers of the run end after it.
    until = time.monotonic() + 30
    while found := left_behind.held():
        assert time.monotonic() < until, found
        time.sleep(0.2)


def test_a_worker_that_is_killed_changes_no_loss(fit, ray_data, tmp_path):
    plain = start(ray_program.without_ray, 2, ray_data, 10, str(tmp_path / "losses.json"))
    # Before any checkpoint, and after one.
    deaths = [(0, 1, "after"), (1, 7, "saved")][0 if IS_LONG else 1 :]
    killed = fit("killed", num_steps=10, deaths=deaths, failures=len(deaths))
    assert end(plain) == ([0, 0], [])
    assert len(os.listdir(tmp_path / "killed-scratch")) == len(deaths)
    assert killed.return_value["losses"] == json.loads((tmp_path / "losses.json").read_text())
    assert killed.metrics["loss"] == killed.return_value["losses"][-1]
    # The two that are kept, and nothing of tries that were killed.
    names = ["checkpoint_000000_000000008", "checkpoint_000001_000000001"]
    assert kept(killed) == names
    require_nothing_left(killed)
    assert min(killed.return_value["shared"]) > 0  # so there were sockets and sealed memory
    # It is the same file as that of torchrun, and goes on with another number of ranks.
    file = os.path.join(killed.checkpoint.path, "graphmount.pt")
    alone = ray_program.make_objects(gm.torch.RankGroup(), ray_data)
    losses = gm.torch.load_checkpoint(file, **alone)["losses"]
    assert losses == killed.return_value["losses"]
    assert alone["loader"].state_dict()["batch"] == 1


def wait_for(path):
    until = time.monotonic() + 300
    while not path.exists():
        assert time.monotonic() < until, f"{path.name} did not come"
        time.sleep(0.1)


@long
def test_kills_of_workers_and_nodes_change_no_loss(fit, nodes, tmp_path):
    num_kills, num_steps = 20, 44
    draw = random.Random(5)
    moments = ["before", "after", "saved"]
    at = [2 * (kill + 1) for kill in range(num_kills)]
    of_nodes = at[1::5]  # every fifth is a node
    deaths = [
        (draw.randrange(3), step, draw.choice(moments)) for step in at if step not in of_nodes
    ]
    added = [nodes(), nodes()]
    resources = {"CPU": 1}
    whole = fit("whole", num_steps=num_steps, num_workers=3, resources=resources)
    with ThreadPoolExecutor() as pool:
        running = pool.submit(
            fit,
            "killed",
            num_steps=num_steps,
            num_workers=3,
            resources=resources,
            deaths=deaths,
            pauses=of_nodes,
            failures=-1,
        )
        for step in of_nodes:
            wait_for(tmp_path / "killed-scratch" / f"pause-{step}")
            nodes.kill(added.pop(0))
            added.append(nodes())
        killed = running.result()
    assert len(os.listdir(tmp_path / "killed-scratch")) == num_kills
    assert killed.return_value["losses"] == whole.return_value["losses"]
    assert killed.return_value["state"] == whole.return_value["state"]
    assert kept(killed) == kept(whole)
    require_nothing_left(killed)


@long
def test_fifty_kills_leave_nothing_behind(fit, tmp_path):
    num_kills = 50
    draw = random.Random(6)
    moments = ["before", "after", "saving", "saved"]
    deaths = [
        # Only the first worker writes.
        (0 if moment == "saving" else draw.randrange(2), step, moment)
        for step, moment in enumerate(draw.choices(moments, k=num_kills))
    ]
    killed = fit("fifty", num_steps=num_kills + 2, every=1, deaths=deaths, failures=num_kills)
    assert len(os.listdir(tmp_path / "fifty-scratch")) == num_kills
    assert killed.return_value["losses"][-1] == killed.metrics["loss"]
    assert min(killed.return_value["shared"]) > 0
    assert len(kept(killed)) == 2
    require_nothing_left(killed)


@long
def test_workers_come_and_go_in_an_epoch(fit, nodes, tmp_path):
    slot = {"resources": {"slot": 1}}
    added = [nodes(**slot) for _ in range(3)]
    with ThreadPoolExecutor() as pool:
        # 100 inputs in batches of 12: nine steps are an epoch.
        running = pool.submit(
            fit,
            "elastic",
            num_steps=9,
            every=1,
            num_workers=(1, 3),
            resources={"slot": 1},
            pauses=[3, 6],
            least=3,
            failures=-1,
        )
        wait_for(tmp_path / "elastic-scratch" / "pause-3")
        nodes.kill(added[0])
        wait_for(tmp_path / "elastic-scratch" / "pause-6")
        nodes(**slot)  # Ray ends the training by itself, and begins again with one more
        found = running.result().return_value
    assert found["worlds"] == [3, 2, 3]
    assert sorted(found["seen"]) == list(range(100))
