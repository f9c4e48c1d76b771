"""How many batches a second a dataset should give on a disk, by what was measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from graphmount._support.display import Displayed

if TYPE_CHECKING:
    from graphmount.doctor.dataset import BatchFacts, DatasetFacts
    from graphmount.doctor.machine import Machine
    from graphmount.doctor.probe import DiskFigures

_BLOCK_BYTES = 512  # a row may begin and end within one
_LEAST_MEMORY = 64 << 20
# With the default options of loaders: two batches wait, one is made, one is in use, and one is
# released while the next is taken; samples are made for 16 batches ahead.
_BATCHES = 5
_SAMPLES = 16 + _BATCHES


@dataclass(frozen=True, kw_only=True, repr=False)
class Estimate(Displayed):
    """How many batches a second a dataset should give, before the model. An estimate.

    The estimate assumes that no reads are merged and no row is kept for the next batch. The loader
    does both, so the disk should rather be faster than this.

    Attributes:
        memory_bytes: The `memory=` of the loader.
        served_share: The share of rows that come from the cache of hot rows.
        rows_per_second: How many rows a second the disk delivers.
        disk_seconds: How long the disk needs for a batch.
        cpu_seconds: How long sampling and copying a batch take.

    Examples:
        >>> from graphmount.doctor import Estimate
        >>> found = Estimate(
        ...     memory_bytes=8 << 30, served_share=0.8, rows_per_second=180e3, disk_seconds=0.1,
        ...     cpu_seconds=0.05,
        ... )
        >>> found.batches_per_second, found.bound
        (10.0, 'disk')
    """

    memory_bytes: int
    served_share: float
    rows_per_second: float
    disk_seconds: float
    cpu_seconds: float

    @property
    def batches_per_second(self) -> float:
        """What the slower of disk and processor allows; they work at the same time."""
        return 1 / max(self.disk_seconds, self.cpu_seconds, 1e-9)

    @property
    def bound(self) -> Literal["disk", "cpu"]:
        """What decides the speed: the disk or the processor."""
        return "disk" if self.disk_seconds > self.cpu_seconds else "cpu"


def rows_per_second(figures: DiskFigures, row_bytes: int) -> float:
    """Rows of this size that the disk gives, each read for itself."""
    best = figures.rows
    if best is None:
        return 0.0
    # A row that begins within a block needs that block, and the one that it ends in.
    read_bytes = -(-(row_bytes + _BLOCK_BYTES - 1) // _BLOCK_BYTES) * _BLOCK_BYTES
    return min(best.reads_per_second, figures.sequential_bytes_per_second / max(1, read_bytes))


def bytes_under_way(batch: BatchFacts, row_bytes: int) -> int:
    """What the batches of a loader take that are alive at a time, beside its `memory=`."""
    return int(_BATCHES * row_bytes * batch.num_nodes + _SAMPLES * batch.sample_bytes)


def suggested_memory(machine: Machine, dataset: DatasetFacts | None) -> int | None:
    """What to pass as `memory=`: half of what there is, or less.

    Together with batches no more than three quarters, so that the model and neighbor lists have
    the rest; and no more than all rows take, with the books of a cache.
    """
    usable = machine.usable_bytes
    if usable is None:
        return None
    memory = usable // 2
    if dataset is not None:
        memory = min(memory, dataset.node_bytes * 11 // 10)
        if dataset.batch is not None:
            left = usable * 3 // 4 - bytes_under_way(dataset.batch, dataset.row_bytes)
            memory = min(memory, left)
    return max(memory, _LEAST_MEMORY)


def estimate(
    figures: DiskFigures, dataset: DatasetFacts, memory_bytes: int, *, scale: float = 1.0
) -> Estimate | None:
    """Batches a second; None if none could be sampled, or there are no tables.

    Args:
        figures: Of the disk.
        dataset: The dataset.
        memory_bytes: What is passed as `memory=`.
        scale: The size of rows, against what it is now.
    """
    batch = dataset.batch
    if batch is None or not dataset.node_tables:
        return None
    row_bytes = max(1.0, scale * dataset.row_bytes)
    all_bytes = row_bytes * dataset.num_nodes
    # As if all of it were for the hottest rows: what comes and goes saves at least as many reads.
    served = dataset.served_share(min(1.0, memory_bytes / max(1.0, all_bytes)))
    cold_rows = (1 - served) * batch.num_nodes
    seconds_per_row = sum(
        1 / max(1e-9, rows_per_second(figures, int(scale * table.row_bytes)))
        for table in dataset.node_tables
    )
    copying = row_bytes * batch.num_nodes / dataset.copy_bytes_per_second
    return Estimate(
        memory_bytes=memory_bytes,
        served_share=served,
        rows_per_second=1 / seconds_per_row,
        disk_seconds=cold_rows * seconds_per_row,
        cpu_seconds=batch.sample_seconds + copying,
    )
