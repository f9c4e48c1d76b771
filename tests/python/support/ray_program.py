"""Training functions of `tests/python/ray`: what workers of Ray run, and some of them die."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import torch

import graphmount as gm
import graphmount.ray
import graphmount.torch

GLOBAL = 12


def make_objects(ranks, folder, **options):
    """What a checkpoint is made of."""
    torch.set_num_threads(1)
    torch.manual_seed(1 + ranks.rank)
    loader = gm.torch.NeighborLoader(
        gm.Dataset(folder),
        [3, 2],
        shuffle=True,
        memory="4MiB",
        **{"seed": 3, "batch_size": ranks.batch_size(GLOBAL)} | options,
    )
    layers = [torch.nn.Linear(4, 8), torch.nn.Dropout(), torch.nn.Linear(8, 3)]
    model = torch.nn.Sequential(*layers)
    if ranks.world_size > 1:
        model = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    return {"model": model, "optimizer": optimizer, "loader": loader, "ranks": ranks}


def step(batch, model, optimizer, ranks, **_):
    """A step; the loss of all ranks."""
    result = model(batch.x)[: batch.num_seeds]
    loss = torch.nn.functional.cross_entropy(result, batch.labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return sum(ranks.gather(loss.item())) / ranks.world_size


def train(config):
    """Trains from the last checkpoint on; `deaths` has (rank, step, moment), each for one try."""
    with gm.ray.RankGroup() as ranks:
        return train_with(ranks, **config)


def train_with(ranks, *, folder, num_steps, every=2, deaths=(), scratch=None):
    """This worker's part; returns the losses of all steps, and what was seen on the way."""
    objects = make_objects(ranks, folder)

    def maybe_die(number, moment):
        for death in deaths:
            done = Path(scratch, "-".join(map(str, death)))  # each comes once
            if death == (ranks.rank, number, moment) and not done.exists():
                done.touch()
                os.kill(os.getpid(), signal.SIGKILL)

    saved = gm.ray.load_checkpoint(**objects)
    losses = [] if saved is None else saved["losses"]
    while len(losses) < num_steps:
        for batch in objects["loader"]:
            number = len(losses)
            maybe_die(number, "before")
            losses.append(step(batch, **objects))
            maybe_die(number, "after")
            if len(losses) % every == 0 or len(losses) == num_steps:
                gm.ray.save_checkpoint(
                    {"loss": losses[-1], "world_size": ranks.world_size},
                    **objects,
                    extra={"losses": losses},
                )
            maybe_die(number, "saved")
            if len(losses) == num_steps:
                break
    return losses
