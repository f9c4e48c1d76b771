"""Reads a source of edges into the core: ids mapped, bad rows reported or skipped, budget kept.

What compiling a graph and compiling a dataset share. First `read`, then `finish`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from graphmount import _core
from graphmount._compile.edges.first_line import FirstLine
from graphmount._compile.edges.key_map import KeyMap, shown_key
from graphmount._compile.edges.skipping import count_skipped, usable_edges
from graphmount._sources.arrow.cluster_edges import ClusterSource
from graphmount._sources.contract.claims import is_plausible
from graphmount._sources.contract.file_stamps import require_unchanged
from graphmount._sources.contract.node_keys import as_keys
from graphmount._support.text_columns import TextColumn
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from graphmount._compile.edges.graph_options import GraphOptions
    from graphmount._sources.contract.batches import EdgeBatch, EdgeSource
    from graphmount._sources.contract.tables import OnError
    from graphmount._support.text_columns import Keys

#: How node ids of a source become those of the graph: as they are, or numbered as they appear.
Ids = Literal["dense", "map"]

#: Small enough that the memory of one batch is used again for the next, and stays in the caches.
_BATCH_BYTES = 16 << 20


class WrittenGraph(NamedTuple):
    """What `EdgeIntake.finish` wrote; `num_nodes` counts destinations."""

    num_nodes: int
    num_edges: int
    file_bytes: int
    spilled_bytes: int
    num_sources: int


class EdgeIntake:
    """One source of edges on its way into one graph file.

    Args:
        source: The edges.
        options: What to make of them.
        ids: Whether ids are node numbers, or keys to be numbered.
        node_ids: The keys of all nodes, where they are known; others are then errors.
        on_error: Whether to skip edges that cannot be used.
        memory: The budget, in bytes.
        out: The file, or the folder, that is to be written.
        folder: Where temporary files may be made.
    """

    def __init__(
        self,
        source: EdgeSource,
        options: GraphOptions,
        *,
        ids: Ids,
        node_ids: Keys | None,
        on_error: OnError,
        memory: int,
        out: str,
        folder: str,
    ) -> None:
        _require_ends(source, options, ids=ids, has_node_ids=node_ids is not None)
        options.require_space(source, out=out, folder=folder, memory=memory)
        self.source = source
        self.first_line = FirstLine(source)
        self._options = options
        self._skips = on_error == "skip"
        self._is_closed = ids == "map" and node_ids is not None
        self._node_ids = node_ids
        self._map: KeyMap | None = None
        self._num_mapped = 0  # once the map is gone
        if ids == "map":
            if options.num_nodes is not None and node_ids is None:
                raise ValueError(
                    "num_nodes= does not go with ids='map', where nodes are the ids that appear; "
                    "pass node_ids= with the ids of all nodes"
                )
            self._map = KeyMap(source.name, is_text=source.has_text_ids, memory=memory // 2)
            if node_ids is not None:
                self._map.fill(node_ids)
        elif source.has_text_ids:
            raise SourceError(
                f"{source.name}: the node ids are text; pass ids='map' to number them"
            )
        num_nodes = options.num_nodes
        if node_ids is not None:
            if num_nodes is not None and num_nodes != len(node_ids):
                raise ValueError(f"num_nodes={num_nodes}, but there are {len(node_ids)} node_ids")
            num_nodes = len(node_ids)
        elif options.is_rectangular:
            num_nodes = options.num_destinations
        elif num_nodes is None and ids == "dense":
            num_nodes = source.num_nodes
        self._num_nodes_are_claimed = options.num_nodes is None and node_ids is None
        self._memory = memory
        self._num_nodes = num_nodes
        self._num_sources = options.num_sources if options.is_rectangular else num_nodes
        self._lists = options.of_lists(source)
        self._core = _core.GraphCompiler(
            num_nodes=num_nodes,
            num_sources=options.num_sources,
            **self._lists._asdict(),
            # A map of keys may take half of the budget.
            memory=memory // 2 if self._map is not None else memory,
            memory_parts=2 if self._map is not None else 1,
            folder=os.fsencode(folder),
        )

    @property
    def num_nodes(self) -> int:
        """How many nodes there are, by the options or by the edges read."""
        return max(self._num_seen(), self._num_mapped if self._map is None else len(self._map))

    def _num_seen(self) -> int:
        """How many nodes there are without the map."""
        return self._core.num_nodes

    @property
    def num_rows(self) -> int:
        """How many edges were read, with those that are dropped and without those skipped."""
        return self._core.num_rows

    def add_keys(self, keys: Iterable[Keys]) -> None:
        """Numbers these keys before those of the edges."""
        assert self._map is not None  # noqa: S101  (only ids="map" has keys)
        for some in keys:
            self._map.add_all(some)

    def read(self, report: Callable[[int, int], None] | None) -> None:
        """Reads all of the source."""
        self._read_all(report)
        require_unchanged(self.source)
        self._require_plausible()
        self.first_line.warn(self.num_rows)
        if self.num_rows == 0 and self._num_nodes is None and not self.num_nodes:
            raise SourceError(
                f"{self.source.name}: there are no edges in it"
                + (f" ({self.source.skipped.count} rows were skipped)" if self._skips else "")
                + "; pass num_nodes= if that is right"
            )

    def _read_all(self, report: Callable[[int, int], None] | None) -> None:
        for batch in self.source.batches(memory=min(_BATCH_BYTES, self._memory // 16)):
            self._add(batch)
            if report is not None and self.source.size:
                report(min(batch.done, self.source.size), self.source.size)

    def _require_plausible(self) -> None:
        """Raises if a file says that it has many more nodes than it has room for."""
        num_nodes = self._num_nodes or 0
        num_bytes = sum(stamp.size for stamp in self.source.stamps)
        if (
            self._num_nodes_are_claimed
            and not self._options.is_rectangular
            and 0 < num_bytes < num_nodes  # offsets of lists would take more
            and not is_plausible(num_nodes, self.num_rows)
        ):
            raise SourceError(
                f"{self.source.name} says that it has {num_nodes} nodes, and has "
                f"{self.num_rows} edges; pass num_nodes={num_nodes} if that is right"
            )

    def hot_ids(self, *, wide: bool, report: Callable[[int, int], None] | None) -> NDArray[Any]:
        """The new numbers of the nodes: those that sampling meets most often come first.

        Args:
            wide: Whether numbers take 8 bytes rather than 4.
            report: Called with the entries that are counted, and how many there are.
        """
        return _core.hot_ids(self.num_nodes, [self._core], wide=wide, progress=report)

    def set_memory(self, memory: int) -> None:
        """Changes the budget: what others take of it now is no longer there for edges."""
        self._core.set_memory(memory, parts=2)

    def take_keys(self) -> Keys | None:
        """As `keys`, and the map that found them is gone: all edges have been read."""
        keys, self._num_mapped = self.keys(), self.num_nodes
        self._map = None
        return keys

    def keys(self) -> Keys | None:
        """The external ids of the nodes, in the order of their numbers; None if they have none."""
        if self._node_ids is not None or self._map is None:
            return self._node_ids
        return self._map.keys()

    def finish(
        self,
        path: str,
        report: Callable[[int, int], None] | None,
        *,
        new_ids: NDArray[Any] | None = None,
        node_ids: Keys | None = None,
    ) -> WrittenGraph:
        """Writes the graph, with node i as node `new_ids[i]`, and these external ids."""
        num_nodes = max(self.num_nodes, self._options.num_sources or 0)
        if self._options.index_dtype == "int32" and num_nodes > 2**31:
            raise ValueError(f"index_dtype='int32' cannot hold the ids of {num_nodes} nodes")
        self._map = None
        names = node_ids if isinstance(node_ids, TextColumn) else None
        external = {
            "node_numbers": None if isinstance(node_ids, TextColumn) else node_ids,
            "node_names": None if names is None else (names.offsets, names.data),
        }
        try:
            return self._write(path, external, new_ids, report)
        except SourceError as error:
            raise SourceError(f"{self.source.name}: {error}") from None

    def _write(
        self,
        path: str,
        external: dict[str, Any],
        new_ids: NDArray[Any] | None,
        report: Callable[[int, int], None] | None,
    ) -> WrittenGraph:
        return WrittenGraph(
            *self._core.finish(os.fsencode(path), **external, new_ids=new_ids, progress=report)
        )

    def _add(self, batch: EdgeBatch) -> None:
        src, dst = batch.src, batch.dst
        weights, times = batch.weights, batch.timestamps
        if self._map is not None and self._is_closed:
            src, dst = self._map.find(src), self._map.find(dst)
        elif self._map is not None:
            src, dst = self._map.add(src, dst)
        assert isinstance(src, np.ndarray)  # noqa: S101  (text was refused, or is mapped by now)
        assert isinstance(dst, np.ndarray)  # noqa: S101
        self.first_line.look_at(batch, src, dst)
        if self._skips:
            ends = (self._num_sources, self._num_nodes)
            fine = usable_edges(src, dst, weights, ends)
            if not fine.all():
                count_skipped(self.source, batch, fine, self._core.num_rows)
                src, dst = src[fine], dst[fine]
                weights = None if weights is None else weights[fine]
                times = None if times is None else times[fine]
        elif self._is_closed:
            self._require_known(batch, src, dst)
        try:
            self._core.add(src, dst, weights=weights, timestamps=times)
        except SourceError as error:
            raise SourceError(f"{self.source.name}, {error}") from None

    def _require_known(
        self, batch: EdgeBatch, src: NDArray[np.int64], dst: NDArray[np.int64]
    ) -> None:
        for keys, ids in ((batch.src, src), (batch.dst, dst)):
            if (ids < 0).any():
                row = int(np.argmax(ids < 0))
                raise SourceError(
                    f"{self.source.name}, edge {self._core.num_rows + row}: "
                    f"{shown_key(keys, row)} is not among node_ids"
                    + (self.first_line.hint if self._core.num_rows + row == 0 else "")
                )


def make_intake(source: EdgeSource, options: GraphOptions, **rest: Any) -> EdgeIntake:  # noqa: ANN401
    """An intake of edges: in this process, or on the cluster that the source names.

    Args:
        source: The edges.
        options: What to make of them.
        rest: As for `EdgeIntake`.
    """
    if not isinstance(source, ClusterSource):
        return EdgeIntake(source, options, **rest)
    from graphmount.ray.data.cluster_intake import ClusterIntake

    return ClusterIntake(source, options, **rest)


def _require_ends(
    source: EdgeSource, options: GraphOptions, *, ids: Ids, has_node_ids: bool
) -> None:
    """Raises if the source has edges between other node types than those that are asked for."""
    num_ends = getattr(source, "num_ends", None)  # users may have sources of their own
    if not options.is_rectangular:
        if num_ends is not None:
            raise SourceError(
                f"{source.name} has edges from {num_ends[0]} nodes of one type to "
                f"{num_ends[1]} of another; pass num_sources={num_ends[0]} and "
                f"num_destinations={num_ends[1]}"
            )
        return
    if source.is_symmetric:
        raise SourceError(
            f"{source.name} has edges that run both ways, so its nodes are of one type; leave out "
            "num_sources= and num_destinations="
        )
    if ids == "map" or has_node_ids:
        raise ValueError(
            "a graph between two node types keeps no external ids: num_sources= and "
            "num_destinations= go with neither ids='map' nor node_ids=; compile_dataset with "
            "nodes= maps ids of several types, and keeps them"
        )
    ends = (options.num_sources, options.num_destinations)
    if num_ends not in (None, ends):
        raise SourceError(
            f"{source.name} says that it has {num_ends[0]} sources and "
            f"{num_ends[1]} destinations, but num_sources={ends[0]} and "
            f"num_destinations={ends[1]}"
        )


def all_node_ids(
    node_ids: ArrayLike | Sequence[str] | None, source: EdgeSource, ids: Ids
) -> Keys | None:
    """The ids of all nodes: those given, or what the source knows, keys or external ids."""
    if node_ids is not None:
        return as_keys(node_ids, "node_ids")
    is_named = source.has_text_ids or source.num_nodes is None
    return source.node_ids if is_named == (ids == "map") else None
