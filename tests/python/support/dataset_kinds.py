"""What campaigns need of a dataset, be it of one kind of nodes or of many: inputs, tables, checks.

So each campaign is written once, and runs over both.
"""

from __future__ import annotations

import zlib

import loader_data
import numpy as np
import typed_loader_data as typed
from typed_loader_data import CITES, WRITES

import graphmount as gm


class OneKind:
    """Of a dataset of `loader_data`.

    Attributes:
        graph, store, labels: Its graph, its largest table, and its labels.
        table: What statistics call this table.
        edge_table: The name of a table of edges.
        inputs: What may be `input_nodes`.
    """

    table, edge_table = "x", "w"
    inputs = (None, "train")
    num_nodes = loader_data.NUM_NODES

    def __init__(self, dataset):
        self.dataset = dataset
        self.graph, self.store, self.labels = dataset.graph, dataset.features["x"], dataset.labels
        self.ids = dataset

    def nodes(self, count):
        """The first nodes, for `input_nodes` with ids="internal"."""
        return np.arange(count)

    def links(self, choice, count):
        """Any pairs of nodes, for `edge_label_index` with ids="internal"."""
        return [choice.choices(range(self.num_nodes), k=count) for _ in range(2)]

    def check(self, batch):
        """Every row and label is that of its node or edge."""
        loader_data.check_batch(batch, self.dataset)

    def arrays(self, batch):
        """Its arrays, in an order."""
        return [np.ascontiguousarray(array) for array in loader_data.arrays(batch)]

    def digest(self, batch):
        """A number that other batches do not have."""
        found = 0
        for array in self.arrays(batch):
            found = zlib.crc32(array, found)
        return found

    def check_form(self, batch, form):
        """The rows of a batch of arrays, tensors or PyG."""
        nodes = batch.n_id if form == "pyg" else batch.nodes
        rows = batch.x if form == "pyg" else batch.features["x"]
        self.check_rows(nodes, rows)

    def check_rows(self, nodes, rows):
        """These rows of `store` are those of these nodes."""
        external = np.asarray(self.ids.to_external(np.asarray(nodes)))
        np.testing.assert_array_equal(np.asarray(rows), loader_data.rows_of(external))

    def check_dataset(self, dataset):
        """Another handle of it has the same labels, splits and tables of edges."""
        np.testing.assert_array_equal(dataset.labels, np.asarray(self.labels))
        assert set(dataset.splits) == {"train"}
        rows = dataset.edge_features["w"].numpy()[:10]
        source_rows = dataset.graph.neighbor_lists().source_rows[:10]
        np.testing.assert_array_equal(rows, loader_data.edge_rows_of(source_rows))


class ManyKinds(OneKind):
    """Of a dataset of `typed_loader_data`; seeds are papers or authors, links are of authors."""

    table, edge_table = "paper/x", "writes"
    inputs = ("paper", ("paper", "train"), ("author", "train"))
    num_nodes = typed.COUNTS["paper"]

    def __init__(self, dataset):
        self.dataset, self.ids = dataset, dataset.nodes["paper"]
        self.graph, self.store = dataset.edges[CITES].graph, self.ids.features["x"]
        self.labels = self.ids.labels

    def nodes(self, count):
        return "paper", np.arange(count)

    def links(self, choice, count):
        ends = (WRITES[0], WRITES[2])
        return WRITES, [choice.choices(range(typed.COUNTS[kind]), k=count) for kind in ends]

    def check(self, batch):
        typed.check_rows(batch)

    def arrays(self, batch):
        return [np.ascontiguousarray(array) for array in typed.arrays_of(batch)]

    def check_form(self, batch, form):
        for kind, name in typed.TABLES:
            nodes = batch[kind].n_id if form == "pyg" else batch.nodes[kind]
            rows = batch[kind][name] if form == "pyg" else batch.features[kind][name]
            external = np.asarray(self.dataset.nodes[kind].to_external(np.asarray(nodes)))
            expected = typed.rows_of(kind, name, external)
            np.testing.assert_array_equal(np.asarray(rows).reshape(expected.shape), expected)

    def check_rows(self, nodes, rows):
        external = np.asarray(self.ids.to_external(np.asarray(nodes)))
        np.testing.assert_array_equal(np.asarray(rows), typed.rows_of("paper", "x", external))

    def check_dataset(self, dataset):
        np.testing.assert_array_equal(dataset.nodes["paper"].labels, np.asarray(self.labels))
        assert set(dataset.nodes["author"].splits) == {"train"}
        edges = dataset.edges[WRITES]
        rows = edges.features["writes"].numpy()[:10]
        source_rows = edges.graph.neighbor_lists().source_rows[:10]
        np.testing.assert_array_equal(rows, typed.edge_rows_of(source_rows))


def kind_of(dataset):
    """The one that fits."""
    return (ManyKinds if isinstance(dataset, gm.TypedDataset) else OneKind)(dataset)
