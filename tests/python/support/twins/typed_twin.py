"""A slow twin of sampling over several types of nodes.

It knows each relation as plain lists. What was drawn it takes from the sample, edge by edge, and
checks that it could be drawn; everything else (who draws, how many, in which order, the numbers of
the nodes) it finds by itself.
"""

from __future__ import annotations

from sampling_twin import eligible, num_drawn


class TypedTwin:
    """The nodes and edges that a sample must have.

    Args:
        lists: For each relation, the `Lists` that are followed.
        direction: "in" if these lead from destinations to sources.
        seeds: For each type, its seeds; times: for each seed of all types, or None.
    """

    def __init__(self, lists, direction, types, seeds, times, *, disjoint):
        self.lists, self.direction, self.disjoint, self.times = lists, direction, disjoint, times
        self.nodes, self.trees, self.numbers = {}, {}, {}
        tree = 0
        for name in types:
            own = list(seeds.get(name, []))
            self.nodes[name] = own
            self.trees[name] = list(range(tree, tree + len(own)))
            tree += len(own)
            self.numbers[name] = {}
            for number, node in enumerate(own):
                self.numbers[name].setdefault(self.key(name, number, node), number)
        self.num_nodes = {name: [len(own)] for name, own in self.nodes.items()}
        self.ends = {relation: ([], []) for relation in lists}
        self.num_edges = {relation: [] for relation in lists}

    def key(self, target_type, target, node):
        return (self.trees[target_type][target] if self.disjoint else None, node)

    def sides(self, relation):
        """The types of targets and of neighbors."""
        source, _, destination = relation
        return (destination, source) if self.direction == "in" else (source, destination)

    def replay(self, fanouts, drawn, *, replace, weighted, timed, last):
        """Follows what was drawn: for each relation, the edge ids of its edges."""
        drawn = {relation: iter(ids) for relation, ids in drawn.items()}
        self.timed = timed
        begin = dict.fromkeys(self.nodes, 0)
        for hop in range(len(next(iter(fanouts.values())))):
            end = {name: len(own) for name, own in self.nodes.items()}
            for relation, lists in self.lists.items():
                target_type, neighbor_type = self.sides(relation)
                before = len(self.ends[relation][0])
                for target in range(begin[target_type], end[target_type]):
                    time = None
                    if self.times is not None and timed[relation]:
                        time = self.times[self.trees[target_type][target]]
                    entries = lists.of[self.nodes[target_type][target]]
                    choices = eligible(entries, weighted=weighted, time=time)
                    by_edge_id = {entry[1]: entry for entry in choices}
                    k = fanouts[relation][hop]
                    count = num_drawn(len(choices), k, replace=replace)
                    picks = [next(drawn[relation]) for _ in range(count)]
                    assert set(picks) <= set(by_edge_id), "drew what cannot be drawn"
                    if not replace or k == -1:
                        assert len(set(picks)) == count, "drew the same edge twice"
                    if last and k != -1 and timed[relation]:
                        latest = sorted(entry[3] for entry in choices)[len(choices) - count :]
                        assert sorted(by_edge_id[pick][3] for pick in picks) == latest
                    for pick in picks:
                        self.add(relation, target, by_edge_id[pick][0], neighbor_type)
                self.num_edges[relation].append(len(self.ends[relation][0]) - before)
            for name, own in self.nodes.items():
                self.num_nodes[name].append(len(own) - end[name])
            begin = end
        for rest in drawn.values():
            assert next(rest, None) is None, "drew more than was asked for"

    def add(self, relation, target, node, neighbor_type):
        target_type, _ = self.sides(relation)
        key = self.key(target_type, target, node)
        numbers = self.numbers[neighbor_type]
        if key not in numbers:
            numbers[key] = len(self.nodes[neighbor_type])
            self.nodes[neighbor_type].append(node)
            self.trees[neighbor_type].append(self.trees[target_type][target])
        self.ends[relation][0].append(numbers[key])
        self.ends[relation][1].append(target)

    def is_late(self, relation, target, entry):
        """Whether an edge is later than the tree of its target."""
        if self.times is None or not self.timed[relation]:
            return False
        return entry[3] > self.times[self.trees[self.sides(relation)[0]][target]]

    def edge_index(self, relation):
        """Sources and destinations."""
        neighbors, targets = self.ends[relation]
        return [neighbors, targets] if self.direction == "in" else [targets, neighbors]

    def induced(self, relation):
        """Sorted (neighbor number, target number, edge id) of all edges between sampled nodes."""
        target_type, neighbor_type = self.sides(relation)
        return sorted(
            (self.numbers[neighbor_type][key], target, entry[1])
            for target, node in enumerate(self.nodes[target_type])
            for entry in self.lists[relation].of[node]
            if (key := self.key(target_type, target, entry[0])) in self.numbers[neighbor_type]
            and not self.is_late(relation, target, entry)
        )
