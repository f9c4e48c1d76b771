"""Trains a model of PyG's on a compiled dataset: GraphSAGE, GCN or GAT.

The graph is that of `communities`; `--nodes` is its size. The loader is graphmount's, so neither
pyg-lib nor torch-sparse is needed, and the table of features may be larger than memory.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from communities import Communities, make_communities
from sage import accuracy
from train_torch import make_loader, step

if TYPE_CHECKING:
    from graphmount.torch import TensorBatch

MODELS = ("GraphSAGE", "GCN", "GAT")


class Classifier(torch.nn.Module):
    """One of PyG's models, on batches."""

    def __init__(self, name: str, num_inputs: int, num_classes: int) -> None:
        super().__init__()
        try:
            from torch_geometric.nn import models
        except ImportError:
            sys.exit("this needs PyG; install it with: pip install 'graphmount[pyg]'")
        self.model = getattr(models, name)(num_inputs, 64, num_layers=2, out_channels=num_classes)

    def forward(self, batch: TensorBatch) -> torch.Tensor:
        """The outputs of the seeds of a batch."""
        out: torch.Tensor = self.model(batch.features["x"], batch.edge_index)
        return out[: batch.batch_size]


def main() -> None:
    """Reads the command line and runs all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where to put dataset/")
    parser.add_argument("--model", choices=MODELS, default="GraphSAGE", help="which to train")
    parser.add_argument("--nodes", type=int, default=5_000, help="how many nodes")
    parser.add_argument("--epochs", type=int, default=5, help="how long to train")
    parser.add_argument("--batch-size", type=int, default=128, help="seeds of a batch")
    parser.add_argument("--memory", default="64MiB", help="for caches of rows")
    parser.add_argument("--seed", type=int, default=1, help="of all randomness")
    options = parser.parse_args()
    shape = Communities(num_nodes=options.nodes)
    torch.manual_seed(options.seed)
    model = Classifier(options.model, shape.num_columns, shape.num_communities)
    dataset = make_communities(options.folder, shape)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    loader = make_loader(dataset, "train", options)
    for epoch in range(options.epochs):
        model.train()
        losses = [step(model, optimizer, batch) for batch in loader]
        print(f"epoch {epoch}: loss {sum(losses) / len(losses):.3f}")
    print(loader.stats())
    model.eval()
    score = accuracy(model, make_loader(dataset, "test", options))
    print(f"accuracy of {options.model}: {score:.3f}")


if __name__ == "__main__":
    main()
