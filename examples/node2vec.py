"""Learns embeddings of nodes from random walks, as node2vec does, and classifies with them.

The graph is that of `communities`; its features are not used. Walks come as batches of skip-gram
pairs with negatives. In the end a linear classifier is fitted to the embeddings of the nodes to
train on: it should find the communities of the others. The same is done with random embeddings,
which tell how much of that is luck.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

import graphmount as gm
import graphmount.torch
from communities import Communities, make_communities


class SkipGram(torch.nn.Module):
    """Embeddings of centers and of contexts, trained to tell contexts from negatives."""

    def __init__(self, num_nodes: int, size: int) -> None:
        super().__init__()
        # Sparse gradients: a step touches the rows of a batch, not the whole table.
        self.centers = torch.nn.Embedding(num_nodes, size, sparse=True)
        self.contexts = torch.nn.Embedding(num_nodes, size, sparse=True)
        torch.nn.init.normal_(self.centers.weight, std=0.1)
        torch.nn.init.normal_(self.contexts.weight, std=0.1)

    def forward(self, batch: gm.torch.SkipGramBatch) -> torch.Tensor:
        """The loss of a batch."""
        center = self.centers(batch.centers)
        near = (center * self.contexts(batch.contexts)).sum(dim=1)
        far = torch.bmm(self.contexts(batch.negatives), center[:, :, None])[:, :, 0]
        score = torch.nn.functional.logsigmoid
        return -(score(near).mean() + score(-far).sum(dim=1).mean())


def community_accuracy(embeddings: torch.Tensor, dataset: gm.Dataset) -> float:
    """How well a linear classifier of the embeddings does on nodes it has not seen."""
    if dataset.labels is None:
        raise ValueError("the dataset has no labels; compile it with labels=")
    labels = torch.from_numpy(dataset.labels.copy())
    train, test = (torch.from_numpy(dataset.splits[name].copy()) for name in ("train", "test"))
    mean, deviation = embeddings[train].mean(dim=0), embeddings[train].std(dim=0)
    inputs = (embeddings - mean) / deviation
    model = torch.nn.Linear(inputs.shape[1], int(labels.max()) + 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05, weight_decay=1e-3)
    for _ in range(100):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(inputs[train]), labels[train])
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    with torch.inference_mode():
        hits = model(inputs[test]).argmax(dim=1) == labels[test]
    return float(hits.float().mean())


def main() -> None:
    """Reads the command line and runs all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where to put dataset/")
    parser.add_argument("--nodes", type=int, default=5_000, help="how many nodes")
    parser.add_argument("--epochs", type=int, default=5, help="how long to train")
    parser.add_argument("--size", type=int, default=32, help="numbers of an embedding")
    parser.add_argument("-p", type=float, default=1.0, help="node2vec's p")
    parser.add_argument("-q", type=float, default=0.5, help="node2vec's q")
    parser.add_argument("--workers", type=int, default=0, help="processes that walk ahead")
    parser.add_argument("--seed", type=int, default=1, help="of all randomness")
    options = parser.parse_args()
    dataset = make_communities(options.folder, Communities(num_nodes=options.nodes))
    torch.manual_seed(options.seed)
    walks = gm.torch.SkipGramDataset(
        dataset.graph,
        length=10,
        window=3,
        negatives=5,
        p=options.p,
        q=options.q,
        direction="in",  # every node has edges that lead to it, but not all have others
        walks_per_start=2,
        batch_size=128,
        shuffle=True,
        seed=options.seed,
    )
    batches = torch.utils.data.DataLoader(walks, batch_size=None, num_workers=options.workers)
    model = SkipGram(dataset.num_nodes, options.size)
    untrained = torch.randn(dataset.num_nodes, options.size)
    optimizer = torch.optim.SparseAdam(list(model.parameters()), lr=0.01)
    for epoch in range(options.epochs):
        total = pairs = 0.0
        for batch in batches:
            loss = model(batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()  # type: ignore[no-untyped-call]
            total += float(loss.detach()) * len(batch.centers)
            pairs += len(batch.centers)
        print(f"epoch {epoch}: loss {total / pairs:.3f} of {pairs:,.0f} pairs")
    score = community_accuracy(model.centers.weight.detach(), dataset)
    print(f"accuracy of embeddings: {score:.3f}")
    print(f"accuracy of random ones: {community_accuracy(untrained, dataset):.3f}")


if __name__ == "__main__":
    main()
