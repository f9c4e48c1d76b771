"""Accuracy through graphmount next to that of PyG in memory: same model, same seeds, same data.

PyG's GraphSAGE is trained twice for each seed: on batches of PyG's `NodeLoader` over data in
memory, and on batches of graphmount's loader over compiled files. With sampled neighbors the two
draw different ones, so accuracies may differ by noise, and by no more; with all neighbors, and
seeds in order, there is nothing left to differ by but rounding. The same model without edges shows
that the graph is needed: were it to do as well, the comparison would prove nothing. One of the
graphs has several types of nodes.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

import numpy as np

from ..data.accuracy_data import karate_club, planted_communities
from ..data.accuracy_kinds import planted_topics
from ..harness.scratch import scratch_folder
from ..peers import why_not_here
from ..report.report import Report, argument_parser
from ..report.units import Cell, Unit, spread_of, text
from .parts.accuracy_tasks import ALL, SAMPLED, WAYS, many_kinds, one_kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from .parts.accuracy_tasks import Task

SEEDS = 5
_COLUMNS = {"way": text, "accuracy, %": Unit(100, 1), "mean, %": Unit(100, 2)}


def train(
    task: Task, way: str, fanouts: Sequence[int], seed: int, epochs: int
) -> tuple[float, NDArray[np.int64]]:
    """The accuracy on the test split, and the classes found, in the order of the split."""
    import torch

    torch.set_num_threads(1)  # batches are small, and cores may be busy
    torch.manual_seed(seed)
    model, batches = task.make_model(), task.ways[way]
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(epochs):
        for x, edge_index, count, labels in batches("train", fanouts, seed * 1000 + epoch):
            loss = torch.nn.functional.cross_entropy(model(x, edge_index)[:count], labels)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    found = []
    model.eval()
    with torch.inference_mode():
        for x, edge_index, count, _ in batches("test", ALL, 0):
            found.append(model(x, edge_index)[:count].argmax(dim=1))
    classes = torch.cat(found).numpy()
    return float((classes == task.expected).mean()), classes


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


def compare(report: Report, task: Task, *, epochs: int, seeds: int) -> None:
    scores = {
        way: [train(task, way, SAMPLED, seed, epochs)[0] for seed in range(seeds)]
        for way in task.ways
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
    report.table(f"{task.name}: {seeds} seeds, {len(task.expected):,} tested", _COLUMNS, rows)
    ours, theirs, blind = (scores[name] for name in WAYS)
    bound = noise_bound(ours, theirs, len(task.expected))
    apart = abs(float(np.mean(ours)) - float(np.mean(theirs)))
    differences = np.subtract(ours, theirs)
    error = float(differences.std(ddof=1)) / math.sqrt(seeds)
    report.check(
        f"{task.name}: the means are no further apart than by chance",
        apart <= bound,
        f"{apart:.3%} apart, bound {bound:.3%}; seed by seed {differences.mean():+.2%}, standard "
        f"error {error:.2%}",
    )
    gain = float(np.mean(ours)) - float(np.mean(blind))
    report.check(
        f"{task.name}: the graph is needed, by more than that bound", gain > bound, f"{gain:.1%}"
    )
    _, mine = train(task, WAYS[0], ALL, 0, epochs)
    _, others = train(task, WAYS[1], ALL, 0, epochs)
    same = float((mine == others).mean())
    report.check(
        f"{task.name}: with all neighbors, in order, both find the same classes",
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
        size, epochs, seeds = (
            (2_000, 5, options.seeds) if options.quick else (5_000, 10, options.seeds)
        )
        planted = one_kind(planted_communities(size), folder, batch_size=64)
        compare(report, planted, epochs=epochs, seeds=seeds)
        topics = many_kinds(
            planted_topics(size // 2 if options.quick else size), folder, batch_size=64
        )
        compare(report, topics, epochs=epochs, seeds=seeds)
        if why := why_not_here("networkx"):
            report.skip("the karate club", why)
        else:
            club = one_kind(karate_club(), folder, batch_size=8)
            compare(report, club, epochs=40, seeds=seeds)
        return report.finish(options.json)


if __name__ == "__main__":
    sys.exit(main())
