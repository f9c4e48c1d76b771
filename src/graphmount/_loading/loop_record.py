"""One loop over a loader: what makes its batches, when it began and ended, and what it did.

The core counts rows of tables as long as a cache lives. The counts at the beginning of the loop are
kept, so that the figures of one epoch can be separated from those of all epochs.
"""

from __future__ import annotations

import time as clock
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from graphmount._loading.epochs.stats import LoaderStats, TableStats

if TYPE_CHECKING:
    from graphmount import _core
    from graphmount._loading.data.loader_data import AnyData
    from graphmount._loading.row_feeds import RowFeed


@dataclass(kw_only=True)
class LoopRecord:
    """A loop that runs, or the last one.

    Attributes:
        pipeline: What makes the batches.
        data: What they are made from.
        feeds: The caches of its tables.
        epoch: The epoch.
        epoch_batches: How many batches an epoch has.
        ended: When it ended; None while it runs.
    """

    pipeline: _core.BatchPipeline
    data: AnyData
    feeds: list[RowFeed]
    epoch: int
    epoch_batches: int
    begun: float = field(default_factory=clock.monotonic)
    ended: float | None = None

    def end(self) -> None:
        """The time stands still from now on."""
        if self.ended is None:
            self.ended = clock.monotonic()

    def stats(self, **others: Any) -> LoaderStats:  # noqa: ANN401
        """All figures, under the names that the core has for them; `others` are of the loader."""
        counted = self.pipeline.stats()
        until = clock.monotonic() if self.ended is None else self.ended
        tables, before = self._tables(counted.feeds), self._tables(counted.feeds_before)
        own: dict[str, Any] = {
            "epoch": self.epoch,
            "epoch_batches": self.epoch_batches,
            "seconds": until - self.begun,
            "sampled_nodes": sum(counted.sampled_nodes),
            "sampled_edges": sum(counted.sampled_edges),
            "nodes_by_type": dict(zip(self.data.node_types, counted.sampled_nodes, strict=True)),
            "edges_by_relation": dict(zip(self.data.graphs, counted.sampled_edges, strict=True)),
            "tables": tables,
            "epoch_tables": {name: table.since(before[name]) for name, table in tables.items()},
            **others,
        }
        found = {
            each.name: getattr(counted, each.name)
            for each in fields(LoaderStats)
            if each.name not in own
        }
        return LoaderStats(**found, **own)

    def _tables(self, feeds: list[_core.FeedStats]) -> dict[str, TableStats]:
        return {
            feed.title: TableStats(
                **{each.name: getattr(stats, each.name) for each in fields(TableStats)}
            )
            for feed, stats in zip(self.feeds, feeds, strict=True)
        }
