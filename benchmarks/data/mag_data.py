"""Streams of edges and rows with the shape of MAG240M, or of a fraction of it: "planted topics".

The real one has 121,751,666 papers with 768 columns of float16, 122,383,112 authors, 25,721
institutions, and three relations (OGB's own counts, below); here, too, only papers have rows. Each
paper, author and institution has one of 153 topics: its number modulo 153. An edge stays within a
topic with a probability of 0.8 (affiliations with 0.4). Within a topic, both ends are drawn with
skew: the node of rank r of n is met in proportion to r^(-2/3), and ranks are scrambled over the
numbers. A row is the center of its topic, which is faint, and noise: rows of neighbors tell more
than one's own. The label of a paper is its topic, its time is a year, and papers of splits are
chosen by a hash: for training up to 2018, then for validation, and those of 2020 for testing.

Nothing is held but the current piece, and 4 bytes for each paper.
"""

from __future__ import annotations

import importlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

COLUMNS = 768
TOPICS = 153
NODES = {"paper": 121_751_666, "author": 122_383_112, "institution": 25_721}
EDGES = {
    ("paper", "cites", "paper"): 1_297_748_926,
    ("author", "writes", "paper"): 386_022_720,
    ("author", "affiliated_with", "institution"): 44_592_586,
}
_WITHIN = {"cites": 0.8, "writes": 0.8, "affiliated_with": 0.4}
_IN_SPLITS = 0.0115  # of all papers, as in the real one
_LAST_YEAR, _FIRST_YEAR = 2020, 1900
_FADING = 0.9  # how many papers a year has, next to the year after
_FAINT = 0.05  # of the centers, next to the noise
_PIECE = 1 << 20
_ROWS_AT_ONCE = 1 << 13
_NOISE_ROWS = 1 << 15
_SCRAMBLER = 2_654_435_761  # a prime larger than any count of nodes: one to one modulo that


@dataclass(frozen=True)
class Shape:
    """How large a part of the dataset is.

    Attributes:
        nodes: The part of the nodes.
        edges: The part of the edges.
        has_rows: Whether papers have rows, labels, years and splits.
    """

    nodes: float
    edges: float
    has_rows: bool

    @property
    def num_nodes(self) -> dict[str, int]:
        """By type."""
        return {name: max(TOPICS, round(self.nodes * count)) for name, count in NODES.items()}

    @property
    def num_edges(self) -> dict[tuple[str, str, str], int]:
        """By relation."""
        return {relation: max(1, round(self.edges * count)) for relation, count in EDGES.items()}

    @property
    def row_bytes(self) -> int:
        """Of all rows."""
        return 2 * COLUMNS * self.num_nodes["paper"] if self.has_rows else 0

    @property
    def disk_bytes(self) -> int:
        """The files, with reverse relations, and what is written on the way to them."""
        offsets = sum(
            8 * (self.num_nodes[source] + self.num_nodes[destination])
            for source, _, destination in EDGES
        )
        ids = 24 * sum(self.num_nodes.values())
        return 2 * self.row_bytes + 2 * 20 * sum(self.num_edges.values()) + offsets + ids


def edges_of(shape: Shape, relation: tuple[str, str, str]) -> Iterator[NDArray[np.int64]]:
    """Pieces of shape (2, edges)."""
    generator = np.random.default_rng([7, list(EDGES).index(relation)])
    ends = [shape.num_nodes[relation[0]], shape.num_nodes[relation[2]]]
    count = shape.num_edges[relation]
    for first in range(0, count, _PIECE):
        size = min(_PIECE, count - first)
        topics = generator.integers(0, TOPICS, (2, size))
        stays = generator.random(size) < _WITHIN[relation[1]]
        topics[1, stays] = topics[0, stays]
        even = generator.random((2, size))
        yield np.stack(
            [_drawn(even[i] ** 3, topics[i], ends[i]) for i in range(2)],
        )


def _drawn(skewed: NDArray[np.float64], topics: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Nodes of these topics: the numbers of a topic are as far apart as there are topics."""
    sizes = (count - 1 - topics) // TOPICS + 1
    ranks = (skewed * sizes).astype(np.int64)
    return ranks * _SCRAMBLER % sizes * TOPICS + topics


def labels_of(shape: Shape) -> NDArray[np.int16]:
    """The topic of each paper."""
    return np.resize(np.arange(TOPICS, dtype=np.int16), shape.num_nodes["paper"])


def years_of(shape: Shape) -> NDArray[np.int16]:
    """The year of each paper: fewer the longer ago."""
    generator = np.random.default_rng(8)
    years = np.empty(shape.num_nodes["paper"], np.int16)
    for first in range(0, len(years), _PIECE):
        some = years[first : first + _PIECE]
        age = np.log(1 - generator.random(len(some))) / np.log(_FADING)
        some[:] = np.maximum(_LAST_YEAR - age.astype(np.int64), _FIRST_YEAR)
    return years


def splits_of(years: NDArray[np.int16]) -> dict[str, NDArray[np.int64]]:
    """Some papers by their year: for training, validation and testing."""
    papers = np.flatnonzero(np.random.default_rng(9).random(len(years), np.float32) < _IN_SPLITS)
    its_year = years[papers]
    return {
        "train": papers[its_year <= _LAST_YEAR - 2],
        "valid": papers[its_year == _LAST_YEAR - 1],
        "test": papers[its_year == _LAST_YEAR],
    }


def rows_of(labels: NDArray[np.int16]) -> Iterator[NDArray[np.float16]]:
    """Pieces of rows: the center of the topic, and noise that many rows share."""
    generator = np.random.default_rng(10)
    centers = _FAINT * generator.standard_normal((TOPICS, COLUMNS), np.float32)
    noise = generator.standard_normal((_NOISE_ROWS, COLUMNS), np.float32)
    for first in range(0, len(labels), _ROWS_AT_ONCE):
        some = labels[first : first + _ROWS_AT_ONCE]
        start = int(generator.integers(0, _NOISE_ROWS - len(some)))
        yield (centers[some] + noise[start : start + len(some)]).astype(np.float16)


class Streams:
    """The same as Arrow streams, which `compile_dataset` reads.

    Attributes:
        seconds: How long making the pieces took.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self._pa: Any = importlib.import_module("pyarrow")

    def edges(self, shape: Shape, relation: tuple[str, str, str]) -> Any:  # noqa: ANN401
        """The edges of a relation."""
        schema = self._pa.schema([("src", self._pa.int64()), ("dst", self._pa.int64())])
        return self._stream(schema, ([piece[0], piece[1]] for piece in edges_of(shape, relation)))

    def rows(self, labels: NDArray[np.int16]) -> Any:  # noqa: ANN401  (pyarrow has no types)
        """The rows of papers."""
        pa = self._pa
        schema = pa.schema([("x", pa.list_(pa.float16(), COLUMNS))])
        lists = pa.FixedSizeListArray.from_arrays
        columns = ([lists(pa.array(rows.ravel()), COLUMNS)] for rows in rows_of(labels))
        return self._stream(schema, columns)

    def _stream(self, schema: Any, pieces: Iterable[list[Any]]) -> Any:  # noqa: ANN401
        batches = (self._pa.record_batch(piece, schema=schema) for piece in self._timed(pieces))
        return self._pa.RecordBatchReader.from_batches(schema, batches)

    def _timed(self, pieces: Iterable[list[Any]]) -> Iterator[list[Any]]:
        rest = iter(pieces)
        while True:
            start = time.perf_counter()
            piece = next(rest, None)
            self.seconds += time.perf_counter() - start
            if piece is None:
                return
            yield piece
