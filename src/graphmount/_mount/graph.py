"""Mounted graphs: neighbor lists as they lie in a `.gl` file."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from graphmount import _core
from graphmount._mount.negative_sampling import NegativeSampling
from graphmount._mount.neighbor_sampling import NeighborSampling
from graphmount._mount.node_ids import order_of, require_marked
from graphmount._mount.node_reading import ids_of_nodes, nodes_of_ids, require_keys
from graphmount._mount.random_walks import RandomWalks
from graphmount._mount.results import DegreeSummary, NeighborLists
from graphmount._support.arguments import as_id, as_native, require_choice
from graphmount._support.direction import Direction, require_direction
from graphmount._support.shown import shown
from graphmount._support.text_columns import to_core

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from graphmount._mount.handle import Advice
    from graphmount._support.text_columns import Keys

#: How pages come from the disk: see `Graph`.
Reads = Literal["auto", "batch", "fault"]


class Graph(NeighborSampling, RandomWalks, NegativeSampling):
    """A mounted `.gl` file.

    Mounting maps the file and checks its header: it takes the same fraction of a millisecond for a
    graph of any size, and no memory for the data. Pages come from the disk as they are touched.

    Args:
        path: The path of the file.
        advice: How the file will be used: "auto", "normal", "random", "sequential", "willneed" or
            "populate"; `advise` explains them. The default suits scattered reads of files that are
            large for the machine.
        reads: How calls that look at many lists get them from the disk. "batch" asks for all pages
            of a call before it touches the first one, so that the disk works on many reads at a
            time. "fault" touches pages one after the other, which costs nothing if they are in
            memory. "auto" is "batch" while part of the file is not in memory.

    Raises:
        FileNotFoundError, PermissionError, OSError: The file cannot be opened.
        FormatError: This is not a graph file, it is damaged, or it is of another version.

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_graph(([0, 1, 2], [1, 2, 0]), "ring.gl")
        >>> with gm.Graph("ring.gl") as g:
        ...     print(g.num_nodes, g.num_edges, g.neighbors(0))
        3 3 [2]
    """

    _core_type = _core.Graph
    _suffix = ".gl"
    _part = "graph: Dataset(path).graph"

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        advice: Advice = "auto",
        reads: Reads = "auto",
    ) -> None:
        require_choice("reads", reads, get_args(Reads))
        self._mount(path, advice=advice, reads=reads)

    def _options(self) -> dict[str, str]:
        return super()._options() | {"reads": self.reads}

    @property
    def reads(self) -> Reads:
        """How calls that look at many lists get them from the disk, as given when mounting."""
        return cast("Reads", self._open().reads)

    def __repr__(self) -> str:
        if self.closed:
            return f"<Graph {self.path!r}, closed>"
        nodes = f"{self.num_destinations:,} nodes"
        if self.is_rectangular:
            nodes = f"{self.num_sources:,} sources, {self.num_destinations:,} destinations"
        return (
            f"<Graph {self.path!r}: {nodes}, {self.num_edges:,} edges, "
            f"{'directed' if self.directed else 'undirected'}>"
        )

    def _content_facts(self) -> dict[str, object]:
        extra = {"weights": self.has_weights, "timestamps": self.has_timestamps}
        kind = self.node_id_type
        nodes: dict[str, object] = {"nodes": f"{self.num_destinations:,}"}
        if self.is_rectangular:
            nodes = {
                "sources": f"{self.num_sources:,}",
                "destinations": f"{self.num_destinations:,}",
            }
        return nodes | {
            "edges": f"{self.num_edges:,}, {'directed' if self.directed else 'undirected'}",
            "neighbor lists": ", ".join(self.directions),
            "edges have": ", ".join(name for name, has in extra.items() if has) or "no values",
            "external ids": "none" if kind is None else kind.__name__,
        }

    @property
    def num_edges(self) -> int:
        """Number of list entries of one direction: an undirected edge counts twice, a loop once."""
        return self._open().num_edges

    @property
    def directed(self) -> bool:
        """False if every edge runs both ways and one copy of the lists serves both directions."""
        return not self._open().is_undirected

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The directions in which the file can be asked for neighbors."""
        core = self._open()
        both: tuple[Direction, ...] = ("in", "out")
        return tuple(way for way in both if core.is_undirected or core.has_lists(way))

    @property
    def has_weights(self) -> bool:
        """Whether edges have weights."""
        return self._open().has_list_section("weights", self.directions[0])

    @property
    def has_timestamps(self) -> bool:
        """Whether edges have timestamps; lists are then sorted by (time, neighbor)."""
        return self._open().is_sorted_by_time

    @property
    def indptr(self) -> NDArray[np.int64]:
        """Read-only view of the offsets of the incoming lists: see `neighbor_lists`."""
        return self.neighbor_lists().indptr

    @property
    def indices(self) -> NDArray[np.int32] | NDArray[np.int64]:
        """Read-only view of the neighbors in the incoming lists: see `neighbor_lists`."""
        return self.neighbor_lists().indices

    @property
    def weights(self) -> NDArray[np.float32] | None:
        """Read-only view of the weights in the incoming lists, or None."""
        return self.neighbor_lists().weights

    def _lists_of(self, direction: Direction) -> _core.Graph:
        """The core's handle, for lists of a direction that is one."""
        require_direction(direction)
        return self._open()

    def _section(self, name: str, direction: Direction) -> Any:  # noqa: ANN401
        """A view of a section, or None if the lists have none of this name."""
        section = self._lists_of(direction).list_section(name, direction)
        return None if section is None else as_native(section)

    def _private_section(self, name: str, direction: Direction) -> tuple[NDArray[Any], bool] | None:
        """For tensors: a copy-on-write view, and whether writing to it is safe."""
        section = self._lists_of(direction).private_list_section(name, direction)
        return None if section is None else (as_native(section[0]), section[1])

    def neighbor_lists(self, direction: Direction = "in") -> NeighborLists:
        """All neighbor lists of one direction, as read-only views of the file.

        Args:
            direction: "in" for the sources of incoming edges, "out" for the targets of outgoing
                edges.

        Raises:
            MissingDataError: The file was compiled without this direction.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_graph(([0, 0], [1, 2]), "g.gl")
            >>> gm.Graph("g.gl").neighbor_lists("out").indptr
            array([0, 2, 2, 2])
        """
        names = [field.name for field in fields(NeighborLists)]
        return NeighborLists(
            **{name: self._section(name.replace("_", " "), direction) for name in names}
        )

    def degree(
        self, ids: ArrayLike | None = None, *, direction: Direction = "in"
    ) -> NDArray[np.int64]:
        """Degrees of some nodes, or of all.

        Args:
            ids: The nodes; all of them if None.
            direction: "in" counts incoming edges, "out" outgoing edges.

        Returns:
            int64, one for each id.

        Raises:
            IdError: A node does not exist.
            MissingDataError: The file was compiled without this direction.
            FormatError: The file is damaged where these nodes are.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_graph(([0, 0], [1, 2]), "g.gl")
            >>> gm.Graph("g.gl").degree([0, 1], direction="out")
            array([2, 0])
        """
        core = self._lists_of(direction)
        if ids is None:
            return as_native(core.all_degrees(direction))
        return as_native(core.degrees(self._as_owners(ids, "ids", direction), direction))

    def neighbors(
        self,
        id: int,  # noqa: A002  (the word everyone looks for)
        *,
        direction: Direction = "in",
    ) -> NDArray[np.int32] | NDArray[np.int64]:
        """The neighbors of one node, as a read-only view of the file.

        Args:
            id: The node.
            direction: "in" for the sources of incoming edges, "out" for the targets of outgoing
                edges.

        Raises:
            IdError: The node does not exist.
            MissingDataError: The file was compiled without this direction.
            FormatError: The file is damaged in this list.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_graph(([0, 0], [1, 2]), "g.gl")
            >>> gm.Graph("g.gl").neighbors(0, direction="out")
            array([1, 2], dtype=int32)
        """
        lists = self._lists_of(direction)
        try:
            node = as_id(id, "id")
        except TypeError as error:
            raise self._advised(error, id) from None
        begin, end = lists.neighbor_range(node, direction)
        indices = self._section("indices", direction)
        return self._mark_neighbors(indices[begin:end], direction)

    def prefetch(self, ids: ArrayLike, *, direction: Direction = "in") -> int:
        """Asks the system to read the lists of these nodes, and returns without waiting for them.

        It does wait for the offsets of the nodes, which say where the lists are.

        Args:
            ids: The nodes whose lists to read.
            direction: Which lists: "in" for incoming edges, "out" for outgoing edges.

        Returns:
            How many bytes were asked for, in whole pages.

        Raises:
            IdError: A node does not exist.
            MissingDataError: The file was compiled without this direction.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_graph(([0, 0], [1, 2]), "g.gl")
            >>> gm.Graph("g.gl").prefetch([1, 2])
            8192
        """
        lists = self._lists_of(direction)
        return lists.prefetch(self._as_owners(ids, "ids", direction), direction)

    def degree_summary(self, *, direction: Direction = "in") -> DegreeSummary:
        """How the degrees are distributed, in one pass over the offsets.

        Args:
            direction: "in" counts incoming edges, "out" outgoing edges.

        Raises:
            MissingDataError: The file was compiled without this direction.
            FormatError: The offsets are damaged.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_graph(([0, 0], [1, 2]), "g.gl")
            >>> gm.Graph("g.gl").degree_summary(direction="out").largest
            2
        """
        summary = self._lists_of(direction).degree_summary(direction)
        return DegreeSummary._of(summary)  # noqa: SLF001

    @property
    def node_id_type(self) -> type[int | str] | None:
        """Type of the external node ids: int, str, or None if the graph has none."""
        return {"int": int, "str": str, "none": None}[self._open().node_id_kind]

    def _text_advice(self, text: str) -> str:
        if self.node_id_type is not str:
            return "the nodes of this graph have numbers, and no names"
        return (
            f"to_internal([{shown(text)}]) of the graph, or of its dataset, gives the numbers of "
            f"nodes, and to_internal([{shown(text)}])[0] that of one"
        )

    def to_external(self, ids: ArrayLike) -> NDArray[np.int64] | list[str]:
        """The ids that the source has for these nodes.

        Args:
            ids: Nodes of this graph.

        Returns:
            An int64 array or a list of str, as they were given to `compile_graph`.

        Raises:
            IdError: A node does not exist; or the ids are known to be those of another dataset.
            MissingDataError: The graph has no external ids.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_graph(([0], [1]), "g.gl", node_ids=["ann", "bob"])
            >>> gm.Graph("g.gl").to_external([1, 0])
            ['bob', 'ann']
        """
        core = self._one_type("to_external")
        if core.order != 0 and order_of(ids) != 0:
            require_marked(ids, "ids", core.order)
        return ids_of_nodes(_core.NodeIds(core), ids, self.node_id_type)

    def _find(self, keys: Keys) -> NDArray[np.int64]:
        """As `to_internal`, for keys as sources have them; -1 for those that no node has."""
        return as_native(_core.NodeIds(self._open()).find(to_core(keys)))

    def to_internal(self, keys: ArrayLike | Sequence[str]) -> NDArray[np.int64]:
        """The nodes that have these ids in the source.

        Args:
            keys: External ids, integers or strings as the graph has them.

        Returns:
            int64 node ids, one for each key.

        Raises:
            IdError: No node has this external id; the message says which.
            MissingDataError: The graph has no external ids.
            TypeError: The keys are of the wrong type.
            ValueError: The keys are known to be internal ids of a dataset.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_graph(([0], [1]), "g.gl", node_ids=[700, 300])
            >>> gm.Graph("g.gl").to_internal([300])
            array([1])
        """
        core = self._one_type("to_internal")
        require_keys(keys)
        found = nodes_of_ids(_core.NodeIds(core), keys, self.node_id_type, "this graph")
        return self._mark(found)
