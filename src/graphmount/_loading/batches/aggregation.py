"""Which tables a loader aggregates, and which samples it can do that for.

Rows of the nodes of the last hop are only ever averaged or summed by the first layer of a model. A
loader with `aggregate_last` does that while it fetches rows. So a batch has the rows of the nodes
that the first layer makes rows for, its targets, and for each of them one row for all its
neighbors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from graphmount import _core
from graphmount._support.arguments import require_choice
from graphmount._support.shown import shown

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from numpy.typing import NDArray

    from graphmount._mount.features import FeatureStore
    from graphmount._mount.results import NeighborSample

#: What is made of the rows of neighbors.
AggregateLast = Literal["mean", "sum"]

_FLOATS = ("float16", "bfloat16", "float64")


def require_targets(
    aggregate_last: AggregateLast | None,
    *,
    subgraph_type: object,
    direction: object,
    num_neighbors: object,
) -> None:
    """Raises if there is something to aggregate, but not along the edges of such samples.

    Raises:
        ValueError: Edges do not lead from what was drawn to what it was drawn for; or
            `aggregate_last` is something else.
    """
    require_choice("aggregate_last", aggregate_last, (None, "mean", "sum"))
    if aggregate_last is None:
        return
    wanted = {"subgraph_type": (subgraph_type, "directional"), "direction": (direction, "in")}
    for name, (value, needed) in wanted.items():
        if not (isinstance(value, str) and value == needed):
            raise ValueError(
                f"aggregate_last={aggregate_last!r} needs {name}={needed!r}, not {shown(value)}: "
                "rows are aggregated along the edges that were drawn, from the neighbor to the "
                "node that it was drawn for"
            )
    if isinstance(num_neighbors, list | tuple) and not num_neighbors:
        raise ValueError(
            f"aggregate_last={aggregate_last!r} needs a hop to aggregate: give num_neighbors a "
            "number for each layer of the model"
        )


def aggregated_tables(
    aggregate_last: AggregateLast | None,
    nodes: Mapping[str, FeatureStore],
    dtypes: Mapping[str, str],
    labels: Collection[str],
) -> dict[str, AggregateLast]:
    """The tables that are aggregated: those of nodes that batches get as float32, but for labels.

    Args:
        aggregate_last: What is made of the rows of neighbors, or None.
        nodes: The tables of nodes.
        dtypes: What the rows of each are in batches.
        labels: The names of those that are labels.

    Raises:
        ValueError: There is no such table, or one with other floats.
    """
    if aggregate_last is None:
        return {}
    tables = {name: store for name, store in nodes.items() if name not in labels}
    for name, store in tables.items():
        dtype = dtypes[name]
        kind = "quantized " if store.scales is not None and dtype == "int8" else ""
        if kind or dtype in _FLOATS:
            raise ValueError(
                f"aggregate_last={aggregate_last!r}: batches would have {kind}{dtype} rows of "
                f"table {name!r}, and only float32 is summed; pass dtype={{{name!r}: 'float32'}}, "
                "or leave the table out by features="
            )
    chosen = {name: aggregate_last for name in tables if dtypes[name] == "float32"}
    if not chosen:
        there = ", ".join(f"{name!r} ({dtypes[name]})" for name in tables)
        raise ValueError(
            f"aggregate_last={aggregate_last!r} needs a table of nodes whose rows are float32 in "
            f"batches; there is {there or 'none'}. Integers can be converted by dtype='float32'"
        )
    return chosen


def aggregate_rows(
    rows: NDArray[Any], sample: NeighborSample, aggregate_last: AggregateLast
) -> tuple[NDArray[Any], NDArray[Any]]:
    """What the core makes of the rows of all nodes: those of targets, and one of their neighbors.

    For a batch that is made at once and not by the pipeline; the results are the same, bit by bit.
    """
    indptr = sample.indptr
    if indptr is None:
        raise RuntimeError("a sample to aggregate along has no indptr")
    num_targets = len(indptr) - 1
    flat = rows.reshape(len(rows), -1)
    out = np.empty((num_targets, flat.shape[1]), np.float32)
    _core.sum_rows(
        (indptr, np.ascontiguousarray(sample.edge_index[0]), len(rows)),
        (1, flat.shape[1]),
        flat.reshape(-1),
        np.empty(0, np.float32),
        aggregate_last == "mean",
        out.reshape(-1),
    )
    return rows[:num_targets], out.reshape(num_targets, *rows.shape[1:])
