"""A stream of edges and rows with the shape of ogbn-papers100M, or of a fraction of it.

Nothing is held but the current piece: edges and rows come as Arrow streams, which `compile_dataset`
reads. Both ends of edges have moderate skew, rows are the center of their class and noise. The real
thing has the same counts (OGB's own: 111,059,956 nodes, 1,615,685,872 edges, 128 columns, 172
classes, 1,207,179 nodes for training).
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

COLUMNS = 128
CLASSES = 172
_NODES = 111_059_956
_EDGES = 1_615_685_872
_TRAIN = 1_207_179
_PIECE = 1 << 20
_ROWS_AT_ONCE = 1 << 16
_SCRAMBLER = 2_654_435_761  # a prime larger than any count of nodes: one to one modulo that


@dataclass(frozen=True)
class Shape:
    """How large a fraction of the dataset is."""

    num_nodes: int
    num_edges: int
    num_train: int

    @property
    def feature_bytes(self) -> int:
        """Of all rows."""
        return 4 * COLUMNS * self.num_nodes

    @property
    def disk_bytes(self) -> int:
        """The files, and what is written on the way to them: rows once more, or edges."""
        return 2 * self.feature_bytes + 24 * self.num_edges // 2 + 32 * self.num_nodes


def shape_of(fraction: float) -> Shape:
    """The shape of a fraction of ogbn-papers100M."""
    return Shape(*(max(1024, int(fraction * whole)) for whole in (_NODES, _EDGES, _TRAIN)))


def edges_of(shape: Shape) -> Iterator[NDArray[np.int64]]:
    """Pieces of shape (2, edges)."""
    generator = np.random.default_rng(1)
    for first in range(0, shape.num_edges, _PIECE):
        even = generator.random((2, min(_PIECE, shape.num_edges - first)))
        ranks = (shape.num_nodes * (even * even * even)).astype(np.int64)
        yield ranks * _SCRAMBLER % shape.num_nodes


def labels_of(shape: Shape) -> NDArray[np.int64]:
    """The class of each node."""
    return np.random.default_rng(2).integers(0, CLASSES, shape.num_nodes, np.int16).astype(np.int64)


def rows_of(labels: NDArray[np.int64]) -> Iterator[NDArray[np.float32]]:
    """Pieces of rows: the center of the class, and noise that a few thousand rows share."""
    generator = np.random.default_rng(3)
    centers = generator.normal(size=(CLASSES, COLUMNS)).astype(np.float32)
    noise = 2 * generator.normal(size=(_ROWS_AT_ONCE + 4096, COLUMNS)).astype(np.float32)
    for first in range(0, len(labels), _ROWS_AT_ONCE):
        some = labels[first : first + _ROWS_AT_ONCE]
        start = int(generator.integers(0, 4096))
        yield centers[some] + noise[start : start + len(some)]


def train_nodes(shape: Shape) -> NDArray[np.int64]:
    """Every so manyth node."""
    return np.linspace(0, shape.num_nodes - 1, shape.num_train).astype(np.int64)


def edge_stream(shape: Shape) -> Any:  # noqa: ANN401  (pyarrow has no types)
    """The edges as an object with `__arrow_c_stream__`."""
    pa = importlib.import_module("pyarrow")
    schema = pa.schema([("src", pa.int64()), ("dst", pa.int64())])
    pieces = (pa.record_batch([piece[0], piece[1]], schema=schema) for piece in edges_of(shape))
    return pa.RecordBatchReader.from_batches(schema, pieces)


def row_stream(labels: NDArray[np.int64]) -> Any:  # noqa: ANN401  (pyarrow has no types)
    """The rows as an object with `__arrow_c_stream__`."""
    pa = importlib.import_module("pyarrow")
    kind = pa.list_(pa.float32(), COLUMNS)
    schema = pa.schema([("x", kind)])
    pieces = (
        pa.record_batch(
            [pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), COLUMNS)], schema=schema
        )
        for rows in rows_of(labels)
    )
    return pa.RecordBatchReader.from_batches(schema, pieces)
