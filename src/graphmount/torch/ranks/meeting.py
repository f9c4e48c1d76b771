"""The start of a group: all ranks meet at one address, or each says who did not come."""

from __future__ import annotations

import contextlib
import os
import re
import time
from dataclasses import dataclass
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
_PLACE = ("MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE")
#: Where this process has met others. Its next groups use the same store, also after an error: a new
#: one would be at the same address, where a rank that comes early meets the others at the old one,
#: which is about to end, and waits there in vain.
_met: dict[tuple[str, ...], _Met] = {}


@dataclass
class _Met:
    """A store that ranks have in common.

    Attributes:
        store: The store.
        groups: How many groups have met there, by which all ranks tell them apart.
    """

    store: Any
    groups: int = 0


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
        if place not in _met:
            left = timedelta(seconds=max(until - time.monotonic(), 0.1))
            try:
                _met[place] = _Met(next(iter(rendezvous("env://", timeout=left)))[0])
            except RuntimeError as error:
                raise _not_met(str(error), limit.total_seconds()) from error
        met = _met[place]
        store = PrefixStore(f"graphmount {met.groups}", met.store)
        try:
            wait_for_all(store, rank, world_size, until - time.monotonic())
        except RankError as error:
            # The process that had the store may have ended: another may take its place.
            if error.rank is None:
                del _met[place]
            if error.rank is not None or time.monotonic() >= until:
                raise
        else:
            met.groups += 1
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


def wait_for_all(store: Any, rank: int, world_size: int, seconds: float) -> None:  # noqa: ANN401
    """Waits until all ranks have come here.

    Args:
        store: What they have in common.
        rank: The number of this one.
        world_size: How many there are.
        seconds: How long to wait.

    Raises:
        RankError: Some did not come, or the store is gone. It names them.
    """
    names = [f"here/{each}" for each in range(world_size)]
    try:
        store.set(names[rank], "yes")
        store.wait(names, timedelta(seconds=max(seconds, 0.1)))
    except RuntimeError as error:
        missing: list[int] | None = None
        with contextlib.suppress(Exception):
            missing = in_time(lambda: _missing(store, names), _LIMIT)
        found = (
            "what they have in common cannot be reached any more"
            if missing is None
            else f"{missing} did not come"
        )
        late = RankError(f"rank {rank} waited for {world_size} ranks, and {found}; {_ADVICE}")
        late.rank = missing[0] if missing else None
        raise late from error


def _missing(store: Any, names: Sequence[str]) -> list[int]:  # noqa: ANN401
    return [rank for rank, name in enumerate(names) if not store.check([name])]
