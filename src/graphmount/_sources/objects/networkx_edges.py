"""Edges of NetworkX graphs.

Nodes that are integers are numbers, nodes that are strings are text; others have to be relabeled
first. An undirected graph is symmetric: it has each edge once. If the nodes are 0, 1, … without a
gap, the source knows their number; otherwise it knows their ids, also of those without edges.
"""

from __future__ import annotations

import itertools
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount._sources.contract.batches import EdgeBatch, EdgeSource
from graphmount._sources.contract.exact import as_weights
from graphmount._sources.contract.node_keys import as_keys
from graphmount._support.arguments import is_text
from graphmount._support.shown import shown
from graphmount._support.text_columns import from_strings
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import UnionType

    from numpy.typing import NDArray

    from graphmount._support.text_columns import Keys

#: What an edge takes while it is a tuple of Python objects, and a dict of attributes is looked at.
_EDGE_BYTES = 512


def is_networkx(source: object) -> bool:
    """Whether this is a graph of NetworkX."""
    networkx = sys.modules.get("networkx")
    return networkx is not None and isinstance(source, networkx.Graph)


class NetworkXEdges(EdgeSource):
    """Edges of a NetworkX graph; an `EdgeSource`.

    Args:
        graph: A `Graph`, `DiGraph`, `MultiGraph` or `MultiDiGraph`.
        weights: The edge attribute with the weights; True for "weight".
        timestamps: The edge attribute with the times, integers.

    Raises:
        SourceError: The nodes are neither all integers nor all strings.
    """

    def __init__(
        self,
        graph: Any,  # noqa: ANN401
        *,
        weights: str | bool | None = None,
        timestamps: str | None = None,
    ) -> None:
        super().__init__(f"a NetworkX {type(graph).__name__}", graph.number_of_edges())
        self._graph = graph
        self._weights = "weight" if weights is True else weights or None
        self._timestamps = timestamps
        self.num_edges = self.size
        self.has_text_ids = self._find_text_ids()
        self.is_symmetric = not graph.is_directed()
        self.has_weights = self._weights is not None
        self.has_timestamps = timestamps is not None
        if not self.has_text_ids and self._is_dense():
            self.num_nodes = len(graph)
        else:  # all nodes, also those without edges
            self.node_ids = as_keys(list(graph), "nodes")

    def _find_text_ids(self) -> bool:
        first: type | None = None
        for node in self._graph:
            kind: type | None = None
            if isinstance(node, int | np.integer) and not isinstance(node, bool):
                kind = int
            elif isinstance(node, str) and is_text(node):
                kind = str
            first = first or kind
            if kind is None or kind is not first:
                raise SourceError(
                    f"{self.name}: node {shown(node)} is a {type(node).__name__}; nodes are all "
                    "integers or all strings: use networkx.convert_node_labels_to_integers"
                )
        return first is str

    def _is_dense(self) -> bool:
        """Whether the nodes, which are all different, are 0 to n - 1."""
        return all(0 <= node < len(self._graph) for node in self._graph)

    def batches(self, *, memory: int) -> Iterator[EdgeBatch]:
        """See `EdgeSource`."""
        step = max(1, memory // _EDGE_BYTES)
        edges = iter(self._graph.edges(data=True))
        done = 0
        while some := list(itertools.islice(edges, step)):
            first = done
            done += len(some)
            yield EdgeBatch(
                src=self._keys([edge[0] for edge in some], first),
                dst=self._keys([edge[1] for edge in some], first),
                weights=self._edge_weights(some, first),
                timestamps=self._edge_times(some, first),
                done=done,
            )

    def _keys(self, nodes: list[Any], first: int) -> Keys:
        return from_strings(nodes) if self.has_text_ids else self._integers(nodes, first)

    def _integers(self, numbers: list[Any], first: int) -> NDArray[np.int64]:
        try:
            return np.array(numbers, np.int64)
        except OverflowError as error:
            raise SourceError(
                f"{self.name}, edge {first} or one after it: a number is too large for int64"
            ) from error

    def _edge_weights(self, edges: list[Any], first: int) -> NDArray[np.float32] | None:
        if self._weights is None:
            return None
        # Complex numbers are np.number too, and lose half of what they are.
        kinds = int | float | np.integer | np.floating
        values = self._values(edges, self._weights, kinds, "a number")
        try:
            wide = np.array(values, np.float64)
        except OverflowError:
            raise SourceError(
                f"{self.name}, edge {first} or one after it: its {self._weights!r} is too large "
                "for float32"
            ) from None
        return as_weights(wide, f"{self.name}, {self._weights}", first)

    def _edge_times(self, edges: list[Any], first: int) -> NDArray[np.int64] | None:
        if self._timestamps is None:
            return None
        values = self._values(edges, self._timestamps, int | np.integer, "an integer")
        return self._integers(values, first)

    def _values(
        self, edges: list[Any], name: str, kinds: type | UnionType, wanted: str
    ) -> list[Any]:
        """An attribute of these edges, which must be of these kinds."""
        values = [edge[2].get(name) for edge in edges]
        for (src, dst, _), value in zip(edges, values, strict=True):
            if not isinstance(value, kinds):
                found = "is missing" if value is None else f"is {shown(value)}, not {wanted}"
                raise SourceError(
                    f"{self.name}, edge from {src!r} to {dst!r}: its {name!r} {found}"
                )
        return values
