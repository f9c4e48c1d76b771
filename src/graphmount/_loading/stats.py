"""What a loader did: where rows came from, what was read, and who waited for whom."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from graphmount._support.sizes import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from graphmount import _core
    from graphmount._mount.memory_report import MemoryReport


@dataclass(frozen=True, kw_only=True)
class TableStats:
    """Where the rows of one table came from.

    Attributes:
        rows: Rows that batches wanted.
        hot_rows: Of these, in the cache of hot rows.
        window_rows: Kept from a batch before, because the window knew that they would be wanted, or
            read once for several batches.
        read_rows: Read from the file.
        ridden_rows: Read along with them, for a later batch of the window.
        requests: Reads that the disk was asked for.
        merged_rows: Rows that came with the read of another.
        bytes_read: Bytes of these reads, whole blocks.
        copy_seconds: Time for copying rows that were in memory.
        wait_seconds: Time that was waited for the disk when all else was done.
        cache_bytes: Memory of the caches.
        is_swept: Whether the file is read from end to end, again and again, for many batches at
            once, because each of them wants a large part of it.

    Examples:
        >>> import graphmount as gm
        >>> gm.TableStats(rows=100, read_rows=20).hit_rate
        0.8
    """

    rows: int = 0
    hot_rows: int = 0
    window_rows: int = 0
    read_rows: int = 0
    ridden_rows: int = 0
    requests: int = 0
    merged_rows: int = 0
    bytes_read: int = 0
    copy_seconds: float = 0.0
    wait_seconds: float = 0.0
    cache_bytes: int = 0
    is_swept: bool = False

    @property
    def hit_rate(self) -> float:
        """The share of rows that did not have to be read."""
        return 1 - self.read_rows / self.rows if self.rows else 1.0


@dataclass(frozen=True, kw_only=True)
class LoaderStats:
    """What a loader did in its current or last epoch; the tables since it was made.

    Attributes:
        batches: Batches that were made.
        seconds: Since the epoch began.
        sampled_nodes: Nodes of all batches.
        sampled_edges: Edges of all batches.
        sample_seconds: Time that sampling took.
        feed_seconds: Time that getting rows took.
        sampling_waited_for: Time that rows could not be got because sampling was not done.
        taker_waited_for: Time that finished batches waited for the one who takes them.
        waited_for_batches: Time that the one who takes them waited.
        held_batches: Batches whose rows are in memory now, waiting or handed out and kept.
        held_bytes: The memory of these rows, which comes on top of the caches.
        tables: For each table, where its rows came from.
        memory: Process memory, page cache and disk reads.

    Examples:
        >>> import graphmount as gm
        >>> str(gm.LoaderStats(batches=10, seconds=2.0, taker_waited_for=1.5))
        '10 batches in 2.0 s (5.0/s), 0 B read in 0 requests; most time goes to: model'
    """

    batches: int = 0
    seconds: float = 0.0
    sampled_nodes: int = 0
    sampled_edges: int = 0
    sample_seconds: float = 0.0
    feed_seconds: float = 0.0
    sampling_waited_for: float = 0.0
    taker_waited_for: float = 0.0
    waited_for_batches: float = 0.0
    held_batches: int = 0
    held_bytes: int = 0
    tables: dict[str, TableStats] = field(default_factory=dict)
    memory: MemoryReport | None = None

    @property
    def batches_per_second(self) -> float:
        """Batches by the time since the epoch began."""
        return self.batches / self.seconds if self.seconds else 0.0

    @property
    def bottleneck(self) -> str:
        """What an epoch spends its time on: "model", "disk", "sampling" or "memory".

        "model" if batches wait for the one who takes them; else what making them waits for most:
        reads, samples, or the copying of rows.
        """
        if self.batches == 0:
            return "nothing yet"
        if self.taker_waited_for > self.waited_for_batches:
            return "model"
        times = {
            "disk": sum(table.wait_seconds for table in self.tables.values()),
            "sampling": self.sampling_waited_for,
            "memory": sum(table.copy_seconds for table in self.tables.values()),
        }
        return max(times, key=lambda name: times[name])

    def __str__(self) -> str:
        rows = sum(table.rows for table in self.tables.values())
        read = sum(table.read_rows for table in self.tables.values())
        hits = f"{1 - read / rows:.1%} of {rows:,} rows from cache, " if rows else ""
        size = sum(table.bytes_read for table in self.tables.values())
        requests = sum(table.requests for table in self.tables.values())
        return (
            f"{self.batches:,} batches in {self.seconds:.1f} s ({self.batches_per_second:.1f}/s), "
            f"{hits}{format_bytes(size)} read in {requests:,} requests; {self._memory_used()}"
            f"most time goes to: {self.bottleneck}"
        )

    def _memory_used(self) -> str:
        if self.memory is None or self.memory.anonymous_bytes is None:
            return ""
        known = [file.resident_bytes for file in self.memory.files]
        cached = sum(size for size in known if size is not None)
        return (
            f"{format_bytes(self.memory.anonymous_bytes)} of memory, "
            f"{format_bytes(cached)} of page cache; "
        )


def loader_stats(
    stats: _core.PipelineStats,
    names: Iterable[str],
    *,
    seconds: float,
    memory: MemoryReport,
) -> LoaderStats:
    """As the core counts them, under the same names, with the names of the tables."""
    own: dict[str, Any] = {
        "seconds": seconds,
        "tables": {
            name: TableStats(**{each.name: getattr(feed, each.name) for each in fields(TableStats)})
            for name, feed in zip(names, stats.feeds, strict=True)
        },
        "memory": memory,
    }
    counted = {
        each.name: getattr(stats, each.name) for each in fields(LoaderStats) if each.name not in own
    }
    return LoaderStats(**counted, **own)
