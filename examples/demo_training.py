"""The part of `make demo` that has little memory: trains, evaluates, and keeps account.

Every half second it notes how many batches a second there were, how many of their rows came from
caches, and where memory is: that becomes history.json, which `demo_plot` draws.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

import graphmount as gm
import graphmount.torch
from sage import Sage, accuracy
from train_torch import FeaturesAlone, step

if TYPE_CHECKING:
    from collections.abc import Iterator

FANOUTS = (10, 5)
BATCH_SIZE = 512
_SECONDS = 0.5


@dataclass(frozen=True, kw_only=True)
class Moment:
    """What half a second was like.

    Attributes:
        seconds: Since training began.
        batches_per_second: In this half second, and so for the next.
        hit_rate: The share of rows that did not have to be read.
        read_bytes: What was read from the disk, since training began.
        process_bytes: Memory of the process's own, now.
        cached_bytes: What the page cache holds of the dataset, now.
    """

    seconds: float
    batches_per_second: float
    hit_rate: float
    read_bytes: int
    process_bytes: int
    cached_bytes: int


class History:
    """Notes what a loader does over time."""

    def __init__(self, loader: gm.NeighborLoader) -> None:
        self.moments: list[Moment] = []
        self._loader = loader
        self._begun = self._last = time.monotonic()
        self._batches = self._rows = self._reads = 0

    def count(self) -> Moment | None:
        """Counts a batch. Returns what the last half second was like, if it has just passed."""
        self._batches += 1
        passed = time.monotonic() - self._last
        if passed < _SECONDS:
            return None
        stats = self._loader.stats()
        table, memory = stats.tables["x"], stats.memory
        rows, reads = table.rows - self._rows, table.read_rows - self._reads
        if rows == 0:
            return None  # batches that were ready; what has not been fetched has no hit rate
        files = () if memory is None else memory.files
        moment = Moment(
            seconds=time.monotonic() - self._begun,
            batches_per_second=self._batches / passed,
            hit_rate=1 - reads / rows,
            read_bytes=table.bytes_read,
            process_bytes=(memory and memory.anonymous_bytes) or 0,
            cached_bytes=sum(file.resident_bytes or 0 for file in files),
        )
        self.moments.append(moment)
        self._last, self._batches = time.monotonic(), 0
        self._rows, self._reads = table.rows, table.read_rows
        return moment


def with_progress(
    loader: gm.torch.NeighborLoader, history: History, epochs: int, console: Console
) -> Iterator[gm.torch.TensorBatch]:
    """The batches of all epochs, with a line that says how it goes."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=12),
        MofNCompleteColumn(),
        TextColumn("{task.fields[shown]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        for epoch in range(epochs):
            task = progress.add_task(f"epoch {epoch}", total=len(loader), shown="")
            for batch in loader:
                yield batch
                progress.advance(task)
                if (now := history.count()) is not None:
                    progress.update(
                        task,
                        shown=f"{now.batches_per_second:.1f}/s, {now.hit_rate:.0%} cached, "
                        f"{now.process_bytes >> 20} + {now.cached_bytes >> 20} MiB",
                    )


def main() -> None:
    """Reads the command line and trains."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where dataset/ is")
    parser.add_argument("--memory", default="192MiB", help="for caches of rows")
    parser.add_argument("--epochs", type=int, default=3, help="how long to train")
    options = parser.parse_args()
    console = Console(soft_wrap=True)
    dataset = gm.Dataset(options.folder / "dataset")
    if dataset.labels is None:
        raise RuntimeError(f"{dataset.path} has no labels; `demo` makes a dataset that has")
    num_columns, num_classes = dataset.features["x"].shape[1], int(dataset.labels.max()) + 1
    torch.manual_seed(0)
    sage = Sage([num_columns, 64, num_classes])
    alone = FeaturesAlone(num_columns, num_classes)
    optimizers = [torch.optim.Adam(model.parameters(), lr=0.005) for model in (sage, alone)]

    def make_loader(split: str) -> gm.torch.NeighborLoader:
        return gm.torch.NeighborLoader(
            dataset,
            FANOUTS,
            input_nodes=split,
            batch_size=BATCH_SIZE,
            shuffle=split == "train",
            memory=options.memory,
            seed=0,
        )

    loader = make_loader("train")
    history = History(loader)
    loss = 0.0
    for batch in with_progress(loader, history, options.epochs, console):
        loss = step(sage, optimizers[0], batch)
        step(alone, optimizers[1], batch)
    console.print(f"loss of the last batch {loss:.3f}; the last epoch, and tables in all epochs:")
    console.print(str(loader.stats()))
    table = loader.stats().tables["x"]
    console.print(
        f"of {table.rows:,} rows, {table.hot_rows / table.rows:.1%} were hot, "
        f"{table.window_rows / table.rows:.1%} kept for the batches ahead, and "
        f"{table.read_rows / table.rows:.1%} read, in {table.requests:,} requests; "
        f"caches took {table.cache_bytes / 2**20:.0f} MiB"
    )
    loader.close()
    console.rule("validation")
    scores = {
        name: accuracy(model, make_loader("valid"))
        for name, model in (("GraphSAGE", sage), ("features alone", alone))
    }
    for name, score in scores.items():
        console.print(f"accuracy of {name} on the validation split: {score:.1%}")
    history_file = options.folder / "history.json"
    history_file.write_text(
        json.dumps({"moments": [asdict(now) for now in history.moments], "accuracy": scores})
    )
    console.print(str(gm.memory(dataset.graph, dataset.features["x"])))


if __name__ == "__main__":
    main()
