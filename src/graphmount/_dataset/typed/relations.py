"""Some types of nodes and the relations between them, and what a caller says of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from graphmount._mount.sampling_rule import SamplingRule
from graphmount._support.arguments import as_ids
from graphmount._support.shown import shown
from graphmount.errors import MissingDataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from graphmount import _core
    from graphmount._dataset.typed.results import EdgeType, Fanouts
    from graphmount._mount.features import FeatureStore
    from graphmount._mount.graph import Graph
    from graphmount._mount.sampling_rule import TimeOf
    from graphmount._support.direction import Direction


#: What stands for all relations that are not named.
DEFAULT: Final = "default"


class Relations:
    """Types with their numbers of nodes, and the graphs of relations in the order they go in.

    Attributes:
        num_nodes: How many nodes each type has.
        graphs: The edges of each relation.
        node_times: The times of nodes, of the types that have them: one column of int64 each.
    """

    def __init__(
        self,
        num_nodes: Mapping[str, int],
        graphs: Mapping[EdgeType, Graph],
        node_times: Mapping[str, FeatureStore] | None = None,
    ) -> None:
        self.num_nodes = dict(num_nodes)
        self.graphs = dict(graphs)
        self.node_times = dict(node_times or {})
        self._numbers = {name: number for number, name in enumerate(self.num_nodes)}

    def core_types(self) -> list[tuple[int, _core.FeatureMatrix | None]]:
        """The types as the core takes them."""
        return [
            (count, self.node_times[name]._open() if name in self.node_times else None)  # noqa: SLF001
            for name, count in self.num_nodes.items()
        ]

    def core_relations(
        self, fanouts: Mapping[EdgeType, list[int]]
    ) -> list[tuple[_core.Graph, int, int, list[int]]]:
        """The relations as the core takes them."""
        return [
            (graph._open(), *self.ends(relation), fanouts[relation])  # noqa: SLF001
            for relation, graph in self.graphs.items()
        ]

    def ends(self, relation: EdgeType) -> tuple[int, int]:
        """The numbers of the types of a relation: of sources, and of destinations."""
        return self._numbers[relation[0]], self._numbers[relation[2]]

    def relation(self, relation: Any, argument: str) -> EdgeType:  # noqa: ANN401
        """A relation that a caller names.

        Raises:
            ValueError: There is no such relation.
        """
        if isinstance(relation, list):
            relation = tuple(relation)
        is_name = isinstance(relation, tuple) and all(isinstance(part, str) for part in relation)
        if not is_name or relation not in self.graphs:
            known = ", ".join(map(str, self.graphs))
            advice = self._advice(relation) if is_name and len(relation) == 3 else ""
            raise ValueError(
                f"{argument}: there is no relation {shown(relation)}; there are {known}{advice}"
            )
        found: EdgeType = relation
        return found

    def _advice(self, relation: EdgeType) -> str:
        """What was meant, perhaps, by a relation that joins other types."""
        source, name, destination = relation
        if (destination, name, source) in self.graphs:
            return f". {name!r} leads from {shown(destination)} to {shown(source)}: turn it round"
        others = [known for known in self.graphs if known[1] == name]
        return f". {name!r} leads from {others[0][0]!r} to {others[0][2]!r}" if others else ""

    def type(self, name: object, argument: str) -> str:
        """A node type that a caller names.

        Raises:
            ValueError: There is no such type.
        """
        if not isinstance(name, str) or name not in self.num_nodes:
            known = ", ".join(map(repr, self.num_nodes))
            raise ValueError(f"{argument}: there is no node type {shown(name)}; there are {known}")
        return name

    def reverse_of(self, relation: EdgeType) -> EdgeType | None:
        """The relation of the same edges the other way, by its name."""
        source, name, destination = relation
        other = name.removeprefix("rev_") if name.startswith("rev_") else f"rev_{name}"
        reverse = (destination, other, source)
        return reverse if reverse in self.graphs else None

    def partner_of(self, relation: EdgeType) -> EdgeType | None:
        """The reverse of a relation by its name, or the only one that leads back."""
        named = self.reverse_of(relation)
        if named is not None or relation[0] == relation[2]:
            return named
        back = [
            other for other in self.graphs if (other[2], other[0]) == (relation[0], relation[2])
        ]
        return back[0] if len(back) == 1 else None

    def outgoing(self, relation: EdgeType) -> tuple[Graph, Direction]:
        """Lists by which a relation is followed from its sources."""
        graph = self.graphs[relation]
        if "out" in graph.directions:
            return graph, "out"
        reverse = self.reverse_of(relation)
        if reverse is None or "in" not in self.graphs[reverse].directions:
            raise MissingDataError(
                f"{graph.path} has no outgoing edges to walk along; compile the dataset with "
                "reverse=True, or this relation with directions for both"
            )
        return self.graphs[reverse], "in"

    def fanouts(self, fanouts: Fanouts, argument: str = "fanouts") -> dict[EdgeType, list[int]]:
        """The fanouts of every relation, checked; `argument` is what the caller calls them.

        PyG's `NumNeighbors` is understood too.
        """
        if callable(by_relation := getattr(fanouts, "get_values", None)):
            fanouts = by_relation(list(self.graphs))
        if not isinstance(fanouts, Mapping):
            rule = SamplingRule(fanouts=fanouts, argument=argument)
            return {relation: list(rule.fanouts) for relation in self.graphs}
        given = {
            relation if relation == DEFAULT else self.relation(relation, argument): list(
                SamplingRule(fanouts=counts, argument=f"{argument}[{relation!r}]").fanouts
            )
            for relation, counts in fanouts.items()
        }
        for relation in self.graphs:
            if relation not in given and DEFAULT not in given:
                raise ValueError(
                    f"{argument} has no entry for {relation}; give one for every relation, "
                    "[0] * hops for those that are not to be followed, or 'default': a list for "
                    "all others"
                )
        hops = {relation: len(counts) for relation, counts in given.items()}
        if len(set(hops.values())) > 1:
            raise ValueError(
                f"{argument}: the number of hops must be the same across all edge types, not {hops}"
            )
        return {
            relation: given[relation if relation in given else DEFAULT] for relation in self.graphs
        }

    def seeds(self, seeds: Any) -> dict[str, NDArray[np.int64]]:  # noqa: ANN401
        """The seeds of each type that has some, checked."""
        if isinstance(seeds, tuple) and len(seeds) == 2 and isinstance(seeds[0], str):
            seeds = {seeds[0]: seeds[1]}
        if not isinstance(seeds, Mapping):
            raise TypeError(
                "seeds must be a type and its nodes, such as ('paper', [0, 1]), or a dict of them, "
                f"not {shown(seeds)}"
            )
        return {self.type(name, "seeds"): as_ids(ids, "seeds") for name, ids in seeds.items()}

    def times(
        self,
        seeds: Mapping[str, NDArray[np.int64]],
        time: Any,  # noqa: ANN401
        time_of: TimeOf,
    ) -> dict[str, NDArray[np.int64]]:
        """The times of the seeds of each type: those that are given, or those that nodes have.

        Raises:
            MissingDataError: Nodes are to have times, and do not.
        """
        if time is None:
            if time_of == "edges":
                raise ValueError("time_of='edges' needs time=, the time of each seed")
            return {name: self._own_times(name, nodes) for name, nodes in seeds.items()}
        if not isinstance(time, Mapping):
            if len(seeds) != 1:
                raise ValueError("time: give the times of each type of seeds, by its name")
            time = {next(iter(seeds)): time}
        return {self.type(name, "time"): as_ids(given, "time") for name, given in time.items()}

    def _own_times(self, name: str, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        if not len(nodes):
            return nodes
        if name not in self.node_times:
            raise MissingDataError(
                f"nodes of type {name!r} have no times of their own to begin with; give time=, the "
                "time of each seed, or compile the dataset with timestamps= for this type"
            )
        return self.node_times[name]._gather(nodes).reshape(-1)  # noqa: SLF001

    def time_of(self, direction: Direction) -> TimeOf:
        """Whose times count where the caller does not say: of those that have some.

        Raises:
            ValueError: Both edges and nodes have times.
            MissingDataError: Neither has.
        """
        end = 0 if direction == "in" else 2
        edges = [relation for relation, graph in self.graphs.items() if graph.has_timestamps]
        nodes = [name for name in self.node_times if any(r[end] == name for r in self.graphs)]
        if edges and nodes:
            raise ValueError(
                f"both edges of {edges[0]} and nodes of type {nodes[0]!r} have times; say which "
                "must not be later than time=: time_of='edges' or time_of='nodes'"
            )
        if not edges and not nodes:
            raise MissingDataError(
                "neither edges nor the nodes that they lead to have times to compare time= with; "
                "compile the dataset with timestamps=, of gm.EdgeTable or of gm.Nodes, or sample "
                "without time="
            )
        return "nodes" if nodes else "edges"
