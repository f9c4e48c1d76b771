"""The start of a group: all ranks meet at one address, or each says who did not come."""

from __future__ import annotations

import os
import re
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from torch.distributed import PrefixStore  # type: ignore[attr-defined]
from torch.distributed.rendezvous import rendezvous

from graphmount.errors import RankError
from graphmount.torch.ranks.in_time import in_time

if TYPE_CHECKING:
    from collections.abc import Sequence

_ADVICE = "start all of them, and give start_timeout= more seconds if they start slowly"
#: How many seconds to wait for an answer to who is missing.
_LIMIT = 10.0
#: How many seconds to wait before another try.
_PAUSE = 0.2
_PLACE = ("MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE")
#: The stores at which this process has met others. Its next groups use the same one, also after an
#: error: a new one would be at the same address, where a rank that comes early meets the others at
#: the old one, which is about to end, and waits there in vain.
_stores: dict[tuple[str, ...], Any] = {}


def meet(limit: timedelta) -> tuple[Any, int, int]:
    """What the ranks of a group have in common, the number of this one, and how many there are.

    Args:
        limit: How long to wait for the others.

    Raises:
        RankError: They cannot be reached, or did not come.
    """
    place = tuple(os.environ[name] for name in _PLACE)
    rank, world_size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    until = time.monotonic() + limit.total_seconds()
    while True:
        if place not in _stores:
            left = timedelta(seconds=max(until - time.monotonic(), 0.1))
            try:
                _stores[place] = next(iter(rendezvous("env://", timeout=left)))[0]
            except RuntimeError as error:
                raise _not_met(str(error), limit.total_seconds()) from error
        try:
            store = meet_at(_stores[place], rank, world_size, until - time.monotonic())
        except RankError as error:
            if error.rank is not None:
                raise
            # The process that had the store may have ended: another may take its place.
            del _stores[place]
            if time.monotonic() >= until:
                raise
            time.sleep(_PAUSE)
        else:
            return store, rank, world_size


def _not_met(problem: str, seconds: float) -> RankError:
    host, port, rank, wanted = (os.environ[name] for name in _PLACE)
    came = re.search(r"(\d+)/(\d+) clients joined", problem)  # torch tells it only in words
    found = (
        f"only {came[1]} of {came[2]} ranks came"
        if came is not None
        else f"could not: {problem.partition(chr(10))[0]:.300}"
    )
    return RankError(
        f"rank {rank} waited up to {seconds:g} s to meet {wanted} ranks at {host}:{port}, and "
        f"{found}; {_ADVICE}. MASTER_ADDR and MASTER_PORT must be the same for all, and all "
        "machines must reach them"
    )


def meet_at(store: Any, rank: int, world_size: int, seconds: float) -> Any:  # noqa: ANN401
    """Waits until all ranks of the next group have come to a store.

    The store itself counts the groups that each rank has met there. So a process that has taken the
    place of another, or has lost its connection meanwhile, comes to the group that the others wait
    for.

    Args:
        store: What the processes have in common, before this group and after it.
        rank: The number of this one.
        world_size: How many there are.
        seconds: How long to wait.

    Returns:
        What the processes of this group have in common, and those of no other.

    Raises:
        RankError: Some did not come, and it names them; or the store is gone.
    """
    met = f"graphmount met/{world_size}/{rank}"
    names = [f"here/{each}" for each in range(world_size)]
    missing: list[int] = []
    try:
        group = PrefixStore(f"graphmount {world_size}/{store.add(met, 0)}", store)
        group.set(names[rank], "yes")
        try:
            group.wait(names, timedelta(seconds=max(seconds, 0.1)))
        except RuntimeError:
            missing = in_time(lambda: _missing(group, names, rank), _LIMIT)
        if not missing:  # the last may have come just now
            store.add(met, 1)
            return group
    except (RuntimeError, TimeoutError) as error:
        problem = "what they have in common cannot be reached any more"
        raise _late(rank, world_size, problem) from error
    late = _late(rank, world_size, f"{missing} did not come")
    late.rank = missing[0]
    raise late


def _late(rank: int, world_size: int, problem: str) -> RankError:
    return RankError(f"rank {rank} waited for {world_size} ranks, and {problem}; {_ADVICE}")


def _missing(group: Any, names: Sequence[str], rank: int) -> list[int]:  # noqa: ANN401
    """Who has not come; if somebody has not, this rank does not wait any more."""
    found = [each for each, name in enumerate(names) if not group.check([name])]
    if found:
        group.delete_key(names[rank])
    return found
