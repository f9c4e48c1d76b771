"""Datasets whose rows are a function of their node, so that every row of a batch can be checked."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import numpy as np

import graphmount as gm

from .edge_streams import rmat_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

DEGREE = 16
_PIECE_ROWS = 1 << 18


def features_of(nodes: NDArray[np.int64], columns: int) -> NDArray[np.float32]:
    """What the source says of its nodes."""
    start = (nodes % 65_521).astype(np.float32)[:, None]
    return start + np.arange(columns).astype(np.float32) * np.float32(1 / 256)


def write_features(path: str, num_nodes: int, columns: int) -> None:
    """An `.npy` of all rows, piece by piece."""
    rows = np.lib.format.open_memmap(path, "w+", np.float32, (num_nodes, columns))
    for first in range(0, num_nodes, _PIECE_ROWS):
        nodes = np.arange(first, min(first + _PIECE_ROWS, num_nodes))
        rows[first : first + len(nodes)] = features_of(nodes, columns)
    rows.flush()


def make_dataset(path: str, num_nodes: int, columns: int) -> float:
    """An R-MAT graph with incoming lists, hot first, a tenth of the nodes for training.

    Returns the seconds that compiling took.
    """
    edges = np.concatenate(list(rmat_blocks(DEGREE * num_nodes, num_nodes)))
    source = f"{path}.npy"
    write_features(source, num_nodes, columns)
    start = time.perf_counter()
    gm.compile_dataset(
        path,
        edges=edges.T,
        num_nodes=num_nodes,
        neighbors="in",
        features={"x": source},
        splits={"train": np.random.default_rng(0).permutation(num_nodes)[: num_nodes // 10]},
        memory="8GiB",
    )
    spent = time.perf_counter() - start
    os.unlink(source)
    return spent
