"""One node type of a dataset, as `TypedDataset.nodes` has it, and one relation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount._dataset.node_parts import NodeParts
from graphmount._dataset.spaces.node_id_store import NodeIdStore
from graphmount._dataset.spaces.node_space import NodeSpace
from graphmount._dataset.typed_changing import ChangingEdges, ChangingNodes
from graphmount._mount.features import FeatureStore
from graphmount._mount.graph import Graph
from graphmount._mount.node_ids import mark_ids, order_of, require_marked
from graphmount._support.display import Displayed, NamedParts
from graphmount._support.threads.shared_property import shared_property

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from graphmount._dataset.typed.results import EdgeType
    from graphmount._dataset.typed_opening import TypedFiles


class NodeType(Displayed, NodeParts, NodeSpace, ChangingNodes):
    """The nodes of one type of a `TypedDataset`: their ids, tables, labels, splits and times.

    Datasets make these; `ds.nodes["paper"]` is one.

    Args:
        name: The name of the type.
        entry: What the description of the dataset says of it.
        files: The files of the dataset.

    Attributes:
        type_name: The name of the type.
        num_nodes: The number of nodes.
        order: The fingerprint of their order, which includes the name of the type.

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_dataset(
        ...     "library", nodes={"book": gm.Nodes(labels=[5, 6, 7]), "reader": gm.Nodes()},
        ...     edges={("reader", "lends", "book"): ([0, 1, 1], [2, 2, 0])}, order="given",
        ... )
        >>> books = gm.Dataset("library").nodes["book"]
        >>> books.num_nodes, books.labels
        (3, NodeRows([5, 6, 7]))
    """

    def __init__(self, name: str, entry: Mapping[str, Any], files: TypedFiles) -> None:
        handles = files.handles
        ids = handles[entry["ids"]] if entry["ids"] is not None else None
        assert ids is None or isinstance(ids, NodeIdStore)  # noqa: S101  (opened so)
        super().__init__(name, entry["num_nodes"], int(entry["order"], 16), ids)
        self._entry = entry
        self._files = files
        self._called = f"ds.nodes[{name!r}]"

    @property
    def _space(self) -> NodeSpace:
        return self

    def _table(self, file: str) -> FeatureStore:
        store = self._files.handles[file]
        assert isinstance(store, FeatureStore)  # noqa: S101  (opened so)
        return store

    def _shown_fields(self) -> dict[str, object]:
        kind = self.node_id_type
        return {
            "type_name": self.type_name,
            "num_nodes": self.num_nodes,
            "node_id_type": "none" if kind is None else kind.__name__,
            "features": list(self.features),
            "labels": self._entry["labels"] is not None,
            "splits": list(self._entry["splits"]),
            "timestamps": self._entry["timestamps"] is not None,
        }

    @shared_property
    def timestamps(self) -> NDArray[np.int64] | None:
        """The time of each node, as a read-only view of its file; None if there are none."""
        table = self._times
        if table is None:
            return None
        return self._mark_rows(table.numpy().view(np.ndarray).reshape(-1))

    @property
    def _times(self) -> FeatureStore | None:
        """The table of the times, for the core to read."""
        file = self._entry["timestamps"]
        return None if file is None else self._table(file)

    def as_internal(self, ids: ArrayLike) -> NDArray[np.int64]:
        """Marks ids as internal ids of this type: for ids that were computed or stored.

        Args:
            ids: The internal ids, as an array of integers.

        Raises:
            IdError: A node does not exist; or the ids are known to be of another type or dataset.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_dataset(
            ...     "shop", nodes={"user": gm.Nodes(num_nodes=2), "item": gm.Nodes(num_nodes=3)},
            ...     edges={("user", "buys", "item"): ([0, 1], [2, 2])},
            ... )
            >>> ds = gm.Dataset("shop")
            >>> graph = ds.edges["user", "buys", "item"].graph
            >>> graph.degree(ds.nodes["item"].as_internal([0, 1, 2]))
            array([0, 0, 2])
        """
        if order_of(ids) != 0:
            require_marked(ids, "ids", self.order)
        return mark_ids(self._same(ids, "ids"), self.order)


class Relation(Displayed, ChangingEdges):
    """One relation of a `TypedDataset`: its graph, and the tables of its edges.

    Datasets make these; `ds.edges["author", "writes", "paper"]` is one.

    Args:
        edge_type: The type of the sources, the name, and the type of the destinations.
        entry: What the description of the dataset says of it.
        files: The files of the dataset.

    Attributes:
        edge_type: The type of the sources, the name, and the type of the destinations.
        graph: The edges, as a `Graph` from the one type to the other.
        features: The tables of the edges, by name: row i belongs to edge id i.

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_dataset(
        ...     "films", nodes={"user": gm.Nodes(num_nodes=2), "film": gm.Nodes(num_nodes=4)},
        ...     edges={("user", "likes", "film"): ([0, 1], [2, 2])}, order="given",
        ... )
        >>> likes = gm.Dataset("films").edges["user", "likes", "film"]
        >>> likes.graph.num_sources, likes.graph.num_destinations, likes.graph.neighbors(2)
        (2, 4, NodeIds([0, 1], dtype=int32))
    """

    def __init__(self, edge_type: EdgeType, entry: Mapping[str, Any], files: TypedFiles) -> None:
        self.edge_type = edge_type
        self._files = files
        handles = files.handles
        graph = handles[entry["graph"]]
        assert isinstance(graph, Graph)  # noqa: S101  (opened so)
        self.graph = graph
        self.features: Mapping[str, FeatureStore] = NamedParts(
            "table of edges", {name: handles[file] for name, file in entry["edge_features"].items()}
        )

    @property
    def num_edges(self) -> int:
        """The number of edges."""
        return self.graph.num_edges

    def _shown_fields(self) -> dict[str, object]:
        return {
            "edge_type": self.edge_type,
            "num_edges": self.num_edges,
            "graph": self.graph,
            "features": list(self.features),
        }
