"""What a loader of links is asked for: which links, with which labels and times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount._mount.mapped_reads import read_list_section
from graphmount._mount.node_reading import require_reading, to_internal
from graphmount._support.arguments import as_plain
from graphmount._support.sizes import format_bytes
from graphmount.errors import BudgetError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from graphmount._loading.inputs import LoaderData
    from graphmount._mount.graph import Graph
    from graphmount._mount.node_ids import IdReading


_LINK_BYTES = 16
#: Links that take less than this are not checked against `memory`.
_SMALL_BYTES = 64 << 20


def as_links(
    links: Any,  # noqa: ANN401
    data: LoaderData,
    *,
    memory: int,
    ids: IdReading | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sources and destinations, as users give them: all edges, a pair of columns, or (2, links).

    PyG's (type of edges, links) is taken too, if the type is None: there is one.

    Raises:
        BudgetError: All edges take more than `memory`.
        IdError: A node does not exist, or it is not known whose ids these are.
        TypeError: They are no integers.
        ValueError: They have another shape.
    """
    require_reading(ids)
    if isinstance(links, tuple) and len(links) == 2 and links[0] is None:
        links = links[1]
    if links is None:
        _require_room(data.graph, memory)
        return _all_edges(data.graph)
    pair: Any = links
    if not (isinstance(links, tuple | list) and len(links) == 2):
        pair = as_plain(links, "edge_label_index")
    if not isinstance(pair, tuple | list) and (pair.ndim != 2 or len(pair) != 2):
        raise ValueError(
            f"edge_label_index has the shape {pair.shape}; give (2, links): sources and "
            "destinations"
        )
    ends = []
    for number, name in enumerate(("sources", "destinations")):
        what = f"edge_label_index[{number}] ({name})"
        place = f"edge_label_index[{number}, {{}}]"
        ends.append(to_internal(pair[number], what, data.graph, ids, place=place))
    if len(ends[0]) != len(ends[1]):
        raise ValueError(
            f"edge_label_index has {len(ends[0])} sources for {len(ends[1])} destinations"
        )
    return ends[0], ends[1]


def _require_room(graph: Graph, memory: int) -> None:
    needed = _LINK_BYTES * graph.num_edges
    if needed <= max(memory, _SMALL_BYTES):
        return
    raise BudgetError(
        f"{graph.path}: all {graph.num_edges:,} edges as links take {format_bytes(needed)}, and "
        f"memory={format_bytes(memory)}; pass edge_label_index= with the links that you want, or "
        f"memory='{-(-needed // 2**20)}MiB' or more"
    )


def _all_edges(graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Every edge of the graph, in the order of edge ids if the file has incoming lists."""
    direction = graph.directions[0]
    offsets = read_list_section(graph, "indptr", direction, 0, graph.num_nodes + 1)
    owners = np.repeat(np.arange(graph.num_nodes), np.diff(offsets))
    others = read_list_section(graph, "indices", direction)
    return (others, owners) if direction == "in" else (owners, others)


def as_edge_label(label: ArrayLike | None, num_links: int) -> NDArray[Any] | None:
    """Labels, one row for each link."""
    if label is None:
        return None
    labels = as_plain(label, "edge_label")
    if labels.dtype.kind not in "biuf":
        raise TypeError(
            f"edge_label must be numbers, not {labels.dtype}; numpy.unique(…, return_inverse=True) "
            "makes numbers of names"
        )
    if labels.ndim == 0 or len(labels) != num_links:
        raise ValueError(f"edge_label has the shape {labels.shape} for {num_links} links")
    return labels
