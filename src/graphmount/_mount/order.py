"""Whether files go together: do they number the same nodes in the same order?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmount._mount.graph import Graph
from graphmount.errors import OrderError

if TYPE_CHECKING:
    from graphmount._mount.features import FeatureStore


def check_order(*handles: Graph | FeatureStore) -> None:
    """Raises unless row i of every table is node i of every graph given.

    Each file carries a fingerprint of the order of its nodes and knows how many there are; both
    must agree.

    Args:
        *handles: Mounted graphs and node tables.

    Raises:
        OrderError: Two files differ; the message names them.
        ClosedError: A handle has been closed.

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_graph(([0, 1], [1, 0]), "g.gl", node_ids=["ann", "bob"])
        >>> g = gm.Graph("g.gl")
        >>> _ = gm.compile_features([[1.0], [2.0]], "x.gd", order=g)
        >>> gm.check_order(g, gm.FeatureStore("x.gd"))
    """
    for handle in handles[1:]:
        first = handles[0]
        if _count(first) != _count(handle):
            raise OrderError(f"{_described(first)}, but {_described(handle)}")
        if first.order != handle.order:
            raise OrderError(
                f"{first.path} and {handle.path} number their nodes in different orders "
                f"({first.order:#x} and {handle.order:#x}); compile them from the same source, "
                "or the table with order= and the graph it belongs to"
            )


def _count(handle: Graph | FeatureStore) -> int:
    if isinstance(handle, Graph):
        handle._one_type("check_order")  # noqa: SLF001
        return handle.num_nodes
    return len(handle)


def _described(handle: Graph | FeatureStore) -> str:
    what = "nodes" if isinstance(handle, Graph) else "rows"
    return f"{handle.path} has {_count(handle)} {what}"
