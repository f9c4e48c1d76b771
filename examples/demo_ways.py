"""The three ways of `make demo` to get batches from the same dataset.

- `memory`: PyG with everything in memory, the edges and the features in one `Data`.
- `mapped`: a loop by hand, which samples and then indexes a mapped tensor of the features.
- `graphmount`: its loader, which samples and reads ahead within a budget of memory.

All give batches of the same size from the same seeds to the same model. The first two run until
somebody stops them; a loader has epochs.
"""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

import graphmount as gm
import graphmount.torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

FANOUTS = [10, 5]
BATCH_SIZE = 512
WAYS = ("memory", "mapped", "graphmount")


@dataclass(frozen=True, kw_only=True)
class PlainBatch:
    """A batch made by hand; `sage.SageBatch` says what each attribute is."""

    features: dict[str, torch.Tensor]
    adjs: list[torch.Tensor]
    num_sampled_nodes: Sequence[int]
    labels: torch.Tensor | None


def title_of(way: str) -> str:
    """What to call a way in the picture and in the table."""
    if way == "memory":
        return "PyG in memory" if has_pyg() else "torch in memory"
    return "mapped tensor" if way == "mapped" else way


def has_pyg() -> bool:
    """Whether PyG is installed. Without it, `memory` samples with graphmount."""
    return importlib.util.find_spec("torch_geometric") is not None


def loader_of(dataset: gm.Dataset, split: str, memory: str) -> gm.torch.NeighborLoader:
    """What `graphmount` trains with, and all ways are evaluated with."""
    return gm.torch.NeighborLoader(
        dataset,
        FANOUTS,
        input_nodes=split,
        batch_size=BATCH_SIZE,
        shuffle=split == "train",
        memory=memory,
        seed=0,
    )


def mapped_batches(dataset: gm.Dataset) -> Iterator[PlainBatch]:
    """Rows come from a mapped tensor: each page that is not cached is waited for, one by one."""
    # Without this advice the system reads much more around each row than is asked for.
    store = gm.FeatureStore(dataset.features["x"].path, advice="random")
    return _indexed_batches(dataset, store.tensor())


def memory_batches(dataset: gm.Dataset, say: Callable[[str], None]) -> Iterator[PlainBatch]:
    """Loads edges and features into memory, and has PyG take batches from them.

    Args:
        dataset: What to load.
        say: Is told what is being done.
    """
    say("loading the edges")
    lists = dataset.graph.neighbor_lists()
    degrees = torch.from_numpy(np.diff(lists.indptr))
    sources = torch.from_numpy(lists.indices.astype(np.int64))
    targets = torch.repeat_interleave(torch.arange(dataset.num_nodes), degrees)
    edge_index = torch.stack([sources, targets])
    del sources, targets, degrees
    say("loading the features")
    x = dataset.features["x"].tensor().clone()
    if not has_pyg():
        return _indexed_batches(dataset, x)
    say("preparing to sample")
    return _pyg_batches(dataset, edge_index, x)


def _pyg_batches(
    dataset: gm.Dataset, edge_index: torch.Tensor, x: torch.Tensor
) -> Iterator[PlainBatch]:
    # PyG has no types, and need not be installed.
    pyg: Any = importlib.import_module("torch_geometric")
    loaders: Any = importlib.import_module("torch_geometric.loader")
    data = pyg.data.Data(x=x, edge_index=edge_index, y=_labels(dataset))
    seeds = torch.from_numpy(dataset.splits["train"].copy())
    options = {"input_nodes": seeds, "batch_size": BATCH_SIZE, "shuffle": True}
    if pyg.typing.WITH_PYG_LIB or pyg.typing.WITH_TORCH_SPARSE:
        loader = loaders.NeighborLoader(data, FANOUTS, **options)
    else:  # which PyG's own sampler needs: this one does the same
        module: Any = importlib.import_module("graphmount.benchmarks.jobs.in_memory_sampler")
        sampler = module.InMemorySampler(edge_index.numpy(), dataset.num_nodes, FANOUTS, seed=0)
        loader = loaders.NodeLoader(data, sampler, **options)
    while True:
        for batch in loader:
            yield PlainBatch(
                features={"x": batch.x},
                adjs=_matrices(batch),
                num_sampled_nodes=batch.num_sampled_nodes,
                labels=batch.y[: batch.batch_size],
            )


def _indexed_batches(dataset: gm.Dataset, x: torch.Tensor) -> Iterator[PlainBatch]:
    labels, train = _labels(dataset), dataset.splits["train"]
    generator = np.random.default_rng(0)
    number = 0
    while True:
        order = train[generator.permutation(len(train))]
        for first in range(0, len(order), BATCH_SIZE):
            seeds = order[first : first + BATCH_SIZE]
            sample = dataset.graph.sample_neighbors(seeds, FANOUTS, seed=(0, number))
            number += 1
            yield PlainBatch(
                features={"x": x[torch.from_numpy(sample.nodes)]},
                adjs=_matrices(sample),
                num_sampled_nodes=sample.num_sampled_nodes,
                labels=labels[torch.from_numpy(seeds)],
            )


def _matrices(sample: Any) -> list[torch.Tensor]:  # noqa: ANN401  (ours, or a batch of PyG's)
    """What `batch.adjs` is: all ways train in the fast form."""
    return [gm.torch.to_sparse_csr(sample, hops=hops) for hops in range(len(FANOUTS), 0, -1)]


def _labels(dataset: gm.Dataset) -> torch.Tensor:
    if dataset.labels is None:
        raise ValueError(f"{dataset.path} has no labels; `demo.py` makes a dataset that has")
    return torch.from_numpy(dataset.labels.copy())
