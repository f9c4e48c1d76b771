"""Trains a model of PyG's on a compiled dataset: GraphSAGE, GCN or GAT.

The graph is that of `communities`; `--nodes` is its size. Layers and loop are what one writes for
PyG; only the loader is graphmount's, which needs neither pyg-lib nor torch-sparse, and whose table
of features may be larger than memory. GraphSAGE gets the matrices of a batch, with which its layers
are several times as fast; GCN and GAT are models of PyG's as they are, which want `edge_index`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from communities import Communities, make_communities

try:
    from torch_geometric.nn import SAGEConv, models

    from graphmount.pyg import NeighborLoader
except ImportError:
    sys.exit("this needs PyG; install it with: pip install 'graphmount[pyg]'")

if TYPE_CHECKING:
    import graphmount as gm

MODELS = ("GraphSAGE", "GCN", "GAT")


class GraphSAGE(torch.nn.Module):
    """Two layers of PyG's, each with its matrix of the batch."""

    def __init__(self, num_inputs: int, num_hidden: int, num_outputs: int) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(
            [SAGEConv(num_inputs, num_hidden), SAGEConv(num_hidden, num_outputs)]
        )

    def forward(self, batch: Any) -> torch.Tensor:  # noqa: ANN401
        """The outputs of the seeds."""
        x: torch.Tensor = batch.x
        for layer, adj in zip(self.layers, batch.adjs, strict=True):
            x = layer((x, x[: adj.size(0)]), adj)
            if layer is not self.layers[-1]:
                x = x.relu()
        return x


class WithEdgeIndex(torch.nn.Module):
    """A model of PyG's."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, batch: Any) -> torch.Tensor:  # noqa: ANN401
        """The outputs of the seeds."""
        out: torch.Tensor = self.model(batch.x, batch.edge_index)[: batch.batch_size]
        return out


def make_model(name: str, sizes: tuple[int, int, int]) -> torch.nn.Module:
    """One of MODELS: features of a node, hidden columns, classes."""
    if name == "GraphSAGE":
        return GraphSAGE(*sizes)
    inputs, hidden, outputs = sizes
    return WithEdgeIndex(getattr(models, name)(inputs, hidden, num_layers=2, out_channels=outputs))


def make_loader(dataset: gm.Dataset, split: str, options: argparse.Namespace) -> NeighborLoader:
    """Batches of a split, in a new order for each epoch if it is the one to train on."""
    return NeighborLoader(
        dataset,
        num_neighbors=[10, 5],
        input_nodes=split,
        batch_size=options.batch_size,
        shuffle=split == "train",
        memory=options.memory,
        seed=options.seed,
    )


def train(
    model: torch.nn.Module, optimizer: torch.optim.Optimizer, loader: NeighborLoader
) -> float:
    """One epoch; returns its mean loss."""
    model.train()
    total = 0.0
    for batch in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(batch), batch.y[: batch.batch_size])
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        total += float(loss.detach())
    return total / len(loader)


@torch.no_grad()
def accuracy(model: torch.nn.Module, loader: NeighborLoader) -> float:
    """The share of seeds that the model finds the right class for."""
    model.eval()
    right = seeds = 0
    for batch in loader:
        found = model(batch).argmax(dim=1)
        right += int((found == batch.y[: batch.batch_size]).sum())
        seeds += batch.batch_size
    return right / seeds


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
    dataset = make_communities(options.folder, shape)
    torch.manual_seed(options.seed)
    model = make_model(options.model, (shape.num_columns, 64, shape.num_communities))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    loader = make_loader(dataset, "train", options)
    for epoch in range(options.epochs):
        print(f"epoch {epoch}: loss {train(model, optimizer, loader):.3f}")
    print(loader.stats())
    score = accuracy(model, make_loader(dataset, "test", options))
    print(f"accuracy of {options.model}: {score:.3f}")


if __name__ == "__main__":
    main()
