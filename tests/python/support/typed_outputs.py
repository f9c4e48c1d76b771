"""A model over several types of nodes that tells relations, directions and nodes apart.

Each relation has a matrix of its own, and messages are means over edges. Types without rows have a
constant row. So the output for a node changes if edges of two relations are swapped, if one is
turned, or if rows are those of other nodes.
"""

from __future__ import annotations

import numpy as np
import torch
from typed_loader_data import COUNTS, TABLES, rows_of, source_edges

WIDTH = 6


class WholeModel:
    """Two layers, with weights that are the same every time.

    Args:
        dataset: Whose types and relations they are for.
    """

    def __init__(self, dataset):
        generator = torch.Generator().manual_seed(1)
        self.types, self.relations = dataset.node_types, dataset.edge_types
        self.widths = {
            name: dataset.nodes[name].features["x"].shape[1]
            if "x" in dataset.nodes[name].features
            else 1
            for name in self.types
        }
        self.layers = []
        for first in (True, False):
            widths = self.widths if first else dict.fromkeys(self.types, WIDTH)
            own = {
                name: torch.randn(widths[name], WIDTH, generator=generator) * 0.1
                for name in self.types
            }
            along = {
                relation: torch.randn(widths[relation[0]], WIDTH, generator=generator) * 0.1
                for relation in self.relations
            }
            self.layers.append((own, along))

    def rows(self, x, counts):
        """The rows of each type; small ones, so that no function is at its limit."""
        return {
            name: torch.sin(x[name] * 0.1) if name in x else torch.ones(counts[name], 1)
            for name in self.types
        }

    def __call__(self, x, edge_index, counts):
        rows = self.rows(x, counts)
        for own, along in self.layers:
            out = {name: rows[name] @ own[name] for name in self.types}
            for relation in self.relations:
                source, destination = edge_index[relation]
                sums = torch.zeros(len(rows[relation[2]]), rows[relation[0]].shape[1])
                sums.index_add_(0, destination, rows[relation[0]][source])
                degrees = torch.bincount(destination, minlength=len(sums)).clamp(min=1)
                out[relation[2]] = out[relation[2]] + sums / degrees[:, None] @ along[relation]
            rows = {name: torch.tanh(values) for name, values in out.items()}
        return rows

    def by_matrices(self, x, adjs, num_sampled_nodes):
        """The same over the matrices of layers, which leave out what no later layer needs."""
        rows = self.rows(x, {name: sum(counts) for name, counts in num_sampled_nodes.items()})
        for layer, (own, along) in enumerate(self.layers):
            hops = len(self.layers) - layer
            targets = {name: sum(counts[:hops]) for name, counts in num_sampled_nodes.items()}
            out = {name: rows[name][: targets[name]] @ own[name] for name in self.types}
            for relation in self.relations:
                adj = adjs[relation][layer]
                means = torch.sparse.mm(adj, rows[relation[0]][: adj.shape[1]])
                degrees = torch.diff(adj.crow_indices()).clamp(min=1)
                out[relation[2]] = out[relation[2]] + means / degrees[:, None] @ along[relation]
            rows = {name: torch.tanh(values) for name, values in out.items()}
        return rows


def whole_outputs(model, dataset):
    """What the model gives on the whole graph, by internal ids.

    It is computed from the arrays that were compiled, in their own ids: without files or loaders.
    """
    edges = {}
    for relation, ends in source_edges().items():
        edges[relation] = torch.from_numpy(ends)
        source, name, destination = relation
        edges[destination, f"rev_{name}", source] = torch.from_numpy(ends[::-1].copy())
    x = {
        kind: torch.from_numpy(rows_of(kind, name, np.arange(COUNTS[kind])))
        for kind, name in TABLES
        if name == "x"
    }
    outputs = model(x, edges, COUNTS)
    return {
        kind: own[np.asarray(dataset.nodes[kind].to_external(np.arange(COUNTS[kind])))]
        for kind, own in outputs.items()
    }
