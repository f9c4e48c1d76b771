"""A slow twin of what a loader of links puts into a batch, link by link, in plain Python.

It takes what was drawn from the batch, checks that it could be drawn, and finds everything else by
itself: which links the batch has, its seeds, labels, times, and the link of every tree. With a
graph for the tests of these loaders.
"""

from __future__ import annotations

import math

import numpy as np

import graphmount as gm


class LinkTwin:
    """What a loader was made of: `links` and `edges` are lists of (source, destination)."""

    def __init__(
        self, links, edges, num_nodes, *, mode=None, amount=1, labels=None, times=None, trees=False
    ):
        self.links = [tuple(map(int, link)) for link in links]
        self.edges = set(edges)
        self.num_nodes = num_nodes
        self.mode = mode
        self.amount = amount
        self.labels = labels
        self.times = times
        self.trees = trees or times is not None

    def check(self, batch):
        """Whether all that a batch says of its links is so."""
        nodes = batch.nodes.tolist()
        inputs = [self.links[place] for place in batch.input_ids]
        if self.mode == "triplet":
            pairs = self._triplets(batch, nodes, inputs)
        else:
            pairs = self._pairs(batch, nodes, inputs)
        self._check_negatives(pairs[len(inputs) :])
        self._check_times(batch, len(inputs), len(pairs))

    def _pairs(self, batch, nodes, inputs):
        assert batch.src_index is None
        assert batch.dst_pos_index is None
        assert batch.dst_neg_index is None
        num_negatives = math.ceil(len(inputs) * self.amount) if self.mode == "binary" else 0
        sources, destinations = batch.edge_label_index.tolist()
        assert len(sources) == len(destinations) == len(inputs) + num_negatives
        pairs = [(nodes[s], nodes[d]) for s, d in zip(sources, destinations, strict=True)]
        assert pairs[: len(inputs)] == inputs
        self._check_seeds(batch, nodes, sources + destinations)
        self._check_trees(batch, [place % len(inputs) for place in range(len(sources))] * 2)
        self._check_labels(batch, num_negatives)
        return pairs

    def _triplets(self, batch, nodes, inputs):
        assert batch.edge_label_index is None
        assert batch.edge_label is None
        sources, destinations = batch.src_index.tolist(), batch.dst_pos_index.tolist()
        negatives = batch.dst_neg_index.tolist()
        assert [len(row) for row in negatives] == [self.amount] * len(inputs)
        pairs = [(nodes[s], nodes[d]) for s, d in zip(sources, destinations, strict=True)]
        assert pairs == inputs
        # Seeds have the first negative of every link, then the second of every link, …
        by_draw = [row[draw] for draw in range(self.amount) for row in negatives]
        self._check_seeds(batch, nodes, sources + destinations + by_draw)
        self._check_trees(batch, list(range(len(inputs))) * (2 + self.amount))
        for source, row in zip(sources, negatives, strict=True):
            pairs += [(nodes[source], nodes[number]) for number in row]
        return pairs

    def _check_seeds(self, batch, nodes, ends):
        seeds = nodes[: batch.num_sampled_nodes[0]]
        if self.trees:
            assert ends == list(range(len(seeds)))
        else:
            assert seeds == sorted({nodes[end] for end in ends})

    def _check_trees(self, batch, link_of_seed):
        if not self.trees:
            assert batch.batch is None
            return
        tree = batch.batch.tolist()
        assert tree[: len(link_of_seed)] == link_of_seed
        for row, col in zip(batch.row.tolist(), batch.col.tolist(), strict=True):
            assert tree[row] == tree[col]

    def _check_labels(self, batch, num_negatives):
        if self.labels is None and self.mode is None:
            assert batch.edge_label is None
            return
        places = batch.input_ids.tolist()
        if self.labels is None:
            expected = [1] * len(places)
        else:
            shift = 1 if self.mode == "binary" and min(self.labels) == 0 else 0
            expected = [self.labels[place] + shift for place in places]
        assert batch.edge_label.tolist() == expected + [0] * num_negatives

    def _check_negatives(self, pairs):
        for source, destination in pairs:
            if (source, destination) in self.edges or source == destination:
                reached = {end for start, end in self.edges if start == source}
                assert reached | {source} == set(range(self.num_nodes))

    def _check_times(self, batch, num_links, num_pairs):
        if self.times is None:
            assert batch.edge_label_time is None
            return
        places = batch.input_ids.tolist()
        count = num_links if self.mode == "triplet" else num_pairs
        expected = [self.times[places[place % num_links]] for place in range(count)]
        assert batch.edge_label_time.tolist() == expected


def edges_of(graph):
    """All edges, in the order of their ids: (2, edges)."""
    col = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    return np.stack([graph.indices.astype(np.int64), col])


def twin_of(graph, links, **options):
    return LinkTwin(links.T, map(tuple, edges_of(graph).T.tolist()), graph.num_nodes, **options)


def make_link_graph(folder):
    """A graph of 30 nodes with everything, one of which is the source of edges to all others."""
    path = folder / "small.gl"
    generator = np.random.default_rng(5)
    src, dst = generator.integers(0, 30, (2, 120))
    src = np.append(src, np.full(30, 7))
    dst = np.append(dst, np.arange(30))
    gm.compile_graph(
        (src, dst),
        path,
        weights=generator.random(150),
        timestamps=generator.integers(0, 50, 150),
        num_nodes=30,
    )
    return gm.Graph(path)
