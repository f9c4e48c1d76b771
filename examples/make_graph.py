"""Makes a synthetic graph with features, compiles both, and leaves two files to look at.

The graph is an R-MAT graph: many nodes with few neighbors, a few with very many, as in the web or
in citations. `graphmount info` says more of the files.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import graphmount as gm


def rmat_edges(
    scale: int, num_edges: int, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Edges of an R-MAT graph of 2**scale nodes, which are numbered at random."""
    src = np.zeros(num_edges, np.int64)
    dst = np.zeros(num_edges, np.int64)
    for _ in range(scale):
        # Which quarter of the adjacency matrix an edge falls into, one bit of both ids at a time.
        quarter = generator.choice(4, size=num_edges, p=[0.57, 0.19, 0.19, 0.05])
        src = src << 1 | quarter >> 1
        dst = dst << 1 | quarter & 1
    names = generator.permutation(1 << scale)
    return names[src], names[dst]


def main() -> None:
    """Reads the command line and makes the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where to put graph.gl and features.gd")
    parser.add_argument("--scale", type=int, default=18, help="the graph has 2**SCALE nodes")
    parser.add_argument("--degree", type=int, default=16, help="edges per node")
    parser.add_argument("--columns", type=int, default=64, help="features per node")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)

    generator = np.random.default_rng(7)
    num_nodes = 1 << options.scale
    edges = rmat_edges(options.scale, num_nodes * options.degree, generator)
    graph = gm.compile_graph(edges, options.folder / "graph.gl", num_nodes=num_nodes)
    print(f"{graph.path}: {graph.num_edges:,} edges in {graph.seconds:.2f} s")

    features = generator.standard_normal((num_nodes, options.columns), dtype=np.float32)
    table = gm.compile_features(features, options.folder / "features.gd", order=graph.path)
    print(f"{table.path}: {table.shape[0]:,} rows in {table.seconds:.2f} s")

    g, x = gm.Graph(graph.path), gm.FeatureStore(table.path)
    gm.check_order(g, x)
    hub = int(g.degree().argmax())
    rows = x.numpy()[g.neighbors(hub)]
    print(
        f"node {hub} has {len(rows):,} neighbors; their mean feature 0 is {rows[:, 0].mean():.3f}"
    )


if __name__ == "__main__":
    main()
