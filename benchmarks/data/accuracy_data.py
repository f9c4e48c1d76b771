"""Labelled graphs in memory, for comparing accuracies: planted communities, and a real graph.

The real one is Zachary's karate club, which NetworkX brings along: who went with whom when the club
split is what there is to find. It has no features but who a node is, so those are its identity.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import graphmount as gm

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelledGraph:
    """A graph as arrays: edges, a row of features and a label for each node, and two splits."""

    name: str
    edges: NDArray[np.int64]
    x: NDArray[np.float32]
    labels: NDArray[np.int64]
    train: NDArray[np.int64]
    test: NDArray[np.int64]

    @property
    def num_classes(self) -> int:
        """How many labels there are."""
        return int(self.labels.max()) + 1

    def compile(self, folder: str) -> gm.Dataset:
        """The same as files. Nodes are numbered anew there, hot ones first."""
        gm.compile_dataset(
            folder,
            edges=self.edges,
            num_nodes=len(self.labels),
            features={"x": self.x},
            labels=self.labels,
            splits={"train": self.train, "test": self.test},
        )
        return gm.Dataset(folder)


def planted_communities(
    num_nodes: int, *, num_communities: int = 4, degree: int = 8, seed: int = 5
) -> LabelledGraph:
    """Features hardly tell communities apart, but seven of ten edges stay within one."""
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, num_communities, num_nodes)
    members = np.argsort(labels, kind="stable")
    firsts = np.searchsorted(labels[members], np.arange(num_communities + 1))
    dst = np.repeat(np.arange(num_nodes), degree)
    low, high = firsts[labels[dst]], firsts[labels[dst] + 1]
    near = members[(low + generator.random(len(dst)) * (high - low)).astype(np.int64)]
    far = generator.integers(0, num_nodes, len(dst))
    src = np.where(generator.random(len(dst)) < 0.7, near, far)
    centers = 0.25 * generator.standard_normal((num_communities, 16))
    x = generator.standard_normal((num_nodes, 16)) + centers[labels]
    order = generator.permutation(num_nodes)
    return LabelledGraph(
        name=f"planted communities, {num_nodes:,} nodes",
        edges=np.stack([src, dst]),
        x=x.astype(np.float32),
        labels=labels,
        train=np.sort(order[: num_nodes // 2]),
        test=np.sort(order[num_nodes // 2 :]),
    )


def karate_club(*, seed: int = 5) -> LabelledGraph:
    """Four members of each side are known; the others are to be found."""
    club: Any = importlib.import_module("networkx").karate_club_graph()
    ends = np.array(list(club.edges), np.int64).T
    labels = np.array([int(club.nodes[node]["club"] == "Officer") for node in club], np.int64)
    generator = np.random.default_rng(seed)
    known = [generator.permutation(np.flatnonzero(labels == side))[:4] for side in (0, 1)]
    train = np.sort(np.concatenate(known))
    return LabelledGraph(
        name="karate club",
        edges=np.concatenate([ends, ends[::-1]], axis=1),
        x=np.eye(len(labels), dtype=np.float32),
        labels=labels,
        train=train,
        test=np.setdiff1d(np.arange(len(labels)), train),
    )
