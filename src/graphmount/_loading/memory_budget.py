"""How much memory the caches of a loader get: its part of `memory=`, or a part of what is free.

All loaders of a process without `memory=` share half of what is free when the first of them is
made, divided among the ranks of the machine. Each takes half of what is left of that share, and no
more than its tables need, so that there is always something for the next one. When a loader is
deleted, its part is free again.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphmount._loading.ranks.ranks import local_world_size
from graphmount._mount.free_memory import FreeMemory, free_memory
from graphmount._support.sizes import format_bytes, parse_bytes
from graphmount._support.threads.process_lock import ProcessLock
from graphmount.errors import BudgetError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from graphmount._loading.data.loader_data import AnyData
    from graphmount._loading.ranks.ranks import Ranks
    from graphmount._mount.features import FeatureStore
    from graphmount._mount.graph import Graph

#: What a table takes in a cache beside its rows, for each row and in all: names, reads in flight.
_ROW_BYTES = 32
_TABLE_BYTES = 64 << 20
#: Caches that take less than this are not checked against what is free.
_SMALL_BYTES = 64 << 20


@dataclass(frozen=True, kw_only=True, eq=False)
class MemoryBudget:
    """The memory of a loader.

    Attributes:
        num_bytes: What its caches may take.
        most_bytes: What they could have had, if their tables were larger.
        source: Where the number comes from, as a sentence for people.
        given: What the loader was told, or None.
    """

    num_bytes: int
    most_bytes: int
    source: str
    given: int | None = None


class _Share:
    """What all loaders of this process have together."""

    def __init__(self) -> None:
        self.lock = ProcessLock()
        self.free = FreeMemory(num_bytes=0, place="")
        self.taken: weakref.WeakSet[MemoryBudget] = weakref.WeakSet()


_share = _Share()


def as_budget(memory: int | str | None, data: AnyData, ranks: Ranks) -> MemoryBudget:
    """What `memory=` of a loader means.

    It is for all processes of this machine that share the inputs, and each takes its part.

    Args:
        memory: What was given, or None to choose.
        data: Whose rows the loader fetches.
        ranks: The processes that train together.

    Raises:
        ValueError: That is no size; or there is something else in LOCAL_WORLD_SIZE than a number of
            processes, where it decides.
    """
    if memory is None:
        # If it is unknown how many are on this machine, all of them: too little memory is better
        # than too much.
        return _chosen(data.by_key.values(), local_world_size() or ranks.world_size)
    given = parse_bytes(memory, "memory")
    size = given // ranks.num_here
    source = "given as memory="
    if ranks.num_here > 1:
        source += f", divided among the {ranks.num_here} processes of this machine"
    return MemoryBudget(num_bytes=size, most_bytes=size, source=source, given=given)


def _chosen(tables: Iterable[FeatureStore], ranks: int) -> MemoryBudget:
    """A part of the share of all loaders, which it takes until the budget is gone."""
    needed = sum(each.file_bytes + _ROW_BYTES * len(each) + _TABLE_BYTES for each in tables)
    with _share.lock:
        taken = sum(budget.num_bytes for budget in list(_share.taken))
        if taken == 0:
            _share.free = free_memory()
        whole = _share.free.num_bytes // 2 // ranks
        most = max(0, whole - taken) // 2
        budget = MemoryBudget(
            num_bytes=min(most, needed),
            most_bytes=most,
            source=_told(_share.free, ranks, whole, taken, enough=needed <= most),
        )
        _share.taken.add(budget)
    return budget


def _told(free: FreeMemory, ranks: int, whole: int, taken: int, *, enough: bool) -> str:
    divided = f", divided among {ranks} processes" if ranks > 1 else ""
    share = (
        f"the share of all loaders of this process, {format_bytes(whole)}: half of the "
        f"{format_bytes(free.num_bytes)} that were free {free.place}{divided}"
    )
    if enough:
        return f"all that its tables need, out of {share}"
    others = f" what {format_bytes(taken)} for other loaders leave of" if taken else ""
    return f"half of{others} {share}"


def require_headroom(memory: int, tables: Iterable[FeatureStore], sharers: int = 1) -> None:
    """Raises if caches would not fit into the memory that is free.

    Without that, the system would end a process when it touches memory that is not there. Where
    processes share hot rows, the one that reads them looks: for the others they are in memory
    already, and no longer free.

    Args:
        memory: What each process was told to take.
        tables: Whose rows the caches hold: they take no more than these need.
        sharers: How many processes of this machine share the hot rows.

    Raises:
        BudgetError: They would not.
    """
    needed = sum(each.file_bytes + _ROW_BYTES * len(each) for each in tables)
    wanted = min(memory * sharers, needed)
    if wanted <= _SMALL_BYTES:
        return
    free = free_memory()
    if wanted > free.num_bytes:
        shared = f", for {sharers} processes" if sharers > 1 else ""
        raise BudgetError(
            f"memory={format_bytes(memory * sharers)}{shared}: caches would take "
            f"{format_bytes(wanted)}, and {format_bytes(free.num_bytes)} are free {free.place}; "
            "give less memory=, or leave it out to take a part of what is free"
        )


def advise_graphs(graphs: Iterable[Graph], memory: int) -> None:
    """Lets the system read single pages of graphs that may not stay in the memory that is free.

    Args:
        graphs: What will be sampled.
        memory: What the loader will take for rows.
    """
    left = free_memory().num_bytes - memory
    for graph in graphs:
        graph._advise_within(left)  # noqa: SLF001  (a friend)
