"""What became of one way of `make demo`: in the words of the picture, and as a row of the table."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rich.table import Table

from demo_record import Moment, read_moments

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

#: 128 and SIGKILL, which is what the system ends a process with that has no memory left.
KILLED = 137


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of one way.

    Attributes:
        way: Which one, of `demo_ways.WAYS`.
        title: What to call it.
        was_killed: Whether the limit of memory ended it.
        seconds: How long it lasted, from when its imports were done.
        training_seconds: How much of that it trained; 0 if it did not get there.
        batches: How many batches it trained on.
        moments: How that went, over the same time.
        accuracy: On the validation split, of each model; empty if it was not found out.
    """

    way: str
    title: str
    was_killed: bool
    seconds: float
    training_seconds: float
    batches: int
    moments: list[Moment]
    accuracy: dict[str, float]

    @property
    def rate(self) -> float:
        """Batches a second, while it trained."""
        return self.batches / self.training_seconds if self.training_seconds else 0.0

    @property
    def headline(self) -> str:
        """What became of it, in two lines."""
        if self.was_killed:
            return f"killed after {self.seconds:.0f} s,\nwhile {self.last_stage}"
        plural = "" if self.batches == 1 else "es"
        return f"trained on {self.batches:,} batch{plural}\nin {self.training_seconds:.0f} s"

    @property
    def last_stage(self) -> str:
        """What it was doing when it ended."""
        return self.moments[-1].stage if self.moments else "starting"


def read_outcome(folder: Path, way: str, title: str, *, status: int, seconds: float) -> Outcome:
    """What a process of `demo_training` left behind.

    Args:
        folder: Where it wrote to.
        way: Which way it went.
        title: What to call that.
        status: Its exit status.
        seconds: How long it ran, imports included.

    Raises:
        RuntimeError: It failed, other than for want of memory.
    """
    if status not in (0, KILLED):
        raise RuntimeError(f"{title} ended with status {status}; the lines above say why")
    moments = read_moments(folder / f"{way}.jsonl")
    # Importing torch takes long, and as long for each: it is left out.
    imported = moments[0].seconds if moments else 0.0
    moments = [replace(moment, seconds=moment.seconds - imported) for moment in moments]
    result: dict[str, Any] = {
        "batches": moments[-1].batches if moments else 0,
        "seconds": 0.0,
        "accuracy": {},
    }
    if status == 0:
        result = json.loads((folder / f"{way}.json").read_text())
    return Outcome(
        way=way,
        title=title,
        was_killed=status == KILLED,
        seconds=seconds - imported,
        training_seconds=result["seconds"],
        batches=result["batches"],
        moments=moments,
        accuracy=result["accuracy"],
    )


def table_of(outcomes: Iterable[Outcome], *, heading: str, epoch_batches: int) -> Table:
    """The closing table.

    Args:
        outcomes: One for each row.
        heading: What stands above it.
        epoch_batches: How many batches an epoch has.
    """
    table = Table(title=heading, title_justify="left")
    table.add_column("", no_wrap=True)
    table.add_column("what became of it")
    for name in ("batches/s", "an epoch", "own memory", "accuracy"):
        table.add_column(name, justify="right")
    for outcome in outcomes:
        peak = max((moment.process_bytes for moment in outcome.moments), default=0)
        score = outcome.accuracy.get("GraphSAGE")
        table.add_row(
            outcome.title,
            outcome.headline.replace("\n", " "),
            f"{outcome.rate:.2f}" if outcome.rate else "-",
            f"{epoch_batches / outcome.rate:,.0f} s" if outcome.rate else "never",
            f"{peak >> 20:,} MiB",
            "-" if score is None else f"{score:.1%}",
            style="bold green" if outcome.way == "graphmount" else "",
        )
    return table
