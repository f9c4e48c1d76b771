"""Machines, disks and datasets that do not exist, for advice about them."""

from __future__ import annotations

from graphmount.doctor import (
    BatchFacts,
    DatasetFacts,
    Disk,
    DiskFigures,
    IoUring,
    Machine,
    ReadFigure,
    TableFacts,
)

GIB = 1 << 30


def machine(memory=16, available=None, limit=None, **options):
    """Sizes are in GiB."""
    return Machine(
        cores=8,
        memory_bytes=memory * GIB,
        available_bytes=(memory if available is None else available) * GIB,
        limit_bytes=None if limit is None else limit * GIB,
        **options,
    )


def disk(**options):
    facts = {"folder": "/data", "file_system": "ext4", "read_ahead_bytes": 128 << 10}
    return Disk(**(facts | options))


def figures(
    *,
    uring=((1, 10e3), (128, 200e3)),
    pread=((1, 10e3), (32, 100e3)),
    mapped=((1, 9e3), (8, 30e3)),
    sequential=2e9,
    **options,
):
    ways = {"uring": uring, "pread": pread, "mapped": mapped}
    facts = {
        "file": "a temporary file",
        "file_bytes": GIB,
        "io_uring": IoUring(is_allowed=True),
        "cached_bytes": 0,
        "sequential_bytes_per_second": sequential,
        "reads": tuple(
            ReadFigure(way=way, depth=depth, reads_per_second=rate)
            for way, found in ways.items()
            for depth, rate in found
        ),
    }
    return DiskFigures(**(facts | options))


def dataset(*, rows=111_000_000, row_bytes=512, dtype="float32", list_bytes=7 * GIB, **options):
    """By default, of the size of papers100M: 57 GB of features."""
    facts = {
        "path": "/data/papers",
        "num_nodes": rows,
        "num_edges": 15 * rows,
        "list_bytes": list_bytes,
        "tables": (TableFacts(name="x", rows=rows, row_bytes=row_bytes, dtype=dtype),),
        "batch": BatchFacts(
            fanouts=(15, 10, 5),
            num_seeds=1024,
            num_nodes=100_000,
            sample_bytes=10_000_000,
            sample_seconds=0.05,
        ),
        "copy_bytes_per_second": 2e9,
        "served": ((0.0, 0.0), (0.1, 0.6), (0.2, 0.8), (1.0, 1.0)),
    }
    return DatasetFacts(**(facts | options))
