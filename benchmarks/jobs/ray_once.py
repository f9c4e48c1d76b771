"""The training of `rank_once` under Ray Train: prints what its ranks found, as JSON.

A cluster of Ray is started for it, on this machine, and ended.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from typing import Any

import ray
from ray.train import RunConfig, ScalingConfig
from ray.train.torch import TorchTrainer

import graphmount as gm
import graphmount.ray

from .rank_once import as_options, train


def work(config: dict[str, Any]) -> dict[str, Any]:
    """What a worker does."""
    with gm.ray.RankGroup() as ranks:
        return train(ranks, argparse.Namespace(**config))


def main() -> int:
    options = as_options()
    num_ranks = int(os.environ["WORLD_SIZE"])
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
    ray.init(
        num_cpus=num_ranks,
        include_dashboard=False,
        object_store_memory=80 << 20,
        log_to_driver=False,
        logging_level="ERROR",
    )
    with tempfile.TemporaryDirectory() as folder:
        result = TorchTrainer(
            work,
            train_loop_config=vars(options),
            scaling_config=ScalingConfig(num_workers=num_ranks),
            run_config=RunConfig(storage_path=folder, name="bench"),
        ).fit()
    ray.shutdown()
    sys.stdout.write(json.dumps(result.return_value))
    return 0


if __name__ == "__main__":
    sys.exit(main())
