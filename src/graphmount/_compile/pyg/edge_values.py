"""Which attributes of an object of PyG have weights and times of edges, or times of nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from graphmount._support.shown import shown
from graphmount.errors import MissingDataError

if TYPE_CHECKING:
    from graphmount._sources.objects.pyg_data import DataParts, TypeParts

_WEIGHTS = ("edge_weight",)
_TIMES = ("edge_time", "time")


def edge_values_of(parts: DataParts | TypeParts, name: str | None, argument: str) -> str | None:
    """The attribute that has the weights or the times of edges, if there is one.

    Args:
        parts: The parts.
        name: The attribute, "auto" for the usual ones, or None.
        argument: What named it; those of weights have "weight" in their name.

    Raises:
        MissingDataError: There is no such attribute of edges.
        ValueError: It has more than one number for each edge.
    """
    if name is None:
        return None
    if name == "auto":
        usual, is_fit = (
            (_WEIGHTS, _can_be_weights) if "weight" in argument else (_TIMES, _can_be_times)
        )
        return next((key for key in usual if key in parts.edges and is_fit(parts.edges[key])), None)
    if not isinstance(name, str) or name not in parts.edges:
        is_of_nodes = isinstance(name, str) and name in parts.nodes
        also = ": it has one of nodes, which is something else" if is_of_nodes else ""
        raise MissingDataError(
            f"{argument}={shown(name)}: this Data has no such attribute of edges{also}; there are "
            f"{sorted(parts.edges)}"
        )
    if vector_of(parts.edges[name]).ndim != 1:
        shape = tuple(parts.edges[name].shape)
        raise ValueError(
            f"{argument}={name!r} has the shape {shape}, and one number is needed for each edge"
        )
    return name


def with_times_of_nodes(parts: DataParts, name: str, end: Literal[0, 1]) -> DataParts:
    """The parts, with times of edges: those of the nodes at one end.

    Sampling draws the node at that end if the edge is not too late, and so, if the node is not.

    Args:
        parts: The parts.
        name: The attribute of nodes that has their times.
        end: Which end is drawn: 0 for sources, 1 for destinations.

    Raises:
        ValueError: It is not one integer for each node.
    """
    times = vector_of(parts.nodes[name])
    if times.ndim != 1 or "int" not in str(times.dtype):
        raise ValueError(
            f"time_attr={name!r}: one integer is needed for each node, and these are of shape "
            f"{tuple(times.shape)} and of {times.dtype}"
        )
    ends = None if parts.edge_index is None else parts.edge_index[end]
    if ends is None or len(ends) == 0:
        return replace(parts, times=np.empty(0, np.int64))
    if ends.min() < 0 or ends.max() >= parts.num_nodes:
        return parts  # compiling says which edge leads nowhere
    return replace(parts, times=times[ends])


def vector_of(rows: Any) -> Any:  # noqa: ANN401
    """A column as a vector; others as they are."""
    return rows[:, 0] if rows.ndim == 2 and rows.shape[1] == 1 else rows


def _can_be_weights(rows: Any) -> bool:  # noqa: ANN401
    values = vector_of(rows)
    if values.ndim != 1 or str(values.dtype).endswith("bool"):
        return False
    return len(values) == 0 or bool(values.min() >= 0 and values.max() < float("inf"))


def _can_be_times(rows: Any) -> bool:  # noqa: ANN401
    return vector_of(rows).ndim == 1 and "int" in str(rows.dtype)
