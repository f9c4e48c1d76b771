"""The part of `make demo` that has little memory: trains one way, and evaluates what it learned.

`demo_ways` has the three ways. Model, seeds, batch size and steps are the same for all of them.
What happens over time goes to WAY.jsonl, as `demo_record` has it, and the result to WAY.json: a
process that was killed leaves the first file only.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import torch

import graphmount as gm
from demo_record import Record
from demo_ways import WAYS, loader_of, mapped_batches, memory_batches
from sage import Sage, accuracy
from train_torch import FeaturesAlone, step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sage import SageBatch


def parse_options() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where dataset/ is")
    parser.add_argument("--way", choices=WAYS, default="graphmount", help="where batches come from")
    parser.add_argument("--memory", default="192MiB", help="for the caches of graphmount's loader")
    parser.add_argument("--epochs", type=int, default=2, help="how long graphmount trains")
    parser.add_argument("--seconds", type=float, default=30, help="how long the others train")
    parser.add_argument(
        "--started", type=float, default=time.time(), help="by the clock, for times"
    )
    return parser.parse_args()


def all_epochs(
    dataset: gm.Dataset, options: argparse.Namespace, record: Record
) -> Iterator[SageBatch]:
    """The batches of graphmount's loader, and then what it says of itself."""
    loader = loader_of(dataset, "train", options.memory)
    for epoch in range(options.epochs):
        record.enter(f"epoch {epoch + 1} of {options.epochs}, {len(loader)} batches each")
        yield from loader
    print(loader.stats(), flush=True)
    loader.close()


def for_seconds(
    batches: Iterator[SageBatch], seconds: float, record: Record
) -> Iterator[SageBatch]:
    """As many batches as come within so many seconds."""
    record.enter(f"training for {seconds:.0f} s")
    end = time.monotonic() + seconds
    for batch in batches:
        yield batch
        if time.monotonic() > end:
            return


def main() -> None:
    """Reads the command line, trains and evaluates."""
    options = parse_options()
    dataset = gm.Dataset(options.folder / "dataset")
    if dataset.labels is None:
        raise RuntimeError(f"{dataset.path} has no labels; `demo.py` makes a dataset that has")
    num_columns, num_classes = dataset.features["x"].shape[1], int(dataset.labels.max()) + 1
    torch.manual_seed(0)
    models = {
        "GraphSAGE": Sage([num_columns, 64, num_classes]),
        "features alone": FeaturesAlone(num_columns, num_classes),
    }
    optimizers = {
        name: torch.optim.Adam(model.parameters(), lr=0.005) for name, model in models.items()
    }
    history = options.folder / f"{options.way}.jsonl"
    with Record(history, dataset, started=options.started) as record:
        if options.way == "graphmount":
            batches = all_epochs(dataset, options, record)
        else:
            batches = (
                memory_batches(dataset, record.enter)
                if options.way == "memory"
                else mapped_batches(dataset)
            )
            batches = for_seconds(batches, options.seconds, record)
        begun = time.monotonic()
        for batch in batches:
            for name, model in models.items():
                step(model, optimizers[name], batch)
            record.batches += 1
        seconds = time.monotonic() - begun
    scores = {}
    if options.way == "graphmount":
        print("evaluating", flush=True)
        for name, model in models.items():
            scores[name] = accuracy(model, loader_of(dataset, "valid", options.memory))
            print(f"accuracy of {name} on the validation split: {scores[name]:.1%}", flush=True)
    result = {"batches": record.batches, "seconds": seconds, "accuracy": scores}
    (options.folder / f"{options.way}.json").write_text(json.dumps(result))


if __name__ == "__main__":
    main()
