"""Trains GraphSAGE on a compiled dataset, in plain torch, and evaluates it.

The graph is that of `communities`; `--nodes` is its size, and `--memory` what caches of rows may
take. A classifier of the features alone is trained on the same batches, to show what the graph is
good for.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

import graphmount as gm
import graphmount.torch
from communities import Communities, make_communities
from sage import Sage, SageBatch, accuracy, targets_of

FANOUTS = (10, 5)


def make_loader(
    dataset: gm.Dataset, split: str, options: argparse.Namespace
) -> gm.torch.NeighborLoader:
    """Batches of a split, in a new order for each epoch if it is the one to train on."""
    return gm.torch.NeighborLoader(
        dataset,
        FANOUTS,
        input_nodes=split,
        batch_size=options.batch_size,
        shuffle=split == "train",
        memory=options.memory,
        seed=options.seed,
    )


class FeaturesAlone(torch.nn.Module):
    """A classifier that sees the rows of the seeds, and nothing of the graph."""

    def __init__(self, num_inputs: int, num_classes: int) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(num_inputs, num_classes)

    def forward(self, batch: SageBatch) -> torch.Tensor:
        """The outputs of the seeds of a batch."""
        num_seeds = batch.num_sampled_nodes[0]
        out: torch.Tensor = self.layer(batch.features["x"][:num_seeds].float())
        return out


def step(model: torch.nn.Module, optimizer: torch.optim.Optimizer, batch: SageBatch) -> float:
    """Trains on one batch; returns its loss."""
    loss = torch.nn.functional.cross_entropy(model(batch), targets_of(batch))
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    return float(loss.detach())


def main() -> None:
    """Reads the command line and runs all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where to put dataset/")
    parser.add_argument("--nodes", type=int, default=5_000, help="how many nodes")
    parser.add_argument("--epochs", type=int, default=5, help="how long to train")
    parser.add_argument("--batch-size", type=int, default=128, help="seeds of a batch")
    parser.add_argument("--memory", default="64MiB", help="for caches of rows")
    parser.add_argument("--seed", type=int, default=1, help="of all randomness")
    options = parser.parse_args()
    shape = Communities(num_nodes=options.nodes)
    dataset = make_communities(options.folder, shape)
    torch.manual_seed(options.seed)
    models = {
        "GraphSAGE": Sage([shape.num_columns, 64, shape.num_communities]),
        "features alone": FeaturesAlone(shape.num_columns, shape.num_communities),
    }
    optimizers = {
        name: torch.optim.Adam(model.parameters(), lr=0.01) for name, model in models.items()
    }
    loader = make_loader(dataset, "train", options)
    for epoch in range(options.epochs):
        losses = [
            [step(model, optimizers[name], batch) for name, model in models.items()]
            for batch in loader
        ]
        mean = torch.tensor(losses).mean(dim=0)
        print(f"epoch {epoch}: loss {mean[0]:.3f}, of features alone {mean[1]:.3f}")
    print(loader.stats())
    for name, model in models.items():
        score = accuracy(model, make_loader(dataset, "test", options))
        print(f"accuracy of {name}: {score:.3f}")


if __name__ == "__main__":
    main()
