"""The structure of batches of `typed_loader_data`, against the slow twin of typed sampling."""

from __future__ import annotations

import numpy as np
from sampling_twin import Lists
from typed_loader_data import AT, COUNTS, REV_AT
from typed_twin import TypedTwin


def lists_of(dataset, direction="in"):
    return {kind: Lists(edges.graph, direction) for kind, edges in dataset.edges.items()}


def check_against_twin(batch, lists, fanouts, seeds, *, times=None, direction="in", **rule):
    """The structure of a batch is that of the slow twin, which follows what was drawn."""
    rule = {"replace": False, "weighted": False, "last": False, **rule}
    disjoint = rule.pop("disjoint", False) or times is not None
    timed = {relation: relation not in (AT, REV_AT) for relation in lists}
    twin = TypedTwin(lists, direction, list(COUNTS), seeds, times, disjoint=disjoint)
    drawn = {relation: ids.tolist() for relation, ids in batch.edge_ids.items()}
    twin.replay(fanouts, drawn, timed=timed, **rule)
    assert {name: np.asarray(own).tolist() for name, own in batch.nodes.items()} == twin.nodes
    for relation, ends in batch.edge_index.items():
        assert ends.tolist() == twin.edge_index(relation)
        assert batch.num_sampled_edges[relation] == tuple(twin.num_edges[relation])
    assert batch.num_sampled_nodes == {n: tuple(found) for n, found in twin.num_nodes.items()}
    return twin
