"""Training functions of `tests/python/ray`: what workers of Ray run, and some of them die."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import torch
from ranks_program import begin, data_parallel

import graphmount as gm
import graphmount.ray
import graphmount.torch
from graphmount.torch.ranks import checkpoint_file

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
        model = data_parallel(model, ranks)
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


def without_ray(rank, world_size, port, folder, num_steps, out):  # noqa: PLR0917
    """The same training in processes as torchrun starts them; writes the losses down."""
    begin(rank, world_size, port)
    with gm.torch.RankGroup(timeout=60) as ranks:
        losses = plain_losses(ranks, folder, num_steps)
    if rank == 0:
        Path(out).write_text(json.dumps(losses))


def plain_losses(ranks, folder, num_steps):
    """The losses of all steps, without checkpoints."""
    objects = make_objects(ranks, folder)
    losses = []
    while True:
        for batch in objects["loader"]:
            losses.append(step(batch, **objects))
            if len(losses) == num_steps:
                return losses


def die_in_the_middle(parts, file):
    """Writes a part of a checkpoint, and is killed."""
    del parts
    file.write(b"PK" * 1000)
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)


def train(config):
    """Trains from the last checkpoint on, whatever happened before."""
    with gm.ray.RankGroup() as ranks:
        return train_with(ranks, **config)


def begin_with(ranks, least):
    """What nobody has seen yet; with fewer ranks it waits until Ray ends this process."""
    if ranks.world_size < least:
        time.sleep(300)
    return {"losses": [], "seen": [], "worlds": []}


def train_with(ranks, *, folder, num_steps, every=2, deaths=(), pauses=(), least=1, scratch=None):
    """This worker's part: the losses of all steps, the inputs that were seen, and by how many.

    Args:
        ranks: The group.
        folder: Of the dataset.
        num_steps: Until when to train.
        every: Steps between checkpoints.
        deaths: (rank, step, moment): that rank kills itself, once.
        pauses: Steps before which rank 0 waits until it is killed, once.
        least: With fewer workers it does not begin: Ray has not seen all nodes yet, and starts it
            again when it has.
        scratch: Where it is noted what has happened.
    """
    objects = make_objects(ranks, folder)

    def is_first(*event):
        done = Path(scratch, "-".join(map(str, event)))
        is_new = not done.exists()
        done.touch()
        return is_new

    def maybe_die(number, moment):
        if (ranks.rank, number, moment) in deaths and is_first(ranks.rank, number, moment):
            if moment != "saving":
                os.kill(os.getpid(), signal.SIGKILL)
            checkpoint_file.write_parts = die_in_the_middle

    found = gm.ray.load_checkpoint(**objects) or begin_with(ranks, least)
    found["worlds"].append(ranks.world_size)
    losses = found["losses"]
    while len(losses) < num_steps:
        for batch in objects["loader"]:
            number = len(losses)
            maybe_die(number, "before")
            if ranks.rank == 0 and number in pauses and is_first("pause", number):
                time.sleep(300)
            losses.append(step(batch, **objects))
            maybe_die(number, "after")
            new = batch.input_ids[: len(batch.input_ids) - batch.num_repeated].tolist()
            found["seen"] += [place for part in ranks.gather(new) for place in part]
            maybe_die(number, "saving")
            if len(losses) % every == 0 or len(losses) == num_steps:
                gm.ray.save_checkpoint({"loss": losses[-1]}, **objects, extra=found)
            maybe_die(number, "saved")
            if len(losses) == num_steps:
                break
    found["shared"] = ranks.gather(objects["loader"].stats().tables["x"].shared_bytes)
    found["state"] = [
        value.tolist()
        for each in objects["optimizer"].state_dict()["state"].values()
        for value in each.values()
    ]
    return found
