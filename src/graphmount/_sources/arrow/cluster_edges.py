"""Edges of Ray Data that the cluster compiles: its tasks make the neighbor lists, not this process.

What the source says is the same as for the dataset alone; `make_intake` of the compiler asks
whether it is one of these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphmount._sources.arrow.edges import ArrowEdges
from graphmount._sources.arrow.ray_tables import RayTable, is_ray_data
from graphmount._support.display import Displayed
from graphmount._support.shown import shown
from graphmount._support.sizes import format_bytes, parse_bytes

if TYPE_CHECKING:
    from graphmount._sources.contract.tables import EdgeRequest

#: With less, a worker's own buffers would be the larger part.
_LEAST_MEMORY = 64 << 20


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ClusterEdges(Displayed):
    """Edges of a `ray.data.Dataset` whose neighbor lists are made by tasks on the cluster.

    Goes wherever a source of edges goes, except in a dataset of many node types. The file has the
    bytes that it would have if one machine compiled the dataset alone.

    Attributes:
        dataset: The edges. Ray runs its operators once, in their order, and keeps its blocks until
            the graph is written.
        task_memory: How much memory the data of one task may take, at least 64 MiB. Ray starts no
            more tasks on a node than have room. It decides into how many parts the work is cut.

    Examples:
        >>> import graphmount as gm
        >>> def compile_on_cluster():
        ...     import graphmount.ray
        ...     import ray
        ...
        ...     edges = ray.data.read_parquet("edges/").select_columns(["src", "dst"])
        ...     edges = gm.ray.ClusterEdges(dataset=edges, task_memory="1GiB")
        ...     return gm.compile_graph(edges, "graph.gl")
    """

    dataset: Any
    task_memory: int | str = "1GiB"

    def __post_init__(self) -> None:
        """Checks them."""
        if not is_ray_data(self.dataset):
            raise TypeError(
                f"dataset={shown(self.dataset)} is no ray.data.Dataset; ray.data.read_parquet and "
                "others make one"
            )
        if parse_bytes(self.task_memory, "task_memory") < _LEAST_MEMORY:
            raise ValueError(
                f"task_memory={shown(self.task_memory)} is too little for a task; it takes "
                f"{format_bytes(_LEAST_MEMORY)} at least"
            )


class ClusterSource(ArrowEdges):
    """The edges of a `ClusterEdges`, and what tasks need to read its blocks.

    Args:
        edges: The edges.
        request: How to read them.

    Attributes:
        table: The table that has the blocks.
        request: How to read them.
        task_memory: How much memory the data of one task may take, in bytes.
    """

    def __init__(self, edges: ClusterEdges, request: EdgeRequest) -> None:
        if request.on_error == "skip":
            raise ValueError(
                "on_error='skip' does not go with ClusterEdges; leave bad rows out with "
                "dataset.filter, or pass the dataset itself"
            )
        self.table = RayTable(edges.dataset)
        self.request = request
        self.task_memory = parse_bytes(edges.task_memory, "task_memory")
        super().__init__(self.table, request)
