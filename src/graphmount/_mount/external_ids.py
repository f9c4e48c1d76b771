"""Ids of the source: those of given nodes, and the nodes that have given ids.

The core keeps and finds them; this converts what users give and get. A `Graph` has ids in its own
file, a node type of many in a file beside the graphs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount import _core
from graphmount._mount.node_ids import refuse_marked
from graphmount._support.arguments import (
    as_ids,
    as_native,
    as_plain,
    is_text,
    require_list_of_text,
)
from graphmount._support.shown import shown
from graphmount.errors import IdError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


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
