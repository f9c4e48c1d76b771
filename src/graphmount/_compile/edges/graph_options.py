"""Which graph to make from edges, and how much memory and disk space that takes."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from graphmount._mount.free_memory import physical_bytes
from graphmount._sources.contract.claims import MOST_NODES
from graphmount._support.arguments import as_count, require_choice
from graphmount._support.files.disk_space import require_free
from graphmount._support.shown import shown
from graphmount._support.sizes import format_bytes, parse_bytes

if TYPE_CHECKING:
    from graphmount._sources.contract.batches import EdgeSource

#: With less, buffers alone would exceed the budget.
_LEAST_MEMORY = 64 << 20


class ListOptions(NamedTuple):
    """Which lists to make, in the words of the core."""

    rectangular: bool
    in_lists: bool
    out_lists: bool
    undirected: bool
    weights: bool
    timestamps: bool
    dedup: str
    drop_self_loops: bool
    wide_indices: bool
    keep_source_rows: bool


@dataclass(kw_only=True)
class GraphOptions:
    """Which graph to make from the edges: checked arguments of `compile_graph`."""

    directed: bool
    neighbors: Literal["both", "in", "out"]
    num_nodes: int | None
    dedup: bool | Literal["first", "sum"]
    self_loops: Literal["keep", "drop"]
    index_dtype: Literal["int32", "int64"] | None
    source_rows: bool
    num_sources: int | None = None
    num_destinations: int | None = None

    def __post_init__(self) -> None:
        """Checks them."""
        require_choice("directed", self.directed, (True, False))
        require_choice("source_rows", self.source_rows, (True, False))
        require_choice("neighbors", self.neighbors, ("both", "in", "out"))
        require_choice("self_loops", self.self_loops, ("keep", "drop"))
        require_choice("dedup", self.dedup, (False, True, "first", "sum"))
        require_choice("index_dtype", self.index_dtype, (None, "int32", "int64"))
        if self.num_nodes is not None:
            self.num_nodes = as_count(self.num_nodes, "num_nodes", most=MOST_NODES)
        if self.is_rectangular:
            self._check_ends()

    def with_source_rows(self) -> GraphOptions:
        """The same options, with the rows that edges have in their source."""
        return replace(self, source_rows=True)

    @property
    def is_rectangular(self) -> bool:
        """Whether edges lead from one node type to another."""
        return self.num_sources is not None or self.num_destinations is not None

    def _check_ends(self) -> None:
        if self.num_sources is None or self.num_destinations is None:
            raise ValueError(
                "num_sources= and num_destinations= go together: they say that edges lead from "
                "nodes of one type to nodes of another; for one type, pass num_nodes="
            )
        self.num_sources = as_count(self.num_sources, "num_sources", most=MOST_NODES)
        self.num_destinations = as_count(self.num_destinations, "num_destinations", most=MOST_NODES)
        for is_wrong, option in (
            (self.num_nodes is not None, "num_nodes="),
            (not self.directed, "directed=False"),
            (self.self_loops == "drop", "self_loops='drop'"),
        ):
            if is_wrong:
                raise ValueError(
                    f"{option} is for edges between nodes of one type, but num_sources= and "
                    "num_destinations= say that there are two"
                )

    def is_directed(self, source: EdgeSource) -> bool:
        """Whether edges run one way; the source may also say that they do not."""
        return self.directed and not source.is_symmetric

    def of_lists(self, source: EdgeSource) -> ListOptions:
        """Which lists to make of the edges of a source."""
        dedup = self.dedup
        return ListOptions(
            rectangular=self.is_rectangular,
            in_lists=self.neighbors != "out",
            out_lists=self.neighbors != "in",
            undirected=not self.is_directed(source),
            weights=source.has_weights,
            timestamps=source.has_timestamps,
            dedup=dedup if isinstance(dedup, str) else "first" if dedup else "keep",
            drop_self_loops=self.self_loops == "drop",
            wide_indices=self.index_dtype == "int64",
            keep_source_rows=self.source_rows,
        )

    def needed_bytes(self, source: EdgeSource, entries: int) -> tuple[int, int]:
        """What the file takes besides its offsets, and what temporary files take at the most.

        Args:
            source: The edges.
            entries: How many entries the lists of one direction will have.
        """
        payload = 4 * source.has_weights + 8 * source.has_timestamps
        ways = 2 if self.neighbors == "both" and self.is_directed(source) else 1
        file_bytes = entries * ways * (4 + payload + 8 * source.has_weights)
        file_bytes += entries * (4 * (ways - 1) + 4 * self.source_rows)
        first = entries * (8 + payload + 4 * self.source_rows)
        # The second direction is spooled while the first is still there.
        return file_bytes, first + entries * (12 + payload) * (ways - 1)

    def require_space(self, source: EdgeSource, *, out: str, folder: str, memory: int) -> None:
        """Raises if the disk clearly has no room for the file and its temporary files."""
        edges = source.num_edges or source.estimated_edges
        if not edges:
            return
        entries = edges * (1 if self.is_directed(source) else 2)
        file_bytes, temporary = self.needed_bytes(source, entries)
        ways = 2 if self.neighbors == "both" and self.is_directed(source) else 1
        num_lists = ways * (self.num_nodes or source.num_nodes or 0)
        if self.num_sources is not None and self.num_destinations is not None:
            num_lists = self.num_destinations if self.neighbors != "out" else 0
            num_lists += self.num_sources if self.neighbors != "in" else 0
        file_bytes += 8 * num_lists
        needs = {os.path.dirname(out): file_bytes}
        payload = 4 * source.has_weights + 8 * source.has_timestamps
        if entries * (8 + payload + 4 * self.source_rows) > memory // 3:
            needs[folder] = needs.get(folder, 0) + temporary
        require_free(needs, f"compiling about {edges:,} edges")


def as_budget(memory: int | str) -> int:
    """The budget in bytes, at most what the machine has; raises if it is too small to hold."""
    budget = min(parse_bytes(memory, "memory"), physical_bytes())
    if budget < _LEAST_MEMORY:
        raise ValueError(
            f"memory={shown(memory)} is too little to compile a graph; it takes "
            f"{format_bytes(_LEAST_MEMORY)} at least"
        )
    return budget
