"""Which benchmarks there are, by name, and what they need to be installed."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Entry:
    """A benchmark: the module that is run, what it shows, and the packages it cannot do without.

    These are what it measures with. Peers are not among them: it skips those that are missing.
    """

    module: str
    shows: str
    needs: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The module's name without its room and "bench_"."""
        return self.module.rpartition(".")[2].removeprefix("bench_")

    def missing(self) -> list[str]:
        """What is not installed."""
        return [name for name in self.needs if importlib.util.find_spec(name) is None]


#: The names that a user gives, and the benchmarks that each stands for.
GROUPS: dict[str, tuple[Entry, ...]] = {
    "compile": (
        Entry("bench_compile_text", "text to a graph"),
        Entry("bench_compile_large", "a graph larger than memory"),
        Entry("bench_compile_features", "features from .npy and text"),
        Entry("kinds.bench_kinds_compile", "the shape of MAG240M in 3 GiB", ("pyarrow",)),
        Entry(
            "bench_ray_compile",
            "a cluster of Ray next to one process",
            ("ray", "pyarrow", "psutil"),
        ),
    ),
    "mount": (
        Entry("bench_mount", "opening files of any size"),
        Entry("bench_verify", "checking files"),
        Entry("bench_advice", "what the kernel is told about access"),
        Entry("bench_ids", "ids of the source, there and back"),
    ),
    "sample": (
        Entry("bench_sample", "neighbors from memory and disk"),
        Entry("kinds.bench_kinds", "several types of nodes next to one kind"),
        Entry("bench_negatives", "edges that do not exist"),
    ),
    "walk": (Entry("bench_walk", "random walks"),),
    "gather": (Entry("bench_gather", "rows from disk and memory"),),
    "loader": (
        Entry("bench_loader", "batches with little memory"),
        Entry("bench_loader_peers", "batches next to other loaders"),
        Entry("bench_order", "which nodes should lie at the front"),
        Entry("bench_source_ids", "batches in the ids of the source", ("torch_geometric",)),
    ),
    "train": (
        Entry(
            "training.bench_step",
            "a step of PyG's layers and of ours",
            ("torch_geometric",),
        ),
        Entry(
            "training.bench_aggregate_last",
            "training with the last hop aggregated by the loader",
            ("torch_geometric",),
        ),
        Entry("training.bench_train_memory", "steps a second by memory", ("torch_geometric",)),
        Entry("training.bench_train", "an epoch in a quarter of the memory", ("torch_geometric",)),
        Entry(
            "kinds.bench_kinds_train",
            "the shape of MAG240M in a fifth of the memory",
            ("pyarrow", "torch_geometric"),
        ),
        Entry("training.bench_ranks", "what processes send each other, and share", ("torch",)),
        Entry("bench_accuracy", "the same accuracy as in memory", ("torch_geometric",)),
    ),
    "scaling": (
        Entry("bench_scaling", "more threads, nodes and columns"),
        Entry("bench_papers", "the shape of ogbn-papers100M", ("pyarrow", "torch_geometric")),
    ),
}


def entries_of(names: Iterable[str]) -> list[Entry]:
    """The benchmarks that the names stand for, each once: groups, single ones, or "all".

    Raises:
        ValueError: There is no such name.

    Examples:
        >>> [entry.module for entry in entries_of(["walk", "compile_text"])]
        ['bench_walk', 'bench_compile_text']
    """
    everything = [entry for group in GROUPS.values() for entry in group]
    single = {entry.name: (entry,) for entry in everything}
    known = single | GROUPS | {"all": tuple(everything)}
    found: dict[str, Entry] = {}
    for name in names:
        if name not in known:
            extra = ", ".join(sorted(set(single) - set(GROUPS)))
            raise ValueError(
                f"there is no benchmark {name!r}; there are all, {', '.join(GROUPS)}, and single "
                f"ones: {extra}"
            )
        found |= {entry.module: entry for entry in known[name]}
    return list(found.values())
