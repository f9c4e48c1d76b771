"""The feeds of a loader: for each of its tables, the part of the core that caches and reads rows.

Together they take the memory that the loader was given, each a part by the size of its table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount import _core
from graphmount._loading.hot_rows import hottest_nodes
from graphmount._support.conversion import dtype_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphmount._loading.batches.aggregation import AggregateLast
    from graphmount._loading.inputs import IdSpace, LoaderData
    from graphmount._mount.features import FeatureStore, Reader
    from graphmount._mount.results import NeighborSample
    from graphmount._support.direction import Direction

#: How much of the memory is for rows that come and go: see docs/benchmarks.md.
SLOT_SHARE = 0.3
#: What the name of a hot row takes, here and in the core.
_NAME_BYTES = 16


@dataclass(frozen=True)
class RowFeed:
    """The feed of one table, and what its rows belong to."""

    name: str
    space: IdSpace
    core: _core.TableFeed
    aggregates: bool


def as_dtypes(dtype: object, data: LoaderData) -> dict[str, str]:
    """The dtype of each table's rows in batches: as wanted, or as stored.

    Raises:
        ValueError: There is no such table or dtype.
    """
    stored = {name: str(store.dtype) for name, store in data.by_name.items()}
    if dtype is None:
        return stored
    if not isinstance(dtype, Mapping):
        return stored | dict.fromkeys(data.tables.get("nodes", ()), dtype_name(dtype))
    for name in dtype:
        if name not in stored:
            raise ValueError(f"dtype: there is no table {name!r}; there are {sorted(stored)}")
    return stored | {name: dtype_name(wanted) for name, wanted in dtype.items()}


def make_feeds(
    data: LoaderData,
    sample: Callable[[int], NeighborSample],
    *,
    direction: Direction,
    memory: int,
    window: int,
    dtypes: Mapping[str, str],
    reader: Reader,
    aggregated: Mapping[str, AggregateLast],
) -> list[RowFeed]:
    """Fills the caches.

    Args:
        data: The tables.
        sample: A sample like those of the batches, by a number.
        direction: That is sampled.
        memory: For all feeds together.
        window: Batches that are sampled ahead.
        dtypes: What the rows of each table are converted to.
        reader: How rows come from the disk.
        aggregated: What batches get for the neighbors of a node from some tables, in place of their
            rows.
    """
    if not data.by_name:
        return []
    trial = sample(0)
    total = sum(max(1, store.file_bytes) for store in data.by_name.values())

    def make(name: str, store: FeatureStore, space: IdSpace) -> _core.TableFeed:
        share = memory * store.file_bytes // total
        row_bytes = max(1, store.file_bytes // max(1, len(store)))
        # The ids of the hot rows are in memory as well, until the rows are read.
        most = share // (row_bytes + _NAME_BYTES)
        hottest: Any = np.empty(0, np.int64)
        has_hottest = space == "nodes" and not data.is_hot_first and share // row_bytes < len(store)
        if has_hottest and most > 0:
            hottest = hottest_nodes(
                data.graph, direction, most, lambda number: sample(number).nodes
            )
        return _core.TableFeed(
            store._open(),  # noqa: SLF001
            space=space,
            memory=share,
            slot_share=SLOT_SHARE,
            window=window,
            trial=trial.nodes if space == "nodes" else trial.edge_ids,
            hottest=hottest,
            dtype=dtypes[name],
            reader=reader,
            aggregation=aggregated.get(name, "none"),
        )

    return [
        RowFeed(name, space, make(name, store, space), name in aggregated)
        for space, tables in data.tables.items()
        for name, store in tables.items()
    ]
