"""Splits of a dataset: which nodes each of them names.

They are read and checked before anything is compiled, so that a split of floats is refused at once.
Whether its nodes exist is checked when the graph is known.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount._compile.dataset.no_such_file import advising_on_columns
from graphmount._dataset.spaces.node_space import NodeSpace
from graphmount._mount.node_ids import order_of
from graphmount._sources.contract.file_stamps import require_unchanged
from graphmount._sources.contract.tables import Table
from graphmount._sources.opening import open_table
from graphmount._support.arguments import as_ids, as_plain
from graphmount._support.shown import shown
from graphmount.errors import IdError, SourceError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from graphmount._compile.dataset.nodes import KnownNodes
    from graphmount._mount.graph import Graph


def read_splits(splits: object, nodes: KnownNodes) -> dict[str, NDArray[Any]]:
    """Splits as users give them: integers, masks or text, all of one dimension.

    Args:
        splits: By name: ids of the source, a mask of its nodes, or a file of ids.
        nodes: What is known of the nodes.

    Raises:
        TypeError, ValueError: One is not a split, or of the wrong kind.
        SourceError: A file is not one of ids.
    """
    if splits is None:
        return {}
    if not isinstance(splits, Mapping):
        raise TypeError(
            f"splits={shown(splits)}; pass a dict, such as {{'train': [0, 1]}}, or a column, such "
            "as Table(source=…, columns=['fold'])"
        )
    read = {}
    for name, split in splits.items():
        with advising_on_columns(split, "write splits={}"):
            values = read_split(split, f"split {name!r}")
        if values.dtype == np.bool_:
            _require_mask(values, name, has_order=nodes.have_order, num_nodes=nodes.count)
        elif values.size and (values.dtype.kind in "OU") != nodes.has_text_ids:
            wanted = "strings" if nodes.has_text_ids else "integers"
            raise TypeError(f"split {name!r} must be {wanted}, as the ids are, not {values.dtype}")
        read[name] = values
    return read


def read_split(split: Any, what: str) -> NDArray[Any]:  # noqa: ANN401
    """A split as it is given: ids, a mask, or the path of a file of ids.

    Raises:
        TypeError, ValueError: It is none of these.
        SourceError: The file is not one of ids.
    """
    if isinstance(split, str | os.PathLike):
        return _read_file(split)
    if isinstance(split, list | tuple) and split and isinstance(split[0], str):
        for place, value in enumerate(split):
            if not isinstance(value, str):
                raise TypeError(f"{what}: item {place} is {shown(value)}; ids are all strings")
        return np.array(split, dtype=object)  # as they are: NumPy's own would be as long as one
    values = as_plain(split, what)
    if order_of(split) != 0 and values.dtype != np.bool_:
        raise ValueError(
            f"{what} has internal ids of a dataset (see NodeIds), and a split has ids of the "
            "source; pass ds.to_external(ids), or numpy.array(ids) if this source numbers its nodes"
            " as that dataset does"
        )
    if values.ndim != 1:
        raise ValueError(f"{what} must be one-dimensional, not of shape {values.shape}")
    if values.size and values.dtype.kind not in "biuUO":
        raise TypeError(
            f"{what} must be ids or a mask of bools, not {values.dtype}; pass "
            "array.astype(numpy.int64) if its values are whole numbers"
        )
    if values.dtype.kind == "O":
        return as_ids(values.tolist(), what, error=SourceError)  # or a message that says why not
    return values


def _read_file(path: str | os.PathLike[str]) -> NDArray[Any]:
    source = open_table(Table(source=path))
    if source.num_columns != 1:
        raise SourceError(f"{source.name}: a split is one column of ids, not {source.num_columns}")
    if source.dtype.startswith(("float", "bfloat")):
        raise SourceError(f"{source.name}: a split has integers, not {source.dtype}")
    parts = [batch.rows.reshape(-1) for batch in source.batches(memory=16 << 20)]
    require_unchanged(source)
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def _require_mask(
    mask: NDArray[np.bool_], name: str, *, has_order: bool, num_nodes: int | None
) -> None:
    if not has_order:
        raise SourceError(
            f"split {name!r} is a mask, and with ids='map' nodes are numbered as they appear; pass "
            "ids, or node_ids= with the ids in the order of the mask"
        )
    if num_nodes is not None and mask.shape != (num_nodes,):
        raise SourceError(
            f"split {name!r}: a mask has one value for each node of the source, so its shape "
            f"is ({num_nodes},), not {mask.shape}"
        )


def as_nodes(
    split: NDArray[Any], name: str, graph: Graph | NodeSpace, *, new_ids: NDArray[Any] | None
) -> NDArray[np.int64]:
    """The nodes of the graph that a split names.

    Args:
        split: As `read_splits` gives it.
        name: What messages call it.
        graph: The graph, or the nodes of a type.
        new_ids: The node of the graph for each node of the source, if they have new numbers.

    Raises:
        SourceError: One does not exist.
    """
    if split.dtype == np.bool_:
        _require_mask(split, name, has_order=True, num_nodes=graph.num_nodes)
        places = np.flatnonzero(split)
        return places if new_ids is None else new_ids[places].astype(np.int64)
    if len(split) == 0:
        return np.empty(0, np.int64)
    try:
        if graph.node_id_type is not None or isinstance(graph, NodeSpace):
            return graph.to_internal(split)
        nodes = as_ids(split, f"split {name!r}")
        graph.degree(nodes, direction=graph.directions[0])  # which says what does not exist
    except IdError as error:
        raise SourceError(f"split {name!r}: {error}") from None
    return nodes
