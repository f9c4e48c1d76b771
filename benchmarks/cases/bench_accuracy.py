"""Accuracy through graphmount next to that of PyG in memory: same model, same seeds, same data.

PyG's GraphSAGE is trained twice for each seed: on batches of PyG's `NodeLoader` over a `Data` in
memory, and on batches of graphmount's loader over compiled files. With sampled neighbors the two
draw different ones, so accuracies may differ by noise, and by no more; with all neighbors, and
seeds in order, there is nothing left to differ by but rounding. The same model without edges shows
that the graph is needed: were it to do as well, the comparison would prove nothing.
"""

from __future__ import annotations

import math
import os
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.accuracy_data import LabelledGraph, karate_club, planted_communities
from ..harness.scratch import scratch_folder
from ..peers import why_not_here
from ..report.report import Report, argument_parser
from ..report.units import Cell, Unit, spread_of, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    import graphmount as gm

    #: Rows, edges, the number of seeds and their labels.
    Batch = tuple[Any, Any, int, Any]
    Path = Callable[[str, Sequence[int], int], Iterable[Batch]]

SEEDS = 5
_SAMPLED, _ALL = (4, 4), (-1, -1)
_WAYS = ("graphmount", "PyG in memory", "without the graph")
_COLUMNS = {"way": text, "accuracy, %": Unit(100, 1), "mean, %": Unit(100, 2)}


def through_pyg(graph: LabelledGraph, batch_size: int) -> Path:
    """Batches of PyG's loader over data in memory."""
    import torch
    from torch_geometric.data import Data
    from torch_geometric.loader import NodeLoader

    from ..jobs.in_memory_sampler import InMemorySampler

    data = Data(
        x=torch.from_numpy(graph.x),
        edge_index=torch.from_numpy(graph.edges),
        y=torch.from_numpy(graph.labels),
    )

    def batches(split: str, fanouts: Sequence[int], seed: int) -> Iterator[Batch]:
        loader = NodeLoader(
            data,
            InMemorySampler(graph.edges, len(graph.labels), fanouts, seed=seed),
            input_nodes=torch.from_numpy(getattr(graph, split)),
            batch_size=batch_size,
            shuffle=split == "train" and fanouts == _SAMPLED,
        )
        for batch in loader:
            yield batch.x, batch.edge_index, batch.batch_size, batch.y[: batch.batch_size]

    return batches


def through_graphmount(dataset: gm.Dataset, batch_size: int, *, has_edges: bool = True) -> Path:
    """Batches of graphmount's loader over files."""
    from graphmount.torch import NeighborLoader

    def batches(split: str, fanouts: Sequence[int], seed: int) -> Iterator[Batch]:
        loader = NeighborLoader(
            dataset,
            fanouts,
            input_nodes=split,
            batch_size=batch_size,
            shuffle=split == "train" and fanouts == _SAMPLED,
            memory="1MiB",
            seed=seed,
        )
        for batch in loader:
            edges = batch.edge_index if has_edges else batch.edge_index[:, :0]
            yield batch.features["x"], edges, batch.batch_size, batch.labels

    return batches


def train(
    path: Path, graph: LabelledGraph, fanouts: Sequence[int], seed: int, epochs: int
) -> tuple[float, NDArray[np.int64]]:
    """The accuracy on the test split, and the classes found, in the order of the split."""
    import torch
    from torch_geometric.nn import GraphSAGE

    torch.set_num_threads(1)  # batches are small, and cores may be busy
    torch.manual_seed(seed)
    model = GraphSAGE(graph.x.shape[1], 32, num_layers=2, out_channels=graph.num_classes)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(epochs):
        for x, edge_index, count, labels in path("train", fanouts, seed * 1000 + epoch):
            loss = torch.nn.functional.cross_entropy(model(x, edge_index)[:count], labels)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    found = []
    model.eval()
    with torch.inference_mode():
        for x, edge_index, count, _ in path("test", _ALL, 0):
            found.append(model(x, edge_index)[:count].argmax(dim=1))
    classes = torch.cat(found).numpy()
    return float((classes == graph.labels[graph.test]).mean()), classes


def noise_bound(one: Sequence[float], other: Sequence[float], num_tested: int) -> float:
    """How far two means of accuracies may be apart by chance: four standard errors.

    The error of a mean comes from what the runs differ by; where few runs happen to agree, from
    what the test nodes alone would make of it: a share of so many nodes is never surer than that.
    """
    squares = 0.0
    for scores in (one, other):
        mean = float(np.mean(scores))
        least = mean * (1 - mean) / num_tested / len(scores)
        squares += max(float(np.var(scores, ddof=1)) / len(scores), least)
    return 4 * math.sqrt(squares)


def compare(
    report: Report, graph: LabelledGraph, folder: str, *, epochs: int, batch: int, seeds: int
) -> None:
    dataset = graph.compile(os.path.join(folder, graph.name.replace(" ", "-").replace(",", "")))
    ways = dict(
        zip(
            _WAYS,
            (
                through_graphmount(dataset, batch),
                through_pyg(graph, batch),
                through_graphmount(dataset, batch, has_edges=False),
            ),
            strict=True,
        )
    )
    scores = {
        name: [train(way, graph, _SAMPLED, seed, epochs)[0] for seed in range(seeds)]
        for name, way in ways.items()
    }
    rows: list[dict[str, Cell]] = [
        {
            "way": name,
            "accuracy, %": spread_of(found),
            "mean, %": float(np.mean(found)),
            **{f"seed {seed}": score for seed, score in enumerate(found)},  # to look closer
        }
        for name, found in scores.items()
    ]
    report.table(f"{graph.name}: {seeds} seeds, {len(graph.test):,} tested", _COLUMNS, rows)
    ours, theirs, blind = (scores[name] for name in _WAYS)
    bound = noise_bound(ours, theirs, len(graph.test))
    apart = abs(float(np.mean(ours)) - float(np.mean(theirs)))
    differences = np.subtract(ours, theirs)
    error = float(differences.std(ddof=1)) / math.sqrt(seeds)
    report.check(
        f"{graph.name}: the means are no further apart than by chance",
        apart <= bound,
        f"{apart:.3%} apart, bound {bound:.3%}; seed by seed {differences.mean():+.2%}, standard "
        f"error {error:.2%}",
    )
    gain = float(np.mean(ours)) - float(np.mean(blind))
    report.check(
        f"{graph.name}: the graph is needed, by more than that bound", gain > bound, f"{gain:.1%}"
    )
    _, mine = train(ways[_WAYS[0]], graph, _ALL, 0, epochs)
    _, others = train(ways[_WAYS[1]], graph, _ALL, 0, epochs)
    same = float((mine == others).mean())
    report.check(
        f"{graph.name}: with all neighbors, in order, both find the same classes",
        same >= 0.99,
        f"{same:.2%} of the nodes tested",
    )


def main() -> int:
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="how often to train each way")
    options = parser.parse_args()
    if options.seeds < 2:
        parser.error("--seeds must be at least 2: one says nothing about chance")
    with scratch_folder(options.folder, 64 << 20) as folder:
        report = Report("accuracy", options, folder)
        if why := why_not_here("torch", "torch_geometric"):
            report.skip("accuracies", why)
            return report.finish(options.json)
        planted = planted_communities(2_000 if options.quick else 5_000)
        epochs, seeds = (5 if options.quick else 10), options.seeds
        compare(report, planted, folder, epochs=epochs, batch=64, seeds=seeds)
        if why := why_not_here("networkx"):
            report.skip("the karate club", why)
        else:
            compare(report, karate_club(), folder, epochs=40, batch=8, seeds=seeds)
        return report.finish(options.json)


if __name__ == "__main__":
    sys.exit(main())
