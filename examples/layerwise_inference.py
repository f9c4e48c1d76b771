"""Trains a model on sampled neighbors, then infers for all nodes, layer by layer, from files.

The graph has communities, and features that hardly tell them apart: neighbors do. In the end the
outputs are compared with those of the whole graph at once, which is small enough here for that.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch

import graphmount as gm
import graphmount.torch


class Sage(torch.nn.Module):
    """A node and the mean of its neighbors, as in GraphSAGE."""

    def __init__(self, inputs: int, outputs: int, *, is_last: bool = False) -> None:
        super().__init__()
        self.is_last = is_last
        self.own = torch.nn.Linear(inputs, outputs)
        self.neighbors = torch.nn.Linear(inputs, outputs)

    def forward(self, x: torch.Tensor, adj: torch.Tensor) -> torch.Tensor:
        """The rows of as many nodes as `adj` has rows."""
        means = torch.sparse.mm(adj, x, "mean")
        out: torch.Tensor = self.own(x[: adj.size(0)]) + self.neighbors(means)
        return out if self.is_last else out.relu()


def make_dataset(folder: Path, num_nodes: int) -> gm.Dataset:
    """Compiles a graph whose edges mostly stay within communities."""
    generator = np.random.default_rng(3)
    labels = generator.integers(0, 4, num_nodes)
    by_label = np.argsort(labels, kind="stable")
    firsts = np.searchsorted(labels[by_label], np.arange(5))
    dst = np.repeat(np.arange(num_nodes), 12)
    low, high = firsts[labels[dst]], firsts[labels[dst] + 1]
    near = by_label[(low + generator.random(len(dst)) * (high - low)).astype(np.int64)]
    src = np.where(
        generator.random(len(dst)) < 0.7, near, generator.integers(0, num_nodes, len(dst))
    )
    x = generator.standard_normal((num_nodes, 16)) + 0.8 * np.eye(4, 16)[labels]
    gm.compile_dataset(
        folder,
        edges=(src, dst),
        num_nodes=num_nodes,
        features={"x": gm.Table(source=x, dtype="float16")},
        labels=labels,
        splits={"train": np.arange(num_nodes // 2)},
        overwrite=True,
    )
    return gm.Dataset(folder)


def train(dataset: gm.Dataset, layers: list[Sage], epochs: int) -> None:
    """Trains on samples of two hops."""
    parameters = [parameter for layer in layers for parameter in layer.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=0.01)
    loader = gm.torch.NeighborLoader(
        dataset, [8, 8], input_nodes="train", batch_size=256, shuffle=True, memory="64MiB", seed=1
    )
    for epoch in range(epochs):
        losses = []
        for batch in loader:
            x = batch.features["x"].float()
            for layer, adj in zip(layers, batch.adjs, strict=True):
                x = layer(x, adj)
            if batch.labels is None:
                raise RuntimeError("the dataset has no labels")
            loss = torch.nn.functional.cross_entropy(x, batch.labels)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch}: loss {np.mean(losses):.3f}")


def main() -> None:
    """Reads the command line and runs all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where to put dataset/ and outputs.gd")
    parser.add_argument("--nodes", type=int, default=5_000, help="how many nodes")
    parser.add_argument("--epochs", type=int, default=5, help="how long to train")
    parser.add_argument("--memory", default="16MiB", help="for the blocks of inference")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    dataset = make_dataset(options.folder / "dataset", options.nodes)
    torch.manual_seed(0)
    layers = [Sage(16, 32), Sage(32, 4, is_last=True)]
    train(dataset, layers, options.epochs)

    def call(layer: Sage, block: gm.torch.LayerBlock) -> torch.Tensor:
        out: torch.Tensor = layer(block.x, block.adj)
        return out

    done = gm.torch.layerwise_inference(
        dataset, layers, out=options.folder / "outputs.gd", call=call, memory=options.memory
    )
    outputs = gm.FeatureStore(done.path).tensor()
    print(f"outputs of {done.shape[0]:,} nodes in {done.seconds:.2f} s")

    graph = dataset.graph
    whole = torch.sparse_csr_tensor(
        torch.from_numpy(graph.indptr.copy()),
        torch.from_numpy(graph.indices.astype(np.int64)),
        torch.ones(graph.num_edges),
        size=(graph.num_nodes, graph.num_nodes),
    )
    x = dataset.features["x"].tensor().float()
    with torch.inference_mode():
        for layer in layers:
            x = layer(x, whole)
    print(f"largest difference from the whole graph at once: {(x - outputs).abs().max():.1e}")
    is_test = np.ones(graph.num_nodes, np.bool_)
    is_test[dataset.splits["train"]] = False
    hits = outputs.argmax(dim=1).numpy() == dataset.labels
    print(f"accuracy on nodes not trained on: {hits[is_test].mean():.3f}")


if __name__ == "__main__":
    main()
