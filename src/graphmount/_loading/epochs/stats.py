"""What a loader did: where rows came from, what was read, and who waited for whom.

Figures have one of three scopes: the current or last epoch, all epochs since the loader was made,
or this moment. What is printed or logged never mixes them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from graphmount._support.display import Displayed, html_table, one_line
from graphmount._support.sizes import format_bytes

if TYPE_CHECKING:
    from graphmount._mount.memory_report import MemoryReport

#: Figures of a table that are as they are now. All others only go up, so that those of an epoch
#: are a difference.
_OF_NOW = ("cache_bytes", "shared_bytes", "is_swept")


@dataclass(frozen=True, kw_only=True, repr=False)
class TableStats(Displayed):
    """Where the rows of one table came from.

    Attributes:
        rows: How many rows batches needed.
        hot_rows: How many of these were in the cache of hot rows.
        window_rows: How many had been kept from an earlier batch, because the window knew that they
            would be needed, or were read once for several batches.
        read_rows: How many were read from the file.
        read_along_rows: How many were read together with them, for a later batch of the window.
        requests: How many reads the disk was asked for.
        merged_rows: How many rows came with the read of another row.
        bytes_read: How many bytes these reads had, in whole blocks.
        copy_seconds: How long it took to copy rows that were in memory.
        wait_seconds: How long the work stood still because it waited for the disk.
        cache_bytes: How much memory the caches take. Of hot rows that several processes share, it
            has a part.
        shared_bytes: How much memory the hot rows take that this process shares with the others of
            its machine; 0 if they are its own.
        is_swept: Whether the file is read from end to end again and again, for many batches at
            once. That is done if the batches of a window together need a large part of the file.

    Examples:
        >>> import graphmount as gm
        >>> gm.TableStats(rows=100, read_rows=20).hit_rate
        0.8
    """

    rows: int = 0
    hot_rows: int = 0
    window_rows: int = 0
    read_rows: int = 0
    read_along_rows: int = 0
    requests: int = 0
    merged_rows: int = 0
    bytes_read: int = 0
    copy_seconds: float = 0.0
    wait_seconds: float = 0.0
    cache_bytes: int = 0
    shared_bytes: int = 0
    is_swept: bool = False

    @property
    def hit_rate(self) -> float:
        """The share of rows that did not have to be read."""
        return 1 - self.read_rows / self.rows if self.rows else 1.0

    def since(self, before: TableStats) -> TableStats:
        """The counts since `before`; figures that are no counts are as they are now.

        Args:
            before: The figures of the same table at an earlier time.

        Examples:
            >>> import graphmount as gm
            >>> gm.TableStats(rows=100, read_rows=20).since(gm.TableStats(rows=60)).rows
            40
        """
        names = vars(self).keys() - set(_OF_NOW)
        counts = {name: getattr(self, name) - getattr(before, name) for name in names}
        return replace(self, **counts)

    def __str__(self) -> str:
        kind = " by sweeps" if self.is_swept else ""
        return (
            f"{self.rows:,} rows, {self.hit_rate:.1%} of them from the caches; "
            f"{format_bytes(self.bytes_read)} read{kind} in {self.requests:,} requests, "
            f"{self.wait_seconds:.1f} s waited for the disk"
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class LoaderStats(Displayed):
    """What a loader did in its current or last epoch, what its tables did in all, and its memory.

    Printing it shows one scope after the other, table by table.

    Attributes:
        epoch: The number of the epoch that the figures are about.
        epoch_batches: How many batches an epoch has.
        epoch_repeated: How many inputs come twice in an epoch of all ranks, so that each rank has
            as many. They are in the last batch, whose `num_repeated` says which they are.
        batches: How many batches of this epoch have been made.
        seconds: The time since the epoch began; for a finished epoch, the time that it took.
        sampled_nodes: How many nodes these batches have.
        sampled_edges: How many edges these batches have.
        nodes_by_type: How many nodes of each type. A graph of one kind has the type "nodes".
        edges_by_relation: How many edges of each relation. A graph of one kind has the relation
            "edges".
        sample_seconds: How long sampling took.
        feed_seconds: How long getting rows took.
        sampling_waited_for: How long the work on rows waited for samples.
        training_waited_for: How long finished batches waited for the training loop.
        waited_for_batches: How long the training loop waited for batches.
        epoch_tables: For each table, where its rows came from in this epoch.
        tables: For each table, where its rows came from since the loader was made.
        held_batches: How many batches have their rows in memory now: those that wait, and those
            that you hold.
        held_bytes: How much memory these rows take, on top of the caches.
        budget_bytes: How much memory the row caches may take.
        budget_source: Where that number comes from: `memory=`, or the memory that was free.
        memory: Process memory, page cache and disk reads.

    Examples:
        >>> import graphmount as gm
        >>> times = {"seconds": 2.0, "training_waited_for": 1.5}
        >>> print(gm.LoaderStats(epoch_batches=20, batches=10, **times))
        epoch 0: 10 of 20 batches in 2.0 s (5.0/s); most time goes to: model
          the training loop waited 0.0 s for batches, and batches 1.5 s for the training loop
    """

    epoch: int = 0
    epoch_batches: int = 0
    epoch_repeated: int = 0
    batches: int = 0
    seconds: float = 0.0
    sampled_nodes: int = 0
    sampled_edges: int = 0
    nodes_by_type: dict[Any, int] = field(default_factory=dict)
    edges_by_relation: dict[Any, int] = field(default_factory=dict)
    sample_seconds: float = 0.0
    feed_seconds: float = 0.0
    sampling_waited_for: float = 0.0
    training_waited_for: float = 0.0
    waited_for_batches: float = 0.0
    epoch_tables: dict[str, TableStats] = field(default_factory=dict)
    tables: dict[str, TableStats] = field(default_factory=dict)
    held_batches: int = 0
    held_bytes: int = 0
    budget_bytes: int | None = None
    budget_source: str = ""
    memory: MemoryReport | None = None

    @property
    def batches_per_second(self) -> float:
        """Batches divided by the time since the epoch began."""
        return self.batches / self.seconds if self.seconds else 0.0

    @property
    def bottleneck(self) -> str:
        """What the epoch spends its time on: "model", "disk", "sampling" or "memory".

        It is "model" if batches wait for the training loop. Otherwise it is what making batches
        waits for most: reads ("disk"), samples ("sampling") or copying rows ("memory").
        """
        if self.batches == 0:
            return "nothing yet"
        if self.training_waited_for > self.waited_for_batches:
            return "model"
        times = {
            "disk": sum(table.wait_seconds for table in self.epoch_tables.values()),
            "sampling": self.sampling_waited_for,
            "memory": sum(table.copy_seconds for table in self.epoch_tables.values()),
        }
        return max(times, key=lambda name: times[name])

    def figures(self) -> dict[str, float]:
        """The figures of the epoch, and the memory, as plain numbers by name: for loggers.

        Returns:
            Numbers of the epoch by their names here; of each table, by its name, as in
            "x/hit_rate"; and of this moment "held_bytes", "cache_bytes", "budget_bytes" and
            "process_bytes".

        Examples:
            >>> import graphmount as gm
            >>> stats = gm.LoaderStats(batches=10, seconds=2.0, waited_for_batches=0.5)
            >>> stats.figures()["batches_per_second"], stats.figures()["wait_share"]
            (5.0, 0.25)
        """
        found = {
            "epoch": self.epoch,
            "batches": self.batches,
            "seconds": self.seconds,
            "batches_per_second": self.batches_per_second,
            "wait_share": self.waited_for_batches / self.seconds if self.seconds else 0.0,
            "waited_for_batches": self.waited_for_batches,
            "training_waited_for": self.training_waited_for,
            "sample_seconds": self.sample_seconds,
            "feed_seconds": self.feed_seconds,
            "held_bytes": self.held_bytes,
            "cache_bytes": sum(table.cache_bytes for table in self.tables.values()),
        }
        for name, table in self.epoch_tables.items():
            found[f"{name}/hit_rate"] = table.hit_rate
            found[f"{name}/bytes_read"] = table.bytes_read
            found[f"{name}/wait_seconds"] = table.wait_seconds
        if self.budget_bytes is not None:
            found["budget_bytes"] = self.budget_bytes
        if self.memory is not None and self.memory.anonymous_bytes is not None:
            found["process_bytes"] = self.memory.anonymous_bytes
        return {name: float(number) for name, number in found.items()}

    def _epoch_line(self) -> str:
        if self.batches == 0:
            return f"epoch {self.epoch}: no batches yet"
        return (
            f"epoch {self.epoch}: {self.batches:,} of {self.epoch_batches:,} batches in "
            f"{self.seconds:.1f} s ({self.batches_per_second:.1f}/s); most time goes to: "
            f"{self.bottleneck}"
        )

    def __str__(self) -> str:
        lines = [self._epoch_line()]
        if self.batches:
            lines.append(
                f"  the training loop waited {self.waited_for_batches:.1f} s for batches, and "
                f"batches {self.training_waited_for:.1f} s for the training loop"
            )
            lines += [f"  {name}: {table}" for name, table in self.epoch_tables.items()]
        if self.tables:
            lines.append("since the loader was made")
            lines += [f"  {name}: {table}" for name, table in self.tables.items()]
        now = self._memory_now()
        return "\n".join([*lines, "memory now", *(f"  {line}" for line in now)] if now else lines)

    def _memory_now(self) -> list[str]:
        lines = []
        if self.budget_bytes is not None:
            used = sum(table.cache_bytes for table in self.tables.values())
            lines.append(
                f"caches of rows: {format_bytes(used)} of {format_bytes(self.budget_bytes)}, "
                f"which is {self.budget_source}"
            )
            lines.append(
                f"batches beside the caches: {format_bytes(self.held_bytes)} in "
                f"{self.held_batches:,} batches"
            )
        if self.memory is not None and self.memory.anonymous_bytes is not None:
            known = [file.resident_bytes for file in self.memory.files]
            cached = sum(size for size in known if size is not None)
            lines.append(
                f"the process: {format_bytes(self.memory.anonymous_bytes)} of its own; the page "
                f"cache has {format_bytes(cached)} of its files"
            )
        return lines

    def __repr__(self) -> str:
        return one_line(f"<LoaderStats of {self._epoch_line()}>")

    def _repr_html_(self) -> str:
        header = ("", "rows", "from the caches", "read", "requests", "waited for the disk")
        epoch = [
            ("batches", f"{self.batches:,} of {self.epoch_batches:,}"),
            ("seconds", f"{self.seconds:.1f}, {self.batches_per_second:.1f} batches a second"),
            ("most time goes to", self.bottleneck),
            ("the training loop waited", f"{self.waited_for_batches:.1f} s"),
            ("batches waited", f"{self.training_waited_for:.1f} s"),
        ]
        parts = [html_table(f"LoaderStats: epoch {self.epoch}", (), epoch)]
        scopes = {"Tables in this epoch": self.epoch_tables, "Tables in all epochs": self.tables}
        for caption, tables in scopes.items():
            if tables:
                rows = [(name, *_cells(table)) for name, table in tables.items()]
                parts.append(html_table(caption, header, rows))
        now = [line.partition(": ")[::2] for line in self._memory_now()]
        return "".join([*parts, html_table("Memory now", (), now)] if now else parts)


def _cells(table: TableStats) -> tuple[str, ...]:
    return (
        f"{table.rows:,}",
        f"{table.hit_rate:.1%}",
        format_bytes(table.bytes_read),
        f"{table.requests:,}",
        f"{table.wait_seconds:.1f} s",
    )
