"""Trains GraphSAGE in several processes, on one machine or many, and goes on after a crash.

    torchrun --standalone --nproc-per-node=2 examples/train_ddp.py build/ddp
    torchrun --nnodes=2 --nproc-per-node=4 --rdzv-backend=c10d --rdzv-endpoint=HOST:29400 \
        --max-restarts=3 examples/train_ddp.py /shared/ddp

Every process mounts the same files and makes its own loader, which takes the part of the seeds that
belongs to its rank. Gradients are averaged by DDP over gloo, so all processes have the same
parameters all the time, which is checked in the end.

`--global-batch` is what all processes take in a step, so the batches are the same however many
there are. A checkpoint is saved every few steps: start the script again after a crash, with as many
processes or with others, and it goes on where it was, with no seed left out and none repeated.

The folder must be one that all machines see, or each machine must have the same dataset there:
`load_checkpoint` compares them.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

import graphmount as gm
import graphmount.torch
from communities import Communities, make_communities
from graphmount.torch import NeighborLoader, RankGroup
from sage import Sage, accuracy
from train_torch import FANOUTS, step


def mount(folder: Path, shape: Communities, ranks: RankGroup) -> gm.Dataset:
    """The dataset, which the first process makes while the others wait, unless it is there."""
    if ranks.rank == 0 and not (folder / "dataset").exists():
        make_communities(folder, shape)
    ranks.gather("made")
    return gm.Dataset(folder / "dataset")


def make_loader(
    dataset: gm.Dataset, split: str, ranks: RankGroup, options: argparse.Namespace
) -> NeighborLoader:
    """This rank's part of a split. The seed is the same for all, so that the parts fit together."""
    return NeighborLoader(
        dataset,
        FANOUTS,
        input_nodes=split,
        batch_size=ranks.batch_size(options.global_batch),
        shuffle=split == "train",
        memory=options.memory,  # of all processes of a machine together
        seed=options.seed,
    )


def mean(values: list[float]) -> float:
    """Their mean."""
    return sum(values) / len(values)


def largest_difference(model: torch.nn.Module, ranks: RankGroup) -> float:
    """How far the parameters of any process are from those of the first."""
    mine = torch.cat([parameter.detach().flatten() for parameter in model.parameters()])
    first = mine.clone()
    if ranks.world_size > 1:
        distributed.broadcast(first, src=0)
    differences: list[float] = ranks.gather(float((mine - first).abs().max()))
    return max(differences)


def train(ranks: RankGroup, options: argparse.Namespace) -> None:
    """This process's part of the training."""
    shape = Communities(num_nodes=options.nodes)
    dataset = mount(options.folder, shape, ranks)
    torch.manual_seed(options.seed)
    model: torch.nn.Module = Sage([shape.num_columns, 64, shape.num_communities])
    if ranks.world_size > 1:
        model = DistributedDataParallel(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    loader = make_loader(dataset, "train", ranks, options)
    path = options.folder / "checkpoint.pt"
    saved = gm.torch.load_checkpoint(
        path, model=model, optimizer=optimizer, loader=loader, ranks=ranks
    )
    if saved is not None and ranks.rank == 0:
        state = loader.state_dict()
        print(f"going on with batch {state['batch']} of epoch {state['epoch']}")
    losses: list[float] = [] if saved is None else saved["losses"]
    while (epoch := loader.state_dict()["epoch"]) < options.epochs:
        for batch in loader:
            losses.append(mean(ranks.gather(step(model, optimizer, batch))))
            if (batch.number + 1) % options.every == 0:
                gm.torch.save_checkpoint(
                    path,
                    model=model,
                    optimizer=optimizer,
                    loader=loader,
                    ranks=ranks,
                    extra={"losses": losses},
                )
        if ranks.rank == 0:
            print(f"epoch {epoch}: {len(loader)} batches on each rank, loss {mean(losses):.3f}")
        losses = []
    inner = model.module if isinstance(model, DistributedDataParallel) else model
    score = mean(ranks.gather(accuracy(inner, make_loader(dataset, "test", ranks, options))))
    difference = largest_difference(model, ranks)
    if ranks.rank == 0:
        path.unlink(missing_ok=True)  # it is complete
        print(f"{ranks.world_size} ranks, accuracy {score:.3f}")
        print(f"largest difference of parameters between ranks: {difference}")


def main() -> None:
    """Reads the command line and trains."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="where to put dataset/ and checkpoint.pt")
    parser.add_argument("--nodes", type=int, default=5_001, help="how many nodes")
    parser.add_argument("--epochs", type=int, default=5, help="how long to train")
    parser.add_argument("--global-batch", type=int, default=128, help="seeds of all processes")
    parser.add_argument("--every", type=int, default=5, help="batches between checkpoints")
    parser.add_argument("--memory", default="64MiB", help="for caches, of all processes")
    parser.add_argument("--seed", type=int, default=1, help="of all randomness")
    parser.add_argument("--timeout", type=float, default=300, help="seconds to wait for a rank")
    options = parser.parse_args()
    with RankGroup(timeout=options.timeout) as ranks:
        train(ranks, options)


if __name__ == "__main__":
    main()
