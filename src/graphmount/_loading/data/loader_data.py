"""The files that batches come from: what is sampled, and tables by the ids that they have rows for.

Loaders know `AnyData` alone: node types, relations between them, and tables of both. A graph of one
kind has one type, called "nodes", and one relation, called "edges".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np

from graphmount import _core
from graphmount._dataset.typed.results import EdgeType
from graphmount._mount.mapped_reads import gather_list_values, require_source_rows
from graphmount._mount.node_ids import mark_ids
from graphmount._support.arguments import as_plain, require_choice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from graphmount._dataset.dataset import Dataset
    from graphmount._dataset.typed_dataset import TypedDataset
    from graphmount._loading.data.typed_data import TypedData
    from graphmount._mount.features import FeatureStore
    from graphmount._mount.graph import Graph
    from graphmount._mount.results import NeighborSample
    from graphmount._mount.sampling_rule import SamplingRule, TimeOf
    from graphmount._support.direction import Direction

#: What the rows of a table belong to: the nodes of a type, or the edges of a relation.
IdSpace: TypeAlias = str | EdgeType
#: A table, by what it belongs to and its name.
TableKey: TypeAlias = tuple[IdSpace, str]
#: What a loader is made of, of one kind or of many.
AnyData: TypeAlias = "LoaderData | TypedData"
#: The rows of a batch, by what they belong to and the names of their tables.
Rows: TypeAlias = "dict[IdSpace, dict[str, NDArray[Any]]]"


@dataclass(frozen=True, kw_only=True)
class SampledData(ABC):
    """What the data of a loader has in common, of one kind or of many.

    With `speaks_source`, nodes of batches are given by the ids of the source.
    """

    tables: Mapping[IdSpace, Mapping[str, FeatureStore]] = field(default_factory=dict)
    speaks_source: bool = False
    dataset: Dataset | TypedDataset | None = None
    #: Whether there are many kinds, or one.
    is_typed: ClassVar[bool] = False

    @property
    @abstractmethod
    def node_types(self) -> tuple[IdSpace, ...]:
        """The types of nodes, in the order of the core."""

    @property
    @abstractmethod
    def graphs(self) -> Mapping[IdSpace, Graph]:
        """The edges of each relation, in the order of the core."""

    @abstractmethod
    def shown_table(self, key: TableKey) -> str:
        """What people call a table."""

    @property
    def is_hot_first(self) -> bool:
        """Whether the first rows are those that are wanted most."""
        return self.dataset is not None and self.dataset.description.get("order") != "given"

    @property
    def by_key(self) -> dict[TableKey, FeatureStore]:
        """All tables."""
        return {
            (space, name): store
            for space, some in self.tables.items()
            for name, store in some.items()
        }

    def is_of_nodes(self, space: IdSpace) -> bool:
        """Whether the rows of such a table belong to nodes."""
        return space not in self.graphs

    def number_of(self, space: IdSpace) -> int:
        """The number of a type or relation in the core."""
        spaces = self.node_types if self.is_of_nodes(space) else tuple(self.graphs)
        return spaces.index(space)

    def contents(self) -> dict[str, str]:
        """What identifies all files, for comparing them with others: sizes and checksums."""
        if self.dataset is not None:
            found = dict(self.dataset._contents)  # noqa: SLF001  (a friend)
        else:
            found = {
                "the graph" if space == "edges" else f"relation {space}": graph._content  # noqa: SLF001
                for space, graph in self.graphs.items()
            }
            for key, store in self.by_key.items():
                found[f"table {self.shown_table(key)!r}"] = store._content  # noqa: SLF001
        return {
            name: f"{size:,} bytes with checksum {checksum:016x}"
            for name, (size, checksum) in found.items()
        }

    def require_source_rows(self, option: str) -> None:
        """Raises unless every relation knows the rows that its edges had in the source.

        Raises:
            MissingDataError: One does not.
        """
        for graph in self.graphs.values():
            require_source_rows(graph, option)


@dataclass(frozen=True, kw_only=True)
class LoaderData(SampledData):
    """A graph of one kind, and the tables of its nodes and edges.

    With `node_times`, the times of edges are those of the nodes that are drawn over them.
    """

    graph: Graph
    labels: FeatureStore | None = None
    dataset: Dataset | None = None
    node_times: FeatureStore | None = None

    def __getstate__(self) -> dict[str, Any]:
        # Files travel as their paths; the labels of a dataset are one of them.
        return vars(self) | ({} if self.dataset is None else {"labels": None})

    def __setstate__(self, state: dict[str, Any]) -> None:
        dataset = state["dataset"]
        labels = {} if dataset is None else {"labels": dataset._label_store()}  # noqa: SLF001
        vars(self).update(state | labels)

    @property
    def by_name(self) -> dict[str, FeatureStore]:
        """All tables; those of nodes and of edges have different names."""
        return {name: store for (_, name), store in self.by_key.items()}

    @property
    def node_types(self) -> tuple[IdSpace, ...]:
        """The only type."""
        return ("nodes",)

    @property
    def graphs(self) -> Mapping[IdSpace, Graph]:
        """The only relation."""
        return {"edges": self.graph}

    @property
    def title(self) -> str:
        """What it is, for people."""
        return repr(self.graph)

    @property
    def has_external_ids(self) -> bool:
        """Whether the source has other ids for nodes than their numbers."""
        return self.graph.node_id_type is not None

    def sampled(self, *, translates: bool) -> _core.SampledGraph:
        """What is sampled, as the core takes it, with the ids of its source or without."""
        graph = self.graph._open()  # noqa: SLF001  (as all of this module)
        return _core.SampledGraph(
            types=[(graph.num_nodes, None, _core.NodeIds(graph) if translates else None)],
            relations=[(graph, 0, 0, [])],
        )

    def take_sample(
        self, rule: SamplingRule, sample: _core.TypedSample
    ) -> tuple[NeighborSample, dict[IdSpace, NDArray[np.int64] | None]]:
        """The arrays of a sample of the core, which has them no longer.

        The second result has, for relations whose edges are not those of the core, which of the
        core's edges each one is; None where some are edges of another relation.
        """
        taken, kept = rule.take_sample(sample)
        return taken, {} if kept is None else {"edges": kept}

    def ids_of(self, sample: NeighborSample, space: IdSpace) -> NDArray[np.int64]:
        """The ids that a sample has of a type or relation."""
        return sample.nodes if space == "nodes" else sample.edge_ids

    @property
    def only_graph(self) -> Graph:
        """The graph, if there is one kind."""
        return self.graph

    def fields(
        self, sample: NeighborSample, rows: Rows, *, translates: bool, source_rows: bool
    ) -> dict[str, Any]:
        """What a batch has of its sample and of tables, by the names of its fields.

        Args:
            sample: What was sampled.
            rows: The rows of tables.
            translates: Whether its nodes have the ids of the source already.
            source_rows: Whether its edges are to have the rows of the source in place of ids.
        """
        nodes, edge_ids = sample.nodes, sample.edge_ids
        if not translates:
            nodes = mark_ids(nodes, self.graph._own_order)  # noqa: SLF001
        if source_rows:
            edge_ids = rows_in_source(self.graph, edge_ids)
        return {
            **vars(sample),
            "nodes": nodes,
            "edge_ids": edge_ids,
            "features": rows.get("nodes", {}),
            "edge_features": rows.get("edges", {}),
            # Loaders that translate ids have labels as a table.
            "labels": self.labels_of(sample.nodes[: sample.num_seeds]),
            "dataset": self.dataset,
        }

    def translated(self, sample: NeighborSample, *, nodes: bool, edges: bool) -> NeighborSample:
        """A sample with the ids of the source: of its nodes, and the rows of its edges."""
        if nodes:
            found = self.graph.to_external(mark_ids(sample.nodes, self.graph.order))
            sample = replace(sample, nodes=as_plain(found, "nodes"))
        if edges:
            sample = replace(sample, edge_ids=rows_in_source(self.graph, sample.edge_ids))
        return sample

    def labels_of(self, nodes: NDArray[np.int64]) -> NDArray[Any] | None:
        """The labels of these nodes, in memory; None if there are none."""
        return None if self.labels is None else label_rows(self.labels, nodes)

    def facts(self, rule: SamplingRule) -> dict[str, Any]:
        """What identifies the nodes and edges, and how many neighbors are drawn: for states."""
        graph = self.graph
        return {
            "num_neighbors": list(rule.fanouts),
            "num_nodes": graph.num_nodes,
            "num_edges": graph.num_edges,
            "node_order": f"{graph.order:016x}",
            "graph": f"{graph._content[1]:016x}",  # noqa: SLF001  (a friend)
        }

    def with_fanouts(self, num_neighbors: Any) -> tuple[LoaderData, Any]:  # noqa: ANN401
        """This data with the fanouts of its relations, and those of one, which a rule checks.

        Raises:
            TypeError: There are fanouts for several.
        """
        if isinstance(num_neighbors, Mapping):
            raise TypeError(
                "num_neighbors is a dict, which is for datasets of many types; give a number for "
                "each hop, such as [15, 10]"
            )
        return self, num_neighbors

    def read_times(
        self,
        times: NDArray[np.int64] | None,
        time_of: TimeOf | None,
        direction: Direction,  # noqa: ARG002  (edges have times in each)
        seeds: NDArray[np.int64],
    ) -> tuple[NDArray[np.int64] | None, TimeOf]:
        """The times of seeds, if sampling is temporal, and whose times they are compared with.

        Edges alone have times, or were given those of nodes.

        Args:
            times: What was given, or None.
            time_of: What a caller says, or None.
            direction: That is sampled.
            seeds: Nodes that may have times of their own.

        Raises:
            ValueError: There are no such times, or it is not clear which are meant.
        """
        require_choice("time_of", time_of, (None, "edges", "nodes"))
        if time_of == "nodes" and self.node_times is None:
            raise ValueError(
                "time_of='nodes' is for datasets of many types; of one type, edges have times"
            )
        if time_of == "nodes" and times is None and self.node_times is not None:
            times = _times_of(self.node_times, seeds)
        if time_of is not None and times is None:
            raise ValueError("time_of='edges' needs the time of each seed")
        return times, "edges"

    def node_times_of(self, space: IdSpace, time_of: TimeOf) -> NDArray[np.int64] | None:  # noqa: ARG002
        """The times of all nodes of a type, if they must not be later than those of seeds.

        Args:
            space: The type.
            time_of: What `read_times` has found.
        """
        return None if self.node_times is None else all_times(self.node_times)

    def shown_files(self) -> dict[str, object]:
        """What is sampled, for people, by what it is."""
        return {"graph": self.graph.path}

    def shown_fanouts(self, rule: SamplingRule) -> Sequence[int]:
        """How many neighbors are drawn, for people."""
        return rule.fanouts

    def shown_table(self, key: TableKey) -> str:
        """Its name."""
        return key[1]


def label_rows(labels: FeatureStore, nodes: NDArray[np.int64]) -> NDArray[Any]:
    """The labels of these nodes, in memory; one column as a vector."""
    rows = labels._gather(nodes)  # noqa: SLF001  (internal ids)
    return rows.reshape(-1) if rows.ndim == 2 and rows.shape[1] == 1 else rows


def _times_of(store: FeatureStore, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    return store._gather(nodes).reshape(-1).astype(np.int64)  # noqa: SLF001


def all_times(store: FeatureStore) -> NDArray[np.int64]:
    """The time of each node, in memory."""
    return _times_of(store, np.arange(len(store)))


def rows_in_source(graph: Graph, edge_ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows that these edges had in the source."""
    return gather_list_values(graph, "source rows", graph.directions[0], edge_ids)


#: What batches have for ids of edges: those of the graph, or rows of its source.
EdgeIds = Literal["internal", "source"]
