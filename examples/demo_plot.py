"""Draws what happened in `make demo` over time: batches a second, cache hits, memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl

mpl.use("Agg")  # a file, not a window
from matplotlib import pyplot as plt

if TYPE_CHECKING:
    from pathlib import Path


def draw(history: dict[str, Any], path: Path, *, limit: int | None) -> None:
    """Draws history.json into a PNG.

    Args:
        history: What `demo_training` wrote.
        path: Where to put the picture.
        limit: What the memory of the process was limited to, in MiB; None if by nothing.
    """
    moments = history["moments"]
    seconds = [moment["seconds"] for moment in moments]
    figure, (speed, hits, memory) = plt.subplots(3, 1, sharex=True, figsize=(9, 8))
    speed.plot(seconds, [moment["batches_per_second"] for moment in moments], color="teal")
    speed.set(ylabel="batches a second", ylim=(0, None))
    hits.plot(seconds, [100 * moment["hit_rate"] for moment in moments], color="teal")
    hits.set(ylabel="rows from caches, %", ylim=(0, 100))
    own = [moment["process_bytes"] / 2**20 for moment in moments]
    cached = [moment["cached_bytes"] / 2**20 for moment in moments]
    labels = ("the process's own", "page cache of the dataset")
    memory.stackplot(seconds, own, cached, labels=labels, colors=("teal", "lightblue"))
    if limit is not None:
        memory.axhline(limit, color="crimson", linestyle="--", label=f"limit {limit} MiB")
    memory.set(ylabel="memory, MiB", xlabel="seconds", ylim=(0, None))
    memory.legend(loc="lower right")
    scores = ", ".join(f"{name} {score:.1%}" for name, score in history["accuracy"].items())
    figure.suptitle(f"Training on a dataset larger than memory; accuracy: {scores}")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)
