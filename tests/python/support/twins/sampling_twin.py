"""A slow twin of neighbor sampling.

It knows the graph as plain lists of edges. What was drawn it takes from the sample, edge by edge,
and checks that it could be drawn; everything else (which node draws, how many, the numbers of the
nodes, their order) it finds by itself.
"""

from __future__ import annotations

from collections import defaultdict


class Lists:
    """The lists of one direction: for each node, (neighbor, edge id, weight, time) in order."""

    def __init__(self, graph, direction):
        lists = graph.neighbor_lists(direction)
        self.of = defaultdict(list)
        for node in range(len(lists.indptr) - 1):
            for position in range(lists.indptr[node], lists.indptr[node + 1]):
                edge_id = position if lists.edge_ids is None else lists.edge_ids[position]
                weight = 1.0 if lists.weights is None else lists.weights[position]
                time = 0 if lists.timestamps is None else lists.timestamps[position]
                entry = (int(lists.indices[position]), int(edge_id), float(weight), int(time))
                self.of[node].append(entry)

    def by_neighbor_times(self, times):
        """The same lists, in which the time of an entry is that of its neighbor."""
        for entries in self.of.values():
            entries[:] = [(*entry[:3], int(times[entry[0]])) for entry in entries]
        return self


def eligible(entries, *, weighted, time):
    """The entries that can be drawn."""
    return [
        entry
        for entry in entries
        if (time is None or entry[3] <= time) and not (weighted and entry[2] <= 0)
    ]


def num_drawn(num_eligible, k, *, replace):
    if k == -1:
        return num_eligible
    if replace:
        return k if num_eligible else 0
    return min(k, num_eligible)


def replay(lists, seeds, fanouts, drawn, *, replace, weighted, disjoint, times, last):
    """(nodes, neighbors, targets, batch, nodes of each hop, edges of each hop) of what is drawn."""
    nodes = list(seeds)
    batch = list(range(len(seeds)))
    numbers = {}
    for number, node in enumerate(seeds):
        numbers.setdefault((number if disjoint else None, node), number)
    neighbors, targets = [], []
    num_nodes, num_edges = [len(seeds)], []
    drawn = iter(drawn)
    begin = 0
    for k in fanouts:
        end = len(nodes)
        edges_before = len(neighbors)
        for target in range(begin, end):
            time = None if times is None else times[batch[target]]
            choices = eligible(lists.of[nodes[target]], weighted=weighted, time=time)
            by_edge_id = {entry[1]: entry for entry in choices}
            count = num_drawn(len(choices), k, replace=replace)
            picks = [next(drawn) for _ in range(count)]
            assert set(picks) <= set(by_edge_id), "drew what cannot be drawn"
            if not replace or k == -1:
                assert len(set(picks)) == count, "drew the same edge twice"
            if last and k != -1:
                latest = sorted(entry[3] for entry in choices)[len(choices) - count :]
                assert sorted(by_edge_id[pick][3] for pick in picks) == latest
            for pick in picks:
                node = by_edge_id[pick][0]
                tree = batch[target] if disjoint else None
                if (tree, node) not in numbers:
                    numbers[tree, node] = len(nodes)
                    nodes.append(node)
                    batch.append(batch[target])
                neighbors.append(numbers[tree, node])
                targets.append(target)
        num_nodes.append(len(nodes) - end)
        num_edges.append(len(neighbors) - edges_before)
        begin = end
    assert next(drawn, None) is None, "drew more than was asked for"
    return nodes, neighbors, targets, batch, tuple(num_nodes), tuple(num_edges)


def induced(lists, nodes, batch, *, disjoint, times=None):
    """Sorted (neighbor number, target number, edge id) of all edges between sampled nodes.

    With the times of the seeds, only of edges that are not later than that of their tree.
    """
    numbers = {}
    for number, node in enumerate(nodes):
        numbers.setdefault((batch[number] if disjoint else None, node), number)
    return sorted(
        (numbers[key], target, entry[1])
        for target, node in enumerate(nodes)
        for entry in lists.of[node]
        if (key := (batch[target] if disjoint else None, entry[0])) in numbers
        and (times is None or entry[3] <= times[batch[target]])
    )
