"""What processes that load or train on the shape of MAG240M need besides a share of the dataset.

It is worked out from the size of one batch, before anything runs: a promise, not a measurement.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

import graphmount as gm

from ...data.mag_data import TOPICS
from ...jobs.kinds_train_once import BATCH_SIZE, FANOUTS, HIDDEN

_TORCH = 450 << 20  # torch and PyG, before they do anything
_CALLS = 64 << 20  # threads, and what calls keep for the next ones
_LARGER = 1.3  # than the one that is tried
_WINDOW, _PREFETCH = 16, 2  # of the loader
# What two layers make for each node and edge: messages as wide as their outputs, three times on the
# way there (gathered, weighted, summed up) and as often on the way back.
_LAYER_BYTES = 6 * 4 * (HIDDEN + TOPICS)


@dataclass(frozen=True)
class BatchMemory:
    """Bytes of a dataset and of its batches.

    Attributes:
        dataset: All of its files.
        row_file: The rows of papers.
        rows: The rows of one batch, as stored.
        sample: One batch without its rows.
        layers: What a model makes of one batch.
    """

    dataset: int
    row_file: int
    rows: int
    sample: int
    layers: int

    @classmethod
    def of(cls, path: str, columns: int) -> Self:
        """Of the dataset there, by one sample."""
        ds: Any = gm.Dataset(path)
        train = ds.nodes["paper"].splits["train"]
        # From all over the split: the first of them are hot, and have more neighbors.
        seeds = train[np.linspace(0, len(train) - 1, min(BATCH_SIZE, len(train))).astype(int)]
        sample = ds.sample_neighbors(("paper", seeds), FANOUTS, seed=0)
        num_rows = len(sample.nodes["paper"])
        num_nodes = sum(map(len, sample.nodes.values()))
        return cls(
            dataset=sum(file.stat().st_size for file in Path(path).rglob("*") if file.is_file()),
            row_file=ds.nodes["paper"].features["x"].file_bytes,
            rows=num_rows * columns * 2,
            sample=num_nodes * 20 + sample.num_edges * 24,
            layers=num_rows * columns * 4 + _LAYER_BYTES * (num_nodes + sample.num_edges),
        )

    @property
    def topology(self) -> int:
        """Everything but rows."""
        return self.dataset - self.row_file

    @property
    def batches(self) -> int:
        """What docs/loading.md says of batches under way."""
        finished, ahead = _PREFETCH + 3, _WINDOW + _PREFETCH + 2
        return int(_LARGER * (finished * self.rows + ahead * self.sample))

    @property
    def loader(self) -> int:
        """For a process that only loads, besides the topology and `memory=`."""
        return _TORCH + _CALLS + self.batches

    @property
    def by_hand(self) -> int:
        """For a process that indexes a mapped tensor: batches are made one after the other."""
        return _TORCH + _CALLS + int(_LARGER * (2 * self.rows + 4 * self.sample))

    @property
    def training(self) -> int:
        """For a process that trains, besides a share of the dataset."""
        return self.loader + int(_LARGER * self.layers)

    @property
    def explained(self) -> str:
        """A sentence about it."""
        parts = {
            "torch and PyG take": _TORCH,
            "calls": _CALLS,
            "batches under way": self.batches,
            "the layers of the model": int(_LARGER * self.layers),
        }
        said = ", ".join(f"{name} {size / 2**20:,.0f} MiB" for name, size in parts.items())
        return f"On top, {said}."
