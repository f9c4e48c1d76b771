"""Processes of `test_ranks`: they train together, and some of them die."""

from __future__ import annotations

import gc
import json
import os
import signal
import time
from pathlib import Path

import torch

import graphmount as gm
import graphmount.torch
from graphmount.torch.ranks import meeting

GLOBAL = 12


def begin(rank, world_size, port):
    """As torchrun starts a process."""
    torch.set_num_threads(1)
    os.environ |= {
        "RANK": str(rank),
        "WORLD_SIZE": str(world_size),
        "LOCAL_WORLD_SIZE": str(world_size),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
    }


def data_parallel(model, ranks):
    """As docs/scale.md says: else, with three ranks and more, sums have another order at first."""
    keeps = {"find_unused_parameters": True} if ranks.world_size > 2 else {}
    return torch.nn.parallel.DistributedDataParallel(model, **keeps)


def wait_in_vain(rank, world_size, port, case, out):
    """All wait for each other again and again; one stops doing so. Each writes down its error."""
    begin(rank, world_size, port)
    who, what = case
    started = time.monotonic()
    with gm.torch.RankGroup(timeout=30) as ranks:  # an earlier one leaves nothing
        with gm.torch.RankGroup() as inner:  # what is set up is used, and stays
            assert inner.gather(rank) == list(range(world_size))
        assert ranks.gather(rank) == list(range(world_size))
    try:
        with gm.torch.RankGroup(timeout=6) as ranks:
            assert ranks.gather(ranks.rank) == list(range(world_size))
            if rank == who:
                started = time.monotonic()
                if what == "raises":
                    raise ValueError("bad batch")  # noqa: TRY301
                if what == "leaves":
                    return
                os.kill(os.getpid(), what)
            ranks.gather("again")
    except Exception as error:  # noqa: BLE001  (which is written down)
        found = {
            "kind": type(error).__name__,
            "text": str(error),
            "rank": getattr(error, "rank", None),
            "seconds": time.monotonic() - started,
        }
        Path(out, f"{rank}.json").write_text(json.dumps(found))
        os._exit(1)


def several_groups(rank, world_size, port):
    """Groups one after the other; the first rank, which has the store, leaves each one last."""
    begin(rank, world_size, port)
    for number in range(3):
        with gm.torch.RankGroup(timeout=20, start_timeout=20) as ranks:
            assert ranks.gather(number) == [number] * world_size
            time.sleep(0.3 if rank == 0 else 0)


def begin_anew(rank, world_size, port, who):
    """One rank fails, and begins anew at once; the others learn of it one after the other."""
    begin(rank, world_size, port)
    learned = ZeroDivisionError if rank == who else gm.errors.RankError
    try:
        with gm.torch.RankGroup(timeout=20, start_timeout=20) as ranks:
            if rank == who:
                raise ZeroDivisionError
            time.sleep(0.5 + rank)
            ranks.gather(rank)
    except learned:
        pass
    del ranks  # which may have the last connection
    gc.collect()
    time.sleep(0 if rank == who else 1)
    with gm.torch.RankGroup(timeout=20, start_timeout=20) as ranks:
        assert ranks.gather(rank) == list(range(world_size))


def fewer_and_all_again(rank, world_size, port):
    """Groups of all ranks, of all but the last, and of all again."""
    begin(rank, world_size, port)
    for count in (world_size, world_size - 1, world_size, world_size - 1):
        os.environ["WORLD_SIZE"] = str(count)
        if rank < count:
            with gm.torch.RankGroup(timeout=20, start_timeout=20) as ranks:
                assert ranks.gather(rank) == list(range(count))


def come_back(rank, world_size, port):
    """One rank connects anew, as a process does that takes its place; the others stay."""
    begin(rank, world_size, port)
    for _ in range(3):
        with gm.torch.RankGroup(timeout=20, start_timeout=20) as ranks:
            assert ranks.gather(rank) == list(range(world_size))
        if rank == 1:
            meeting._stores.clear()


def train(rank, world_size, port, options):
    """Trains from the last checkpoint on, if there is one; `death` is (rank, step, moment)."""
    begin(rank, world_size, port)
    with gm.torch.RankGroup(timeout=20) as ranks:
        train_with(ranks, *options)  # so that the model is gone before the group


def make_objects(ranks, folder):
    """What a checkpoint is made of."""
    torch.manual_seed(1 + ranks.rank)
    loader = gm.torch.NeighborLoader(
        gm.Dataset(folder),
        [3, 2],
        batch_size=GLOBAL // ranks.world_size,
        shuffle=True,
        memory="4MiB",
        seed=3,
    )
    layers = [torch.nn.Linear(4, 8), torch.nn.Dropout(), torch.nn.Linear(8, 3)]
    model = torch.nn.Sequential(*layers)
    if ranks.world_size > 1:
        model = data_parallel(model, ranks)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    return {"model": model, "optimizer": optimizer, "loader": loader, "ranks": ranks}


def part_of_an_epoch(rank, world_size, port, folder, out, until):  # noqa: PLR0917
    """Goes on from the last checkpoint up to a step; notes the inputs that all ranks had."""
    begin(rank, world_size, port)
    with gm.torch.RankGroup(timeout=20) as ranks:
        train_part(ranks, folder, out, until)


def train_part(ranks, folder, out, until):
    """This process's part of that."""
    objects = make_objects(ranks, folder)
    path = Path(out, "last.pt")
    found = gm.torch.load_checkpoint(path, **objects) or {"seen": [], "worlds": [], "epochs": []}
    found["worlds"].append(ranks.world_size)
    for batch in objects["loader"]:
        out_of_model = objects["model"](batch.x)[: batch.num_seeds]
        objects["optimizer"].zero_grad()
        torch.nn.functional.cross_entropy(out_of_model, batch.labels).backward()
        objects["optimizer"].step()
        new = batch.input_ids[: len(batch.input_ids) - batch.num_repeated].tolist()
        found["seen"] += [place for part in ranks.gather(new) for place in part]
        if batch.number + 1 == until and until < 9:
            break
    found["epochs"].append(objects["loader"].state_dict()["epoch"])
    gm.torch.save_checkpoint(path, **objects, extra=found)
    if ranks.rank == 0:
        Path(out, "seen.json").write_text(json.dumps(found))


def train_with(ranks, folder, out, num_steps, death):
    """This process's part."""
    rank, world_size = ranks.rank, ranks.world_size

    def maybe_die(step, moment):
        if death == (rank, step, moment):
            os.kill(os.getpid(), signal.SIGKILL)

    objects = make_objects(ranks, folder)
    model, optimizer, loader = (objects[name] for name in ("model", "optimizer", "loader"))
    path = Path(out, "last.pt")
    losses = (gm.torch.load_checkpoint(path, **objects) or {"losses": []})["losses"]
    while len(losses) < num_steps:
        for batch in loader:
            step = len(losses)
            maybe_die(step, "before")
            result = model(batch.x)[: batch.num_seeds]
            loss = torch.nn.functional.cross_entropy(result, batch.labels)
            optimizer.zero_grad()
            loss.backward()
            maybe_die(step, "after")
            optimizer.step()
            losses.append(sum(ranks.gather(loss.item())) / world_size)
            if len(losses) % 2 == 0 or len(losses) == num_steps:
                gm.torch.save_checkpoint(path, **objects, extra={"losses": losses})
            maybe_die(step, "saved")
            if len(losses) == num_steps:
                break
    if rank == 0:
        Path(out, "losses.json").write_text(json.dumps(losses))
