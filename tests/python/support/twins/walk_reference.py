"""Slow, obviously correct twins of random walks: exact probabilities, from plain lists."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np


def entries_of(graph, direction, *, weighted):
    """For each node, its list of (neighbor, weight)."""
    lists = graph.neighbor_lists(direction)
    weights = lists.weights if weighted else np.ones(graph.num_edges)
    entries = list(zip(lists.indices.tolist(), weights.tolist(), strict=True))
    bounds = lists.indptr.tolist()
    return [entries[bounds[node] : bounds[node + 1]] for node in range(graph.num_nodes)]


def step_probabilities(entries, node, before=None, *, p=1.0, q=1.0):
    """The probability of each next node, after a step from `before`; zeros at a dead end."""
    found = np.zeros(len(entries))
    for neighbor, weight in entries[node]:
        if before is None:
            bias = 1.0
        elif neighbor == before:
            bias = 1.0 / p
        elif any(neighbor == other for other, _ in entries[before]):
            bias = 1.0
        else:
            bias = 1.0 / q
        found[neighbor] += weight * bias
    return found / found.sum() if found.sum() > 0 else found


def transition_matrix(entries):
    """First-order steps; a dead end leads to itself."""
    rows = [step_probabilities(entries, node) for node in range(len(entries))]
    for node, row in enumerate(rows):
        if row.sum() == 0:
            row[node] = 1.0
    return np.array(rows)


def walk_distributions(entries, start, length, *, restart):
    """The distribution of a first-order walk that stays at dead ends, at each step."""
    matrix = transition_matrix(entries)
    now = np.zeros(len(entries))
    now[start] = 1.0
    found = [now]
    for _ in range(length):
        now = (1 - restart) * (now @ matrix)
        now[start] += restart
        found.append(now)
    return np.array(found)


def personalized_pagerank(entries, start, restart):
    """By power iteration, until nothing moves."""
    matrix = transition_matrix(entries)
    now = np.zeros(len(entries))
    now[start] = 1.0
    for _ in range(10_000):
        after = (1 - restart) * (now @ matrix)
        after[start] += restart
        if np.abs(after - now).sum() < 1e-15:
            return after
        now = after
    raise AssertionError("it does not converge")


def window_pairs(walks, window):
    """Skip-gram pairs of rows without restarts; -1 is the end."""
    pairs = []
    for row in walks.tolist():
        nodes = [node for node in row if node >= 0]
        for i, center in enumerate(nodes):
            near = range(max(0, i - window), min(len(nodes), i + window + 1))
            pairs += [(center, nodes[j]) for j in near if j != i]
    return pairs


def visits_of(walks, num_walks):
    """For each start, [(node, count), …], most visits first."""
    found = []
    for first in range(0, len(walks), num_walks):
        counts = Counter(walks[first : first + num_walks].ravel().tolist())
        counts.pop(-1, None)
        found.append(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    return found


def visits_by_start(visits):
    """The same of a VisitCounts."""
    items = list(zip(visits.nodes.tolist(), visits.counts.tolist(), strict=True))
    bounds = visits.indptr.tolist()
    return [items[begin:end] for begin, end in pairwise(bounds)]
