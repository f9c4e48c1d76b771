"""A script for graphzero 0.2, with one line changed: the import.

It writes a graph of communities and noisy features as CSV, converts both, walks, samples neighbors,
and trains a classifier on the means of their features. Every call of graphzero's is in it. With
`import graphzero as gz` in the place of the import below it runs as well, and prints the same
shapes. Every node has more than K neighbors: graphzero would fill shorter rows with node 0.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch

import graphmount.graphzero as gz

K = 5


def write_tables(folder: Path, num_nodes: int, generator: np.random.Generator) -> np.ndarray:
    """Writes edges.csv and features.csv; returns the community of each node."""
    labels = generator.integers(0, 2, num_nodes)
    members = [np.flatnonzero(labels == label) for label in (0, 1)]
    with (folder / "edges.csv").open("w") as file:
        file.write("src,dst,weight\n")
        for node in range(num_nodes):
            near = generator.choice(members[labels[node]], 8, replace=False)
            far = generator.choice(members[1 - labels[node]], 2, replace=False)
            file.writelines(f"{node},{other},1.0\n" for other in near)
            file.writelines(f"{node},{other},0.25\n" for other in far)
    values = generator.standard_normal((num_nodes, 8)) + 0.6 * (2 * labels[:, None] - 1)
    with (folder / "features.csv").open("w") as file:
        file.write("node," + ",".join(f"x{column}" for column in range(8)) + "\n")
        for node, row in enumerate(values):
            file.write(f"{node}," + ",".join(f"{value:.6f}" for value in row) + "\n")
    return labels


def main() -> None:
    """Reads the command line and runs all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where to put the tables and the files")
    parser.add_argument("--nodes", type=int, default=400, help="how many nodes")
    options = parser.parse_args()
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    labels = write_tables(folder, options.nodes, np.random.default_rng(5))

    gz.convert_csv_to_gl(
        csv_path=str(folder / "edges.csv"), out_path=str(folder / "graph.gl"), directed=True
    )
    gz.convert_csv_to_gd(
        csv_path=str(folder / "features.csv"),
        out_path=str(folder / "features.gd"),
        dtype=gz.DataType.FLOAT32,
    )
    g = gz.Graph(str(folder / "graph.gl"))
    fs = gz.FeatureStore(str(folder / "features.gd"))
    print("graph:", g.num_nodes, g.num_edges, g.has_weights)
    print("features:", fs.num_nodes, fs.feature_dim, fs.get_data(0).dtype)
    print("node 0:", g.get_degree(0), sorted(g.get_neighbours(0).tolist()))
    print("weights of node 0:", sorted(g.get_weights(node_id=0).tolist()))
    print("a sample:", g.sample_neighbours(start_node=0, K=K).shape)

    nodes = np.arange(g.num_nodes).astype(np.uint64)
    walks = g.batch_random_walk(start_nodes=nodes, walk_length=10, p=1.0, q=0.5)
    stayed = (labels[walks[:, 1]] == labels[walks[:, 0]]).mean()
    print("walks:", walks.shape, walks.dtype, "mostly at home:", bool(stayed > 0.8))
    print("uniform walks:", g.batch_random_walk_uniform(nodes, walk_length=4).shape)

    fanout = g.batch_random_fanout(start_nodes=nodes, K=K)
    print("fanout:", fanout.shape, fanout.dtype)
    x = torch.from_numpy(fs.get_tensor())
    inputs = torch.cat([x, x[torch.from_numpy(fanout)].mean(dim=1)], dim=1)
    targets = torch.from_numpy(labels)
    is_train = torch.arange(len(targets)) % 2 == 0
    torch.manual_seed(0)
    model = torch.nn.Linear(inputs.shape[1], 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(100):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(inputs[is_train]), targets[is_train])
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    hits = model(inputs).argmax(dim=1)[~is_train] == targets[~is_train]
    print("more than nine of ten are right:", bool(hits.float().mean() > 0.9))


if __name__ == "__main__":
    main()
