"""Trains on nodes of many kinds, from a description file to accuracy: GraphSAGE or R-GAT, by PyG.

Papers of some topics, and the authors who write them, most of them about one topic. The rows of a
paper hardly tell its topic; its citations and its authors do. The files are written to the folder
with a description of them, `mag.toml`, which the command line compiles. The model is PyG's: layers
for one kind of nodes, that `to_hetero` makes into layers for all relations. The loader is
graphmount's, whose tables may be larger than memory. In the end, the outputs of all papers are
computed with all of their neighbors, layer by layer.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

import graphmount as gm
import graphmount.torch

try:
    from torch_geometric.nn import GATConv, SAGEConv, to_hetero

    from graphmount.pyg import NeighborLoader
except ImportError:
    sys.exit("this needs PyG; install it with: pip install 'graphmount[pyg]'")

NUM_TOPICS, NUM_COLUMNS = 8, 16
DESCRIPTION = """
out = "mag"
reverse = true

[nodes.paper]
labels = "topics.npy"
features.x = "papers.npy"
splits.train = "train.npy"
splits.test = "test.npy"

[nodes.author]
features.x = "authors.npy"

[[edges]]
relation = ["author", "writes", "paper"]
source = "writes.csv"

[[edges]]
relation = ["paper", "cites", "paper"]
source = "cites.csv"
"""


def write_files(folder: Path, num_papers: int, seed: int) -> None:
    """Writes the tables, the edges, and the description of them."""
    generator = np.random.default_rng(seed)
    num_authors = num_papers // 2
    topics = generator.integers(0, NUM_TOPICS, num_papers)
    of_author = generator.integers(0, NUM_TOPICS, num_authors)
    by_topic = [np.flatnonzero(topics == topic) for topic in range(NUM_TOPICS)]

    def papers_about(wanted: Any) -> Any:  # noqa: ANN401
        """A paper for each of these topics, seven of ten times of that topic, else any."""
        same = np.array([generator.choice(by_topic[topic]) for topic in wanted])
        strays = generator.random(len(wanted)) > 0.7
        return np.where(strays, generator.integers(0, num_papers, len(wanted)), same)

    authors = generator.integers(0, num_authors, 3 * num_papers)
    papers = generator.integers(0, num_papers, 4 * num_papers)
    edges = {
        "writes.csv": np.stack([authors, papers_about(of_author[authors])], axis=1),
        "cites.csv": np.stack([papers, papers_about(topics[papers])], axis=1),
    }
    hints = generator.standard_normal((NUM_TOPICS, NUM_COLUMNS))
    noise = generator.standard_normal((num_papers, NUM_COLUMNS))
    rows = (0.25 * hints[topics] + noise).astype(np.float32)
    shuffled = generator.permutation(num_papers)
    tables: dict[str, Any] = {
        "topics.npy": topics,
        "papers.npy": rows,
        "authors.npy": generator.standard_normal((num_authors, 4)).astype(np.float32),
        "train.npy": np.sort(shuffled[: num_papers // 2]),
        "test.npy": np.sort(shuffled[num_papers // 2 :]),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        np.save(folder / name, table)
    for name, ends in edges.items():
        np.savetxt(folder / name, ends, fmt="%d", delimiter=",", header="from,to", comments="")
    (folder / "mag.toml").write_text(DESCRIPTION)


class Layers(torch.nn.Module):
    """Two layers for one kind of nodes; `to_hetero` gives each relation weights of its own."""

    def __init__(self, layer: Any) -> None:  # noqa: ANN401
        super().__init__()
        self.first, self.second = layer(32), layer(NUM_TOPICS)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        """The outputs of all nodes."""
        out: torch.Tensor = self.second(self.first(x, edge_index).relu(), edge_index)
        return out


#: Sizes of rows differ by type: -1 lets a layer find them out with its first batch.
MODELS = {
    "GraphSAGE": lambda size: SAGEConv((-1, -1), size),
    "R-GAT": lambda size: GATConv((-1, -1), size, add_self_loops=False),
}


def outputs(model: Any, batch: Any) -> torch.Tensor:  # noqa: ANN401
    """The outputs of the seeds, which are papers."""
    found: torch.Tensor = model(batch.x_dict, batch.edge_index_dict)["paper"]
    return found[: batch["paper"].batch_size]


def topics_of(batch: Any) -> torch.Tensor:  # noqa: ANN401
    """The topics of the seeds."""
    topics: torch.Tensor = batch["paper"].y[: batch["paper"].batch_size]
    return topics


@torch.no_grad()
def accuracy(model: torch.nn.Module, loader: NeighborLoader) -> float:
    """The share of seeds that the model finds the right topic for."""
    model.eval()
    right = seeds = 0
    for batch in loader:
        right += int((outputs(model, batch).argmax(dim=1) == topics_of(batch)).sum())
        seeds += batch["paper"].batch_size
    return right / seeds


def apply_layer(layer: tuple[Any, Any], block: gm.torch.TypedLayerBlock) -> torch.Tensor:
    """A layer of the model for the nodes of a block: `to_hetero` has a module for each relation."""
    convs, function = layer
    parts = [
        convs["__".join(relation)](block.pairs[relation], adj)
        for relation, adj in block.adj.items()
    ]
    out: torch.Tensor = function(torch.stack(parts).sum(dim=0))
    return out


def infer_all(model: Any, folder: Path, memory: str) -> tuple[float, int]:  # noqa: ANN401
    """The accuracy for the test papers by the outputs of all papers, and how many there are."""
    layers = [(model.first, torch.relu), (model.second, torch.nn.Identity())]
    dataset = gm.TypedDataset(folder / "mag")
    done = gm.torch.layerwise_inference(
        dataset,
        layers,
        out=folder / "outputs",
        types=["paper"],
        call=apply_layer,
        memory=memory,
    )
    papers = dataset.nodes["paper"]
    found = gm.FeatureStore(done["paper"].path).tensor().argmax(dim=1).numpy()
    test = np.asarray(papers.splits["test"])
    return float((found == np.asarray(papers.labels))[test].mean()), len(found)


def main() -> None:
    """Reads the command line and runs all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where to put the files and mag/")
    parser.add_argument("--model", choices=MODELS, default="GraphSAGE", help="which to train")
    parser.add_argument("--nodes", type=int, default=3_000, help="how many papers")
    parser.add_argument("--epochs", type=int, default=8, help="how long to train")
    parser.add_argument("--batch-size", type=int, default=128, help="seeds of a batch")
    parser.add_argument("--memory", default="64MiB", help="for caches of rows, of all types")
    parser.add_argument("--seed", type=int, default=1, help="of all randomness")
    options = parser.parse_args()
    write_files(options.folder, options.nodes, options.seed)
    description = str(options.folder / "mag.toml")
    command = [sys.executable, "-m", "graphmount", "compile", "dataset", description, "--overwrite"]
    subprocess.run(command, check=True)  # noqa: S603  (our own command)
    torch.manual_seed(options.seed)

    def loader_of(split: str) -> NeighborLoader:
        return NeighborLoader(
            options.folder / "mag",
            num_neighbors=[10, 10],
            input_nodes=("paper", split),
            batch_size=options.batch_size,
            shuffle=split == "train",
            memory=options.memory,
            seed=options.seed,
        )

    loader = loader_of("train")
    batch = next(iter(loader))
    model = to_hetero(Layers(MODELS[options.model]), batch.metadata())
    with torch.no_grad():
        outputs(model, batch)  # layers find out the sizes of rows
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(options.epochs):
        model.train()
        total = 0.0
        for batch in loader:
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(outputs(model, batch), topics_of(batch))
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            total += float(loss.detach())
        print(f"epoch {epoch}: loss {total / len(loader):.3f}")
    print(loader.stats())
    print(f"accuracy of {options.model}: {accuracy(model, loader_of('test')):.3f}")
    share, count = infer_all(model, options.folder, options.memory)
    print(f"with all neighbors, out of the outputs of all {count:,} papers: {share:.3f}")


if __name__ == "__main__":
    main()
