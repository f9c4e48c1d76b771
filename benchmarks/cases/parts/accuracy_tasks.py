"""What is trained to compare accuracies: a labelled graph, a model, and three ways to get batches.

Each way is a function that gives the batches of a split: rows, edges, the number of seeds and their
labels. For a graph of one kind, rows and edges are tensors; for several types of nodes they are
dicts of them, as models of PyG take them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...data.accuracy_kinds import SEED_TYPE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from ...data.accuracy_data import LabelledGraph
    from ...data.accuracy_kinds import LabelledKinds

    Batch = tuple[Any, Any, int, Any]
    #: The batches of a split, with these fanouts and this seed.
    Way = Callable[[str, Sequence[int], int], Iterable[Batch]]

SAMPLED, ALL = (4, 4), (-1, -1)
WAYS = ("graphmount", "PyG in memory", "without the graph")
_HIDDEN = 32


@dataclass(frozen=True)
class Task:
    """A comparison.

    Attributes:
        name: Of the graph.
        ways: How batches are made, by the names in `WAYS`.
        make_model: A new model, which takes rows and edges, and gives the outputs of all nodes of
            the type of the seeds.
        expected: The labels of the nodes that are tested, in the order of the split.
    """

    name: str
    ways: dict[str, Way]
    make_model: Callable[[], Any]
    expected: NDArray[np.int64]


def _folder_of(name: str, folder: str) -> str:
    return os.path.join(folder, name.replace(" ", "-").replace(",", ""))


def _options(split: str, fanouts: Sequence[int], batch_size: int) -> dict[str, Any]:
    """Of the loaders of both libraries."""
    return {
        "batch_size": batch_size,
        "shuffle": split == "train" and fanouts == SAMPLED,
    }


def one_kind(graph: LabelledGraph, folder: str, batch_size: int) -> Task:
    """GraphSAGE of PyG on a graph of one kind."""
    import torch
    from torch_geometric.data import Data
    from torch_geometric.loader import NodeLoader
    from torch_geometric.nn import GraphSAGE

    from graphmount.torch import NeighborLoader

    from ...jobs.in_memory_sampler import InMemorySampler

    dataset = graph.compile(_folder_of(graph.name, folder))
    data = Data(
        x=torch.from_numpy(graph.x),
        edge_index=torch.from_numpy(graph.edges),
        y=torch.from_numpy(graph.labels),
    )

    def in_memory(split: str, fanouts: Sequence[int], seed: int) -> Iterator[Batch]:
        sampler = InMemorySampler(graph.edges, len(graph.labels), fanouts, seed=seed)
        nodes = torch.from_numpy(getattr(graph, split))
        options = _options(split, fanouts, batch_size)
        for batch in NodeLoader(data, sampler, input_nodes=nodes, **options):
            yield batch.x, batch.edge_index, batch.batch_size, batch.y[: batch.batch_size]

    def mounted(split: str, fanouts: Sequence[int], seed: int) -> Iterator[Batch]:
        options = _options(split, fanouts, batch_size)
        loader = NeighborLoader(
            dataset, fanouts, input_nodes=split, memory="1MiB", seed=seed, **options
        )
        for batch in loader:
            yield batch.features["x"], batch.edge_index, batch.batch_size, batch.labels

    def blind(split: str, fanouts: Sequence[int], seed: int) -> Iterator[Batch]:
        for x, edges, count, labels in mounted(split, fanouts, seed):
            yield x, edges[:, :0], count, labels

    def model() -> Any:  # noqa: ANN401
        return GraphSAGE(graph.x.shape[1], _HIDDEN, num_layers=2, out_channels=graph.num_classes)

    ways: tuple[Way, ...] = (mounted, in_memory, blind)
    expected = graph.labels[graph.test]
    return Task(graph.name, dict(zip(WAYS, ways, strict=True)), model, expected)


def many_kinds(graph: LabelledKinds, folder: str, batch_size: int) -> Task:
    """GraphSAGE that PyG's `to_hetero` makes for all relations."""
    import torch
    from torch_geometric.data import HeteroData
    from torch_geometric.loader import NodeLoader

    from graphmount.pyg import NeighborLoader

    from ...jobs.in_memory_kinds_sampler import InMemoryKindsSampler

    dataset = graph.compile(_folder_of(graph.name, folder))
    data = HeteroData()
    for name, rows in graph.x.items():
        data[name].x = torch.from_numpy(rows)
    data[SEED_TYPE].y = torch.from_numpy(graph.labels)
    for relation, ends in graph.both_ways.items():
        data[relation].edge_index = torch.from_numpy(ends)

    def parts(batch: Any) -> Batch:  # noqa: ANN401
        count = batch[SEED_TYPE].batch_size
        return batch.x_dict, batch.edge_index_dict, count, batch[SEED_TYPE].y[:count]

    def in_memory(split: str, fanouts: Sequence[int], seed: int) -> Iterator[Batch]:
        counts = {name: len(rows) for name, rows in graph.x.items()}
        sampler = InMemoryKindsSampler(graph.both_ways, counts, fanouts, seed=seed)
        nodes = (SEED_TYPE, torch.from_numpy(getattr(graph, split)))
        options = _options(split, fanouts, batch_size)
        yield from map(parts, NodeLoader(data, sampler, input_nodes=nodes, **options))

    def mounted(split: str, fanouts: Sequence[int], seed: int) -> Iterator[Batch]:
        options = _options(split, fanouts, batch_size)
        loader = NeighborLoader(
            dataset, fanouts, input_nodes=(SEED_TYPE, split), memory="1MiB", seed=seed, **options
        )
        yield from map(parts, loader)

    def blind(split: str, fanouts: Sequence[int], seed: int) -> Iterator[Batch]:
        for x, edges, count, labels in mounted(split, fanouts, seed):
            yield x, {name: ends[:, :0] for name, ends in edges.items()}, count, labels

    ways: tuple[Way, ...] = (mounted, in_memory, blind)
    return Task(
        graph.name,
        dict(zip(WAYS, ways, strict=True)),
        lambda: _hetero_model(data, graph.num_classes),
        graph.labels[graph.test],
    )


def _hetero_model(data: Any, num_classes: int) -> Any:  # noqa: ANN401
    """Weights are drawn here, before batches are: the same for every way."""
    import torch
    from torch_geometric.nn import GraphSAGE, to_hetero

    layers = to_hetero(GraphSAGE((-1, -1), _HIDDEN, 2, num_classes), data.metadata())
    with torch.no_grad():
        none = {name: ends[:, :0] for name, ends in data.edge_index_dict.items()}
        layers({name: rows[:1] for name, rows in data.x_dict.items()}, none)

    class OfSeeds(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = layers

        def forward(self, x: Any, edge_index: Any) -> Any:  # noqa: ANN401
            return self.layers(x, edge_index)[SEED_TYPE]

    return OfSeeds()
