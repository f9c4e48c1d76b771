"""The process that trains GraphSAGE for an epoch, or so many steps, and prints JSON.

Either batches come from graphmount's loader for PyG, or, as one does without it, everything is
loaded into a `Data` object first and PyG's own `NeighborLoader` takes batches from that (where PyG
cannot sample, for want of pyg-lib, its `NodeLoader` with a plain sampler). Layers are PyG's, with
`edge_index` or with matrices, or ours, for which the loader aggregates the last hop.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
from itertools import islice
from typing import Any

import torch

import graphmount as gm
import graphmount.torch.nn as own

from ..harness.process_counters import process_memory
from .layers_with_matrices import make_layers, with_matrices

WAYS = ("graphmount", "in memory")
LAYERS = ("edge_index", "matrices", "own")
CLASSES = 32


def mounted_batches(options: argparse.Namespace) -> Any:  # noqa: ANN401
    loaders = importlib.import_module("graphmount.pyg")
    return loaders.NeighborLoader(
        gm.Dataset(options.folder),
        num_neighbors=options.fanouts,
        input_nodes="train",
        batch_size=options.batch_size,
        shuffle=True,
        memory=options.memory,
        reader=options.reader,
        seed=0,
        aggregate_last="mean" if options.layers == "own" else None,
    )


def loaded_batches(options: argparse.Namespace) -> Any:  # noqa: ANN401
    """What one does without graphmount: all of it in memory, and PyG's loader over that."""
    ds = gm.Dataset(options.folder)
    lists = ds.graph.neighbor_lists()
    src = torch.from_numpy(lists.indices.astype("int64"))
    degrees = torch.from_numpy(lists.indptr[1:] - lists.indptr[:-1])
    dst = torch.repeat_interleave(torch.arange(ds.num_nodes), degrees)
    data = importlib.import_module("torch_geometric.data").Data(
        x=torch.tensor(ds.features["x"].numpy()), edge_index=torch.stack([src, dst])
    )
    train = torch.from_numpy(ds.splits["train"].copy())
    how = {"input_nodes": train, "batch_size": options.batch_size, "shuffle": True}
    loaders = importlib.import_module("torch_geometric.loader")
    typing = importlib.import_module("torch_geometric.typing")
    if typing.WITH_PYG_LIB or typing.WITH_TORCH_SPARSE:
        return loaders.NeighborLoader(data, options.fanouts, **how)
    from .in_memory_sampler import InMemorySampler

    sampler = InMemorySampler(data.edge_index.numpy(), ds.num_nodes, options.fanouts, seed=0)
    return loaders.NodeLoader(data, sampler, **how)


def make_model(options: argparse.Namespace) -> torch.nn.Module:
    """GraphSAGE with a layer for each hop."""
    columns = gm.Dataset(options.folder).features["x"].shape[1]
    if options.layers == "own":
        return make_layers(
            own.SAGEConv, [columns, *[options.hidden] * (len(options.fanouts) - 1), CLASSES]
        )
    torch.manual_seed(0)
    models = importlib.import_module("torch_geometric.nn").models
    made: torch.nn.Module = models.GraphSAGE(
        columns, options.hidden, num_layers=len(options.fanouts), out_channels=CLASSES
    )
    return made


def outputs_of(model: Any, batch: Any, layers: str) -> torch.Tensor:  # noqa: ANN401
    """The rows of the seeds. Features are scaled in place: batches are there for one step."""
    x = batch.x.div_(65_536)
    if layers == "own":
        pair = (batch.x_aggregated.div_(65_536), x)
        return with_matrices(model, pair, batch.adjs, in_pairs=False)
    if layers == "matrices":
        return with_matrices(model.convs, x, batch.adjs)
    # Trimmed from layer to layer, as PyG recommends.
    out: torch.Tensor = model(
        x,
        batch.edge_index,
        num_sampled_nodes_per_hop=batch.num_sampled_nodes,
        num_sampled_edges_per_hop=batch.num_sampled_edges,
    )
    return out[: batch.batch_size]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--way", choices=WAYS, required=True)
    parser.add_argument("--memory", type=int, default=64 << 20)
    parser.add_argument("--reader", default="auto", help="of rows")
    parser.add_argument("--batch-size", type=int, default=512)
    parser.add_argument("--fanouts", type=int, nargs="+", default=[10, 5], help="one a layer")
    parser.add_argument("--hidden", type=int, default=128, help="width of inner layers")
    parser.add_argument("--steps", type=int, help="steps to take; an epoch if not given")
    parser.add_argument("--warm-steps", type=int, default=0, help="of these, not timed as steps")
    parser.add_argument("--layers", choices=LAYERS, default="edge_index", help="and their edges")
    options = parser.parse_args()
    start = time.perf_counter()
    batches = mounted_batches(options) if options.way == "graphmount" else loaded_batches(options)
    model = make_model(options)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    count, total, seeds = 0, 0.0, 0
    began, began_work = time.perf_counter(), time.process_time()
    for batch in islice(batches, options.steps):
        if count == options.warm_steps:
            began, began_work = time.perf_counter(), time.process_time()
        # Something to learn: no labels are needed for what this is about.
        target = batch.n_id[: batch.batch_size] % CLASSES
        out = outputs_of(model, batch, options.layers)
        loss = torch.nn.functional.cross_entropy(out, target)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        count, total, seeds = count + 1, total + float(loss.detach()), seeds + batch.batch_size
    steps = max(0, count - options.warm_steps)
    work = time.process_time() - began_work
    result = {
        "seconds": time.perf_counter() - start,
        "steps_per_second": steps / (time.perf_counter() - began),
        "processor_seconds": work / max(1, steps),
        "batches": count,
        "seeds": seeds,
        "loss": total / max(1, count),
        "anonymous": process_memory()["anonymous"],
    }
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
