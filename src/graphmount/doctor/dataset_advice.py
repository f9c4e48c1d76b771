"""Advice for a dataset: pure functions, which know nothing of the machine that they run on.

Every finding says what was found, with its figure, and what to do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmount._support.sizes import format_bytes
from graphmount.doctor.dataset import share_at
from graphmount.doctor.estimate import bytes_under_way, estimate, suggested_memory
from graphmount.doctor.finding import Finding, about, as_option, rate

if TYPE_CHECKING:
    from graphmount.doctor.dataset import DatasetFacts, TableFacts
    from graphmount.doctor.machine import Machine
    from graphmount.doctor.probe import DiskFigures

_SMALLER = {
    "time": "Larger batches could not be sampled in time",
    "seeds": "There are no more seeds",
    "memory": "Larger batches would leave too little memory: pass this batch_size=",
}
_FITS = 0.7  # of the memory; the rest is for the model, batches and the system


def about_dataset(
    machine: Machine, figures: DiskFigures, dataset: DatasetFacts
) -> list[Finding | None]:
    """What its size means for this machine, and what to do about it.

    Args:
        machine: The machine.
        figures: What was measured of its disk.
        dataset: The dataset.
    """
    usable, needed = machine.usable_bytes, dataset.list_bytes + dataset.node_bytes
    if usable is not None and needed <= _FITS * usable:
        text = (
            f"Lists and tables take {format_bytes(needed)}, and this process can have "
            f"{format_bytes(usable)}. You do not need us for speed: training with everything in "
            "memory is just as fast. Mounted files still open at once, and processes share them."
        )
        return [Finding(subject="everything fits", level="good", text=text)]
    return [
        _about_size(machine, dataset),
        _about_batches(machine, figures, dataset),
        _about_float16(machine, figures, dataset),
        _about_order(dataset),
        _about_lists(machine, dataset),
    ]


def _about_size(machine: Machine, dataset: DatasetFacts) -> Finding | None:
    usable, memory = machine.usable_bytes, suggested_memory(machine, dataset)
    if usable is None or memory is None or not dataset.node_tables:
        return None
    tables = format_bytes(dataset.node_bytes)
    if memory >= dataset.node_bytes:
        text = (
            f"Tables of {tables} fit into half of the {format_bytes(usable)} that this process can "
            f"have: memory='{as_option(memory)}' keeps all rows, and the disk is read once."
        )
        return Finding(subject="size", level="good", text=text)
    batches = (
        ""
        if dataset.batch is None
        else f" (about {format_bytes(bytes_under_way(dataset.batch, dataset.row_bytes))})"
    )
    text = (
        f"Tables of {tables}, and {format_bytes(usable)} of memory that this process can have: "
        f"pass memory='{as_option(memory)}' to the loader. The rest is for batches under way"
        f"{batches}, neighbor lists ({format_bytes(dataset.list_bytes)}, in the page cache) and "
        "the model."
    )
    return Finding(subject="size", level="act", text=text)


def _about_batches(machine: Machine, figures: DiskFigures, dataset: DatasetFacts) -> Finding | None:
    memory = suggested_memory(machine, dataset)
    found = None if memory is None else estimate(figures, dataset, memory)
    batch = dataset.batch
    if memory is None or found is None or batch is None:
        return None
    nothing = estimate(figures, dataset, 0)
    cached = min(1.0, memory / max(1, dataset.node_bytes))
    lists = (
        f" ({share_at(dataset.appearances, cached):.0%} of all list entries)"
        if dataset.appearances
        else ""
    )
    bound = (
        f"the disk decides ({found.disk_seconds * 1000:.0f} ms of reads for a batch, "
        f"{found.cpu_seconds * 1000:.0f} ms of sampling and copying)"
        if found.bound == "disk"
        else f"the processor decides ({found.cpu_seconds * 1000:.0f} ms of sampling and copying "
        f"for a batch, {found.disk_seconds * 1000:.0f} ms of reads)"
    )
    text = (
        f"Batches of {batch.num_seeds:,} seeds with fanouts {list(batch.fanouts)} have about "
        f"{about(batch.num_nodes)} rows. The disk gives about {about(found.rows_per_second)} "
        f"rows/s when all is cold"
        + (f", {rate(nothing.batches_per_second)} batches/s" if nothing else "")
        + f". With memory='{as_option(memory)}' about {found.served_share:.0%} of rows come from "
        f"the cache{lists}, and an estimate is {rate(found.batches_per_second)} batches/s before "
        f"the model: {bound}. The loader also merges reads and keeps rows for later batches, "
        "which this leaves out."
    )
    if batch.smaller_because is not None:
        text += f" ({_SMALLER[batch.smaller_because]}.)"
    return Finding(subject="batches", level="note", text=text)


def _about_float16(machine: Machine, figures: DiskFigures, dataset: DatasetFacts) -> Finding | None:
    saved = sum(map(_saved_by_float16, dataset.node_tables))
    if saved == 0:
        return None
    left = dataset.node_bytes - saved
    now = format_bytes(dataset.node_bytes)
    text = f"dtype='float16' makes the tables {format_bytes(left)} instead of {now}"
    memory = suggested_memory(machine, dataset)
    if memory is not None:
        before = estimate(figures, dataset, memory)
        after = estimate(figures, dataset, memory, scale=left / dataset.node_bytes)
        if before is not None and after is not None:
            text += (
                f"; in the same memory {after.served_share:.0%} of rows instead of "
                f"{before.served_share:.0%} come from the cache, about "
                f"{rate(after.batches_per_second)} batches/s instead of "
                f"{rate(before.batches_per_second)}"
            )
    text += ". Most models do not notice; batches can be converted back on their way (dtype=)."
    return Finding(subject="float16", level="act", text=text)


def _saved_by_float16(table: TableFacts) -> int:
    share = {"float32": 1 / 2, "float64": 3 / 4}.get(table.dtype, 0)
    return int(share * table.table_bytes)


def _about_order(dataset: DatasetFacts) -> Finding | None:
    if dataset.is_hot_first:
        return None
    text = (
        "Nodes are in the order of the source. compile_dataset(order='hot') puts those that "
        "sampling meets most often first: their rows then lie together, and share pages and reads."
    )
    return Finding(subject="order", level="act", text=text)


def _about_lists(machine: Machine, dataset: DatasetFacts) -> Finding | None:
    usable = machine.usable_bytes
    if usable is None or dataset.list_bytes <= usable // 2:
        return None
    text = (
        f"Neighbor lists of {format_bytes(dataset.list_bytes)} are more than half of the "
        f"{format_bytes(usable)} that this process can have: sampling reads from the disk too, and "
        "will be slower than estimated. Give the loader less memory=, or the process more."
    )
    return Finding(subject="neighbor lists", level="act", text=text)
