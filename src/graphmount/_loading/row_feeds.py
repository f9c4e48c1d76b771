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

    from graphmount._loading.inputs import LoaderData
    from graphmount._mount.features import FeatureStore, Reader
    from graphmount._mount.results.neighbor_sample import NeighborSample
    from graphmount._support.direction import Direction

#: How much of the memory is for rows that come and go: see docs/benchmarks.md.
SLOT_SHARE = 0.3
#: What the name of a hot row takes, here and in the core.
_NAME_BYTES = 16


@dataclass(frozen=True)
class RowFeeds:
    """The feeds of nodes and of edges, by the names of their tables."""

    nodes: dict[str, _core.TableFeed]
    edges: dict[str, _core.TableFeed]

    @property
    def by_name(self) -> dict[str, _core.TableFeed]:
        """All of them, in the order that the core has them in."""
        return {**self.nodes, **self.edges}


def as_dtypes(dtype: object, data: LoaderData) -> dict[str, str]:
    """The dtype of each table's rows in batches: as wanted, or as stored.

    Raises:
        ValueError: There is no such table or dtype.
    """
    tables = {**data.features, **data.edge_features}
    stored = {name: str(store.dtype) for name, store in tables.items()}
    if dtype is None:
        return stored
    if not isinstance(dtype, Mapping):
        return dict.fromkeys(data.features, dtype_name(dtype)) | {
            name: stored[name] for name in data.edge_features
        }
    for name in dtype:
        if name not in tables:
            raise ValueError(f"dtype: there is no table {name!r}; there are {sorted(tables)}")
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
) -> RowFeeds:
    """Fills the caches.

    Args:
        data: The tables.
        sample: A sample like those of the batches, by a number.
        direction: That is sampled.
        memory: For all feeds together.
        window: Batches that are sampled ahead.
        dtypes: What the rows of each table are converted to.
        reader: How rows come from the disk.
    """
    tables = [*data.features.values(), *data.edge_features.values()]
    if not tables:
        return RowFeeds({}, {})
    trial = sample(0)
    total = sum(max(1, store.file_bytes) for store in tables)

    def make(name: str, store: FeatureStore, *, of_edges: bool) -> _core.TableFeed:
        share = memory * store.file_bytes // total
        row_bytes = max(1, store.file_bytes // max(1, len(store)))
        # What names the hot rows is in memory beside them, until they are read.
        most = share // (row_bytes + _NAME_BYTES)
        hottest: Any = np.empty(0, np.int64)
        has_hottest = not of_edges and not data.is_hot_first and share // row_bytes < len(store)
        if has_hottest and most > 0:
            hottest = hottest_nodes(
                data.graph, direction, most, lambda number: sample(number).nodes
            )
        return _core.TableFeed(
            store._open(),  # noqa: SLF001
            memory=share,
            slot_share=SLOT_SHARE,
            window=window,
            trial=trial.edge_ids if of_edges else trial.nodes,
            hottest=hottest,
            dtype=dtypes[name],
            reader=reader,
        )

    return RowFeeds(
        {name: make(name, store, of_edges=False) for name, store in data.features.items()},
        {name: make(name, store, of_edges=True) for name, store in data.edge_features.items()},
    )
