"""One process of `test_ddp`: trains on its part of the seeds, and writes down what it did."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

import graphmount as gm
import graphmount.torch

EPOCHS = 2


def train(rank, world_size, dataset, out, cases):
    """Trains once with each of the options of a loader."""
    distributed.init_process_group(
        "gloo",
        init_method=f"file://{out}/rendezvous",
        rank=rank,
        world_size=world_size,
        timeout=timedelta(seconds=60),  # ranks with too few batches would wait for ever
    )
    found = [train_once(rank, gm.Dataset(dataset), options) for options in cases]
    Path(out, f"{rank}.json").write_text(json.dumps(found))
    distributed.barrier()
    distributed.destroy_process_group()


def train_once(rank, dataset, options):
    """Trains a linear model of the rows of a batch's nodes."""
    torch.manual_seed(rank)  # DDP makes all begin with the parameters of the first
    loader = gm.torch.NeighborLoader(dataset, [3, 2], **options)
    model = DistributedDataParallel(torch.nn.Linear(16, 5))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
    seen = []
    for _ in range(EPOCHS):
        places = []
        for batch in loader:
            outputs = model(batch.features["x"])[: batch.batch_size]
            loss = torch.nn.functional.cross_entropy(outputs, batch.labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            places.append(batch.input_ids.tolist())
        seen.append(places)
    return {"seen": seen, "parameters": [value.tolist() for value in model.module.parameters()]}
