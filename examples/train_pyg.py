"""Trains layers of graphmount's or PyG's on a compiled dataset: GraphSAGE, GCN or GAT.

The graph is that of `communities`; `--nodes` is its size. The loop is what one writes for PyG; the
loader is graphmount's, which needs neither pyg-lib nor torch-sparse, and whose table of features
may be larger than memory. Each layer gets its matrix of a batch, with which it takes a fraction of
the time. `--layers pyg` trains PyG's own layers of the same names with `edge_index`, to compare.
"""

from __future__ import annotations

import argparse
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from communities import Communities, make_communities

try:
    from torch_geometric import nn as pyg

    from graphmount.pyg import NeighborLoader
    from graphmount.torch import nn as ours
except ImportError:
    sys.exit("this needs PyG; install it with: pip install 'graphmount[pyg]'")

if TYPE_CHECKING:
    import graphmount as gm

#: The layers of each model; PyG and graphmount call them the same.
MODELS = {"GraphSAGE": "SAGEConv", "GCN": "GCNConv", "GAT": "GATConv"}


class Model(torch.nn.Module):
    """Two layers.

    Args:
        layer: Makes a layer of so many inputs and outputs.
        sizes: Features of a node, hidden columns, classes.
        takes_matrices: Whether layers get matrices, or `edge_index`.
    """

    def __init__(self, layer: Any, sizes: tuple[int, int, int], *, takes_matrices: bool) -> None:  # noqa: ANN401
        super().__init__()
        self.layers = torch.nn.ModuleList(layer(*pair) for pair in pairwise(sizes))
        self.takes_matrices = takes_matrices

    def forward(self, batch: Any) -> torch.Tensor:  # noqa: ANN401
        """The outputs of the seeds."""
        first, second = batch.adjs if self.takes_matrices else [batch.edge_index] * 2
        x: torch.Tensor = self.layers[0](batch.x, first).relu()
        out: torch.Tensor = self.layers[1](x, second)[: batch.batch_size]
        return out


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
    parser.add_argument("--layers", choices=["graphmount", "pyg"], default="graphmount")
    parser.add_argument("--nodes", type=int, default=5_000, help="how many nodes")
    parser.add_argument("--epochs", type=int, default=5, help="how long to train")
    parser.add_argument("--batch-size", type=int, default=128, help="seeds of a batch")
    parser.add_argument("--memory", default="64MiB", help="for caches of rows")
    parser.add_argument("--seed", type=int, default=1, help="of all randomness")
    options = parser.parse_args()
    shape = Communities(num_nodes=options.nodes)
    dataset = make_communities(options.folder, shape)
    torch.manual_seed(options.seed)
    is_ours = options.layers == "graphmount"
    layer = getattr(ours if is_ours else pyg, MODELS[options.model])
    sizes = (shape.num_columns, 64, shape.num_communities)
    model = Model(layer, sizes, takes_matrices=is_ours)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    loader = make_loader(dataset, "train", options)
    for epoch in range(options.epochs):
        print(f"epoch {epoch}: loss {train(model, optimizer, loader):.3f}")
    print(loader.stats())
    score = accuracy(model, make_loader(dataset, "test", options))
    print(f"accuracy of {options.model}: {score:.3f}")


if __name__ == "__main__":
    main()
