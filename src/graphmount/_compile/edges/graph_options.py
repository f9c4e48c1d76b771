"""Which graph to make from edges, and how much memory and disk space that takes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

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

    def is_directed(self, source: EdgeSource) -> bool:
        """Whether edges run one way; the source may also say that they do not."""
        return self.directed and not source.is_symmetric

    def require_space(self, source: EdgeSource, *, out: str, folder: str, memory: int) -> None:
        """Raises if the disk clearly has no room for the file and its temporary files."""
        edges = source.num_edges or source.estimated_edges
        if not edges:
            return
        entries = edges * (1 if self.is_directed(source) else 2)
        payload = 4 * source.has_weights + 8 * source.has_timestamps
        ways = 2 if self.neighbors == "both" and self.is_directed(source) else 1
        file_bytes = entries * ways * (4 + payload + 8 * source.has_weights)
        file_bytes += entries * 4 * (ways - 1)
        first = entries * (8 + payload + 4 * self.source_rows)
        # The second direction is spooled while the first is still there.
        second = entries * (12 + payload) * (ways - 1)
        file_bytes += 8 * ways * (self.num_nodes or source.num_nodes or 0)
        needs = {os.path.dirname(out): file_bytes}
        if first > memory // 3:
            needs[folder] = needs.get(folder, 0) + first + second
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
