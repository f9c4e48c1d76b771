"""Makes a graph with planted communities, of any size, and compiles it: what other examples learn.

The label of a node is its community. Features hardly tell communities apart, but edges mostly stay
within one, so neighbors do: a model that looks at features alone does badly, and one that looks at
the graph does well. Sources of edges are skewed, as in real graphs: some nodes are in many lists.

The source is written block by block, so that it may be larger than memory.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import graphmount as gm

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

_BLOCK_NODES = 1 << 16


@dataclass(frozen=True, kw_only=True)
class Communities:
    """What graph to make.

    Attributes:
        num_nodes: How many nodes.
        num_communities: How many communities, of about the same size.
        degree: How many edges lead to each node.
        at_home: The share of edges that come from the same community; others come from anywhere.
        num_columns: How many features a node has.
        signal: How far apart communities are in the features, whose noise has a deviation of 1.
        train_share: The share of nodes to train on.
        test_share: The share of nodes for a test, and that for validation.
        seed: Of all randomness.
    """

    num_nodes: int
    num_communities: int = 8
    degree: int = 10
    at_home: float = 0.7
    num_columns: int = 32
    signal: float = 0.8
    train_share: float = 0.3
    test_share: float = 0.1
    seed: int = 3

    @property
    def feature_bytes(self) -> int:
        """The size of the table of features."""
        return 4 * self.num_nodes * self.num_columns


def make_communities(
    folder: Path, options: Communities, *, bars: bool | None = False
) -> gm.Dataset:
    """Writes the source below `folder`, compiles it, and removes the source.

    Args:
        folder: Where to put dataset/. One that is there already is replaced.
        options: What graph to make.
        bars: Whether to show progress bars; where there is a terminal, if None. Unless False, a
            line says what comes next.
    """
    folder.mkdir(parents=True, exist_ok=True)
    generator = np.random.default_rng(options.seed)
    labels = _draw_labels(options, generator)
    edges, rows = folder / "edges.npy", folder / "x.npy"
    num_edges = options.num_nodes * options.degree

    def say(text: str) -> None:
        if bars is not False:
            print(text, flush=True)

    say(f"writing {num_edges:,} edges to {edges}")
    _write(edges, _edge_blocks(labels, options, generator), (num_edges, 2), "<i8")
    say(f"writing {options.feature_bytes / 2**30:.2f} GiB of features to {rows}")
    _write(
        rows,
        _row_blocks(labels, options, generator),
        (options.num_nodes, options.num_columns),
        "<f4",
    )
    say(f"compiling both into {folder / 'dataset'}")
    gm.compile_dataset(
        folder / "dataset",
        edges=edges,
        num_nodes=options.num_nodes,
        features={"x": rows},
        labels=labels,
        splits=_splits(options, generator),
        memory="1GiB",
        progress=bars,
        overwrite=True,
    )
    edges.unlink()
    rows.unlink()
    return gm.Dataset(folder / "dataset")


def held_out_links(options: Communities) -> NDArray[np.int64]:
    """Pairs drawn as the edges of the graph were, one for each node, in ids of the source.

    Some of them are edges by chance; `Graph.has_edge` tells.
    """
    labels = _draw_labels(options, np.random.default_rng(options.seed))
    generator = np.random.default_rng([options.seed, 1])
    drawn = list(_edge_blocks(labels, replace(options, degree=1), generator))
    return np.concatenate(drawn)


def _draw_labels(options: Communities, generator: np.random.Generator) -> NDArray[np.int64]:
    return generator.integers(0, options.num_communities, options.num_nodes)


def _blocks(num_nodes: int) -> Iterable[NDArray[np.int64]]:
    for first in range(0, num_nodes, _BLOCK_NODES):
        yield np.arange(first, min(num_nodes, first + _BLOCK_NODES))


def _edge_blocks(
    labels: NDArray[np.int64], options: Communities, generator: np.random.Generator
) -> Iterable[NDArray[np.int64]]:
    members = np.argsort(labels, kind="stable")
    firsts = np.searchsorted(labels[members], np.arange(options.num_communities + 1))
    for nodes in _blocks(options.num_nodes):
        dst = np.repeat(nodes, options.degree)
        low, high = firsts[labels[dst]], firsts[labels[dst] + 1]
        skewed = generator.random(len(dst)) ** 2
        near = members[(low + skewed * (high - low)).astype(np.int64)]
        far = generator.integers(0, options.num_nodes, len(dst))
        src = np.where(generator.random(len(dst)) < options.at_home, near, far)
        yield np.stack([src, dst], axis=1)


def _row_blocks(
    labels: NDArray[np.int64], options: Communities, generator: np.random.Generator
) -> Iterable[NDArray[np.float32]]:
    shape = (options.num_communities, options.num_columns)
    centers = generator.standard_normal(shape, dtype=np.float32)
    centers *= options.signal / np.linalg.norm(centers, axis=1, keepdims=True)
    for nodes in _blocks(options.num_nodes):
        noise = generator.standard_normal((len(nodes), options.num_columns), dtype=np.float32)
        yield noise + centers[labels[nodes]]


def _splits(options: Communities, generator: np.random.Generator) -> dict[str, NDArray[np.int64]]:
    order = generator.permutation(options.num_nodes)
    train = int(options.num_nodes * options.train_share)
    test = int(options.num_nodes * options.test_share)
    return {
        "train": np.sort(order[:train]),
        "valid": np.sort(order[train : train + test]),
        "test": np.sort(order[train + test : train + 2 * test]),
    }


def _write(
    path: Path, blocks: Iterable[NDArray[np.generic]], shape: tuple[int, int], dtype: str
) -> None:
    """An `.npy` file, whose array is never in memory as a whole."""
    with path.open("wb") as file:
        header = {"descr": dtype, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        for block in blocks:
            block.tofile(file)


def main() -> None:
    """Reads the command line and makes the dataset."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where to put dataset/")
    parser.add_argument("--nodes", type=int, default=5_000, help="how many nodes")
    options = parser.parse_args()
    dataset = make_communities(options.folder, Communities(num_nodes=options.nodes), bars=None)
    print(dataset)
    print("sizes of the splits:", {name: len(ids) for name, ids in dataset.splits.items()})


if __name__ == "__main__":
    main()
