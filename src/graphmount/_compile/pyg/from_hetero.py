"""From a PyG `HeteroData` to a dataset of many node types: every attribute gets its place there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount._compile.dataset.compiler import compile_dataset
from graphmount._compile.dataset.typed_nodes import Nodes
from graphmount._compile.pyg.edge_values import edge_values_of
from graphmount._sources.contract.tables import EdgeTable, Table
from graphmount._support.shown import shown
from graphmount.errors import MissingDataError

if TYPE_CHECKING:
    import os

    from graphmount._compile.dataset.compiler import CompiledDataset
    from graphmount._sources.objects.pyg_data import HeteroParts

_LABELS = "y"
_NODE_TIMES = "time"


def compile_hetero_parts(
    parts: HeteroParts,
    out: str | os.PathLike[str],
    *,
    weights: str | None,
    timestamps: str | None,
    dtype: Any = None,  # noqa: ANN401
    for_loaders: bool = False,
    **options: Any,  # noqa: ANN401
) -> CompiledDataset:
    """Compiles the parts of a `HeteroData`, whose edges keep their places.

    Args:
        parts: The parts.
        out: The folder to write.
        weights: The attribute of edges that is their weights, "auto", or None.
        timestamps: The attribute that is the times of edges, and of nodes; "auto", or None.
        dtype: The `dtype` of `from_pyg`.
        for_loaders: Whether weights and times stay tables as well, edges without weights get equal
            ones where others have some, and splits are left out.
        options: Other options of `compile_dataset`.

    Raises:
        MissingDataError: No relation has the attribute given as weights or times.
        TypeError, ValueError: An attribute or an option is wrong.
    """
    _require_known(parts, weights, timestamps, dtype)

    def table(name: str, rows: Any, *, is_node: bool) -> Table:  # noqa: ANN401
        if isinstance(dtype, Mapping):
            return Table(source=rows, dtype=dtype.get(name))
        is_float = is_node and "float" in str(rows.dtype)
        return Table(source=rows, dtype=dtype if is_float else None)

    nodes = {}
    for node_type, part in parts.nodes.items():
        times = _node_times(part.rows, timestamps)
        nodes[node_type] = Nodes(
            num_nodes=part.count,
            features={
                name: table(name, rows, is_node=True)
                for name, rows in part.rows.items()
                if name not in (_LABELS, None if for_loaders else times)
            },
            labels=part.rows.get(_LABELS),
            splits=None if for_loaders else part.named_splits(),
            timestamps=None if times is None else part.rows[times],
        )
    edges, edge_features = {}, {}
    for relation, part in parts.edges.items():
        rows = part.rows
        found = [
            edge_values_of(part, name if name == "auto" or name in rows else None, argument)
            for argument, name in (("weights", weights), ("timestamps", timestamps))
        ]
        values = [None if name is None else rows[name].reshape(-1) for name in found]
        if for_loaders and weights is not None and values[0] is None:
            values[0] = np.ones(part.count, np.float32)
        edges[relation] = EdgeTable(
            source=(part.edge_index[0], part.edge_index[1]),
            weights=values[0],
            timestamps=values[1],
        )
        edge_features[relation] = {
            name: table(name, rows, is_node=False)
            for name, rows in part.rows.items()
            if for_loaders or name not in found
        }
    return compile_dataset(
        out, nodes=nodes, edges=edges, edge_features=edge_features, source_rows=True, **options
    )


def _require_known(
    parts: HeteroParts,
    weights: str | None,
    timestamps: str | None,
    dtype: Any,  # noqa: ANN401
) -> None:
    """Raises unless attributes that are named exist."""
    known = {name for part in (*parts.nodes.values(), *parts.edges.values()) for name in part.rows}
    if isinstance(dtype, Mapping):
        for name in dtype:
            if name not in known:
                raise ValueError(f"dtype: there is no table {shown(name)}; there are {known}")
    for argument, name in (("weights", weights), ("timestamps", timestamps)):
        if name not in (None, "auto") and name not in known:
            raise MissingDataError(
                f"{argument}={shown(name)}: no relation or type of this HeteroData has such an "
                f"attribute; there are {sorted(known)}"
            )


def _node_times(rows: Mapping[str, Any], timestamps: str | None) -> str | None:
    """The attribute that has the times of nodes, if there is one."""
    name = _NODE_TIMES if timestamps == "auto" else timestamps
    if name is None or name not in rows or "int" not in str(rows[name].dtype):
        return None
    return name if rows[name].ndim == 1 or rows[name].shape[1] == 1 else None
