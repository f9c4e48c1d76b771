"""The data of a loader of many kinds: the types, relations and tables of a `TypedDataset`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from graphmount import _core
from graphmount._loading.data.loader_data import SampledData, all_times, label_rows, rows_in_source
from graphmount._mount.node_ids import mark_ids
from graphmount._support.arguments import as_list, as_plain, require_choice
from graphmount._support.shown import shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    from graphmount._dataset.node_type import NodeType
    from graphmount._dataset.typed.results import EdgeType, TypedNeighborSample
    from graphmount._dataset.typed_dataset import TypedDataset
    from graphmount._loading.data.loader_data import IdSpace, Rows, TableKey
    from graphmount._mount.features import FeatureStore
    from graphmount._mount.graph import Graph
    from graphmount._mount.sampling_rule import SamplingRule, TimeOf
    from graphmount._support.direction import Direction


@dataclass(frozen=True, kw_only=True)
class TypedData(SampledData):
    """Many kinds of nodes and edges.

    Attributes:
        fanouts: How many neighbors are drawn in each hop of each relation.
        seed_types: The types of the seeds: one, or both of the relation that links are of.
        has_labels: Whether batches have the labels of seeds apart from tables.
    """

    dataset: TypedDataset
    fanouts: Mapping[EdgeType, list[int]] = field(default_factory=dict)
    seed_types: tuple[str, ...] = ()
    has_labels: bool = True
    is_typed: ClassVar[bool] = True

    @property
    def node_types(self) -> tuple[IdSpace, ...]:
        """The types of the dataset."""
        return self.dataset.node_types

    @property
    def graphs(self) -> Mapping[IdSpace, Graph]:
        """The relations of the dataset."""
        return {relation: edges.graph for relation, edges in self.dataset.edges.items()}

    @property
    def only_graph(self) -> None:
        """There are many."""
        return None

    @property
    def title(self) -> str:
        """The dataset."""
        return repr(self.dataset)

    @property
    def has_external_ids(self) -> bool:
        """Whether the source has other ids for the nodes of a type than their numbers."""
        return any(nodes.node_id_type is not None for nodes in self.dataset.nodes.values())

    def _nodes(self, name: IdSpace) -> NodeType:
        assert isinstance(name, str)  # noqa: S101  (types have names)
        return self.dataset.nodes[name]

    def sampled(self, *, translates: bool) -> _core.SampledGraph:
        """All types and relations."""
        relations = self.dataset._sampling.relations  # noqa: SLF001  (a friend)
        spaces = self.dataset.nodes.values()
        return _core.SampledGraph(
            types=[
                (*kind, nodes._external() if translates and nodes.node_id_type else None)  # noqa: SLF001
                for kind, nodes in zip(relations.core_types(), spaces, strict=True)
            ],
            relations=relations.core_relations(dict(self.fanouts)),
        )

    def take_sample(
        self, rule: SamplingRule, sample: _core.TypedSample
    ) -> tuple[TypedNeighborSample, dict[IdSpace, NDArray[np.int64] | None]]:
        """As a `TypedNeighborSample`."""
        found, kept = self.dataset._sampling.take(sample, rule)  # noqa: SLF001
        return found, {relation: places for relation, places in kept.items()}  # noqa: C416

    def ids_of(self, sample: TypedNeighborSample, space: IdSpace) -> NDArray[np.int64]:
        """The nodes of a type, or the edges of a relation."""
        if isinstance(space, str):
            return sample.nodes[space]
        edge_ids = sample.edge_ids[space]
        if edge_ids is None:
            raise RuntimeError(f"the edges of {space} in this sample are not its own")
        return edge_ids

    def fields(
        self, sample: TypedNeighborSample, rows: Rows, *, translates: bool, source_rows: bool
    ) -> dict[str, Any]:
        """Those of a `TypedBatch`, but for what says which its seeds are."""
        nodes, edge_ids = dict(sample.nodes), dict(sample.edge_ids)
        if not translates:
            for name, ids in nodes.items():
                nodes[name] = mark_ids(ids, self._nodes(name).order)
        if source_rows:
            edge_ids = self._rows_in_source(sample)
        labels = {name: self._label_store(name) for name in self.seed_types}
        return {
            **vars(sample),
            "nodes": nodes,
            "edge_ids": edge_ids,
            "features": {name: rows.get(name, {}) for name in sample.nodes},
            "edge_features": {relation: rows.get(relation, {}) for relation in edge_ids},
            "labels": {
                name: label_rows(store, sample.nodes[name][: sample.num_sampled_nodes[name][0]])
                for name, store in labels.items()
                if store is not None
            },
            "dataset": self.dataset,
        }

    def _label_store(self, name: str) -> FeatureStore | None:
        return self.dataset.nodes[name]._label_store() if self.has_labels else None  # noqa: SLF001

    def _rows_in_source(
        self, sample: TypedNeighborSample
    ) -> dict[EdgeType, NDArray[np.int64] | None]:
        return {
            relation: None if ids is None else rows_in_source(self.graphs[relation], ids)
            for relation, ids in sample.edge_ids.items()
        }

    def translated(
        self, sample: TypedNeighborSample, *, nodes: bool, edges: bool
    ) -> TypedNeighborSample:
        """As a sample of the pipeline is."""
        if nodes:
            names = {
                name: as_plain(self._nodes(name).to_external(ids), "nodes")
                for name, ids in sample.nodes.items()
            }
            sample = replace(sample, nodes=names)
        return replace(sample, edge_ids=self._rows_in_source(sample)) if edges else sample

    def facts(self, rule: SamplingRule) -> dict[str, Any]:
        """Those of all types and relations, as data for JSON."""
        return {
            "time_of": rule.time_of,
            "num_neighbors": [list(counts) for counts in self.fanouts.values()],
            "node_types": [
                [name, nodes.num_nodes, f"{nodes.order:016x}"]
                for name, nodes in self.dataset.nodes.items()
            ],
            "edge_types": [
                [*relation, graph.num_edges, f"{graph._content[1]:016x}"]  # noqa: SLF001
                for relation, graph in self.graphs.items()
            ],
        }

    def read_times(
        self,
        times: NDArray[np.int64] | None,
        time_of: TimeOf | None,
        direction: Direction,
        seeds: NDArray[np.int64],
    ) -> tuple[NDArray[np.int64] | None, TimeOf]:
        """Those of edges or nodes."""
        require_choice("time_of", time_of, (None, "edges", "nodes"))
        if times is None and time_of is None:
            return None, "edges"
        relations = self.dataset._sampling.relations  # noqa: SLF001
        whose = relations.time_of(direction) if time_of is None else time_of
        if times is None:
            own = relations.times({self.seed_types[0]: seeds}, None, whose)
            times = own[self.seed_types[0]]
        return times, whose

    def node_times_of(self, space: IdSpace, time_of: TimeOf) -> NDArray[np.int64] | None:
        """Those of the type, if it has any and times of nodes count."""
        stores = self.dataset._sampling.relations.node_times  # noqa: SLF001
        if time_of != "nodes" or not isinstance(space, str) or space not in stores:
            return None
        return all_times(stores[space])

    def shown_files(self) -> dict[str, object]:
        """The path of the dataset."""
        return {"dataset": self.dataset.path}

    def shown_fanouts(self, rule: SamplingRule) -> object:
        """The fanouts of the rule, if they are those of every relation."""
        same = all(list(counts) == list(rule.fanouts) for counts in self.fanouts.values())
        return rule.fanouts if same else dict(self.fanouts)

    def shown_table(self, key: TableKey) -> str:
        """The name of its type or relation, as PyG writes them, and its own."""
        space, name = key
        return f"{space if isinstance(space, str) else '__'.join(space)}/{name}"

    def with_seeds_of(self, relation: IdSpace) -> TypedData:
        """This data with the ends of a relation as its seeds."""
        source, destination = relation[0], relation[2]
        return replace(self, seed_types=tuple(dict.fromkeys((source, destination))))

    def with_fanouts(self, num_neighbors: Any) -> tuple[TypedData, list[int]]:  # noqa: ANN401
        """This data with fanouts for every relation, and those of the first one."""
        relations = self.dataset._sampling.relations  # noqa: SLF001
        fanouts = relations.fanouts(num_neighbors, "num_neighbors")
        return replace(self, fanouts=fanouts), next(iter(fanouts.values()), [])


def open_typed_data(
    dataset: TypedDataset,
    features: Iterable[str] | Mapping[str, Iterable[str]] | None,
    edge_features: Iterable[str] | Mapping[EdgeType, Iterable[str]] | None,
) -> TypedData:
    """The tables of a dataset that a loader wants, by what they belong to.

    Args:
        dataset: The dataset.
        features: Names of tables of nodes, of any type, or names for some types; all if None.
        edge_features: The same of edges.

    Raises:
        ValueError: There is no such type, relation or table.
    """
    nodes = {name: kind.features for name, kind in dataset.nodes.items()}
    edges = {relation: kind.features for relation, kind in dataset.edges.items()}
    return TypedData(
        dataset=dataset,
        tables={
            **_chosen(nodes, features, "features"),
            **_chosen(edges, edge_features, "edge_features"),
        },
    )


def _chosen(
    tables: Mapping[Any, Mapping[str, FeatureStore]],
    names: Any,  # noqa: ANN401
    argument: str,
) -> dict[Any, dict[str, FeatureStore]]:
    if names is None:
        return {space: dict(own) for space, own in tables.items()}
    if not isinstance(names, Mapping):
        wanted = as_names(names, argument)
        there = {name for own in tables.values() for name in own}
        require_names(wanted, there, argument)
        return {
            space: {name: own[name] for name in wanted if name in own}
            for space, own in tables.items()
        }
    chosen: dict[Any, dict[str, FeatureStore]] = {space: {} for space in tables}
    for space, own_names in names.items():
        if not isinstance(space, str | tuple) or space not in tables:
            known = ", ".join(map(repr, tables))
            raise ValueError(f"{argument}: there is no {shown(space)}; there are {known}")
        wanted = as_names(own_names, f"{argument}[{space!r}]")
        require_names(wanted, set(tables[space]), f"{argument}[{space!r}]")
        chosen[space] = {name: tables[space][name] for name in wanted}
    return chosen


def as_names(names: Any, argument: str) -> list[Any]:  # noqa: ANN401
    """Names of tables, of which one may come alone."""
    return [names] if isinstance(names, str) else as_list(names, argument, "names of tables")


def require_names(names: list[Any], there: set[str], argument: str) -> None:
    """Raises unless there are tables of these names."""
    for name in names:
        if not isinstance(name, str) or name not in there:
            raise ValueError(
                f"{argument}: there is no table {shown(name)}; there are {sorted(there)}"
            )
