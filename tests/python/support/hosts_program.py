"""Ranks of `test_hosts`: each is on a machine of its own."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import torch
from hosts import move_to

import graphmount as gm
import graphmount.torch

GLOBAL = 12


def on_host(rank, world_size, port, hosts, program, *arguments):
    """Calls a program on the machine of this rank, as torchrun does, and writes down the result."""
    torch.set_num_threads(1)
    move_to(hosts, rank)
    os.environ |= {
        "RANK": str(rank),
        "WORLD_SIZE": str(world_size),
        "LOCAL_WORLD_SIZE": "1",
        "MASTER_ADDR": hosts.addresses[0],
        "MASTER_PORT": str(port),
    }
    out, *others = arguments
    started = time.monotonic()
    try:
        with gm.torch.RankGroup(timeout=5, start_timeout=30) as ranks:
            found = {"result": program(ranks, Path(out), *others)}
    except Exception as error:  # noqa: BLE001  (which is written down)
        found = {
            "kind": type(error).__name__,
            "text": str(error),
            "rank": getattr(error, "rank", None),
        }
    found["seconds"] = time.monotonic() - started
    Path(out, f"{rank}.json").write_text(json.dumps(found))
    os._exit(0)  # what waits for a machine that is cut off keeps nobody


def make_loader(ranks, folder):
    """This rank's loader."""
    return gm.torch.NeighborLoader(
        gm.Dataset(folder),
        [3, 2],
        batch_size=ranks.batch_size(GLOBAL),
        shuffle=True,
        memory="4MiB",
        seed=3,
    )


def epoch(ranks, _, folder):
    """An epoch of training; the inputs of each batch, and the parameters in the end."""
    torch.manual_seed(0)
    loader = make_loader(ranks, folder)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    ranks.require_same_data(loader)
    seen = []
    for batch in loader:
        seen.append(batch.input_ids.tolist())
        out = model(batch.x)[: batch.num_seeds]
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(out, batch.labels).backward()
        optimizer.step()
    return {"seen": seen, "parameters": model.module.weight.flatten().tolist()}


def without_end(ranks, out):
    """Meets all others again and again."""
    for number in range(10**9):
        ranks.gather(number)
        if number == 3 and ranks.rank == 0:
            (out / "begun").touch()


def same_data(ranks, _, folders):
    """Compares the data of all machines."""
    ranks.require_same_data(make_loader(ranks, folders[ranks.rank]))
