"""The two ends of a graph's edges: how many nodes each has, and in which order.

In most graphs, both ends are nodes of one type. The edges of a rectangular graph lead from nodes of
one type to nodes of another, which have numbers, orders and marks of their own. What is meant for
graphs of one type refuses such graphs by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphmount import _core
from graphmount._mount.handle import Handle
from graphmount.errors import MissingDataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from graphmount._support.direction import Direction


class GraphEnds(Handle[_core.Graph]):
    """What a `Graph` knows of the nodes at the ends of its edges."""

    @property
    def num_nodes(self) -> int:
        """Number of nodes; a MissingDataError if sources and destinations are of two types."""
        return self._one_type("num_nodes").num_nodes

    @property
    def num_sources(self) -> int:
        """Number of nodes that edges can come from: `num_nodes`, unless these are of two types."""
        return self._open().num_sources

    @property
    def num_destinations(self) -> int:
        """Number of nodes that edges can lead to: `num_nodes`, unless these are of two types."""
        return self._open().num_destinations

    @property
    def is_rectangular(self) -> bool:
        """Whether the sources of edges are of another node type than their destinations."""
        return self._open().is_rectangular

    @property
    def source_order(self) -> int:
        """Fingerprint of the order of the sources: `order`, unless there are two node types."""
        return self._open().source_order

    def _one_type(self, call: str) -> _core.Graph:
        """The core's handle, for a call that is for graphs of one node type.

        Raises:
            MissingDataError: The edges lead from one node type to another.
        """
        core = self._open()
        if core.is_rectangular:
            instead = (
                "num_sources and num_destinations are there for both"
                if call == "num_nodes"
                else "a dataset of many node types has calls that go along all its relations"
            )
            raise MissingDataError(
                f"{self.path}: {call} is for graphs of one node type, but these edges lead from "
                f"{core.num_sources} nodes of one type to {core.num_destinations} of another; "
                f"{instead}"
            )
        return core

    def _num_lists(self, direction: Direction) -> int:
        """How many nodes have a list in this direction."""
        return self.num_sources if direction == "out" else self.num_destinations

    def _as_owners(self, ids: Any, name: str, direction: Direction) -> NDArray[np.int64]:  # noqa: ANN401
        """Nodes that have lists in this direction, as a user gives them."""
        return self._as_nodes(ids, name, self.source_order if direction == "out" else self.order)

    def _mark_neighbors(self, ids: NDArray[np.int64], direction: Direction) -> NDArray[np.int64]:
        """Nodes out of lists of this direction, as users get them."""
        return self._mark(ids, self.order if direction == "out" else self.source_order)
