"""The process that does one step with a dataset of the size of ogbn-papers100M; prints JSON.

"compile" writes it, from a stream or from the folder that OGB makes; "train" takes batches and
trains GraphSAGE on them.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import sys
import time
from typing import Any

import numpy as np

import graphmount as gm

from ..data.papers_data import CLASSES, edge_stream, labels_of, row_stream, shape_of, train_nodes
from ..harness.process_counters import disk_bytes, process_memory

FANOUTS = [15, 10, 5]


def compile_stream(options: argparse.Namespace) -> dict[str, float]:
    shape = shape_of(options.fraction)
    labels = labels_of(shape)
    made = gm.compile_dataset(
        options.folder,
        edges=gm.EdgeTable(source=edge_stream(shape), columns=("src", "dst")),
        features={"x": row_stream(labels)},
        labels=labels,
        splits={"train": train_nodes(shape)},
        num_nodes=shape.num_nodes,
        neighbors="in",
        memory=options.memory,
    )
    return {"num_nodes": made.num_nodes, "num_edges": made.num_edges, "bytes": made.file_bytes}


def compile_ogb(options: argparse.Namespace) -> dict[str, float]:
    root = options.source
    made = gm.compile_dataset(
        options.folder,
        edges=f"{root}/raw/data.npz",
        features={"x": gm.Table(source=f"{root}/raw/data.npz", member="node_feat")},
        labels=gm.Table(
            source=f"{root}/raw/node-label.npz", member="node_label", nan=-1, dtype="int64"
        ),
        splits={name: f"{root}/split/time/{name}.csv.gz" for name in ("train", "valid", "test")},
        neighbors="in",
        memory=options.memory,
    )
    return {"num_nodes": made.num_nodes, "num_edges": made.num_edges, "bytes": made.file_bytes}


def train(options: argparse.Namespace) -> dict[str, Any]:
    from .sage_training import SageTraining

    tensors: Any = importlib.import_module("graphmount.torch")
    start = time.perf_counter()
    ds = gm.Dataset(options.folder)
    opened = time.perf_counter() - start
    loader = tensors.NeighborLoader(
        ds,
        FANOUTS,
        input_nodes="train",
        batch_size=1024,
        shuffle=True,
        memory=options.memory,
        seed=0,
    )
    training = SageTraining(ds.features["x"].shape[1], CLASSES)
    losses, rows, first_batch = [], 0, 0.0
    start = time.perf_counter()
    epochs = itertools.chain.from_iterable(itertools.repeat(loader))
    for batch in itertools.islice(epochs, options.batches):
        first_batch = first_batch or time.perf_counter() - start
        losses.append(
            training.step(
                batch.features["x"],
                batch.edge_index,
                batch.labels,
                nodes=batch.num_sampled_nodes,
                edges=batch.num_sampled_edges,
            )
        )
        rows += len(batch.nodes)
    spent = time.perf_counter() - start
    stats = loader.stats()
    tenth = max(1, len(losses) // 10)
    return {
        "opened": opened,
        "first_batch": first_batch,
        "batches": len(losses),
        "batches_per_second": len(losses) / spent,
        "rows_per_batch": rows / max(1, len(losses)),
        "first_loss": float(np.mean(losses[:tenth])),
        "last_loss": float(np.mean(losses[-tenth:])),
        "hit_rate": stats.tables["x"].hit_rate,
        "read_per_batch": stats.tables["x"].bytes_read / max(1, stats.batches),
        "anonymous_end": process_memory()["anonymous"],
        "summary": str(stats),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=["compile", "train"])
    parser.add_argument("folder")
    parser.add_argument("--fraction", type=float)
    parser.add_argument("--source")
    parser.add_argument("--memory", type=int, required=True)
    parser.add_argument("--batches", type=int)
    options = parser.parse_args()
    steps = {"compile": compile_stream if options.source is None else compile_ogb, "train": train}
    before, start = disk_bytes(), time.perf_counter()
    result = steps[options.step](options)
    seconds = time.perf_counter() - start
    read, written = (now - then for now, then in zip(disk_bytes(), before, strict=True))
    io = {"seconds": seconds, "disk_read": read, "disk_written": written}
    print(json.dumps(result | io))
    return 0


if __name__ == "__main__":
    sys.exit(main())
