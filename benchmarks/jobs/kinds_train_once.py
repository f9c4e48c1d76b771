"""The process that takes batches of a dataset with the shape of MAG240M; prints JSON.

Batches are PyG's `HeteroData`. Either the loader makes all of them, or their rows come as one does
it by hand, by indexing a mapped tensor: the same samples, of the same loader without its tables and
one ahead, and rows of an `.npy` in the order of the source. The system reads ahead where it likes,
as it does unless one says otherwise; or it is told that reads are random ("advised").
With `--model`, a model trains on each. The first batches are not timed, and the first of these are
hashed: a loader must not gain time while the clock is about to start.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import mmap
import sys
import time
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

import graphmount as gm

from ..data.mag_data import TOPICS
from ..harness.process_counters import disk_read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

FANOUTS = [10, 5]
BATCH_SIZE = 256
HIDDEN = 64  # the width of the first layer
HASHED = 2  # batches
WAYS = ("loader", "mapped tensor", "mapped tensor, advised")


def make_loader(ds: Any, options: argparse.Namespace, **more: Any) -> Any:  # noqa: ANN401
    loaders: Any = importlib.import_module("graphmount.pyg")
    return loaders.NeighborLoader(
        ds,
        num_neighbors=FANOUTS,
        input_nodes=("paper", "train"),
        batch_size=BATCH_SIZE,
        shuffle=True,
        seed=0,
        **{"memory": options.memory, "reader": options.reader, **more},
    )


def mapped_batches(ds: Any, options: argparse.Namespace) -> Iterator[Any]:  # noqa: ANN401
    """The loop that one writes by hand: nothing is read before it is asked for."""
    import torch

    papers = ds.nodes["paper"]
    rows: Any = np.load(options.source, mmap_mode="c")
    if options.way == WAYS[2]:
        rows._mmap.madvise(mmap.MADV_RANDOM)  # noqa: SLF001  (NumPy has no other way)
    matrix = torch.from_numpy(rows)
    loader = make_loader(ds, options, features=[], window=1, prefetch=1)
    for batch in itertools.chain.from_iterable(itertools.repeat(loader)):
        nodes = torch.from_numpy(np.asarray(papers.to_external(batch["paper"].n_id)))
        batch["paper"].x = matrix[nodes]
        yield batch


def digest(tensor: Any, before: int = 0) -> int:  # noqa: ANN401
    """A number that other tensors do not have."""
    return zlib.crc32(tensor.numpy(), before)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--way", choices=WAYS, default="loader")
    parser.add_argument("--source", help="for a mapped tensor: its .npy")
    parser.add_argument("--model")
    parser.add_argument("--memory", type=int, default=0)
    parser.add_argument("--reader", default="auto")
    parser.add_argument(
        "--batches", type=int, required=True, help="to take, the first ones included"
    )
    parser.add_argument("--warm", type=int, default=1, help="of these, how many are not timed")
    options = parser.parse_args()
    ds: Any = gm.Dataset(options.folder)
    for relation in ds.edges.values():
        relation.graph.advise("populate")
    loader = make_loader(ds, options) if options.way == "loader" else None
    batches = (
        mapped_batches(ds, options)
        if loader is None
        else itertools.chain.from_iterable(itertools.repeat(loader))
    )
    training: Any = None
    losses: list[float] = []
    rows_digest = nodes_digest = rows = seeds = 0
    start, read = time.perf_counter(), 0
    for number, batch in enumerate(itertools.islice(batches, options.batches)):
        papers = batch["paper"]
        if options.model is not None:
            if training is None:
                from .hetero_training import HeteroTraining

                training = HeteroTraining(options.model, batch, "paper", [HIDDEN, TOPICS])
            losses.append(training.step(batch))
        seeds += papers.batch_size
        if number < min(HASHED, options.warm):
            nodes_digest = digest(papers.n_id, nodes_digest)
            rows_digest = digest(papers.x, rows_digest)
        if number < options.warm:
            start, read = time.perf_counter(), disk_read_bytes()
        else:
            rows += papers.num_nodes
    seconds = time.perf_counter() - start
    timed = max(1, options.batches - options.warm)
    tenth = max(1, len(losses) // 10)
    result: dict[str, object] = {
        "batches": options.batches,
        "seeds": seeds,
        "batches_per_second": timed / seconds,
        "rows_per_batch": rows / timed,
        "read_per_batch": (disk_read_bytes() - read) / timed,
        "rows_digest": rows_digest,
        "nodes_digest": nodes_digest,
        "first_loss": sum(losses[:tenth]) / tenth,
        "last_loss": sum(losses[-tenth:]) / tenth,
        "hit_rate": None if loader is None else loader.stats().tables["paper/x"].hit_rate,
    }
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
