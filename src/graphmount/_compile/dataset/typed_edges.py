"""One relation of a dataset on its way into the core, and its reverse with it.

The edges of a source are read once. Both ends are numbered by their node types, and the edges wait
in the core until the order of all types is known.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from graphmount import _core
from graphmount._compile.edges.first_line import FirstLine
from graphmount._compile.edges.key_map import shown_key
from graphmount._compile.edges.skipping import count_skipped, usable_edges
from graphmount._dataset.typed_description import shown_relation
from graphmount._sources.contract.file_stamps import require_unchanged
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from graphmount._compile.dataset.typed_names import GivenRelation
    from graphmount._compile.dataset.typed_nodes import OpenedNodes
    from graphmount._compile.edges.graph_options import GraphOptions
    from graphmount._dataset.spaces.node_space import NodeSpace
    from graphmount._dataset.typed.results import EdgeType
    from graphmount._sources.contract.batches import EdgeBatch, EdgeSource
    from graphmount._support.text_columns import Keys

_BATCH_BYTES = 16 << 20


class Budget(NamedTuple):
    """How memory is shared by the relations of a dataset.

    Attributes:
        finishing: For the one that is being written, at least.
        waiting: For each that waits.
        folder: Where temporary files may be made.
    """

    finishing: int
    waiting: int
    folder: str


class RelationIntake:
    """The edges of one relation, and those of its reverse.

    Args:
        given: The relation.
        source: Its edges.
        types: All node types.
        options: What to make of the edges.
        skips: Whether to leave out edges that cannot be used.
        budget: What memory to use.

    Raises:
        SourceError: The source has ids of another kind than its node types, or edges that run both
            ways between two of them.
    """

    def __init__(
        self,
        given: GivenRelation,
        source: EdgeSource,
        types: Mapping[str, OpenedNodes],
        options: GraphOptions,
        *,
        skips: bool,
        budget: Budget,
    ) -> None:
        self.given = given
        self.source = source
        self._sources, self._destinations = types[given.edge_type[0]], types[given.edge_type[2]]
        self._skips = skips
        self._require_ends()
        self.first_line = FirstLine(source, has_two_types=given.has_two_types)
        known = (self._sources.num_nodes, self._destinations.num_nodes)
        self._core = self._make_core(options, known, budget)
        self._turned: _core.GraphCompiler | None = None
        if given.reverse is not None:
            self._turned = self._make_core(options, known[::-1], budget)

    def _require_ends(self) -> None:
        source, given = self.source, self.given
        num_ends = getattr(source, "num_ends", None)  # users may have sources of their own
        if given.has_two_types and source.is_symmetric:
            raise SourceError(f"{source.name} has edges that run both ways, within one node type")
        if not given.has_two_types and num_ends is not None:
            raise SourceError(
                f"{source.name} has edges from one node type to another, and this relation is "
                "within one"
            )
        for nodes in (self._sources, self._destinations):
            if nodes.is_mapped:
                nodes.require_kind(source.has_text_ids, source.name)
            elif source.has_text_ids:
                raise SourceError(
                    f"{source.name}: the ids are text, and nodes of type {nodes.name!r} have "
                    "numbers; pass ids='map'"
                )
        ends = num_ends or (source.num_nodes, source.num_nodes)
        for nodes, count in zip((self._sources, self._destinations), ends, strict=True):
            if nodes.is_mapped or count is None:
                continue
            if nodes.num_nodes is not None and count > nodes.num_nodes:
                raise SourceError(
                    f"{source.name} says that it has {count} nodes of type {nodes.name!r}, and "
                    f"there are {nodes.num_nodes}"
                )
            nodes.claim_all(count, source.name)

    def _make_core(
        self, options: GraphOptions, ends: tuple[int | None, int | None], budget: Budget
    ) -> _core.GraphCompiler:
        has_two_types = self.given.has_two_types
        lists = options.of_lists(self.source)
        lists = lists._replace(
            rectangular=has_two_types,
            undirected=lists.undirected or self.given.is_merged,
            drop_self_loops=lists.drop_self_loops and not has_two_types,
        )
        return _core.GraphCompiler(
            num_nodes=ends[1],
            num_sources=ends[0] if has_two_types else None,
            **lists._asdict(),
            memory=budget.finishing,
            waiting_memory=budget.waiting,
            folder=os.fsencode(budget.folder),
        )

    @property
    def num_rows(self) -> int:
        """How many edges were read, without those that were skipped."""
        return self._core.num_rows

    @property
    def known_entries(self) -> int:
        """How many entries its lists will have, by what the source says; 0 if it does not."""
        num_edges = self.source.num_edges or self.source.estimated_edges or 0
        return num_edges * (2 if self.given.is_merged or self.source.is_symmetric else 1)

    def cores(self) -> list[tuple[EdgeType, _core.GraphCompiler]]:
        """The relation and its reverse, with what compiles them."""
        both = [(self.given.edge_type, self._core)]
        if self.given.reverse is not None and self._turned is not None:
            both.append((self.given.reverse, self._turned))
        return both

    def read(
        self,
        report: Callable[[int, int], None] | None,
        *,
        memory: int,
        check_maps: Callable[[], None],
    ) -> None:
        """Reads all edges of the source.

        Args:
            report: Called with what is done and what there is to do.
            memory: The budget of all of the work.
            check_maps: Raises if the maps of ids have grown too large.
        """
        for batch in self.source.batches(memory=min(_BATCH_BYTES, memory // 16)):
            self._add(batch)
            check_maps()
            if report is not None and self.source.size:
                report(min(batch.done, self.source.size), self.source.size)
        require_unchanged(self.source)
        self.first_line.warn(self._core.num_rows)
        self._sources.claim(self._core.num_sources, self.source.name)
        self._destinations.claim(self._core.num_destinations, self.source.name)

    def _add(self, batch: EdgeBatch) -> None:
        if self.given.has_two_types:
            src = self._sources.numbers(batch.src)
            dst = self._destinations.numbers(batch.dst)
        else:
            src, dst = self._sources.both_numbers(batch.src, batch.dst)
        weights, times = batch.weights, batch.timestamps
        self.first_line.look_at(batch, src, dst)
        if self._skips:
            ends = self._sources.num_nodes, self._destinations.num_nodes
            fine = usable_edges(src, dst, weights, ends)
            if not fine.all():
                count_skipped(self.source, batch, fine, self._core.num_rows)
                src, dst = src[fine], dst[fine]
                weights = None if weights is None else weights[fine]
                times = None if times is None else times[fine]
        else:
            self._require_known(self._sources, batch.src, src)
            self._require_known(self._destinations, batch.dst, dst)
        try:
            self._core.add(src, dst, weights=weights, timestamps=times)
            if self._turned is not None:
                self._turned.add(dst, src, weights=weights, timestamps=times)
        except SourceError as error:
            raise SourceError(f"{self.source.name}, {error}") from None

    def _require_known(self, nodes: OpenedNodes, keys: Keys, ids: NDArray[np.int64]) -> None:
        if not nodes.is_closed or not (ids < 0).any():
            return
        row = int(np.argmax(ids < 0))
        raise SourceError(
            f"{self.source.name}, edge {self._core.num_rows + row}: {shown_key(keys, row)} is not "
            f"among the node_ids of type {nodes.name!r}"
            + (self.first_line.hint if self._core.num_rows + row == 0 else "")
        )


def write_relation(
    edge_type: EdgeType,
    core: _core.GraphCompiler,
    path: str,
    spaces: Mapping[str, NodeSpace],
    *,
    new_ids: Mapping[str, NDArray[Any] | None],
    report: Callable[[int, int], None] | None,
) -> int:
    """Writes the graph of a relation; returns how many edges it has."""
    os.makedirs(os.path.dirname(path), exist_ok=True)

    def end(name: str) -> tuple[int, int, Any]:
        return spaces[name].num_nodes, spaces[name].order, new_ids[name]

    try:
        summary = core.finish_relation(
            os.fsencode(path),
            sources=end(edge_type[0]),
            destinations=end(edge_type[2]),
            progress=report,
        )
    except SourceError as error:
        raise SourceError(f"{shown_relation(edge_type)}: {error}") from None
    return int(summary[1])
