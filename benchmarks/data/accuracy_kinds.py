"""A labelled graph of several types of nodes in memory, for comparing accuracies: planted topics.

The rows of a paper hardly tell its topic. Most of an author's papers have the topic of the author,
most papers of a venue that of the venue, and most citations stay within a topic; authors and venues
have rows that tell nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import graphmount as gm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Relation = tuple[str, str, str]

SEED_TYPE = "paper"
_COLUMNS = {"paper": 16, "author": 4, "venue": 3}
_STAYS = 0.7  # how often an edge stays within a topic


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelledKinds:
    """Edges by relation and rows by type, as arrays; papers have labels, and two splits.

    Reverse relations are not among the edges.
    """

    name: str
    edges: dict[Relation, NDArray[np.int64]]
    x: dict[str, NDArray[np.float32]]
    labels: NDArray[np.int64]
    train: NDArray[np.int64]
    test: NDArray[np.int64]

    @property
    def num_classes(self) -> int:
        """How many labels there are."""
        return int(self.labels.max()) + 1

    @property
    def both_ways(self) -> dict[Relation, NDArray[np.int64]]:
        """The edges with their reverse relations, named as PyG names them."""
        reverse = {
            (destination, f"rev_{name}", source): ends[::-1].copy()
            for (source, name, destination), ends in self.edges.items()
        }
        return self.edges | reverse

    def compile(self, folder: str) -> gm.TypedDataset:
        """The same as files. Nodes of each type are numbered anew there, hot ones first."""
        papers: dict[str, Any] = {
            "labels": self.labels,
            "splits": {"train": self.train, "test": self.test},
        }
        gm.compile_dataset(
            folder,
            nodes={
                name: gm.Nodes(features={"x": rows}, **(papers if name == SEED_TYPE else {}))
                for name, rows in self.x.items()
            },
            edges=self.edges,
            reverse=True,
        )
        dataset = gm.Dataset(folder)
        assert isinstance(dataset, gm.TypedDataset)
        return dataset


def planted_topics(num_papers: int, *, num_topics: int = 4, seed: int = 5) -> LabelledKinds:
    """Twice as many papers as authors, and a venue for every fifty papers."""
    generator = np.random.default_rng(seed)
    counts = {"paper": num_papers, "author": num_papers // 2, "venue": num_papers // 50}
    topics = {name: generator.integers(0, num_topics, count) for name, count in counts.items()}
    of_topic = [np.flatnonzero(topics["paper"] == topic) for topic in range(num_topics)]

    def edges_from(kind: str, count: int) -> NDArray[np.int64]:
        sources = generator.integers(0, counts[kind], count)
        papers = generator.integers(0, num_papers, count)
        for topic, own in enumerate(of_topic):
            stay = (topics[kind][sources] == topic) & (generator.random(count) < _STAYS)
            papers[stay] = generator.choice(own, int(stay.sum()))
        return np.stack([sources, papers])

    rows = {
        name: generator.standard_normal((counts[name], columns))
        for name, columns in _COLUMNS.items()
    }
    hints = 0.25 * generator.standard_normal((num_topics, _COLUMNS["paper"]))
    rows["paper"] += hints[topics["paper"]]
    order = generator.permutation(num_papers)
    return LabelledKinds(
        name=f"planted topics, {num_papers:,} papers of three kinds of nodes",
        edges={
            ("paper", "cites", "paper"): edges_from("paper", 4 * num_papers),
            ("author", "writes", "paper"): edges_from("author", 3 * num_papers),
            ("venue", "prints", "paper"): edges_from("venue", num_papers),
        },
        x={name: own.astype(np.float32) for name, own in rows.items()},
        labels=topics["paper"],
        train=np.sort(order[: num_papers // 2]),
        test=np.sort(order[num_papers // 2 :]),
    )
