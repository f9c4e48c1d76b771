"""Datasets whose rows are a function of their node, so that every row of a batch can be checked."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

import numpy as np

import graphmount as gm

from .edge_streams import rmat_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

COLUMNS = 128
DEGREE = 16
_PIECE_ROWS = 1 << 18


def features_of(nodes: NDArray[np.int64], columns: int = COLUMNS) -> NDArray[np.float32]:
    """What the source says of its nodes."""
    start = (nodes % 65_521).astype(np.float32)[:, None]
    return start + np.arange(columns).astype(np.float32) * np.float32(1 / 256)


def write_features(path: str, num_nodes: int, columns: int = COLUMNS) -> None:
    """An `.npy` of all rows, piece by piece."""
    rows = np.lib.format.open_memmap(path, "w+", np.float32, (num_nodes, columns))
    for first in range(0, num_nodes, _PIECE_ROWS):
        nodes = np.arange(first, min(first + _PIECE_ROWS, num_nodes))
        rows[first : first + len(nodes)] = features_of(nodes, columns)
    rows.flush()


def make_edges(
    num_nodes: int, blocks: Callable[[int, int], Iterator[NDArray[np.int64]]] = rmat_blocks
) -> NDArray[np.int64]:
    """Sources and destinations, in two rows, of a graph of some family: R-MAT by default."""
    return np.concatenate(list(blocks(DEGREE * num_nodes, num_nodes))).T


def compile_edges(
    path: str,
    edges: NDArray[np.int64],
    num_nodes: int,
    features: str,
    *,
    order: Literal["hot", "given"] = "hot",
    train: float = 0.1,
) -> gm.CompiledDataset:
    """A dataset with incoming lists and rows from a file; a part of the nodes is for training."""
    nodes = np.random.default_rng(0).permutation(num_nodes)
    return gm.compile_dataset(
        path,
        edges=edges,
        num_nodes=num_nodes,
        neighbors="in",
        features={"x": features},
        splits={"train": nodes[: int(num_nodes * train)]},
        order=order,
        memory="8GiB",
    )


def make_dataset(
    path: str, num_nodes: int, columns: int = COLUMNS, *, train: float = 0.1
) -> gm.CompiledDataset:
    """An R-MAT graph and its rows, hot first."""
    source = f"{path}.npy"
    write_features(source, num_nodes, columns)
    made = compile_edges(path, make_edges(num_nodes), num_nodes, source, train=train)
    os.unlink(source)
    return made
