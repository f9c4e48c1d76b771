"""The processes that train together, as one of them sees them: a small object, made in one place.

Loaders ask this object, and nothing below them asks torch.distributed or the environment. An engine
that starts processes in another way than torchrun makes an object of its own.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

from graphmount._support.arguments import as_count
from graphmount._support.shown import shown

#: What torchrun and Ray Train set for the processes that they start.
_LOCAL_WORLD_SIZE = "LOCAL_WORLD_SIZE"
_OF_SESSION = ("TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RESTART_COUNT")


@dataclass(frozen=True, kw_only=True)
class Ranks:
    """Which of how many processes this is.

    Attributes:
        rank: Its number, from 0 on.
        world_size: How many there are.
        local_world_size: How many of them are on this machine; None if that is not known.
        session: What tells this run from all others on the machine, the same for all its processes;
            None if there is nothing that does.
    """

    rank: int = 0
    world_size: int = 1
    local_world_size: int | None = None
    session: str | None = None

    @property
    def num_here(self) -> int:
        """How many of them are on this machine, as far as that is known; else 1."""
        return min(self.local_world_size or 1, self.world_size)


def as_ranks(rank: int | None, world_size: int | None) -> Ranks:
    """The ranks of a loader: as told, or as torch.distributed has them.

    Args:
        rank: What was given, or None.
        world_size: The same.

    Raises:
        ValueError: One is given without the other, or there is no such rank; or, of several ranks,
            there is something else in LOCAL_WORLD_SIZE than a number of processes.
    """
    if (rank is None) != (world_size is None):
        raise ValueError("rank= and world_size= go together")
    if rank is not None and world_size is not None:
        size = as_count(world_size, "world_size", least=1)
        own = as_count(rank, "rank", most=size - 1)
    else:
        own, size = _of_torch()
    if size == 1:
        return Ranks()
    return Ranks(rank=own, world_size=size, local_world_size=local_world_size(), session=_session())


def _of_torch() -> tuple[int, int]:
    distributed = getattr(sys.modules.get("torch"), "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return int(distributed.get_rank()), int(distributed.get_world_size())
    return 0, 1


def local_world_size() -> int | None:
    """How many processes of the run are on this machine, as their engine says; or None.

    Raises:
        ValueError: There is something else in LOCAL_WORLD_SIZE.
    """
    text = os.environ.get(_LOCAL_WORLD_SIZE)
    if text is None:
        return None
    if not text.strip().isdecimal() or int(text) < 1:
        raise ValueError(
            f"{_LOCAL_WORLD_SIZE}={shown(text)} is no number of processes, by which the memory of "
            "this machine could be divided; set it as torchrun does, or unset it"
        )
    return int(text)


def _session() -> str | None:
    """Of torchrun: its run, its place on the network, and how often it has been started again."""
    found = [os.environ.get(name, "") for name in _OF_SESSION]
    return ":".join(found) if found[2] else None
