"""Makes a small source as datasets come: CSV edges between names, features in .npy; compiles it.

People follow people. The edges are a compressed CSV whose ids are strings, the features and labels
are arrays in an order that a list of names gives, and the splits are masks in that order. Then a
batch is sampled by hand, to show that graph, features, labels and splits share one numbering.
"""

from __future__ import annotations

import argparse
import csv
import gzip
from pathlib import Path

import numpy as np

import graphmount as gm


def make_source(folder: Path, num_people: int, num_edges: int) -> list[str]:
    """Writes follows.csv.gz, x.npy and y.npy; returns the names, in the order of the rows."""
    generator = np.random.default_rng(11)
    names = [f"user-{number:06x}" for number in generator.permutation(1 << 24)[:num_people]]
    # Some are followed by many, and others follow many: the two are not the same people.
    followers = (num_people * generator.random(num_edges) ** 2).astype(np.int64)
    followed = generator.permutation(num_people)[
        (num_people * generator.random(num_edges) ** 4).astype(np.int64)
    ]
    with gzip.open(folder / "follows.csv.gz", "wt", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["follower", "followed", "years"])
        rows.writerows(
            (names[who], names[whom], int(years))
            for who, whom, years in zip(
                followers, followed, generator.integers(1, 10, num_edges), strict=True
            )
        )
    labels = generator.integers(0, 4, num_people)
    noise = generator.standard_normal((num_people, 16), dtype=np.float32)
    np.save(folder / "x.npy", noise + labels[:, None].astype(np.float32))
    np.save(folder / "y.npy", labels)
    return names


def compile_source(source: Path, out: Path, names: list[str]) -> gm.CompiledDataset:
    """Compiles all of it into one folder."""
    generator = np.random.default_rng(12)
    is_train = generator.random(len(names)) < 0.1
    return gm.compile_dataset(
        out,
        edges=gm.EdgeTable(
            source=source / "follows.csv.gz", columns=("follower", "followed"), weights="years"
        ),
        ids="map",
        node_ids=names,  # what row i of the arrays is called
        features={"x": gm.Table(source=source / "x.npy", dtype="float16")},
        labels=source / "y.npy",
        splits={"train": is_train, "test": ~is_train},
        dedup="first",
        overwrite=True,
    )


def show_batch(dataset: gm.Dataset, source: Path, names: list[str]) -> None:
    """One hop of sampling by hand, and a check that nothing was mixed up."""
    graph, x = dataset.graph, dataset.features["x"]
    generator = np.random.default_rng(13)
    seeds = dataset.splits["train"][:8]
    hops = [seeds]
    for seed in seeds:
        neighbors = graph.neighbors(int(seed))
        hops.append(generator.permutation(neighbors)[:10].astype(np.int64))
    batch = dataset.as_internal(np.unique(np.concatenate(hops)))
    rows = x.numpy()[batch]
    print(f"a batch of {len(batch)} nodes from {len(seeds)} seeds: features {rows.shape}")

    # Outside, nodes are names; the arrays of the source are by their positions.
    position = {name: place for place, name in enumerate(names)}
    places = [position[str(name)] for name in dataset.to_external(batch)]
    if not np.array_equal(rows, np.load(source / "x.npy")[places].astype(np.float16)):
        raise RuntimeError("features are not those of the source")
    if dataset.labels is None or (dataset.labels[batch] != np.load(source / "y.npy")[places]).any():
        raise RuntimeError("labels are not those of the source")
    print("features and labels are those of the source, node by node")


def main() -> None:
    """Reads the command line, makes the source and compiles it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where to put source/ and dataset/")
    parser.add_argument("--people", type=int, default=5_000, help="how many nodes")
    parser.add_argument("--edges", type=int, default=60_000, help="how many edges")
    options = parser.parse_args()
    source = options.folder / "source"
    source.mkdir(parents=True, exist_ok=True)
    names = make_source(source, options.people, options.edges)
    done = compile_source(source, options.folder / "dataset", names)
    print(f"{done.path}: {done.num_nodes:,} nodes, {done.num_edges:,} edges, {done.seconds:.2f} s")

    dataset = gm.Dataset(done.path)
    print(dataset)
    print("sizes of the splits:", {name: len(nodes) for name, nodes in dataset.splits.items()})
    appearances = np.bincount(dataset.graph.indices, minlength=dataset.num_nodes)
    tenth = dataset.num_nodes // 10
    share = appearances[:tenth].sum() / appearances.sum()
    print(f"the first tenth of the nodes is {share:.0%} of all neighbors")
    show_batch(dataset, source, names)


if __name__ == "__main__":
    main()
