"""Learns which nodes are linked, from a compiled dataset, in plain torch.

The graph is that of `communities`; `--nodes` is its size. A model of two layers turns nodes into
embeddings, and the product of two says how likely a link is. It trains on edges of the graph and on
pairs that are none, and is tested on links that it has not seen.
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path
from typing import TYPE_CHECKING

import torch

import graphmount as gm
import graphmount.torch
from communities import Communities, held_out_links, make_communities
from sage import Sage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FANOUTS = (10, 5)


def unseen_links(dataset: gm.Dataset, shape: Communities) -> NDArray[np.int64]:
    """Links to test with, in ids of the source: none of them is an edge of the graph."""
    links = held_out_links(shape).T
    sources, destinations = (dataset.to_internal(ids) for ids in links)
    unseen: NDArray[np.int64] = links[:, ~dataset.graph.has_edge(sources, destinations)]
    return unseen


def scores_of(model: torch.nn.Module, batch: gm.torch.LinkTensorBatch) -> torch.Tensor:
    """How likely each link of a batch is, as a logit."""
    if batch.edge_label_index is None:
        raise ValueError("the batch has triplets, not pairs")
    nodes: torch.Tensor = model(batch)
    sources, destinations = batch.edge_label_index
    return (nodes[sources] * nodes[destinations]).sum(dim=1)


def labels_of(batch: gm.torch.LinkTensorBatch) -> torch.Tensor:
    """1 for links, 0 for pairs that are none."""
    if batch.edge_label is None:
        raise ValueError("the loader draws no pairs that are none; give it neg_sampling=")
    return batch.edge_label


def area_under_curve(scores: torch.Tensor, labels: torch.Tensor) -> float:
    """How often a link has a higher score than a pair that is none: 0.5 by chance."""
    ranks = scores.argsort().argsort().double() + 1
    links = labels > 0
    num_links, num_others = int(links.sum()), int((~links).sum())
    return float((ranks[links].sum() - num_links * (num_links + 1) / 2) / (num_links * num_others))


def main() -> None:
    """Reads the command line and runs all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where to put dataset/")
    parser.add_argument("--nodes", type=int, default=5_000, help="how many nodes")
    parser.add_argument("--epochs", type=int, default=4, help="how long to train")
    parser.add_argument("--batches", type=int, default=60, help="batches of an epoch")
    parser.add_argument("--batch-size", type=int, default=256, help="links of a batch")
    parser.add_argument("--memory", default="64MiB", help="for caches of rows")
    parser.add_argument("--seed", type=int, default=1, help="of all randomness")
    options = parser.parse_args()
    shape = Communities(num_nodes=options.nodes)
    dataset = make_communities(options.folder, shape)
    common = {"neg_sampling": "binary", "memory": options.memory, "seed": options.seed}
    common |= {"batch_size": options.batch_size}
    loader = gm.torch.LinkNeighborLoader(dataset, FANOUTS, shuffle=True, **common)
    unseen = gm.torch.LinkNeighborLoader(
        dataset,
        FANOUTS,
        edge_label_index=unseen_links(dataset, shape),
        ids="external",
        **common,
    )
    torch.manual_seed(options.seed)
    model = Sage([shape.num_columns, 64, 32])

    def test() -> float:
        with torch.inference_mode():
            pairs = [(scores_of(model, batch), labels_of(batch)) for batch in unseen]
        scores, labels = (torch.cat(list(each)) for each in zip(*pairs, strict=True))
        return area_under_curve(scores, labels)

    print(f"area under the curve, untrained: {test():.3f}")
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(options.epochs):
        total = 0.0
        for batch in itertools.islice(loader, options.batches):
            loss = torch.nn.functional.binary_cross_entropy_with_logits(
                scores_of(model, batch), labels_of(batch)
            )
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            total += float(loss.detach())
        print(f"epoch {epoch}: loss {total / min(options.batches, len(loader)):.3f}")
    print(loader.stats())
    print(f"area under the curve, of links it has not seen: {test():.3f}")


if __name__ == "__main__":
    main()
