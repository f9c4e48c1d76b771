"""How integers that stand for nodes are read: as ids of the dataset, or of its source.

A dataset may have its nodes in another order than its source. Then it takes integers and masks only
if they are known to be its own ids, or if the caller says which ids they are. So nobody gets other
nodes than they meant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from graphmount import _core
from graphmount._mount.node_ids import is_several, order_of, refuse_marked, require_marked
from graphmount._support.arguments import (
    as_ids,
    as_native,
    as_plain,
    is_text,
    require_choice,
    require_list_of_text,
)
from graphmount._support.shown import shown
from graphmount.errors import IdError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from graphmount._mount.node_ids import IdReading

#: What messages advise for ids that may be those of the source.
ADVICE = (
    "pass ids='external' if they are ids of the source, as masks and splits that come with the "
    "data are, or ids='internal' if they are ids of the dataset"
)
#: The same where the source knows its nodes by names: no number or mask can be of the source.
_ADVICE_FOR_NAMES = (
    "the nodes of its source have names: pass these, or ids='internal' if they are ids of the "
    "dataset"
)


class NodesOf(Protocol):
    """What reading needs to know of nodes: a `Graph` of one type, or a type of many."""

    _inside: Any

    @property
    def num_nodes(self) -> int: ...
    @property
    def order(self) -> int: ...
    @property
    def _own_order(self) -> int: ...
    @property
    def node_id_type(self) -> type[int | str] | None: ...
    def to_internal(self, keys: Any) -> NDArray[np.int64]: ...  # noqa: ANN401
    def to_external(self, ids: Any) -> NDArray[np.int64] | list[str]: ...  # noqa: ANN401


def require_reading(ids: object) -> None:
    """Raises unless `ids=` says how to read integers, or leaves it open."""
    require_choice("ids", ids, (None, "internal", "external"))


def to_internal(
    nodes: Any,  # noqa: ANN401
    name: str,
    graph: NodesOf,
    ids: IdReading | None,
    *,
    place: str | None = None,
) -> NDArray[np.int64]:
    """Nodes as internal ids: from ids, or from a mask that has a bool for each node.

    Args:
        nodes: The nodes.
        name: What messages call them.
        graph: Whose nodes they are.
        ids: Whose ids they are. None will do for those that are marked, and where there is only one
            way to read them.
        place: What messages call one of them, with braces for its number.

    Raises:
        IdError: It is not known whose ids they are, or a node does not exist.
        TypeError: They are no ids.
        ValueError: A mask has another length; or ids that are marked are said to be external.
    """
    array = as_plain(nodes, name)
    if array.dtype == np.bool_:
        if array.shape != (graph.num_nodes,):
            raise ValueError(
                f"{name} is a mask of shape {array.shape} for {graph.num_nodes} nodes; give one "
                "bool for each node"
            )
        found = np.flatnonzero(array)
        return _of_mask(found, name, graph) if _is_external(nodes, name, graph, ids) else found
    if array.dtype.kind in "UTO" and graph.node_id_type is str:
        ids, found = "external", array  # names are never internal ids
    else:
        found = as_ids(nodes, name)
    if _is_external(nodes, name, graph, ids):
        try:
            return graph.to_internal(found).view(np.ndarray)
        except (IdError, TypeError) as error:
            raise type(error)(f"{name}, as ids of the source: {error}") from None
    require_nodes(found, graph.num_nodes, place or f"{name}[{{}}]")
    return found


def _is_external(nodes: Any, name: str, graph: NodesOf, ids: IdReading | None) -> bool:  # noqa: ANN401
    """Whether these are ids of the source, where that makes a difference."""
    order = graph._own_order  # noqa: SLF001  (a friend)
    if ids == "external":
        refuse_marked(nodes, name, "ids='external'", advice="pass them without ids=")
    if order_of(nodes) != 0:
        if graph._inside is not None or graph.order != 0:  # noqa: SLF001
            require_marked(nodes, name, graph.order, advice=ADVICE)
        return False
    if ids is None and order != 0 and is_several(nodes):
        advice = _ADVICE_FOR_NAMES if graph.node_id_type is str else ADVICE
        require_marked(nodes, name, order, advice=advice)
    return ids == "external" and graph.node_id_type is not None


def _of_mask(places: NDArray[np.int64], name: str, graph: NodesOf) -> NDArray[np.int64]:
    """The nodes that the source numbers so, if it numbers its nodes as a mask does."""
    if graph.node_id_type is int:
        try:
            return graph.to_internal(places).view(np.ndarray)
        except IdError:
            pass
    raise IdError(
        f"{name} is a mask, which has a place for each of the numbers 0, 1, 2, …, but the source "
        "has other ids; pass the ids of the nodes instead"
    )


def require_nodes(ids: NDArray[np.int64], num_nodes: int, argument: str) -> None:
    """Raises if a node does not exist; `argument` has braces for the place of the first of them."""
    wrong = (ids < 0) | (ids >= num_nodes)
    if wrong.any():
        place = int(np.argmax(wrong))
        raise IdError(f"{argument.format(place)} is {ids[place]} in a graph of {num_nodes} nodes")


def as_nodes(ids: ArrayLike, name: str, num_nodes: int, *, of: str = "") -> NDArray[np.int64]:
    """Ids of nodes that are their numbers, checked.

    Args:
        ids: The ids.
        name: What messages call them.
        num_nodes: How many nodes there are.
        of: Whose nodes they are, for messages, with a colon and a space behind it.

    Raises:
        IdError: A node does not exist.
    """
    array = as_ids(ids, name)
    wrong = (array < 0) | (array >= num_nodes)
    if wrong.any():
        place = int(np.argmax(wrong))
        raise IdError(
            f"{of}node {array[place]} (at position {place}) does not exist: nodes are numbered "
            f"from 0 to {num_nodes - 1}"
        )
    return array


def values_by_node(
    values: ArrayLike | None, name: str, graph: NodesOf, ids: IdReading | None
) -> ArrayLike | None:
    """Values of all nodes, such as weights of negatives, in the order of internal ids.

    Args:
        values: One for each node, in the order of its ids.
        name: What messages call them.
        graph: Whose nodes they are of.
        ids: Whose ids these are.

    Raises:
        IdError: It is not known whose ids they are; or the source does not number its nodes.
    """
    if values is None or not _is_external(values, name, graph, ids):
        return values
    array = as_plain(values, name)
    if len(array) != graph.num_nodes:
        return values  # the core says so
    places = source_numbers(graph)
    if places is None:
        raise IdError(
            f"{name} has a value for each of the nodes 0, 1, 2, …, but the source has other ids; "
            "give the values in the order of the internal ids, and ids='internal'"
        )
    return array[places]


def source_numbers(graph: NodesOf) -> NDArray[np.int64] | None:
    """What the source calls each node, if that is one of the numbers 0, 1, 2, …; else None."""
    external = graph.to_external(np.arange(graph.num_nodes))
    if isinstance(external, list) or not np.array_equal(
        np.sort(external), np.arange(len(external))
    ):
        return None
    return external


def ids_of_nodes(
    external: _core.NodeIds, ids: ArrayLike, kind: type[int | str] | None
) -> NDArray[np.int64] | list[str]:
    """What the source calls these nodes.

    Raises:
        IdError: A node does not exist.
        MissingDataError: There are no external ids.
    """
    if kind is str:
        return _core.split_names(*external.to_external_names(as_ids(ids, "ids")))
    return as_native(external.to_external(as_ids(ids, "ids")))


def nodes_of_ids(
    external: _core.NodeIds,
    keys: Any,  # noqa: ANN401
    kind: type[int | str] | None,
    whose: str,
) -> NDArray[np.int64]:
    """The nodes that have these ids; `whose` they are, for messages.

    Raises:
        IdError: No node has this id; the message says which.
        MissingDataError: There are no external ids.
        TypeError: The keys are of the wrong type.
        ValueError: They are not one-dimensional.
    """
    if kind is not str:
        return as_native(external.to_internal(as_ids(keys, "keys")))
    # Of lists as they are: an array of text would make texts of numbers among them.
    names = np.asarray(as_plain(keys, "keys") if isinstance(keys, np.ndarray) else keys, object)
    if names.ndim != 1:
        raise ValueError(f"keys must be one-dimensional, not of shape {names.shape}")
    try:
        columns = _core.join_names(names.tolist())
    except (TypeError, UnicodeEncodeError):
        _refuse_names(names, whose)
        raise
    return as_native(external.to_internal(columns))


def require_keys(keys: Any) -> None:  # noqa: ANN401
    """Raises for a text alone, and for ids that are known to be internal."""
    require_list_of_text(keys, "keys")
    refuse_marked(keys, "keys", "to_internal", advice="take them as they are")


def _refuse_names(names: NDArray[Any], whose: str) -> None:
    """Raises for the first of the names that no node can have."""
    for place, name in enumerate(names):
        if not isinstance(name, str):
            raise TypeError(
                f"keys[{place}] is {shown(name)}, but the external ids of {whose} are strings"
            )
        if not is_text(name):
            raise IdError(f"no node has the external id {name!r} (at position {place})")
