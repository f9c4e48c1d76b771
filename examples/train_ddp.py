"""Trains GraphSAGE in several processes on one machine, each on its part of the seeds.

    torchrun --standalone --nproc-per-node=2 examples/train_ddp.py build/ddp

Every process mounts the same files and makes its own loader, which takes the part of the seeds that
belongs to its rank: torch.distributed says which that is. Gradients are averaged by DDP over gloo,
so all processes have the same parameters all the time, which is checked in the end.

The processes share one disk and one page cache. Tables that fit in memory are read through it
(`advice="normal"`), so what one process has read, all have; larger ones are read past it, into the
caches of each process, and so `--memory` is divided among them.
"""

from __future__ import annotations

import argparse
from datetime import timedelta
from pathlib import Path

import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

import graphmount as gm
import graphmount.torch
from communities import Communities, make_communities
from graphmount.torch import NeighborLoader
from sage import Sage, accuracy
from train_torch import FANOUTS, step


def mount(folder: Path, shape: Communities) -> gm.Dataset:
    """The dataset, which the first process makes while the others wait."""
    if distributed.get_rank() == 0:
        make_communities(folder, shape)
    distributed.barrier()
    return gm.Dataset(folder / "dataset")


def make_loader(dataset: gm.Dataset, split: str, options: argparse.Namespace) -> NeighborLoader:
    """This rank's part of a split. The seed is the same for all, so that the parts fit together."""
    return NeighborLoader(
        dataset,
        FANOUTS,
        input_nodes=split,
        batch_size=options.batch_size,
        shuffle=split == "train",
        memory=f"{options.memory // distributed.get_world_size()}MiB",
        seed=options.seed,
    )


def mean_over_ranks(value: float) -> float:
    """The mean of what the processes have."""
    tensor = torch.tensor(value, dtype=torch.float64)
    distributed.all_reduce(tensor)
    return float(tensor) / distributed.get_world_size()


def largest_difference(model: torch.nn.Module) -> float:
    """How far the parameters of any process are from those of the first."""
    mine = torch.cat([parameter.detach().flatten() for parameter in model.parameters()])
    first = mine.clone()
    distributed.broadcast(first, src=0)
    difference = (mine - first).abs().max()
    distributed.all_reduce(difference, op=distributed.ReduceOp.MAX)
    return float(difference)


def main() -> None:
    """Reads the command line and runs this process's part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where to put dataset/")
    parser.add_argument("--nodes", type=int, default=5_001, help="how many nodes")
    parser.add_argument("--epochs", type=int, default=5, help="how long to train")
    parser.add_argument("--batch-size", type=int, default=64, help="seeds of a batch, per process")
    parser.add_argument("--memory", type=int, default=64, help="MiB for caches, of all processes")
    parser.add_argument("--seed", type=int, default=1, help="of all randomness")
    options = parser.parse_args()
    distributed.init_process_group("gloo", timeout=timedelta(minutes=10))
    is_first = distributed.get_rank() == 0
    shape = Communities(num_nodes=options.nodes)
    dataset = mount(options.folder, shape)
    torch.manual_seed(options.seed)
    model = DistributedDataParallel(Sage([shape.num_columns, 64, shape.num_communities]))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    loader = make_loader(dataset, "train", options)
    for epoch in range(options.epochs):
        losses = [step(model, optimizer, batch) for batch in loader]
        loss = mean_over_ranks(sum(losses) / len(losses))
        if is_first:
            print(f"epoch {epoch}: {len(losses)} batches on each rank, loss {loss:.3f}")
    score = mean_over_ranks(accuracy(model.module, make_loader(dataset, "test", options)))
    difference = largest_difference(model)
    if is_first:
        print(f"{distributed.get_world_size()} ranks, accuracy {score:.3f}")
        print(f"largest difference of parameters between ranks: {difference}")
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
