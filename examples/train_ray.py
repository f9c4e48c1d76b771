"""Trains GraphSAGE under Ray Train, on one machine or a cluster, and goes on after a crash.

    python examples/train_ray.py build/ray
    python examples/train_ray.py /shared/ray --workers 4 --least 2 --address auto

It is `train_ddp.py` with another group of ranks and other checkpoints, which are in Ray's storage.
A worker or a machine that dies is replaced, and training goes on from the last checkpoint. With
`--least`, Ray takes as many workers as there are machines for, between the two numbers. The global
batch stays the same, so the batches do too.

The folder must be one that all machines see. Ray's ports are for networks that you trust.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import ray
import torch
from ray.train import CheckpointConfig, FailureConfig, RunConfig, ScalingConfig
from ray.train.torch import TorchTrainer
from torch.nn.parallel import DistributedDataParallel

import graphmount as gm
import graphmount.ray
from communities import Communities
from sage import Sage, accuracy
from train_ddp import make_loader, mean, mount
from train_torch import step


def train(config: dict[str, Any]) -> None:
    """A worker: what Ray calls."""
    with gm.ray.RankGroup() as ranks:
        train_part(ranks, argparse.Namespace(**config))


def train_part(ranks: gm.ray.RankGroup, options: argparse.Namespace) -> None:
    """This worker's part of the training."""
    shape = Communities(num_nodes=options.nodes)
    dataset = mount(options.folder, shape, ranks)
    torch.manual_seed(options.seed)
    model: torch.nn.Module = Sage([shape.num_columns, 64, shape.num_communities])
    if ranks.world_size > 1:
        model = DistributedDataParallel(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    loader = make_loader(dataset, "train", ranks, options)
    gm.ray.load_checkpoint(model=model, optimizer=optimizer, loader=loader, ranks=ranks)
    while loader.state_dict()["epoch"] < options.epochs:
        for batch in loader:
            loss = mean(ranks.gather(step(model, optimizer, batch)))
            if (batch.number + 1) % options.every == 0:
                gm.ray.save_checkpoint(
                    {"loss": loss}, model=model, optimizer=optimizer, loader=loader, ranks=ranks
                )
    inner = model.module if isinstance(model, DistributedDataParallel) else model
    score = mean(ranks.gather(accuracy(inner, make_loader(dataset, "test", ranks, options))))
    gm.ray.save_checkpoint(
        {"accuracy": score}, model=model, optimizer=optimizer, loader=loader, ranks=ranks
    )


def main() -> None:
    """Reads the command line and trains."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="where to put dataset/ and what Ray keeps")
    parser.add_argument("--workers", type=int, default=2, help="how many processes train")
    parser.add_argument("--least", type=int, help="go on with so many, if there are no more")
    parser.add_argument("--address", help="of a cluster; else one is started here")
    parser.add_argument("--failures", type=int, default=3, help="how often to start again")
    parser.add_argument("--nodes", type=int, default=5_001, help="how many nodes the graph has")
    parser.add_argument("--epochs", type=int, default=5, help="how long to train")
    parser.add_argument("--global-batch", type=int, default=120, help="seeds of all processes")
    parser.add_argument("--every", type=int, default=5, help="batches between checkpoints")
    parser.add_argument("--memory", default="64MiB", help="for caches, of all processes")
    parser.add_argument("--seed", type=int, default=1, help="of all randomness")
    options = parser.parse_args()
    options.folder = options.folder.absolute()
    if options.address is None:
        ray.init(num_cpus=options.workers, include_dashboard=False)
    else:
        ray.init(address=options.address)
    workers = options.workers if options.least is None else (options.least, options.workers)
    result = TorchTrainer(
        train,
        train_loop_config=vars(options),
        scaling_config=ScalingConfig(num_workers=workers),
        run_config=RunConfig(
            name="train_ray",
            storage_path=str(options.folder / "runs"),
            failure_config=FailureConfig(max_failures=options.failures),
            checkpoint_config=CheckpointConfig(num_to_keep=2),
        ),
    ).fit()
    print(f"accuracy {result.metrics['accuracy']:.3f}, checkpoint {result.checkpoint.path}")


if __name__ == "__main__":
    main()
