"""What a loader of links is asked for: which links, with which labels and times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount._loading.data.typed_data import TypedData
from graphmount._mount.mapped_reads import read_list_section
from graphmount._mount.node_reading import require_reading, to_internal
from graphmount._support.arguments import as_plain
from graphmount._support.shown import shown
from graphmount._support.sizes import format_bytes
from graphmount.errors import BudgetError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from graphmount._loading.data.loader_data import IdSpace, LoaderData
    from graphmount._mount.graph import Graph
    from graphmount._mount.node_ids import IdReading
    from graphmount._mount.node_reading import NodesOf


_LINK_BYTES = 16
#: Links that take less than this are not checked against `memory`.
_SMALL_BYTES = 64 << 20


@dataclass(frozen=True, kw_only=True)
class LinkEnds:
    """What links lead from and to.

    Attributes:
        relation: The relation that they are of.
        graph: Its edges, which negatives are not.
        sources: The nodes that they lead from,
        destinations: and to.
    """

    relation: IdSpace
    graph: Graph
    sources: NodesOf
    destinations: NodesOf


def find_ends(links: Any, data: LoaderData | TypedData) -> tuple[LinkEnds, Any]:  # noqa: ANN401
    """What links are of, and what a caller says of them beside that.

    PyG's pairs (relation, links), and a relation alone, are for many kinds; of one kind, the
    relation is None, or is not given.

    Raises:
        TypeError: Of many kinds, no relation is given.
        ValueError: There is no such relation.
    """
    if not isinstance(data, TypedData):
        if isinstance(links, tuple) and len(links) == 2 and links[0] is None:
            links = links[1]
        graph = data.graph
        return LinkEnds(relation="edges", graph=graph, sources=graph, destinations=graph), links
    relations = data.dataset._sampling.relations  # noqa: SLF001  (a friend)
    if isinstance(links, tuple | list) and links and all(isinstance(one, str) for one in links):
        links = (links, None)
    is_pair = isinstance(links, tuple | list) and len(links) == 2
    relation_given = links[0] if is_pair else None
    if not isinstance(relation_given, tuple | list) or not all(
        isinstance(part, str) for part in relation_given
    ):
        known = next(iter(relations.graphs), None)
        said = "" if links is None else f", not {shown(links)}"
        raise TypeError(
            f"edge_label_index must be a relation and its links, such as ({known}, links), or the "
            f"relation alone for all of its edges{said}"
        )
    given = tuple(relation_given)
    joining = [name for name in relations.graphs if (name[0], name[2]) == given]
    relation = relations.relation(joining[0] if len(joining) == 1 else given, "edge_label_index")
    return (
        LinkEnds(
            relation=relation,
            graph=relations.graphs[relation],
            sources=data.dataset.nodes[relation[0]],
            destinations=data.dataset.nodes[relation[2]],
        ),
        links[1],
    )


def as_links(
    links: Any,  # noqa: ANN401
    ends: LinkEnds,
    *,
    memory: int,
    ids: IdReading | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sources and destinations, as users give them: all edges, a pair of columns, or (2, links).

    Raises:
        BudgetError: All edges take more than `memory`.
        IdError: A node does not exist, or it is not known whose ids these are.
        TypeError: They are no integers.
        ValueError: They have another shape.
    """
    require_reading(ids)
    if links is None:
        _require_room(ends.graph, memory)
        return _all_edges(ends.graph)
    pair: Any = links
    if not (isinstance(links, tuple | list) and len(links) == 2):
        pair = as_plain(links, "edge_label_index")
    if not isinstance(pair, tuple | list) and (pair.ndim != 2 or len(pair) != 2):
        raise ValueError(
            f"edge_label_index has the shape {pair.shape}; give (2, links): sources and "
            "destinations"
        )
    found = []
    sides = {"sources": ends.sources, "destinations": ends.destinations}
    for number, (name, space) in enumerate(sides.items()):
        what = f"edge_label_index[{number}] ({name})"
        place = f"edge_label_index[{number}, {{}}]"
        found.append(to_internal(pair[number], what, space, ids, place=place))
    if len(found[0]) != len(found[1]):
        raise ValueError(
            f"edge_label_index has {len(found[0])} sources for {len(found[1])} destinations"
        )
    return found[0], found[1]


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
    num_owners = graph.num_destinations if direction == "in" else graph.num_sources
    offsets = read_list_section(graph, "indptr", direction, 0, num_owners + 1)
    owners = np.repeat(np.arange(num_owners), np.diff(offsets))
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
