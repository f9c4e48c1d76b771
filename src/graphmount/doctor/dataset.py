"""A dataset, as far as its speed depends on it: sizes, and what a few batches of it are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from graphmount._support.display import Displayed


@dataclass(frozen=True, kw_only=True, repr=False)
class TableFacts(Displayed):
    """A table of a dataset.

    Attributes:
        name: The name of the table.
        rows: How many rows it has.
        row_bytes: The size of a row.
        dtype: The dtype of its values.
        of_edges: Whether it has a row for each edge; otherwise it has one for each node.

    Examples:
        >>> from graphmount.doctor import TableFacts
        >>> TableFacts(name="x", rows=1000, row_bytes=512, dtype="float32").table_bytes
        512000
    """

    name: str
    rows: int
    row_bytes: int
    dtype: str
    of_edges: bool = False

    @property
    def table_bytes(self) -> int:
        """The size of all rows."""
        return self.rows * self.row_bytes


@dataclass(frozen=True, kw_only=True, repr=False)
class BatchFacts(Displayed):
    """What batches are made of: means over a few that were sampled.

    Attributes:
        fanouts: For each hop, how many neighbors were drawn.
        num_seeds: How many seeds a batch had.
        num_nodes: How many nodes a batch had. Each needs a row of every node table.
        sample_bytes: The size of a sample without rows.
        sample_seconds: How long sampling a batch takes when its part of the graph is in memory.
        smaller_because: Why a batch has fewer than 1,024 seeds: "time" was too short to sample
            more, larger batches would not fit into "memory", or there are no more "seeds". None if
            it has 1,024.

    Examples:
        >>> from graphmount.doctor import BatchFacts
        >>> BatchFacts(
        ...     fanouts=(15, 10, 5), num_seeds=1024, num_nodes=87e3, sample_bytes=5_000_000,
        ...     sample_seconds=0.05,
        ... ).num_seeds
        1024
    """

    fanouts: tuple[int, ...]
    num_seeds: int
    num_nodes: float
    sample_bytes: int
    sample_seconds: float
    smaller_because: Literal["time", "memory", "seeds"] | None = None


@dataclass(frozen=True, kw_only=True, repr=False)
class DatasetFacts(Displayed):
    """A dataset: sizes, and what a cache of its hottest rows would serve.

    Attributes:
        path: The path of the folder.
        num_nodes: The number of nodes.
        num_edges: The number of edges.
        is_hot_first: Whether the nodes that sampling meets most often come first.
        list_bytes: The size of the neighbor lists that sampling reads.
        tables: The tables of the dataset.
        batch: What batches are made of; None if there was no time for even a small one.
        copy_bytes_per_second: How fast one thread copies scattered rows that are in memory.
        served: Points of a curve: (share of the nodes whose rows are in memory, share of the rows
            of sampled batches that these serve).
        appearances: The same curve for the entries of all neighbor lists, which is what
            `order="hot"` goes by. None if the file does not say. A node that appears often in lists
            appears only once in a batch, so a cache serves a smaller share of batches than of
            lists.

    Examples:
        >>> from graphmount.doctor import DatasetFacts, TableFacts
        >>> facts = DatasetFacts(
        ...     path="papers", num_nodes=1000, num_edges=9000, list_bytes=44000, tables=(
        ...         TableFacts(name="x", rows=1000, row_bytes=512, dtype="float32"),
        ...     ), served=((0.0, 0.0), (0.1, 0.5), (1.0, 1.0)),
        ... )
        >>> facts.served_share(0.05), facts.row_bytes
        (0.25, 512)
    """

    path: str
    num_nodes: int
    num_edges: int
    is_hot_first: bool = True
    list_bytes: int
    tables: tuple[TableFacts, ...]
    batch: BatchFacts | None = None
    copy_bytes_per_second: float = 1e9
    served: tuple[tuple[float, float], ...] | None = None
    appearances: tuple[tuple[float, float], ...] | None = None

    @property
    def node_tables(self) -> tuple[TableFacts, ...]:
        """The tables with a row for each node."""
        return tuple(table for table in self.tables if not table.of_edges)

    @property
    def row_bytes(self) -> int:
        """The size of one node's rows in all node tables."""
        return sum(table.row_bytes for table in self.node_tables)

    @property
    def node_bytes(self) -> int:
        """The size of all node tables."""
        return sum(table.table_bytes for table in self.node_tables)

    def served_share(self, cached: float) -> float:
        """The share of a batch's rows that a cache serves.

        Args:
            cached: The share of the nodes whose rows the cache holds.

        Examples:
            >>> from graphmount.doctor import DatasetFacts
            >>> facts = DatasetFacts(path="d", num_nodes=9, num_edges=9, list_bytes=9, tables=())
            >>> facts.served_share(0.5)  # nothing known: as if all nodes were alike
            0.5
        """
        return share_at(self.served or self.appearances, cached)


def share_at(curve: tuple[tuple[float, float], ...] | None, cached: float) -> float:
    """The height of a curve at a share of the nodes; the share itself where there is no curve."""
    if curve is None:
        return min(1.0, cached)
    shares, heights = zip(*curve, strict=True)
    return float(np.interp(cached, shares, heights))
