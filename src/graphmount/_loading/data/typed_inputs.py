"""The seeds and links that a loader of many kinds is asked for: a type or relation, and its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount._mount.node_reading import require_reading, to_internal
from graphmount._support.shown import shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from graphmount._loading.data.typed_data import TypedData
    from graphmount._mount.node_ids import IdReading


def as_typed_nodes(
    nodes: Any,  # noqa: ANN401
    data: TypedData,
    ids: IdReading | None = None,
) -> tuple[TypedData, NDArray[np.int64]]:
    """Seeds as users give them: a type and its nodes, a type alone, or PyG's pairs of these.

    Returns:
        The data, which knows the type of its seeds from then on, and the seeds.

    Raises:
        IdError: A node does not exist, or it is not known whose ids these are.
        TypeError: They are nothing of this.
        ValueError: There is no such type or split.
    """
    require_reading(ids)
    name, given = _type_and_nodes(nodes, data)
    data.dataset._sampling.relations.type(name, "input_nodes")  # noqa: SLF001  (a friend)
    space = data.dataset.nodes[name]
    data = replace(data, seed_types=(name,))
    if given is None:
        return data, np.arange(space.num_nodes)
    if isinstance(given, str):
        try:
            return data, space._read_split(given)  # noqa: SLF001
        except ValueError as error:
            raise ValueError(f"input_nodes={nodes!r}: {error}") from None
    return data, to_internal(given, "input_nodes", space, ids)


def _type_and_nodes(nodes: Any, data: TypedData) -> tuple[Any, Any]:  # noqa: ANN401
    if isinstance(nodes, str):
        return nodes, None
    if isinstance(nodes, Mapping):
        if len(nodes) != 1:
            raise ValueError(
                f"input_nodes has nodes of {len(nodes)} types; the seeds of a loader are of one "
                "type, and a loader for each type makes batches of all of them"
            )
        return next(iter(nodes.items()))
    if isinstance(nodes, tuple | list) and len(nodes) == 2 and isinstance(nodes[0], str):
        return nodes[0], nodes[1]
    known = ", ".join(map(repr, data.dataset.node_types))
    said = "" if nodes is None else f", not {shown(nodes)}"
    raise TypeError(
        f"input_nodes must be a node type and its nodes, such as ({data.dataset.node_types[0]!r}, "
        f"'train') or ({data.dataset.node_types[0]!r}, ids){said}; there are the types {known}"
    )
