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


def train(rank, world_size, dataset, out, options):
    """Trains a linear model of the rows of a batch's nodes."""
    store = f"file://{out}/rendezvous"
    distributed.init_process_group(
        "gloo",
        init_method=store,
        rank=rank,
        world_size=world_size,
        timeout=timedelta(seconds=60),  # ranks with too few batches would wait for ever
    )
    torch.manual_seed(rank)  # DDP makes all begin with the parameters of the first
    loader = gm.torch.NeighborLoader(gm.Dataset(dataset), [3, 2], **options)
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
    parameters = [value.tolist() for value in model.module.parameters()]
    Path(out, f"{rank}.json").write_text(json.dumps({"seen": seen, "parameters": parameters}))
    distributed.barrier()
    distributed.destroy_process_group()
